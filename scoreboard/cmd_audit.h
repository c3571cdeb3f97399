// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard audit --drawn and --replayed, a part of audit with a file of its own.
#pragma once

#include "scoreboard/store/store.h"

struct audit_drawn {
    const char *db, *by;
    const char *program, *data;  // dawn, and the folder of the data sets; NULL: the usual ones
    int64_t epochs;              // of each run; 0: the whole run
    int64_t seconds;             // that a training may take; 0: any time
    bool list;                   // only lists open runs
    const char *run, *replayed;  // signs what "dawn replay --json" wrote into this file about that run; NULL: trains here
};
// Returns ERR_DIFFERS if a run came to other figures, ERR_INPUT if one could not be repeated here.
int cmd_audit_drawn(const struct audit_drawn *) MUST_CHECK;

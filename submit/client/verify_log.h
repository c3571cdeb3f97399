// SPDX-License-Identifier: Apache-2.0
// Verifies a receipt against the board's log: the statement is in it, the current log begins with the log of the receipt and with
// the log that was seen last, and the witnesses cosigned it. Only the board's key is trusted, and not even that alone.
#pragma once

#include "submit/format/statement.h"
#include "submit/log/note.h"
#include "submit/log/tile.h"

struct log_evidence {
    const struct sshkey *key;       // of the board
    const char *origin;             // name of its log
    const struct receipt *receipt;  // NULL: none
    const struct text *now;         // the note that the board shows; NULL: not fetched, there is no network
    bool copy;                      // `now` is of a static copy: it may be older than the seen state
    const struct text *seen;        // the note that was seen the last time; empty: none
    int (*fetch)(void *, const struct tile *, unsigned char bytes[TILE_BYTES]);  // of the board's tiles; NULL as `now`
    void *context;
    const struct note_witness *witnesses;  // who must have cosigned
    int witness_count;
};
// Adds a line about each item checked; returns the number of faults. `*newer`: the board's note is newer than the seen one,
// and nothing contradicts it.
int verify_log(const struct log_evidence *, struct text *report, bool *newer);

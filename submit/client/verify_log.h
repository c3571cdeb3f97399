// SPDX-License-Identifier: Apache-2.0
// Verifies what a receipt and a board say of the board's log: that the statement is in it, that the log of now begins with the
// one of the receipt and the one that was seen the last time, and who cosigned it. Nobody is trusted but the board's key, and
// that not alone.
#pragma once

#include "submit/format/statement.h"
#include "submit/log/note.h"
#include "submit/log/tile.h"

struct log_evidence {
    const struct sshkey *key;       // of the board
    const char *origin;             // name of its log
    const struct receipt *receipt;  // NULL: none
    const struct text *now;         // the note that the board shows; NULL: not asked, there is no network
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

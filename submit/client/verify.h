// SPDX-License-Identifier: Apache-2.0
// Verifies a signed statement from anywhere, without trusting whoever stores it: its bytes, signature, chain, checks, and the
// board's receipt. Pure: bytes in, a report out.
#ifndef DAWN_SUBMIT_VERIFY_H
#define DAWN_SUBMIT_VERIFY_H

#include "submit/client/client.h"
#include "submit/format/check/check.h"

struct evidence {  // NULL: not there
    const char *payload;
    size_t payload_count;
    const char *signature;
    size_t signature_count;
    const char *envelope;  // the whole envelope, when that is what there is: then its form is checked too, and a rotation's
                           // countersignature
    size_t envelope_count;
    const char *receipt;   // the answer with the receipt and its signature
    size_t receipt_count;
    const struct client_board *board;  // who should have signed the receipt
    const char *key_id;                // fingerprint of who should have signed the statement
    int64_t sequence;                  // the number on that board that was asked for; 0: none
    const char *digest;                // the statement that was asked for
    int64_t now_ms;                    // a receipt cannot be from later
};
// Adds a line about each item checked; returns the number of faults.
int verify(const struct evidence *, struct text *report);
// Reports what a board says about a statement since: one line if it was withdrawn, one if it was replaced. `answer`: that of
// GET /api/v1/statements/NAME. None of this is signed.
void verify_state(const char *answer, size_t count, struct text *report);

#endif

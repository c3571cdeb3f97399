// SPDX-License-Identifier: Apache-2.0
// Checking a signed statement from anywhere, without believing whoever keeps it: its bytes, its signature, its chain, the
// checks, and the board's receipt. Pure: bytes in, a report out.
#ifndef DAWN_SUBMIT_VERIFY_H
#define DAWN_SUBMIT_VERIFY_H

#include "submit/client/client.h"
#include "submit/format/check.h"

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
};
// Adds a line about each thing that was looked at; returns how many of them are wrong.
int verify(const struct evidence *, struct text *report);
// What a board says became of a statement since: a line when it was withdrawn, one when it was replaced. `answer`: what
// GET /api/v1/statements/NAME gave. Nothing of this is signed.
void verify_state(const char *answer, size_t count, struct text *report);

#endif

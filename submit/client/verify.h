// SPDX-License-Identifier: Apache-2.0
// Verifies a signed statement without trusting the party that stores it: bytes, signature, chain, checks, and the board's
// receipt. Pure: bytes in, a report out.
#pragma once

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
    const char *receipt;   // the answer that holds the receipt and its signature
    size_t receipt_count;
    const struct client_board *board;  // the expected signer of the receipt
    const char *key_id;                // fingerprint of the statement's expected signer
    int64_t sequence;                  // the requested number on that board; 0: none
    const char *digest;                // the requested statement
    int64_t now_ms;                    // neither a receipt nor a statement can be newer
};
// Adds a line about each item checked; returns the number of faults.
int verify(const struct evidence *, struct text *report);
// The same of a receipt alone: {"receipt": .., "signature": ..}. `key_id` as above; `board` becomes who signed the receipt.
int verify_receipt(const char *answer, size_t count, const char *key_id, struct client_board *board, struct text *report);
// Reports later changes of a statement's status: a line if it was withdrawn, one if it was replaced, one for each objection that
// was not dismissed. `answer` is the answer of GET /api/v1/statements/NAME. It is not signed.
void verify_state(const char *answer, size_t count, struct text *report);

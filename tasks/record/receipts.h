// SPDX-License-Identifier: Apache-2.0
// The receipts of scoreboards, kept beside the runs they are for: what was accepted, where, as which number, signed by
// the server. The bytes are kept as they came, so that anyone can check them later.
#ifndef DAWN_TASKS_RECEIPTS_H
#define DAWN_TASKS_RECEIPTS_H

#include "tasks/record/record.h"

struct receipt_row {
    int64_t run;
    const char *type;        // of the statement: "run", "withdraw", "amend"
    const char *board;       // the server's name in statements
    const char *server;      // its address
    const char *statement;   // digest of the payload
    const char *supersedes;  // digest of the own statement it replaces, or NULL
    int64_t sequence, accepted_ms;
    const char *server_key;  // fingerprint
    const char *receipt;     // the canonical bytes
    const char *signature;   // the server's, over them
};
// The same statement on the same board once more changes nothing; on another board of that name the newer receipt stays.
int receipts_add(struct results *, const struct receipt_row *) MUST_CHECK;
// The newest receipt of a run's statement of that type on a board whose key is `key` (a fingerprint; NULL: any) as a row
// (json_decref ends it); NULL: there is none.
int receipts_last(struct results *, int64_t run, const char *type, const char *board, const char *key, json_t **row) MUST_CHECK;
// The same by the digest of a statement of any type.
int receipts_find(struct results *, const char *board, const char *key, const char *statement, json_t **row) MUST_CHECK;
// A receipt of a board of that name, or from that address, when all such are signed by other keys than `key`; else NULL.
int receipts_other_key(struct results *, const char *board, const char *server, const char *key, json_t **row) MUST_CHECK;

#endif

// SPDX-License-Identifier: Apache-2.0
// The receipts of scoreboards, stored with their runs: the accepted statement, the board, its number there, signed by the
// server. The bytes are stored unchanged, so that anyone can check them later.
#pragma once

#include "submit/results/record.h"

struct receipt_row {
    int64_t run;             // of a measurement its sweep; of a scaling its sweep below 0
    const char *type;        // type of the statement: "run", "withdraw", "amend", "bench"
    const char *board;       // name of the server in statements
    const char *server;      // address of the server
    const char *statement;   // digest of the payload
    const char *supersedes;  // digest of the own statement that it replaces, or NULL
    int64_t sequence, accepted_ms;
    const char *server_key;  // fingerprint of the server's key
    const char *receipt;     // canonical bytes of the receipt
    const char *signature;   // signature of the server over the receipt
};
// Adding the same statement of the same board again changes nothing. For another board of that name the newer receipt stays.
int receipts_add(struct results *, const struct receipt_row *) MUST_CHECK;
// The newest receipt of a run's statement of that type on a board whose key is `key` (a fingerprint; NULL: any) as a row;
// json_decref ends it. NULL: there is none.
int receipts_last(struct results *, int64_t run, const char *type, const char *board, const char *key, json_t **row) MUST_CHECK;
// Finds a receipt by the digest of a statement of any type.
int receipts_find(struct results *, const char *board, const char *key, const char *statement, json_t **row) MUST_CHECK;
// The newest receipt of a measurement, as receipts_last.
int receipts_of_sweep(struct results *, int64_t sweep, const char *board, const char *key, json_t **row) MUST_CHECK;
// A receipt of a board with that name or address, if all such receipts are signed by other keys than `key`; else NULL.
int receipts_other_key(struct results *, const char *board, const char *server, const char *key, json_t **row) MUST_CHECK;
// A receipt by that key, if all such receipts came from other addresses than `server`; else NULL.
int receipts_other_address(struct results *, const char *server, const char *key, json_t **row) MUST_CHECK;

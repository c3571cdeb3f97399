// SPDX-License-Identifier: Apache-2.0
// Delivers a statement: signs it, sends it, checks its receipt and stores it.
#pragma once

#include "submit/client/client.h"
#include "submit/format/statement.h"
#include "submit/keys/keyring.h"
#include "submit/results/receipts.h"

struct delivery {
    struct receipt receipt;  // what it says
    char *bytes, *signature;  // as the server sent them
    struct sshkey server;
    bool again;    // the server had the statement already
    bool refused;  // the server refused it; false for an error of the network
};
// Returns 0 if the server accepted it and its receipt proves it: signed by the key of `board`, for these bytes, this board
// and this signer. Errors as client_post; `checks` as there.
int deliver(struct client *, const struct client_board *board, struct signer *, const struct statement *, struct delivery *,
            struct text *checks) MUST_CHECK;
void delivery_free(struct delivery *);
// Splits the address of a run or a statement into the board's address and the statement's name there, a number or a digest.
enum { DELIVERY_NAME = DIGEST_HEX + 1 };
int delivery_address(const char *url, char **base, char name[DELIVERY_NAME]) MUST_CHECK;  // free() ends the base
// The page of a run in a static copy of a board ("site/runs/12/index.html", "site/runs/12"): the copy's folder and the name.
// False if there is no such copy.
bool delivery_is_copy(const char *path, char **base, char name[DELIVERY_NAME]);
// The answer of GET /api/v1/statements/NAME/PART, or of NAME alone if PART is ""; never empty.
int delivery_part(struct client *, const char *name, const char *part, struct text *) MUST_CHECK;
// The first function fetches the statement with that digest. The second also requires the signature of `signer`, and fetches the
// receipt. The receipt must match both and carry the signature of the board's key. ERR_NETWORK otherwise. statement_free and
// delivery_free end them.
int delivery_statement(struct client *, const char *digest, struct statement *) MUST_CHECK;
int delivery_fetch(struct client *, const struct client_board *, const struct sshkey *signer, const char *digest,
                   struct statement *, struct delivery *) MUST_CHECK;
// The statement that the board shows under a name. Its number and its digest come from a receipt that the board's key signed,
// so a server that repeats another board cannot pass one statement off as another. statement_free ends it.
int delivery_named(struct client *, const struct client_board *, const char *name, struct statement *) MUST_CHECK;
// Stores the receipt with the run.
int delivery_keep(struct results *, int64_t run, const struct client *, const struct statement *,
                  const struct delivery *) MUST_CHECK;

// A receipt in an answer ({"receipt": "...", "signature": "..."}): its two parts, then what it says. `signer` NULL: not needed.
int delivery_read(const char *answer, size_t count, const struct client_board *, const struct statement *,
                  const struct sshkey *signer, int64_t now_ms, struct delivery *) MUST_CHECK;

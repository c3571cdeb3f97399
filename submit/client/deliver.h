// SPDX-License-Identifier: Apache-2.0
// One statement on its way: signed, sent, and its receipt checked and kept.
#ifndef DAWN_SUBMIT_DELIVER_H
#define DAWN_SUBMIT_DELIVER_H

#include "submit/client/client.h"
#include "submit/format/statement.h"
#include "submit/keys/keyring.h"
#include "tasks/record/receipts.h"

struct delivery {
    struct receipt receipt;  // what it says
    char *bytes, *signature;  // as the server sent them
    struct sshkey server;
    bool again;    // the server had the statement already
    bool refused;  // by the server, and by nothing on the way to it
};
// 0 after the server has taken it and its receipt says so: signed by the key of `board`, for these bytes, this board and
// this signer. Errors as client_post; `checks` as there.
int deliver(struct client *, const struct client_board *board, struct signer *, const struct statement *, struct delivery *,
            struct text *checks) MUST_CHECK;
void delivery_free(struct delivery *);
// What GET /api/v1/statements/NAME/PART answers, or without PART when that is ""; never nothing.
int delivery_part(struct client *, const char *name, const char *part, struct text *) MUST_CHECK;
// A statement that the board has, whole and of that digest. The second also asks that `signer` signed it, and for its receipt,
// which must fit both and be signed by the board's key. ERR_NETWORK when they are not so. statement_free and delivery_free
// end them.
int delivery_statement(struct client *, const char *digest, struct statement *) MUST_CHECK;
int delivery_fetch(struct client *, const struct client_board *, const struct sshkey *signer, const char *digest,
                   struct statement *, struct delivery *) MUST_CHECK;
// Keeps the receipt beside the run.
int delivery_keep(struct results *, int64_t run, const struct client *, const struct statement *,
                  const struct delivery *) MUST_CHECK;

// A receipt in an answer ({"receipt": "...", "signature": "..."}): its two parts, then what it says. `signer` NULL: not asked.
int delivery_read(const char *answer, size_t count, const struct client_board *, const char *digest, const struct sshkey *signer,
                  struct delivery *) MUST_CHECK;

#endif

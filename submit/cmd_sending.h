// SPDX-License-Identifier: Apache-2.0
// What the commands that send statements have in common: the options, the way to the board, the question before
// something is published, and what is said afterwards. Unlike libraries, it prints.
#ifndef DAWN_SUBMIT_CMD_SENDING_H
#define DAWN_SUBMIT_CMD_SENDING_H

#include "submit/client/deliver.h"

struct sending {
    const char *server, *board, *key;  // options; NULL: not given
    bool yes;
    struct client *client;
    struct client_board about;
    char about_key[SSHKEY_ID];  // fingerprint of the board's key
    struct signer signer;
    bool refused;  // the last statement, by the server
};
// What a client says of itself on standard error: that a server is busy, and on a terminal that it takes its time.
extern const struct client_options sending_options;
// `address`: --server, else $DAWN_SERVER; asks it for its name and key, holds --board against it, and chooses the key.
int sending_open(struct sending *) MUST_CHECK;
void sending_close(struct sending *);
// The record: made anew by nobody who sends what it holds. ERR_DATABASE where there is none, or no run in it.
int sending_record(const char *path, enum results_mode, struct results **) MUST_CHECK;
// Says on standard error when the record knows a board of that name, or at that address, by other keys only.
int sending_compare(const struct sending *, struct results *) MUST_CHECK;
const char *sending_server(const struct sending *);  // --server, else $DAWN_SERVER, else NULL
// "Publish this? [y/N]" on the terminal; 0 after a yes or --yes. Without a terminal, ERR_USAGE names --yes.
int sending_ask(const struct sending *, const char *question) MUST_CHECK;
// Delivers, prints one line about what came of it ("run 3: #12 on BOARD"), and keeps the receipt beside the run (0: there
// is none to keep it with).
int sending_send(struct sending *, struct results *, int64_t run, const char *name, const struct statement *) MUST_CHECK;
// After a refusal that names a statement which the server already has of this run (its answer never arrived): keeps that
// one's receipt. ERR_INPUT, and the sentence as it was, when there is nothing of the kind.
int sending_recover(struct sending *, struct results *, int64_t run, const char *name, const struct statement *) MUST_CHECK;

#endif

// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that send statements: the options, the connection to the board, the question before anything is
// published, and the report afterwards. Unlike libraries, it prints.
#pragma once

#include "submit/client/deliver.h"

struct sending {
    const char *server, *board, *key;  // options; NULL: not given
    bool yes;
    struct client *client;
    struct client_board about;
    char about_key[SSHKEY_ID];  // fingerprint of the board's key
    struct signer signer;
    bool refused;  // the last statement, by the server
    json_t *sent;  // with --json: the server's answers, by name ("run 3"); NULL: not collected
    char *base;                     // the board's address within a run's (sending_address); NULL: it is named otherwise
    char named[DELIVERY_NAME];      // the statement in that address
    char about_run[DELIVERY_NAME];  // the name on the board of the run that statements concern; "": they are runs themselves
};
// A client's messages on standard error: that a server is busy and, on a terminal, that a request takes long.
extern const struct client_options sending_options;
// The options of these commands.
#define SENDING_BOARD(s)                                                                                              \
    {OPTION_TEXT, 0, "server", "URL", "the scoreboard (default: $DAWN_SERVER)", &(s).server, 0, 0},                   \
    {OPTION_TEXT, 0, "board", "NAME", "its name; any other is refused", &(s).board, 0, 0}
#define SENDING_KEY(s) {OPTION_TEXT, 0, "key", "KEY", "the key that signs, as \"dawn keys\" names it", &(s).key, 0, 0}
#define SENDING_YES(s)                                                                                                \
    {OPTION_FLAG, 'y', "yes", NULL, "send it without asking", &(s).yes, 0, 0},                                        \
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0}

// Takes board and statement out of "https://board.example/runs/12".
int sending_address(struct sending *, const char *address) MUST_CHECK;
// Asks the server (--server, else $DAWN_SERVER) for its name and key, compares them with --board, and chooses the signing key.
int sending_open(struct sending *) MUST_CHECK;
void sending_close(struct sending *);
// Opens the record and never creates one. ERR_DATABASE if the file is missing or has no run.
int sending_record(const char *path, enum results_mode, struct results **) MUST_CHECK;
// Warns on standard error if the record has a board of that name or address, but only with other keys.
int sending_compare(const struct sending *, struct results *) MUST_CHECK;
const char *sending_server(const struct sending *);  // --server, else $DAWN_SERVER, else NULL
// "Publish this? [y/N]" on the terminal; 0 after a yes or --yes. Without a terminal, ERR_USAGE names --yes.
int sending_ask(const struct sending *, const char *question) MUST_CHECK;
// Delivers a statement, prints the outcome ("run 3: #12 on BOARD"), and stores the receipt with the run (0: no run).
int sending_send(struct sending *, struct results *, int64_t run, const char *name, const struct statement *) MUST_CHECK;
// Keeps the outcome of a delivery for --json. `rc` below 0: error_text() says why.
void sending_note(struct sending *, const char *name, const struct statement *, const struct delivery *, int rc);
// The server may refuse a run because it has a statement of it whose answer never arrived. Then this stores the receipt of that
// statement. Otherwise ERR_INPUT with the unchanged sentence.
int sending_recover(struct sending *, struct results *, int64_t run, const char *name, const struct statement *) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// A client of a scoreboard over HTTP, by libcurl. Its answers are outside bytes: at most 4 MiB, parsed with limits, and
// trusted only as far as they are signed.
//
// TLS is verified. Plain http is allowed only to this machine (127.0.0.0/8, ::1, localhost). Redirects are followed
// within the same scheme, host and port. A busy server (429, 503) is retried; nothing else is.
#pragma once

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "submit/format/ssh/sshkey.h"

enum { CLIENT_REPLY_MAX = 4 << 20, CLIENT_TRIES = 5, CLIENT_WAIT_MAX = 60, CLIENT_REDIRECTS = 5, CLIENT_QUIET_MS = 3000 };
struct client;
struct client_options {  // 0 and NULL: the defaults
    void (*note)(void *context, const char *sentence);  // called before it waits for a retry
    void (*waiting)(void *context, const char *address, bool still);  // a request takes long; then, that it has ended
    bool (*stop)(void *context);  // called about once per second during a request; true ends it with ERR_INTERRUPTED
    void *context;
    long total_ms;  // for one request: 60,000
    long pause_ms;  // the first pause: 1,000; each next is twice as long
    int tries;      // of a busy server: CLIENT_TRIES
    bool fleeting;  // a post counts now or never: no error suggests sending it again later
};
// `address`: "https://board.example", with or without a path. ERR_USAGE if it is not such an address.
int client_open(const char *address, const struct client_options *, struct client **) MUST_CHECK;
// A static copy of a board in a folder (dawn-scoreboard export site): its files instead of a server's answers.
int client_open_copy(const char *folder, struct client **) MUST_CHECK;
void client_close(struct client *);
const char *client_address(const struct client *);  // without a slash at its end
bool client_reads_copy(const struct client *);      // files of a moment, not the board of now

// The body of a GET (`path` begins with a slash). ERR_MISSING for 404, ERR_NETWORK for all else.
int client_get(struct client *, const char *path, struct text *body) MUST_CHECK;
// The answer of GET /api/v1 about the board. Where there is none, but the files of a static copy are, client_get asks for those
// from then on.
struct client_board {
    char name[64];
    struct sshkey key;
};
int client_board(struct client *, struct client_board *) MUST_CHECK;
// Posts an envelope. If the server accepts it, `body` gets the answer (`again`: the server had it already). A refusal (409, 422
// and other 4xx) is ERR_INPUT with the server's sentence, and `checks` gets a line for each check that it names.
int client_post(struct client *, const char *envelope, size_t count, struct text *body, bool *again,
                struct text *checks) MUST_CHECK;
// True if the last refusal was of the handle or the key, so that it will be the same for every other statement.
bool client_signer_refused(const struct client *);

// Posts anything else. Errors as above, without checks.
int client_send(struct client *, const char *path, const char *body, size_t count, struct text *answer) MUST_CHECK;

// The pure parts, for tests. A member of a JSON object as text, or ERR_INPUT; free() ends it.
int client_member(const char *json, size_t count, const char *name, char **text) MUST_CHECK;
// The same of a member that is an object: its JSON on one line.
int client_object(const char *json, size_t count, const char *name, char **text) MUST_CHECK;
// Reads a problem+json (RFC 9457), or anything else: one sentence, and the checks it lists.
void client_problem(const char *body, size_t count, struct text *sentence, struct text *checks);
// Finds the statement that a refusal (status 409) names in client_post's sentence.
bool client_conflict(const char *sentence, char digest[DIGEST_HEX]);
// Makes text safe for a terminal: control characters, and characters that canonical_check_words refuses, become "?".
void client_tame(struct text *, const char *words, size_t limit);
// Adds "LABEL  WRONG: SENTENCE" to a report, and returns 1, for the number of faults.
int client_wrong(struct text *, const char *label, const char *sentence);

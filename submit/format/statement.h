// SPDX-License-Identifier: Apache-2.0
// Statements, which people sign. A payload is canonical JSON (canonical.h) of one of the types below. One table (fields.c) lists
// every member of every type with its kind and bounds, so the parser, the builder and docs/statements.md cannot disagree. Other
// members are refused.
//
// An envelope carries a payload to a server and is kept as it came:
//   {"payload": "<the canonical bytes as a JSON string>", "signature": "-----BEGIN SSH SIGNATURE-----...",
//    "countersignature": "..."}          the last only for a rotation: the new key's
#pragma once

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "submit/format/canonical.h"
#include "submit/format/ssh/sshsig.h"

// STATEMENT(NAME, type in the payload, namespace of its signature, what it says)
#define STATEMENT_LIST                                                                                                 \
    STATEMENT(RUN, "run", "run-v1@dawn", "a training run, and the latencies measured with its weights")                \
    STATEMENT(WITHDRAW, "withdraw", "withdraw-v1@dawn", "takes an own statement off the boards; it stays in the log")  \
    STATEMENT(AMEND, "amend", "amend-v1@dawn", "changes what an own run says about itself in words, never a figure")   \
    STATEMENT(ROTATE, "rotate", "rotate-v1@dawn", "passes a handle on from one key to the next; both sign")            \
    STATEMENT(REVOKE, "revoke", "revoke-v1@dawn", "from here on, nothing more counts that this key signs")             \
    STATEMENT(AUDIT, "audit", "audit-v1@dawn", "a person's decision, signed by the server's key")                       \
    STATEMENT(BENCH, "bench", "bench-v1@dawn", "throughput measured on a machine; it is on no board")                  \
    STATEMENT(COMPETITION, "competition", "competition-v1@dawn", "goal and dates, signed by the server's key")         \
    STATEMENT(COMMIT, "commit", "commit-v1@dawn", "binds its signer to the runs that enter a competition, by their digests") \
    STATEMENT(OBJECT, "object", "object-v1@dawn", "names a fault of another person's run; the operator decides")       \
    STATEMENT(TICKET, "ticket", "ticket-v1@dawn", "announces a run before it begins; its receipt is the ticket")       \
    STATEMENT(VOUCH, "vouch", "vouch-v1@dawn", "a run's clock agreed with the clock of the board, whose key signs")    \
    STATEMENT(DRAW, "draw", "draw-v1@dawn", "which runs the log draws, and whose repetitions count; signed by the server's key")
enum statement_type {
#define STATEMENT(name, type, space, what) STATEMENT_##name,
    STATEMENT_LIST
#undef STATEMENT
        STATEMENT_TYPES
};
const char *statement_type_name(enum statement_type);
const char *statement_namespace(enum statement_type);
#define RECEIPT_NAMESPACE "receipt-v1@dawn"

struct statement {
    enum statement_type type;
    json_t *json;            // owned; its shape is checked, so that canonical_int() and canonical_text() are safe
    char *payload;           // owned; the canonical bytes, NUL-terminated
    size_t count;
    char digest[DIGEST_HEX];  // SHA-256 of the payload: the statement's name everywhere
};
// From the canonical bytes. ERR_INPUT names the member that is wrong. Figures are checked in check.h, not here.
int statement_read(const char *payload, size_t count, struct statement *) MUST_CHECK;
// From JSON of this program. Takes over the reference, also if it fails.
int statement_make(json_t *value, struct statement *) MUST_CHECK;
void statement_free(struct statement *);
int64_t statement_made_ms(const struct statement *);  // when its signer says that it was made, or what it is about ended

struct envelope {
    struct statement statement;
    char *signature, *countersignature;  // owned; the latter NULL unless it is a rotation
    struct sshkey key, next_key;         // the signer; next_key: the rotation's new key
    bool formed;                         // set even after an error: everything but a signature is valid
};
// The pure, fuzzed parser of an upload: at most 1 MiB, these members and no other; then statement_read, then every signature.
// After 0 the bytes are valid; the caller decides if key and figures may count.
int envelope_read(const char *bytes, size_t count, struct envelope *) MUST_CHECK;
int envelope_write(const struct statement *, const char *signature, const char *countersignature, struct text *into) MUST_CHECK;
void envelope_free(struct envelope *);

// The answer to an accepted statement, canonical and signed with the server's own key (RECEIPT_NAMESPACE):
// {"accepted_ms":..,"board":"..","log":{..},"payload":"<digest>","sequence":..,"signer":"SHA256:..","type":"receipt","version":1}
// A board without a log leaves out "log", whose proof submit/log/proof.h checks.
enum { RECEIPT_PROOF = 64, RECEIPT_SIGNATURE = 93 };
struct receipt {
    int64_t sequence, accepted_ms;
    char board[64];
    char payload[DIGEST_HEX];  // digest of the statement
    char signer[SSHKEY_ID];    // key of the statement
    struct receipt_log {
        int64_t size;          // of the tree that ends with the statement's entry; 0: the board keeps no log
        char root[DIGEST_HEX];
        char proof[RECEIPT_PROOF][DIGEST_HEX];
        int proof_count;
        char signature[RECEIPT_SIGNATURE];  // of the checkpoint with that size and root, as a signed note has it
    } log;
};
int receipt_write(const struct receipt *, char **bytes, size_t *count) MUST_CHECK;  // free() them
int receipt_read(const char *bytes, size_t count, const char *signature, struct receipt *, struct sshkey *server) MUST_CHECK;
// ERR_INPUT if its date is impossible: before its statement was made, or in the future. The date decides which checks apply.
int receipt_check_date(const struct receipt *, const struct statement *, int64_t now_ms) MUST_CHECK;

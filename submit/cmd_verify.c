// SPDX-License-Identifier: Apache-2.0
// dawn verify: collects a statement's evidence from files or from a scoreboard and reports which items hold. "ssh-keygen -Y
// verify" checks the same signature. Cost: four requests for an address, and a few for tiles of the log if it has grown since the
// last time; none for a file.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "submit/cmd_sending.h"
#include "submit/submit_commands.h"
#include "submit/client/deliver.h"
#include "submit/client/seen.h"
#include "submit/client/verify.h"
#include "submit/client/verify_log.h"
#include "submit/client/verify_ticket.h"
#include "submit/keys/keyring.h"

enum { FILE_LIMIT = 4 << 20, CHECKPOINT_TRIES = 6, CHECKPOINT_WAIT_MS = 100 };

// What to check of a statement from any source, and the number of failed checks so far.
struct verifying {
    const char *key_id;  // NULL: anybody's
    struct note_witness witness;
    bool witnessed;      // the log needs the cosignature of that witness
    bool log_checked;
    struct client *client;
    int faults;
    bool as_json;
    struct text said;    // with as_json: the entries, for one object at the end
};

static void print_text(struct verifying *v, struct text *t)
{
    if (t->at != NULL && v->as_json) text_add(&v->said, "%s", t->at);
    else if (t->at != NULL) fputs(t->at, stdout);
    text_free(t);
}

static void print_item(struct verifying *v, const char *label, const char *words, const char *more)
{
    struct text t = {0};
    text_entry(&t, label, "%s%s", words, more);
    print_text(v, &t);
}

// ---- JSON
static void add_item(json_t *items, const char *label, const struct text *words)
{
    if (words->at == NULL) return;
    const char *verdict = strncmp(words->at, "good", 4) == 0 ? "good" : strncmp(words->at, "WRONG", 5) == 0 ? "WRONG" : "note";
    json_array_append_new(items, json_pack("{ss ss ss}", "item", label, "verdict", verdict, "says", words->at));
}

// Reads the entries that text_entry wrote: a label from column 2, and words from column 13, which go on in lines that begin
// with blanks up to there.
static json_t *items_of(const struct text *said)
{
    enum { LABEL = 2, WORDS = 13 };
    json_t *items = json_array();
    struct text words = {0};
    char label[WORDS - LABEL + 1] = "";
    for (const char *at = said->at, *end; at != NULL && *at != 0; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        if (end - at < WORDS) continue;
        if (strspn(at, " ") < WORDS) {
            add_item(items, label, &words);
            text_free(&words);
            snprintf(label, sizeof label, "%.*s", WORDS - LABEL, at + LABEL);
            for (size_t n = strlen(label); n > 0 && label[n - 1] == ' '; n--) label[n - 1] = 0;
        }
        text_add(&words, "%s%.*s", words.at != NULL ? " " : "", (int)(end - at) - WORDS, at + WORDS);
    }
    add_item(items, label, &words);
    text_free(&words);
    return items;
}

// `rc`: a failure that kept the statement from being checked to the end; error_text() says which.
static int print_json(const struct verifying *v, int rc)
{
    json_t *o = json_pack("{sb si so}", "good", rc == 0 && v->faults == 0, "faults", v->faults, "items", items_of(&v->said));
    if (o != NULL && rc != 0) json_object_set_new(o, "error", json_string(error_text()));
    TRY(json_text_print(o));
    return rc;
}

static void report(struct verifying *v, const struct evidence *e)
{
    struct text t = {0};
    v->faults += verify(e, &t);
    print_text(v, &t);
}

// ---- the board's log
static int fetch_tile(void *context, const struct tile *tile, unsigned char bytes[TILE_BYTES])
{
    struct client *c = context;
    struct text path = {0}, body = {0};
    char name[TILE_PATH];
    const size_t count = (size_t)tile->width * TREE_HASH;
    text_add(&path, "/log/%s", tile_write_path(tile, name));
    int rc = client_get(c, path.at, &body);
    if (rc == 0 && body.length != count)
        rc = fail(ERR_NETWORK, "%s%s has %zu bytes, not %zu", client_address(c), path.at, body.length, count);
    if (rc == 0) memcpy(bytes, body.at, count);
    text_free(&path);
    text_free(&body);
    return rc;
}

static bool is_behind(const struct text *checkpoint, const struct receipt *receipt)
{
    struct note note;
    return checkpoint->length > 0 && note_read(checkpoint->at, checkpoint->length, &note) == 0 &&
           note.checkpoint.size < receipt->log.size;
}

// A board shows a new statement a moment before it signs the checkpoint that includes it. So the request is repeated, for about
// three seconds.
static int get_newest(struct client *c, const struct receipt *receipt, struct text *now)
{
    int rc = client_get(c, "/log/checkpoint", now);
    for (int i = 1; rc == 0 && i < CHECKPOINT_TRIES && !client_reads_copy(c) && is_behind(now, receipt); i++) {
        const int64_t ms = (int64_t)CHECKPOINT_WAIT_MS << (i - 1);
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
        text_free(now);
        rc = client_get(c, "/log/checkpoint", now);
    }
    return rc;
}

// A board without a log has no checkpoint. A board that has shown a log before must show it again.
static int get_checkpoint(struct verifying *v, const struct receipt *receipt, const struct text *seen, struct text *now)
{
    int rc = get_newest(v->client, receipt, now);
    if (rc == 0 && now->length > 0) return 0;
    if (rc != 0 && rc != ERR_MISSING) return rc;
    if (receipt->log.size == 0 && seen->length == 0 && !v->witnessed) return 0;
    print_item(v, "log", "WRONG: the board does not show its log", "");
    v->faults++;
    return 0;
}

static void keep_seen(struct verifying *v, const struct sshkey *board, const struct text *now)
{
    if (seen_keep(board, now) < 0) print_item(v, "growth", "not remembered: ", error_text());
}

// `v->client` NULL: only the receipt's own proof, compared with the state seen before.
static int check_log(struct verifying *v, const struct client_board *board, const struct receipt *receipt)
{
    struct text now = {0}, seen = {0}, t = {0};
    char origin[NOTE_NAME];
    bool newer = false;
    int rc = seen_read(&board->key, &seen);
    if (rc == ERR_MISSING) rc = 0;  // without a home folder nothing is remembered
    if (rc == 0 && v->client != NULL) rc = get_checkpoint(v, receipt, &seen, &now);
    if (rc == 0 && (v->client == NULL || now.length > 0)) {
        const struct log_evidence e = {
            .key = &board->key, .origin = note_origin(board->name, origin), .receipt = receipt, .seen = &seen,
            .now = v->client != NULL ? &now : NULL, .fetch = fetch_tile, .context = v->client,
            .copy = v->client != NULL && client_reads_copy(v->client),
            .witnesses = &v->witness, .witness_count = v->witnessed ? 1 : 0,
        };
        v->faults += verify_log(&e, &t, &newer);
        v->log_checked = true;
        print_text(v, &t);
        if (newer) keep_seen(v, &board->key, &now);
    }
    text_free(&now);
    text_free(&seen);
    return rc;
}

// Checks the log with the receipt in an answer ({"receipt", "signature"}). Faults of the receipt itself were reported before.
static int check_log_of(struct verifying *v, const struct client_board *board, const char *answer, size_t count)
{
    char *bytes = NULL, *signature = NULL;
    struct receipt receipt;
    struct sshkey server;
    int rc = client_member(answer, count, "receipt", &bytes);
    if (rc == 0) rc = client_member(answer, count, "signature", &signature);
    if (rc == 0) rc = receipt_read(bytes, strlen(bytes), signature, &receipt, &server);
    rc = rc == 0 && v->faults == 0 ? check_log(v, board, &receipt) : 0;
    free(bytes);
    free(signature);
    return rc;
}

// ---- statements
static int verify_envelope(struct verifying *v, const char *bytes, size_t count, const char *from, struct evidence e)
{
    char *payload = NULL, *signature = NULL;
    int rc = client_member(bytes, count, "payload", &payload);
    if (rc == 0) rc = client_member(bytes, count, "signature", &signature);
    if (rc < 0) rc = fail(ERR_INPUT, "the envelope of %s lacks a payload or a signature", from);
    else {
        e.envelope = bytes, e.envelope_count = count;
        e.payload = payload, e.payload_count = strlen(payload);
        e.signature = signature, e.signature_count = strlen(signature);
        report(v, &e);
    }
    free(payload);
    free(signature);
    return rc;
}

static int verify_pair(struct verifying *v, const char *payload, size_t count, const char *path, struct evidence e)
{
    struct text signature_path = {0};
    char *signature = NULL;
    int rc;
    text_add(&signature_path, "%s.sig", path);
    if (!file_exists(signature_path.at))
        rc = fail(ERR_MISSING, "the signature of %s is missing: it should be %s", path, signature_path.at);
    else rc = file_read(signature_path.at, FILE_LIMIT, &signature, &e.signature_count);
    e.payload = payload, e.payload_count = count, e.signature = signature;
    if (rc == 0) report(v, &e);
    text_free(&signature_path);
    free(signature);
    return rc;
}

static int verify_receipt_file(struct verifying *v, const char *bytes, size_t count)
{
    struct text t = {0};
    struct client_board board;
    v->faults += verify_receipt(bytes, count, v->key_id, &board, &t);
    print_text(v, &t);
    return v->faults == 0 ? check_log_of(v, &board, bytes, count) : 0;
}

// A payload with FILE.sig next to it, an envelope that holds both, or a receipt.
static int verify_file(struct verifying *v, const char *path)
{
    char *bytes, *payload, *receipt;
    size_t count;
    TRY(file_read(path, FILE_LIMIT, &bytes, &count));
    const struct evidence e = {.key_id = v->key_id, .now_ms = clock_unix_ms()};
    const bool envelope = client_member(bytes, count, "payload", &payload) == 0;
    const bool answer = client_member(bytes, count, "receipt", &receipt) == 0;
    free(payload);
    free(receipt);
    int rc = envelope ? verify_envelope(v, bytes, count, path, e)
             : answer ? verify_receipt_file(v, bytes, count)
                      : verify_pair(v, bytes, count, path, e);
    free(bytes);
    return rc;
}

static bool is_digest(const char *name)
{
    return strlen(name) == DIGEST_HEX - 1;
}

// The ticket of a run, and the board's word about its clock. `answer`: of GET /api/v1/statements/NAME.
static void check_ticket(struct verifying *v, const struct client_board *board, const char *envelope, const struct text *answer)
{
    char *payload = NULL;
    struct statement s = {0};
    struct text t = {0};
    json_t *value = json_loadb(answer->at, answer->length, JSON_REJECT_DUPLICATES, NULL);
    const struct verify_numbers numbers = {canonical_int(value, "state.ticket"), canonical_int(value, "state.vouched_by")};
    if (client_member(envelope, strlen(envelope), "payload", &payload) == 0 && statement_read(payload, strlen(payload), &s) == 0)
        v->faults += verify_ticket(v->client, board, &s, &numbers, clock_unix_ms(), &t);
    print_text(v, &t);
    statement_free(&s);
    json_decref(value);
    free(payload);
}

static int verify_at(struct verifying *v, const char *name)
{
    struct client *c = v->client;
    struct client_board board;
    struct text statement = {0}, receipt = {0};
    char *envelope = NULL;
    int rc = client_board(c, &board);
    if (rc == 0) rc = delivery_part(c, name, "", &statement);
    if (rc == 0 && client_object(statement.at, statement.length, "envelope", &envelope) < 0)
        rc = fail(ERR_NETWORK, "the statement %s of %s has no envelope", name, client_address(c));
    if (rc == 0) rc = delivery_part(c, name, "receipt", &receipt);
    const struct evidence e = {.receipt = receipt.at, .receipt_count = receipt.length, .board = &board, .key_id = v->key_id,
                               .sequence = is_digest(name) ? 0 : strtoll(name, NULL, 10),
                               .digest = is_digest(name) ? name : NULL, .now_ms = clock_unix_ms()};
    if (rc == 0) rc = verify_envelope(v, envelope, strlen(envelope), name, e);
    if (rc == 0) rc = check_log_of(v, &board, receipt.at, receipt.length);
    if (rc == 0 && v->faults == 0) check_ticket(v, &board, envelope, &statement);
    if (rc == 0) {
        struct text state = {0};
        verify_state(statement.at, statement.length, &state);
        print_text(v, &state);
    }
    text_free(&statement);
    text_free(&receipt);
    free(envelope);
    return rc;
}

static int verify_url(struct verifying *v, const char *url)
{
    char *base = NULL, name[DELIVERY_NAME];
    TRY(delivery_address(url, &base, name));
    int rc = client_open(base, &sending_options, &v->client);
    free(base);
    TRY(rc);
    rc = verify_at(v, name);
    client_close(v->client);
    return rc;
}

static int verify_path(struct verifying *v, const char *path)
{
    char *base, name[DELIVERY_NAME];
    if (!delivery_is_copy(path, &base, name)) return verify_file(v, path);
    int rc = client_open_copy(base, &v->client);
    free(base);
    TRY(rc);
    rc = verify_at(v, name);
    client_close(v->client);
    return rc;
}

// The fingerprint of the requested key. A fingerprint is returned unchanged.
static int find_key(const char *wanted, char id[SSHKEY_ID])
{
    struct keyring_key found;
    size_t count;
    char *bytes;
    if (sshkey_is_id(wanted)) {
        snprintf(id, SSHKEY_ID, "%s", wanted);
        return 0;
    }
    if (strncmp(wanted, "ssh-ed25519 ", 12) == 0 || strncmp(wanted, "sk-ssh-ed25519@", 15) == 0) {
        TRY(sshkey_read_line(wanted, strlen(wanted), &found.key));
        sshkey_id(&found.key, id);
        return 0;
    }
    int rc = ERR_MISSING;
    if (file_exists(wanted)) {
        TRY(file_read(wanted, 1 << 16, &bytes, &count));
        rc = sshkey_read_line(bytes, count, &found.key);
        free(bytes);
    }
    if (rc < 0) TRY(keyring_find(wanted, &found));
    sshkey_id(&found.key, id);
    return 0;
}

int cmd_verify(int argc, char **argv)
{
    const char *wanted = NULL, *witness = NULL;
    struct verifying v = {0};
    const struct option options[] = {
        {OPTION_TEXT, 0, "key", "KEY", "who must have signed: a fingerprint, a .pub file, or as \"dawn keys\" names it",
         &wanted, 0, 0},
        {OPTION_TEXT, 0, "witness", "KEY", "who must have cosigned the board's log: NAME+NUMBER+KEY, as a witness publishes it",
         &witness, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &v.as_json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "verify",
        .operands = "FILE|URL [OPTIONS]",
        .about = "Checks a signed statement: its signature, its bytes, the hash chain of its points, every check, "
                 "the receipt of its scoreboard, and its place in the board's log. Remembers the log's state, and checks next "
                 "time that the log only grew.\n\n"
                 "FILE is a statement next to its FILE.sig, an envelope, or a receipt; URL is the page of a run. Either may be "
                 "in a static copy of a board.",
        .options = options,
        .more = "Examples:\n"
                "  dawn verify signed/run-3.json --key ada.pub\n"
                "  dawn verify https://board.example/runs/12",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 2) return fail(ERR_USAGE, "verify takes one file or address; \"dawn verify -h\" shows them");
    char id[SSHKEY_ID];
    if (wanted != NULL) TRY(find_key(wanted, id));
    if (wanted != NULL) v.key_id = id;
    if (witness != NULL) TRY(note_read_witness(witness, &v.witness));
    v.witnessed = witness != NULL;
    rc = strstr(argv[1], "://") != NULL ? verify_url(&v, argv[1]) : verify_path(&v, argv[1]);
    if (rc == 0 && v.faults == 0 && v.witnessed && !v.log_checked)
        rc = fail(ERR_USAGE, "%.200s shows no log, and a witness cosigns nothing else: --witness needs a run's page", argv[1]);
    if (v.as_json) rc = print_json(&v, rc);
    text_free(&v.said);
    if (rc != 0 || v.faults == 0) return rc;
    return fail(ERR_INPUT, "%d check%s of this statement failed", v.faults, v.faults == 1 ? "" : "s");
}

// SPDX-License-Identifier: Apache-2.0
// dawn verify: collects a statement's evidence from files or from a scoreboard and reports which items hold. "ssh-keygen -Y
// verify" checks the same signature. Cost: three requests for an address, none for a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/cli/options.h"
#include "submit/cmd_sending.h"
#include "submit/commands.h"
#include "submit/client/deliver.h"
#include "submit/keys/keyring.h"
#include "submit/client/verify.h"

enum { FILE_LIMIT = 4 << 20 };

static int report(const struct evidence *e)
{
    struct text t = {0};
    int faults = verify(e, &t);
    if (t.at != NULL) fputs(t.at, stdout);
    text_free(&t);
    if (faults == 0) return 0;
    return fail(ERR_INPUT, "%d check%s of this statement failed", faults, faults == 1 ? " is" : "s are");
}

static int verify_envelope(const char *bytes, size_t count, const char *from, struct evidence e)
{
    char *payload = NULL, *signature = NULL;
    int rc = client_member(bytes, count, "payload", &payload);
    if (rc == 0) rc = client_member(bytes, count, "signature", &signature);
    if (rc < 0) rc = fail(ERR_INPUT, "the envelope of %s lacks a payload or a signature", from);
    else {
        e.envelope = bytes, e.envelope_count = count;
        e.payload = payload, e.payload_count = strlen(payload);
        e.signature = signature, e.signature_count = strlen(signature);
        rc = report(&e);
    }
    free(payload);
    free(signature);
    return rc;
}

static int verify_pair(const char *payload, size_t count, const char *path, struct evidence e)
{
    struct text beside = {0};
    char *signature = NULL;
    int rc;
    text_add(&beside, "%s.sig", path);
    if (!file_exists(beside.at)) rc = fail(ERR_MISSING, "the signature of %s is missing: it should be %s", path, beside.at);
    else rc = file_read(beside.at, FILE_LIMIT, &signature, &e.signature_count);
    e.payload = payload, e.payload_count = count, e.signature = signature;
    if (rc == 0) rc = report(&e);
    text_free(&beside);
    free(signature);
    return rc;
}

// A payload with FILE.sig beside it, or an envelope that holds both.
static int verify_file(const char *path, const char *key_id)
{
    char *bytes, *payload;
    size_t count;
    TRY(file_read(path, FILE_LIMIT, &bytes, &count));
    const struct evidence e = {.key_id = key_id};
    bool envelope = client_member(bytes, count, "payload", &payload) == 0;
    free(payload);
    int rc = envelope ? verify_envelope(bytes, count, path, e) : verify_pair(bytes, count, path, e);
    free(bytes);
    return rc;
}

static bool is_digest(const char *name)
{
    return strlen(name) == DIGEST_HEX - 1;
}

static int verify_at(struct client *c, const char *name, const char *key_id)
{
    struct client_board board;
    struct text statement = {0}, receipt = {0};
    char *envelope = NULL;
    int rc = client_board(c, &board);
    if (rc == 0) rc = delivery_part(c, name, "", &statement);
    if (rc == 0 && client_object(statement.at, statement.length, "envelope", &envelope) < 0)
        rc = fail(ERR_NETWORK, "the statement %s of %s has no envelope", name, client_address(c));
    if (rc == 0) rc = delivery_part(c, name, "receipt", &receipt);
    const struct evidence e = {.receipt = receipt.at, .receipt_count = receipt.length, .board = &board, .key_id = key_id,
                               .sequence = is_digest(name) ? 0 : strtoll(name, NULL, 10),
                               .digest = is_digest(name) ? name : NULL, .now_ms = clock_unix_ms()};
    if (rc == 0) {
        struct text state = {0};
        rc = verify_envelope(envelope, strlen(envelope), name, e);
        verify_state(statement.at, statement.length, &state);
        if (state.at != NULL) fputs(state.at, stdout);
        text_free(&state);
    }
    text_free(&statement);
    text_free(&receipt);
    free(envelope);
    return rc;
}

static int verify_url(const char *url, const char *key_id)
{
    char *base = NULL, name[DELIVERY_NAME];
    struct client *c;
    TRY(delivery_address(url, &base, name));
    int rc = client_open(base, &sending_options, &c);
    free(base);
    TRY(rc);
    rc = verify_at(c, name, key_id);
    client_close(c);
    return rc;
}

// The fingerprint of the wanted key. A fingerprint is returned unchanged.
static int find_key(const char *wanted, char id[SSHKEY_ID])
{
    struct keyring_key found;
    size_t count;
    char *bytes;
    if (sshkey_is_id(wanted)) {
        snprintf(id, SSHKEY_ID, "%s", wanted);
        return 0;
    }
    if (strncmp(wanted, "ssh-ed25519 ", 12) == 0) {
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
    const char *wanted = NULL;
    const struct option options[] = {
        {OPTION_TEXT, 0, "key", "KEY", "who must have signed: a fingerprint, a .pub file, or as \"dawn keys\" names it",
         &wanted, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "verify",
        .operands = "FILE|URL [OPTIONS]",
        .about = "Checks a signed statement: its signature, its bytes, the hash chain of its points, every check, "
                 "and the receipt of its scoreboard.\n\n"
                 "FILE is a statement next to its FILE.sig, or an envelope; URL is the page of a run.",
        .options = options,
        .more = "Examples:\n"
                "  dawn verify signed/run-3.json --key ada.pub\n"
                "  dawn verify https://board.example/runs/12",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc != 2) return fail(ERR_USAGE, "verify takes one file or address; dawn verify -h shows them");
    char id[SSHKEY_ID];
    if (wanted != NULL) TRY(find_key(wanted, id));
    const char *asked = wanted != NULL ? id : NULL;
    return strstr(argv[1], "://") != NULL ? verify_url(argv[1], asked) : verify_file(argv[1], asked);
}

// SPDX-License-Identifier: Apache-2.0
// The common part of dawn submit, withdraw and amend. Invariant: nothing is published before the user has agreed. Cost: the
// network's.
#include "submit/cmd_sending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/file.h"
#include "runtime/common/cli/program.h"

static void say_waiting(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "%s\n", sentence);
}

static void say_still_waiting(void *context, const char *address, bool still)
{
    (void)context;
    bool fits = (int)strlen(address) <= program_columns(STDERR_FILENO) - (int)strlen("waiting for  ... ");
    if (!still) program_status_end();
    else if (fits) program_status("waiting for %s", address);
    else program_status("waiting");
}

const struct client_options sending_options = {.note = say_waiting, .waiting = say_still_waiting};

const char *sending_server(const struct sending *s)
{
    if (s->server != NULL) return s->server;
    const char *server = getenv("DAWN_SERVER");
    return server != NULL && *server != 0 ? server : NULL;
}

static int check_board(const struct sending *s)
{
    if (s->board == NULL || strcmp(s->board, s->about.name) == 0) return 0;
    return fail(ERR_USAGE, "%s is the board %s, not %.63s", client_address(s->client), s->about.name, s->board);
}

int sending_open(struct sending *s)
{
    const char *server = sending_server(s);
    if (server == NULL) return fail(ERR_USAGE, "no scoreboard is named: give --server https://..., or set DAWN_SERVER");
    TRY(client_open(server, &sending_options, &s->client));
    int rc = client_board(s->client, &s->about);
    if (rc == 0) rc = check_board(s);
    sshkey_id(&s->about.key, s->about_key);
    if (rc == 0) rc = keyring_choose(s->key, &s->signer);
    if (rc < 0) {
        client_close(s->client);
        s->client = NULL;
    }
    return rc;
}

int sending_record(const char *path, enum results_mode mode, struct results **r)
{
    return results_open(path, file_exists(results_path(path)) ? mode : RESULTS_READ, r);
}

// A server can repeat the name and the key of another board and forward statements signed for it.
static int warn_of_address(const struct sending *s, struct results *r)
{
    json_t *row;
    TRY(receipts_other_address(r, client_address(s->client), s->about_key, &row));
    if (row != NULL) {
        struct text t = {0};
        client_tame(&t, record_text(row, "server"), 200);
        fprintf(stderr, "the key of the board %s is known from %s, and is now at %s: what you sign counts for the board with "
                "that key\n", s->about.name, t.at, client_address(s->client));
        text_free(&t);
    }
    json_decref(row);
    return 0;
}

int sending_compare(const struct sending *s, struct results *r)
{
    json_t *row;
    if (r == NULL) {
        fprintf(stderr, "without a results.db with receipts, %s cannot be compared with earlier addresses of the board %s\n",
                client_address(s->client), s->about.name);
        return 0;
    }
    TRY(warn_of_address(s, r));
    TRY(receipts_other_key(r, s->about.name, client_address(s->client), s->about_key, &row));
    if (row != NULL) {
        struct text t = {0};
        text_add(&t, "the board ");
        client_tame(&t, record_text(row, "board"), 64);
        text_add(&t, " at ");
        client_tame(&t, record_text(row, "server"), 200);
        text_add(&t, " has been known by another key, ");
        client_tame(&t, record_text(row, "server_key"), SSHKEY_ID);
        fprintf(stderr, "%s: this is another board, or one that was set up again; receipts by that key do not count here\n",
                t.at);
        text_free(&t);
    }
    json_decref(row);
    return 0;
}

int sending_address(struct sending *s, const char *address)
{
    TRY(delivery_address(address, &s->base, s->named));
    if (s->server != NULL) return fail(ERR_USAGE, "the address names the board already: leave out --server");
    s->server = s->base;
    return 0;
}

void sending_close(struct sending *s)
{
    client_close(s->client);
    free(s->base);
    s->client = NULL;
    s->base = NULL;
}

int sending_ask(const struct sending *s, const char *question)
{
    char line[64] = "";
    if (*s->signer.key.application) fprintf(stderr, "the key is in hardware: touch it when it blinks\n");
    if (s->yes) return 0;
    if (!isatty(STDIN_FILENO))
        return fail(ERR_USAGE, "nothing was sent: there is no terminal for the question; --yes agrees without it");
    printf("\n%s [y/N] ", question);
    program_flush();
    if (fgets(line, sizeof line, stdin) == NULL) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 || strcmp(line, "yes") == 0) return 0;
    return fail(ERR_INTERRUPTED, "nothing was sent");
}

void sending_note(struct sending *s, const char *name, const struct statement *statement, const struct delivery *d, int rc)
{
    const char *state = rc < 0 ? d->refused ? "refused" : "failed" : d->again ? "known" : "accepted";
    struct text tame = {0};
    if (s->sent == NULL) return;
    json_t *row = json_pack("{ss ss}", "state", state, "statement", statement->digest);
    if (rc == 0) json_object_set_new(row, "sequence", json_integer(d->receipt.sequence));
    if (rc == 0 && statement->type != STATEMENT_COMMIT)
        json_object_set_new(row, "page", json_sprintf("%s/runs/%lld", client_address(s->client), (long long)d->receipt.sequence));
    if (rc < 0) client_tame(&tame, error_text(), ERROR_TEXT_MAX), json_object_set_new(row, "error", json_string(tame.at));
    json_object_set_new(s->sent, name, row);
    text_free(&tame);
}

int sending_send(struct sending *s, struct results *r, int64_t run, const char *name, const struct statement *statement)
{
    struct delivery d;
    struct text checks = {0};
    int rc = deliver(s->client, &s->about, &s->signer, statement, &d, &checks);
    if (checks.at != NULL) fputs(checks.at, stdout);
    text_free(&checks);
    s->refused = d.refused;
    sending_note(s, name, statement, &d, rc);
    TRY(rc);
    char page[DELIVERY_NAME];
    snprintf(page, sizeof page, "%lld", (long long)d.receipt.sequence);
    printf("%s: %s #%lld on %s, %s/runs/%s\n", name, d.again ? "already submitted as" : "accepted as",
           (long long)d.receipt.sequence, d.receipt.board, client_address(s->client), *s->about_run ? s->about_run : page);
    program_flush();
    if (run != 0) rc = delivery_keep(r, run, s->client, statement, &d);
    delivery_free(&d);
    return rc;
}

int sending_recover(struct sending *s, struct results *r, int64_t run, const char *name, const struct statement *statement)
{
    char digest[DIGEST_HEX], why[ERROR_TEXT_MAX];
    struct statement old;
    struct delivery d;
    snprintf(why, sizeof why, "%s", error_text());
    if (!client_conflict(why, digest) || strcmp(digest, canonical_text(statement->json, "supersedes")) == 0 ||
        delivery_fetch(s->client, &s->about, &s->signer.key, digest, &old, &d) < 0)
        return fail(ERR_INPUT, "%s", why);
    const char *nonce = canonical_text(statement->json, "nonce");
    bool same = old.type == STATEMENT_RUN && strcmp(canonical_text(old.json, "nonce"), nonce) == 0;
    int rc = same ? delivery_keep(r, run, s->client, &old, &d) : fail(ERR_INPUT, "%s", why);
    if (rc == 0) {
        printf("%s: #%lld on %s arrived earlier; its receipt is kept\n", name,
               (long long)d.receipt.sequence, d.receipt.board);
        d.again = true;
        sending_note(s, name, &old, &d, rc);
    }
    delivery_free(&d);
    statement_free(&old);
    return rc;
}

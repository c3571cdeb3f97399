// SPDX-License-Identifier: Apache-2.0
// Invariant: no digest leaves this machine before its statement is in results.db, and only a refusal by the board removes it
// again. So a commitment can be interrupted anywhere and repeated. Cost: five requests, then one per run.
#include "submit/cmd_competing.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/format/fields.h"
#include "submit/keys/handle.h"
#include "submit/results/commitments.h"

// ---- the competition
static int ask_for_digest(struct client *c, const char *name, char digest[DIGEST_HEX])
{
    struct text path = {0}, answer = {0};
    char *about = NULL, *word = NULL;
    text_add(&path, "/api/v1/competitions/%s", name);
    int rc = client_get(c, path.at, &answer);
    if (rc == ERR_MISSING) rc = fail(ERR_INPUT, "%s has no competition \"%s\"", client_address(c), name);
    if (rc == 0) rc = client_object(answer.at != NULL ? answer.at : "", answer.length, "competition", &about);
    if (rc == 0) rc = client_member(about, strlen(about), "statement", &word);
    if (rc == 0 && !digest_is_hex(word)) rc = fail(ERR_NETWORK, "%s%s names no statement", client_address(c), path.at);
    if (rc == 0) snprintf(digest, DIGEST_HEX, "%s", word);
    free(word);
    free(about);
    text_free(&path);
    text_free(&answer);
    return rc;
}

// The dates come from the signed statement, not from the board's answer.
static int fetch(struct sending *s, const char *name, struct competing *c)
{
    char digest[DIGEST_HEX];
    struct delivery d;
    TRY(fields_check_typed("the competition's name", statement_fields[STATEMENT_COMPETITION], "name", name));
    TRY(ask_for_digest(s->client, name, digest));
    TRY(delivery_fetch(s->client, &s->about, &s->about.key, digest, &c->statement, &d));
    delivery_free(&d);
    const json_t *json = c->statement.json;
    if (c->statement.type != STATEMENT_COMPETITION || strcasecmp(canonical_text(json, "name"), name) != 0)
        return fail(ERR_NETWORK, "%s names statement %.12s as the competition \"%s\", which it is not",
                    client_address(s->client), digest, name);
    c->name = canonical_text(json, "name");
    c->group = strcmp(canonical_text(json, "rank"), "group") == 0;
    c->commits_until_ms = canonical_int(json, "commits_until_ms");
    c->reveals_until_ms = canonical_int(json, "reveals_until_ms");
    return 0;
}

int competing_open(struct sending *s, struct results *r, const char *name, struct competing *c)
{
    unsigned char bytes[16];
    *c = (struct competing){0};
    TRY(fetch(s, name, c));
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(c->salt, sizeof c->salt, bytes, sizeof bytes);
    return commitments_read(r, c->statement.digest, &c->rows);
}

void competing_close(struct competing *c)
{
    statement_free(&c->statement);
    json_decref(c->rows);
    *c = (struct competing){0};
}

bool competing_has_rows(const struct competing *c)
{
    return json_array_size(c->rows) > 0;
}

static bool is_accepted(const struct competing *c)
{
    return record_has(json_array_get(c->rows, 0), "sequence");
}

static void name_runs(const struct competing *c)
{
    const size_t count = json_array_size(c->rows);
    printf("The commitment in the record has run%s", count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++)
        printf("%s %lld", i > 0 ? "," : "", (long long)record_int(json_array_get(c->rows, i), "run"));
    printf(".\n");
}

void competing_describe(const struct competing *c)
{
    char commits[TEXT_FIGURE], reveals[TEXT_FIGURE];
    text_moment(commits, c->commits_until_ms);
    text_moment(reveals, c->reveals_until_ms);
    if (is_accepted(c))
        printf("Committed to the competition %s as #%lld. It takes the runs from %s until %s.\n", c->name,
               (long long)record_int(json_array_get(c->rows, 0), "sequence"), commits, reveals);
    else
        printf("The competition %s takes commitments until %s, and the runs from then until %s.\n"
               "A commitment is final and public; its runs are sent after it.\n", c->name, commits, reveals);
    if (competing_has_rows(c)) name_runs(c);
}

static bool may_enter(const json_t *competition, const struct submissions *all, int64_t now_ms)
{
    if (canonical_int(competition, "cancelled_by") != 0 || now_ms < canonical_int(competition, "begins_ms") ||
        now_ms >= canonical_int(competition, "commits_until_ms")) return false;
    for (int i = 0; i < all->count; i++)
        if (!all->at[i].nothing_new && all->at[i].statement.type == STATEMENT_RUN &&
            strcmp(canonical_text(all->at[i].statement.json, "task"), canonical_text(competition, "task")) == 0) return true;
    return false;
}

void competing_warn(struct client *client, const struct submissions *all, struct text *t)
{
    struct text answer = {0};
    json_t *value = NULL;
    const json_t *one;
    size_t i;
    if (client_get(client, "/api/v1/competitions", &answer) == 0 && answer.at != NULL && answer.length <= CLIENT_REPLY_MAX)
        value = json_loadb(answer.at, answer.length, JSON_REJECT_DUPLICATES, NULL);
    json_array_foreach(canonical_at(value, "competitions"), i, one)
    {
        struct text name = {0};
        if (!may_enter(one, all, clock_unix_ms())) continue;
        client_tame(&name, canonical_text(one, "name"), HANDLE_MAX);
        text_entry(t, "note", "the competition %s takes commitments now. This publishes the runs at once, and a published run "
                   "cannot enter it; --competition enters one", name.at != NULL ? name.at : "");
        text_free(&name);
    }
    json_decref(value);
    text_free(&answer);
}

int competing_check(const struct competing *c, const struct submissions *all, const char *board)
{
    for (int i = 0; i < all->count; i++) {
        const struct submission *s = &all->at[i];
        struct findings f;
        if (s->last != NULL || s->withdrawn != NULL)
            return fail(ERR_USAGE, "run %lld has been submitted to %s; only runs that nobody has seen enter a competition",
                        (long long)s->run, board);
        check_statement(&s->statement, c->reveals_until_ms, &f);
        for (int n = 0; n < f.count && n < FINDINGS_MAX; n++)
            if (f.at[n].check == CHECK_CLIENT_TIME)
                return fail(ERR_INPUT, "run %lld cannot be sent any more at the end of the competition: %s", (long long)s->run,
                            f.at[n].text);
    }
    return 0;
}

// ---- committing
static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int make_commit(const struct sending *s, const struct competing *c, struct statement *statement)
{
    const size_t count = json_array_size(c->rows);
    const char **digests = zalloc((count + 1) * sizeof *digests);
    json_t *runs = json_array();
    for (size_t i = 0; i < count; i++) digests[i] = record_text(json_array_get(c->rows, i), "statement");
    qsort(digests, count, sizeof *digests, compare_words);
    for (size_t i = 0; i < count; i++) json_array_append_new(runs, json_pack("{s:s}", "statement", digests[i]));
    free(digests);
    const json_t *first = json_array_get(c->rows, 0);
    return statement_make(json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:o, s:I}", "type", "commit", "version", 1, "board",
                                    s->about.name, "board_key", s->about_key, "handle", record_text(first, "handle"),
                                    "competition", c->statement.digest, "runs", runs, "made_ms",
                                    (json_int_t)record_int(first, "made_ms")), statement);
}

static int keep_receipt(struct results *r, const struct competing *c, const struct delivery *d)
{
    char reveals[TEXT_FIGURE], commits[TEXT_FIGURE];
    TRY(commitments_accept(r, c->statement.digest, d->receipt.sequence, d->bytes, d->signature));
    printf("committed to %s as #%lld on %s\nThe same command sends the runs from %s until %s.\n", c->name,
           (long long)d->receipt.sequence, d->receipt.board, text_moment(commits, c->commits_until_ms),
           text_moment(reveals, c->reveals_until_ms));
    return 0;
}

static int send_commit(struct sending *s, struct results *r, const struct competing *c)
{
    struct statement statement;
    struct delivery d;
    struct text checks = {0};
    TRY(make_commit(s, c, &statement));
    int rc = deliver(s->client, &s->about, &s->signer, &statement, &d, &checks);
    if (checks.at != NULL) fputs(checks.at, stdout);
    text_free(&checks);
    sending_note(s, "commitment", &statement, &d, rc);
    statement_free(&statement);
    const bool refused = d.refused;
    if (rc == 0) rc = keep_receipt(r, c, &d);
    delivery_free(&d);
    if (rc == 0 || !refused) return rc;
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    TRY(commitments_drop(r, c->statement.digest));
    return fail(rc, "%s", why);
}

int competing_commit(struct sending *s, struct results *r, struct competing *c, const struct submissions *all, const char *handle)
{
    const int64_t now_ms = clock_unix_ms();
    struct commitment *rows = zalloc((size_t)(all->count + 1) * sizeof *rows);
    for (int i = 0; i < all->count; i++)
        rows[i] = (struct commitment){.run = all->at[i].run, .competition = c->statement.digest, .name = c->name,
                                      .board = s->about.name, .server_key = s->about_key, .handle = handle,
                                      .statement = all->at[i].statement.digest, .payload = all->at[i].statement.payload,
                                      .made_ms = now_ms};
    int rc = commitments_add(r, rows, all->count);
    free(rows);
    json_decref(c->rows);
    c->rows = NULL;
    if (rc == 0) rc = commitments_read(r, c->statement.digest, &c->rows);
    return rc == 0 ? send_commit(s, r, c) : rc;
}

// ---- the runs
// A payload that was changed since has another digest, and the board did not hear of that one.
static int send_row(struct sending *s, struct results *r, const json_t *row, bool *there)
{
    struct statement statement;
    char name[32];
    const char *payload = record_text(row, "payload"), *digest = record_text(row, "statement");
    json_t *receipt;
    s->refused = false;
    TRY(receipts_find(r, s->about.name, s->about_key, digest, &receipt));
    *there = receipt != NULL;
    json_decref(receipt);
    if (*there) return 0;
    snprintf(name, sizeof name, "run %lld", (long long)record_int(row, "run"));
    TRY(statement_read(payload, strlen(payload), &statement));
    int rc = strcmp(statement.digest, digest) == 0 ? sending_send(s, r, record_int(row, "run"), name, &statement)
             : fail(ERR_INPUT, "%s has been changed in the record since its commitment", name);
    statement_free(&statement);
    return rc;
}

static int send_runs(struct sending *s, struct results *r, const struct competing *c)
{
    json_t *row;
    size_t i;
    int refused = 0, known = 0;
    json_array_foreach(c->rows, i, row)
    {
        bool there;
        int rc = send_row(s, r, row, &there);
        known += rc == 0 && there;
        if (rc == ERR_INPUT && s->refused) {
            printf("run %lld: refused: %s\n", (long long)record_int(row, "run"), error_text());
            refused++;
            continue;
        }
        TRY(rc);
    }
    const int count = (int)json_array_size(c->rows);
    if (refused > 0) return fail(ERR_INPUT, "%d of %d runs were refused by the server", refused, count);
    if (known == count) printf("Nothing is new: %s has all runs of the commitment.\n", s->about.name);
    return 0;
}

int competing_go_on(struct sending *s, struct results *r, struct competing *c)
{
    return is_accepted(c) ? send_runs(s, r, c) : send_commit(s, r, c);
}

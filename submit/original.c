// SPDX-License-Identifier: Apache-2.0
// Invariant: the figures of a run that is given back follow from each other and from its hashes; what a board says was signed as
// `dawn verify` finds it. Only the scores of its group are the board's word. Cost: a reading of a run, or five requests.
#include "submit/original.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "submit/client/deliver.h"
#include "submit/client/verify.h"
#include "submit/cmd_sending.h"
#include "submit/format/check/check.h"
#include "submit/payload.h"
#include "submit/results/stated.h"

enum { FILE_LIMIT = 4 << 20 };

// ---- of a record

static int read_group(struct results *r, const json_t *record, struct original *o)
{
    json_t *runs;
    if (!record_has(record, "group_id")) return 0;
    TRY(record_group(r, record_int(record, "group_id"), &runs, &o->group));
    json_decref(runs);
    return 0;
}

static int state(const json_t *record, struct original *o)
{
    TRY(record_chain(record));
    o->run = stated_run(record);
    return 0;
}

static int open_record(const char *word, const char *db, struct original *o)
{
    struct results *r;
    json_t *record = NULL;
    int64_t id = 0;
    TRY(results_open(db, RESULTS_READ, &r));
    int rc = record_find(r, word, &id);
    if (rc == 0) rc = record_read(r, id, &record);
    if (rc == 0) {
        text_add(&o->name, "run %lld of %s", (long long)id, result_file(r));
        rc = state(record, o);
        if (rc < 0) rc = fail_prefix(rc, "%s cannot be repeated: ", o->name.at);
    }
    if (rc == 0) rc = read_group(r, record, o);
    json_decref(record);
    results_close(r);
    return rc;
}

// ---- of a statement

static int take_statement(const char *payload, size_t count, struct original *o)
{
    struct statement s;
    struct findings f;
    TRY(statement_read(payload, count, &s));
    int rc = s.type == STATEMENT_RUN ? 0 : fail(ERR_INPUT, "it is a statement of type %s", statement_type_name(s.type));
    if (rc == 0) {
        check_statement(&s, canonical_int(s.json, "ended_ms"), &f);
        for (int i = 0; i < f.count && i < FINDINGS_MAX && rc == 0; i++)
            if (check_level(f.at[i].check) == CHECK_REJECT)
                rc = fail(ERR_INPUT, "the check %s fails: %s", check_code(f.at[i].check), f.at[i].text);
    }
    if (rc == 0) o->run = json_incref(s.json);
    statement_free(&s);
    return rc;
}

static int open_file(const char *path, struct original *o)
{
    char *bytes, *payload = NULL;
    size_t count;
    TRY(file_read(path, FILE_LIMIT, &bytes, &count));
    text_add(&o->name, "%s", path);
    bool envelope = client_member(bytes, count, "payload", &payload) == 0;
    int rc = envelope ? take_statement(payload, strlen(payload), o) : take_statement(bytes, count, o);
    free(payload);
    free(bytes);
    return rc < 0 ? fail_prefix(rc, "%s cannot be repeated: ", path) : 0;
}

// ---- of a scoreboard

int original_group(const char *answer, size_t count, struct group_facts *facts)
{
    *facts = (struct group_facts){0};
    json_t *value = count <= CLIENT_REPLY_MAX ? json_loadb(answer, count, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *verdict = json_object_get(value, "verdict"), *scores = json_object_get(verdict, "accuracy");
    json_int_t finished = json_integer_value(json_object_get(verdict, "finished"));
    double mean = json_number_value(json_object_get(scores, "mean")), sigma = json_number_value(json_object_get(scores, "sigma"));
    bool good = json_is_object(verdict) && finished >= 0 && finished <= 1000 && isfinite(mean) && isfinite(sigma) && sigma >= 0;
    json_decref(value);
    if (!good) return fail(ERR_NETWORK, "the scoreboard's answer about the group cannot be read");
    facts->finished = (int)finished;
    facts->accuracy = (struct group_mean){.mean = mean, .sigma = sigma, .low = mean, .high = mean};
    return 0;
}

static int fetch_group(struct client *c, struct original *o)
{
    struct text answer = {0}, path = {0};
    const char *nonce = canonical_text(o->run, "group.nonce");
    if (*nonce == 0) return 0;
    text_add(&path, "/api/v1/groups/%s", nonce);
    int rc = client_get(c, path.at, &answer);
    if (rc == 0) rc = original_group(answer.at != NULL ? answer.at : "", answer.length, &o->group);
    text_free(&answer);
    text_free(&path);
    return rc;
}

// Fetches a statement from a board, and checks that it is the requested one.
struct answers {
    struct client_board board;
    struct text payload, signature, receipt;
};

static int check_signed(const char *url, const char *name, const struct answers *a)
{
    struct text report = {0};
    const bool digest = strlen(name) == DIGEST_HEX - 1;
    const struct evidence e = {.payload = a->payload.at, .payload_count = a->payload.length, .signature = a->signature.at,
                               .signature_count = a->signature.length, .receipt = a->receipt.at,
                               .receipt_count = a->receipt.length, .board = &a->board,
                               .sequence = digest ? 0 : strtoll(name, NULL, 10), .digest = digest ? name : NULL,
                               .now_ms = clock_unix_ms()};
    int faults = verify(&e, &report);
    text_free(&report);
    return faults == 0 ? 0 : fail(ERR_INPUT, "the statement does not hold: \"dawn verify %.200s\" says why", url);
}

static int fetch(struct client *c, const char *url, const char *name, struct original *o)
{
    struct answers a = {0};
    int rc = client_board(c, &a.board);  // first: it finds out whether this is a static copy
    if (rc == 0) rc = delivery_part(c, name, "payload", &a.payload);
    if (rc == 0) rc = delivery_part(c, name, "signature", &a.signature);
    if (rc == 0) rc = delivery_part(c, name, "receipt", &a.receipt);
    if (rc == 0) rc = check_signed(url, name, &a);
    if (rc == 0) rc = take_statement(a.payload.at, a.payload.length, o);
    if (rc == 0) rc = fetch_group(c, o);
    text_free(&a.payload);
    text_free(&a.signature);
    text_free(&a.receipt);
    return rc;
}

static int fetch_from(struct client *c, const char *word, const char *name, struct original *o)
{
    text_add(&o->name, "run %.12s of %s", name, client_address(c));
    int rc = fetch(c, word, name, o);
    client_close(c);
    return rc;
}

static int open_address(const char *url, struct original *o)
{
    char *base, name[DELIVERY_NAME];
    struct client *c;
    TRY(delivery_address(url, &base, name));
    int rc = client_open(base, &sending_options, &c);
    free(base);
    TRY(rc);
    return fetch_from(c, url, name, o);
}

// A file, or the page of a run in a static copy of a board.
static int open_path(const char *path, struct original *o)
{
    char *base, name[DELIVERY_NAME];
    struct client *c;
    if (!delivery_is_copy(path, &base, name)) return open_file(path, o);
    int rc = client_open_copy(base, &c);
    free(base);
    TRY(rc);
    return fetch_from(c, path, name, o);
}

// ---- checks that it can be repeated

static int check_repeatable(struct original *o)
{
    const json_t *points = json_object_get(o->run, "points");
    const char *status = canonical_text(o->run, "status"), *name = o->name.at;
    size_t count = json_array_size(points);
    if (strcmp(canonical_text(o->run, "evaluated_by"), "harness") != 0)
        return fail(ERR_USAGE, "%s was trained by another program, which dawn cannot start", name);
    if (strcmp(status, "done") != 0 && strcmp(status, "missed") != 0)
        return fail(ERR_USAGE, "%s did not finish: its status is %.20s", name, status);
    if (count == 0) return fail(ERR_USAGE, "%s has no points, so there is nothing to compare", name);
    o->head = canonical_text(json_array_get(points, count - 1), "hash");
    return 0;
}

int original_open(const char *word, const char *db, struct original *o)
{
    *o = (struct original){0};
    bool number = strcmp(word, "last") == 0 || (*word != 0 && word[strspn(word, "0123456789")] == 0);
    bool path = !number && (strchr(word, '/') != NULL || strstr(word, ".json") != NULL || file_exists(word));
    TRY(strstr(word, "://") != NULL ? open_address(word, o) : path ? open_path(word, o) : open_record(word, db, o));
    return check_repeatable(o);
}

void original_close(struct original *o)
{
    json_decref(o->run);
    text_free(&o->name);
    *o = (struct original){0};
}

// SPDX-License-Identifier: Apache-2.0
// Building a run's statement. Invariant: every figure is the record's own, or follows from it by cost.h; nothing is
// measured, asked of the system or taken from the moment. Cost: one reading of the run, some 10 to 500 KB.
#include "submit/payload.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "submit/format/check.h"
#include "submit/format/cost.h"
#include "submit/format/curve.h"
#include "submit/format/fields.h"
#include "submit/format/machine_list.h"
#include "tasks/train/recipe.h"

// The first five: submit/format/fields.c. The facts of a machine are nine texts of at most 160 bytes.
enum { POINTS_MAX = 4000, SEGMENTS_MAX = 4000, DATA_MAX = 8, LATENCIES_MAX = 32, PARTS_MAX = 64, TAGS_MAX = 8, FACTS_MAX = 16384,
       TEXT_MAX = 1 << 20, INFERENCE_ITEMS = 10000 };

_Static_assert((int)CHECK_PARTS_MAX >= (int)RECIPE_LIST_MAX, "the checks of pace can read every schedule of sides");

// A member of the statement and the column it comes from; NULL: of the same name.
struct source {
    const char *to, *from;
};
static const struct source run_sources[] = {
    {"task", NULL},      {"task_digest", NULL}, {"target_micro", NULL}, {"nonce", NULL},      {"status", NULL},
    {"seed", NULL},      {"precision", NULL},   {"device", NULL},       {"threads", NULL},    {"batch", NULL},
    {"views", NULL},     {"input_size", NULL},  {"stop_at_target", NULL}, {"synthetic", NULL}, {"official", NULL},
    {"started_ms", NULL}, {"chain_root", NULL}, {"peak_memory_bytes", NULL}, {"energy_uj", NULL}, {NULL, NULL},
};
static const struct source model_sources[] = {
    {"name", "model"}, {"parameters", NULL}, {"flops_per_sample", NULL}, {"weights_digest", NULL}, {NULL, NULL},
};
// A run whose chain is of version 1 becomes a statement of version 1, or its hashes would not hold.
static const struct source reached_sources[2][9] = {
    {{"epoch", "reached_step"}, {"t_ns", "reached_ns"}, {"classic_ns", "reached_classic_ns"}, {"warm_ns", "reached_warm_ns"},
     {"warm_with_evaluation_ns", "reached_warm_with_evaluation_ns"}, {"samples", "reached_samples"}, {NULL, NULL}},
    {{"step", "reached_step"}, {"epoch_micro", "reached_epoch_micro"}, {"t_ns", "reached_ns"},
     {"classic_ns", "reached_classic_ns"}, {"warm_ns", "reached_warm_ns"},
     {"warm_with_evaluation_ns", "reached_warm_with_evaluation_ns"}, {"samples", "reached_samples"}, {NULL, NULL}},
};
static const struct source point_sources[2][13] = {
    {{"epoch", "step"}, {"t_ns", NULL}, {"classic_ns", NULL}, {"warm_ns", NULL}, {"warm_with_evaluation_ns", NULL},
     {"samples", NULL}, {"loss", "loss_micro"}, {"hash", NULL}, {NULL, NULL}},
    {{"step", NULL}, {"epoch_micro", NULL}, {"t_ns", NULL}, {"classic_ns", NULL}, {"warm_ns", NULL},
     {"warm_with_evaluation_ns", NULL}, {"samples", NULL}, {"stall_ns", NULL}, {"scores", NULL}, {"loss", "loss_micro"},
     {"hash", NULL}, {NULL, NULL}},
};
static const struct source metric_sources[] = {
    {"name", NULL}, {"unit", NULL}, {"lower_is_better", NULL}, {"items", NULL}, {NULL, NULL},
};
static const struct source part_sources[] = {{"samples", NULL}, {"flops_per_sample", NULL}, {NULL, NULL}};
static const struct source segment_sources[] = {{"segment", NULL}, {"start_ns", NULL}, {"end_ns", NULL}, {NULL, NULL}};
static const struct source data_sources[] = {
    {"name", NULL}, {"split", NULL}, {"digest", NULL}, {"items", NULL}, {"official", NULL}, {"synthetic", NULL}, {NULL, NULL},
};
static const struct source file_sources[] = {{"kind", NULL}, {"name", NULL}, {"digest", NULL}, {"bytes", NULL}, {NULL, NULL}};
static const struct source group_sources[] = {{"nonce", NULL}, {"planned", NULL}, {"announced_ms", NULL}, {NULL, NULL}};
static const struct source price_sources[] = {
    {"micro_usd_per_hour", "price_micro_per_hour"}, {"source", "price_source"}, {"date", "price_date"}, {NULL, NULL},
};
#define TEXT(name, what) {#name, NULL},
#define NUMBER(name, most, what) {#name, NULL},
static const struct source machine_sources[] = {MACHINE_FACT_LIST {NULL, NULL}};
#undef TEXT
#undef NUMBER
static const struct source software_sources[] = {
    {"commit", "commit_name"}, {"dirty", NULL}, {"compiler", NULL}, {"flags", NULL}, {"binary_digest", NULL},
    {"libraries", NULL}, {NULL, NULL},
};
static const struct source latency_sources[] = {
    {"precision", NULL}, {"device", NULL}, {"threads", NULL}, {"items", NULL}, {"warmup_items", NULL},
    {"model_mean_ns", NULL}, {"model_p50_ns", NULL}, {"model_p90_ns", NULL}, {"model_p99_ns", NULL},
    {"whole_mean_ns", NULL}, {"whole_p50_ns", NULL}, {"whole_p90_ns", NULL}, {"whole_p99_ns", NULL},
    {"k", NULL}, {"views", NULL}, {"eligible", NULL}, {"data_digest", NULL}, {"synthetic", NULL}, {"measured_ms", NULL},
    {NULL, NULL},
};

// Blanks around a fact of the machine are the system's, not the submitter's, and statements have none.
static json_t *trimmed(const char *text)
{
    while (*text == ' ') text++;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    return json_stringn(text, length);
}

// Copies members as they are; what the record does not know is left out (statement_make says what must be there).
static json_t *copied(const json_t *row, const struct source *sources)
{
    json_t *to = json_object();
    for (; sources->to != NULL; sources++) {
        json_t *value = json_object_get(row, sources->from != NULL ? sources->from : sources->to);
        if (json_is_string(value)) json_object_set_new(to, sources->to, trimmed(json_string_value(value)));
        else if (value != NULL) json_object_set(to, sources->to, value);
    }
    return to;
}

static json_t *copied_list(const json_t *rows, const struct source *sources)
{
    json_t *to = json_array();
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row) json_array_append_new(to, copied(row, sources));
    return to;
}

static void put_text(json_t *to, const char *name, const char *text)
{
    if (text != NULL) json_object_set_new(to, name, json_string(text));
}

static void put_int(json_t *to, const char *name, int64_t value)
{
    json_object_set_new(to, name, json_integer(value));
}

static json_t *hardware_of(const json_t *machine, int64_t devices)
{
    json_t *hardware = copied(machine, machine_sources);
    put_int(hardware, "devices", devices);
    return hardware;
}

// `total_micro` below 0: nothing was bought for it.
static void put_price(json_t *to, const json_t *row, int64_t total_micro)
{
    if (!record_has(row, "price_micro_per_hour")) return;
    json_t *price = copied(row, price_sources);
    put_text(price, "instance", record_text(row, "price_instance"));
    if (total_micro >= 0) put_int(price, "total_micro_usd", total_micro);
    json_object_set_new(to, "price", price);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *payload_tags(const char *const *tags, int count)
{
    json_t *list = json_array();
    const char **sorted = zalloc((size_t)(count + 1) * sizeof *sorted);
    for (int i = 0; i < count; i++) sorted[i] = tags[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_words);
    for (int i = 0; i < count; i++)
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0) json_array_append_new(list, json_string(sorted[i]));
    free(sorted);
    return list;
}

int payload_one_line(const char *json, size_t limit, char **line)
{
    size_t count = strlen(json), used = 0;
    json_error_t error;
    if (count > limit) return fail(ERR_INPUT, "it is longer than %zu bytes", limit);
    json_t *value = json_loadb(json, count, JSON_DECODE_ANY, &error);
    if (value == NULL) return fail(ERR_INPUT, "it is not JSON at byte %d: %s", error.position, error.text);
    json_decref(value);
    char *to = zalloc(count + 1);
    bool inside = false;
    for (const char *c = json; *c != 0; c++) {
        if (!inside && strchr(" \t\r\n", *c) != NULL) continue;
        if (*c == '"') inside = !inside;
        to[used++] = *c;
        if (inside && *c == '\\') to[used++] = *++c;  // a backslash is never the last byte of JSON
    }
    *line = to;
    return 0;
}

static int put_recipe(json_t *to, const json_t *record)
{
    char *line;
    if (payload_one_line(record_text(record, "recipe_json"), TEXT_MAX, &line) < 0)
        return fail_prefix(ERR_INPUT, "the recipe of run %lld cannot be submitted: ", (long long)record_int(record, "id"));
    json_t *recipe = json_object();
    put_text(recipe, "name", record_text(record, "recipe"));
    put_text(recipe, "text", line);
    put_text(recipe, "digest", record_text(record, "recipe_digest"));
    json_object_set_new(to, "recipe", recipe);
    free(line);
    return 0;
}

static int put_latencies(json_t *to, struct results *r, const json_t *record)
{
    json_t *list = json_array(), *row;
    json_object_set_new(to, "latencies", list);
    size_t i;
    json_array_foreach(json_object_get(record, "latencies"), i, row)
    {
        json_t *machines, *one = copied(row, latency_sources);
        json_array_append_new(list, one);
        if (*record_text(row, "weights_digest")) put_text(one, "weights_digest", record_text(row, "weights_digest"));
        TRY(record_rows(r, "SELECT * FROM machines WHERE id = ?", record_int(row, "machine"), &machines));
        json_object_set_new(one, "hardware", hardware_of(json_array_get(machines, 0), 1));
        json_decref(machines);
        int64_t mean = record_int(row, "whole_mean_ns"), price = record_int(row, "price_micro_per_hour");
        put_price(one, row, mean > 0 && price > 0 ? cost_inference_micro(mean, INFERENCE_ITEMS, price) : -1);
    }
    return 0;
}

static void put_group(json_t *to, const json_t *record)
{
    const json_t *group = json_object_get(record, "group");
    if (group == NULL) return;
    json_t *member = copied(group, group_sources);
    put_int(member, "index", record_int(record, "group_index"));
    json_object_set_new(to, "group", member);
}

// SHA-256 of canonical forms that a recipe of this repository had in earlier versions: their runs stay closed.
static const struct {
    const char *name, *digest;
} former[] = {
    {"fulcrum-e1", "2a2c382e3cc0f55c76f59e8135783228a1078366e6a133fed4d418ace4d88cbc"},  // until 22 November 2026
    {"imagenette", "ecbe808f6ecece6c3521b0d65b654c193766af733aab12ef7f8bd6a1351e1971"},  // the same
    {"minilm", "58aed5af95a9bff00e1e2ff2c717c5c98ab2361bd5689aa4fbf3b5f6570f5180"},      // the same
};

static bool is_former(const char *name, const char *canonical)
{
    char digest[DIGEST_HEX];
    digest_bytes(canonical, strlen(canonical), digest);
    for (size_t i = 0; i < sizeof former / sizeof *former; i++)
        if (strcmp(former[i].name, name) == 0 && strcmp(former[i].digest, digest) == 0) return true;
    return false;
}

// True if the stored text says to train as the recipe of that name in this repository does, or did. Canonical forms are
// compared, so that a run stays closed when the program learns a key. Any number format is allowed (docs/rules.md).
static bool is_published(const char *name, const char *json)
{
    struct recipe stored, published;
    if (recipe_parse_stored("the record", json, strlen(json), &stored) < 0 || recipe_embedded(name, &published) < 0) return false;
    stored.precision = published.precision;
    char *ours = recipe_canonical(&published), *theirs = recipe_canonical(&stored);
    bool same = strcmp(ours, theirs) == 0 || is_former(name, theirs);
    free(ours);
    free(theirs);
    return same;
}

static void put_words(json_t *to, const struct payload_words *w, bool outside, bool published)
{
    put_text(to, "type", "run");
    put_text(to, "board", w->board);
    put_text(to, "handle", w->handle);
    put_text(to, "team", w->team != NULL ? w->team : "");
    put_text(to, "division", outside || !published || w->open ? "open" : "closed");
    put_text(to, "evaluated_by", outside ? "self" : "harness");
    if (w->note != NULL && *w->note) put_text(to, "note", w->note);
    if (w->code_url != NULL && *w->code_url) put_text(to, "code_url", w->code_url);
    put_text(to, "supersedes", w->supersedes);
    json_object_set_new(to, "tags", payload_tags(w->tags, w->tag_count));
}

static void put_program(json_t *to, const json_t *record)
{
    const json_t *outside = json_object_get(record, "outside");
    const char *framework = record_is_outside(record) ? "unknown" : "DAWN";
    json_t *software = copied(json_object_get(record, "software_facts"), software_sources);
    put_text(software, "framework", outside != NULL ? record_text(outside, "framework") : framework);
    json_object_set_new(to, "software", software);
    json_object_set_new(to, "hardware", hardware_of(json_object_get(record, "machine_facts"),
                                                    outside != NULL ? record_int(outside, "devices") : 1));
}

// A run whose process ended unexpectedly has no recorded end: its last event stands for it.
static int64_t ended_ms(const json_t *record)
{
    if (record_has(record, "ended_ms")) return record_int(record, "ended_ms");
    const json_t *segments = json_object_get(record, "segments");
    const json_t *last = json_array_get(segments, json_array_size(segments) > 0 ? json_array_size(segments) - 1 : 0);
    int64_t ns = record_int(last, "end_ns"), point = record_int(record, "last_ns");
    int64_t ms = (ns > point ? ns : point) / 1000000, start = record_int(record, "started_ms");
    return start > 0 && ms > 0 && start < INT64_MAX - ms ? start + ms : start;
}

// The metrics and the curve, as the version of the run's chain has them.
static void put_points(json_t *to, const json_t *record)
{
    const json_t *points = json_object_get(record, "points");
    const struct run_metric board = curve_board(record);
    int version = record_int(record, "chain") > 1 ? 2 : 1;
    json_t *list = copied_list(points, point_sources[version - 1]);
    put_int(to, "version", version);
    json_object_set_new(to, "points", list);
    if (version == 2) {
        json_object_set_new(to, "metrics", copied_list(json_object_get(record, "metrics"), metric_sources));
        put_int(to, "resumed", record_int(record, "resumed"));
        if (json_array_size(json_object_get(record, "work")) > 0)
            json_object_set_new(to, "work", copied_list(json_object_get(record, "work"), part_sources));
        return;
    }
    put_text(to, "metric", board.name);
    put_int(to, "items", run_metric_scale(&board));
    for (size_t i = 0; i < json_array_size(points); i++) {
        int64_t k = curve_score(json_array_get(points, i), &board);
        if (k != RUN_SCORE_NONE) put_int(json_array_get(list, i), "k", k);
    }
}

static int build(struct results *r, const json_t *record, const struct payload_words *words, json_t *to)
{
    const json_t *files = json_object_get(record, "files");
    bool began_anew = json_array_size(files) == 0;  // a recipe does not say which weights, words or vectors it is used with
    bool published = began_anew && is_published(record_text(record, "recipe"), record_text(record, "recipe_json"));
    put_words(to, words, record_is_outside(record), published);
    put_int(to, "ended_ms", ended_ms(record));
    json_object_set_new(to, "model", copied(record, model_sources));
    json_object_set_new(to, "data", copied_list(json_object_get(record, "data_sets"), data_sources));
    if (!began_anew) json_object_set_new(to, "files", copied_list(files, file_sources));
    put_points(to, record);
    json_object_set_new(to, "segments", copied_list(json_object_get(record, "segments"), segment_sources));
    bool reached = record_has(record, "reached_ns");
    if (reached) json_object_set_new(to, "reached", copied(record, reached_sources[record_int(record, "chain") > 1]));
    int64_t ns = record_int(record, "reached_ns"), price = record_int(record, "price_micro_per_hour");
    put_price(to, record, reached && ns >= 0 && price > 0 ? cost_training_micro(ns, price) : -1);
    put_group(to, record);
    put_program(to, record);
    TRY(put_recipe(to, record));
    return put_latencies(to, r, record);
}

// Before the record is read: what a statement could never hold need not pass through memory. One machine may be that of
// every latency.
static int check_size(struct results *r, int64_t run)
{
    static const struct {
        const char *name, *sql;
        int most;
    } lists[] = {
        {"points", "SELECT count(*) AS n FROM points WHERE run = ?", POINTS_MAX},
        {"segments", "SELECT count(*) AS n FROM segments WHERE run = ?", SEGMENTS_MAX},
        {"data sets", "SELECT count(*) AS n FROM data_sets WHERE run = ?", DATA_MAX},
        {"latencies", "SELECT count(*) AS n FROM latencies WHERE run = ?", LATENCIES_MAX},
        {"parts of its schedule", "SELECT count(*) AS n FROM parts WHERE run = ?", PARTS_MAX},
#define TEXT(name, what) " + length(" #name ")"
#define NUMBER(name, most, what)
        {"characters about a machine",
         "SELECT max(0" MACHINE_FACT_LIST ") AS n FROM machines WHERE id IN"
         " (SELECT machine FROM runs WHERE id = ?1 UNION SELECT machine FROM latencies WHERE run = ?1)", FACTS_MAX},
#undef TEXT
#undef NUMBER
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *rows;
        TRY(record_rows(r, lists[i].sql, run, &rows));
        int64_t n = record_int(json_array_get(rows, 0), "n");
        json_decref(rows);
        if (n > lists[i].most)
            return fail(ERR_INPUT, "run %lld has %lld %s; a statement holds at most %d", (long long)run, (long long)n,
                        lists[i].name, lists[i].most);
    }
    return 0;
}

static int check_record(const json_t *record)
{
    long long id = (long long)record_int(record, "id");
    if (strcmp(record_text(record, "status"), "running") == 0)
        return fail(ERR_USAGE, "run %lld has not ended yet", id);
    if (json_object_get(record, "machine_facts") == NULL || json_object_get(record, "software_facts") == NULL)
        return fail(ERR_INPUT, "the record has lost the machine or the program of run %lld", id);
    if (strstr(record_text(json_object_get(record, "machine_facts"), "gpu"), "(emulated card)") != NULL)
        return fail(ERR_USAGE, "run %lld was made on an emulated GPU: its times measure nothing, so it is not submitted", id);
    if (record_has(record, "group_id") && json_object_get(record, "group") == NULL)
        return fail(ERR_INPUT, "the record has lost the group of run %lld", id);
    return 0;
}

int payload_check_words(const struct payload_words *w)
{
    const struct {
        const char *what, *name, *text;
    } words[] = {
        {"the handle", "handle", w->handle}, {"the team", "team", w->team}, {"the note", "note", w->note},
        {"the address of the code", "code_url", w->code_url}, {"the board's name", "board", w->board},
    };
    const struct field *run = statement_fields[STATEMENT_RUN];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].text != NULL) TRY(fields_check_typed(words[i].what, run, words[i].name, words[i].text));
    for (int i = 0; i < w->tag_count; i++) TRY(fields_check_typed("a tag", run, "tags", w->tags[i]));
    json_t *tags = payload_tags(w->tags, w->tag_count);
    size_t count = json_array_size(tags);
    json_decref(tags);
    return count <= TAGS_MAX ? 0 : fail(ERR_USAGE, "a run has at most %d tags; got %zu", TAGS_MAX, count);
}

int payload_run(struct results *r, int64_t run, const struct payload_words *words, struct statement *statement)
{
    json_t *record;
    TRY(payload_check_words(words));
    TRY(check_size(r, run));
    TRY(record_read(r, run, &record));
    int rc = check_record(record);
    if (rc == 0) {
        json_t *to = copied(record, run_sources);
        rc = build(r, record, words, to);
        if (rc < 0) json_decref(to);
        else rc = statement_make(to, statement);
    }
    json_decref(record);
    return rc;
}

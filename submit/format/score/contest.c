// SPDX-License-Identifier: Apache-2.0
// The table of contests: the rows of each task's contest.json in the order of the folders, then the demonstration's. They travel
// inside the program, so a mistake in them is a bug, not an error.
#include "submit/format/score/contest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/embed.h"
#include "submit/format/canonical.h"

static struct contest contests[CONTESTS_MAX];
static int contest_count;

static const char *text_or_null(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static void read_row(const json_t *row, struct contest *c)
{
    *c = (struct contest){
        .name = text_or_null(row, "name"), .title = text_or_null(row, "title"), .about = text_or_null(row, "about"),
        .fetch = text_or_null(row, "fetch"), .metric = text_or_null(row, "metric"),
        .metric_title = text_or_null(row, "metric_title"),
        .test_name = text_or_null(row, "test_name"), .items = canonical_int(row, "items"),
        .test_items = canonical_int(row, "test_items"), .train_items = canonical_int(row, "train_items"),
        .samples_per_item = 1, .passes_per_item = 1, .train_digest = text_or_null(row, "train_digest"),
        .test_digest = text_or_null(row, "test_digest"), .scored_set = text_or_null(row, "scored_set"),
        .models = json_object_get(row, "models"), .where_met = json_object_get(row, "where_met"),
        .synthetic = canonical_int(row, "synthetic") != 0, .steps_vary = canonical_int(row, "steps_vary") != 0,
        .mlperf = text_or_null(row, "mlperf"),
        .dawnbench_column = text_or_null(row, "dawnbench_column"), .dawnbench_scale = canonical_int(row, "dawnbench_scale"),
    };
    bool value = canonical_int(row, "value") != 0;
    const char *unit = text_or_null(row, "unit");
    c->board = (struct run_metric){.name = c->metric, .unit = unit != NULL ? unit : value ? "" : "%",
                                   .lower_is_better = canonical_int(row, "lower_is_better") != 0,
                                   .items = value ? 0 : c->items};
    bool share = *c->board.unit == 0 || strcmp(c->board.unit, "%") == 0;
    const bool bounded = share && !c->board.lower_is_better;  // an error rate may exceed 1
    c->most_micro = bounded ? 1000000 : canonical_int(row, "most_micro");
    c->least_micro = canonical_int(row, "least_micro");
    c->requests = canonical_int(row, json_object_get(row, "requests") != NULL ? "requests" : "test_items");
    if (canonical_int(row, "samples_per_item") > 1) c->samples_per_item = canonical_int(row, "samples_per_item");
    if (canonical_int(row, "passes_per_item") > 1) c->passes_per_item = canonical_int(row, "passes_per_item");
    const json_t *targets = json_object_get(row, "target_micro");
    BUG_IF(c->name == NULL || c->title == NULL || c->metric == NULL || c->metric_title == NULL || c->items < 1);
    BUG_IF(json_array_size(targets) < 1 || json_array_size(targets) > CONTEST_TARGETS);
    for (size_t i = 0; i < json_array_size(targets); i++) c->target_micro[i] = json_integer_value(json_array_get(targets, i));
}

static json_t *files[CONTESTS_MAX];  // never freed: the rows point into their texts
static int file_count;

static void read_file(const struct embedded *file)
{
    BUG_IF(file == NULL || file_count == CONTESTS_MAX);
    const json_t *rows = files[file_count++] = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, NULL);
    BUG_IF(!json_is_array(rows) || contest_count + json_array_size(rows) > CONTESTS_MAX);
    for (size_t i = 0; i < json_array_size(rows); i++) read_row(json_array_get(rows, i), &contests[contest_count++]);
}

static void read_table(void)
{
    for (const struct embedded *e = embedded_files; e->path; e++) {
        const char *name = strrchr(e->path, '/');
        if (strncmp(e->path, "tasks/", 6) == 0 && name != NULL && strcmp(name, "/contest.json") == 0) read_file(e);
    }
    read_file(embedded_find("submit/format/score/demo.json"));
}

const struct contest *contest_table(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
    if (count != NULL) *count = contest_count;
    return contests;
}

void contest_names(const char *names[CONTESTS_MAX + 1])
{
    int all, count = 0;
    const struct contest *table = contest_table(&all);
    for (int i = 0; i < all; i++)
        if (!table[i].synthetic) names[count++] = table[i].name;
    names[count] = NULL;
}

const struct contest *contest_find(const char *name)
{
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

const struct contest *contest_of(const char *task, bool synthetic)
{
    if (!synthetic) return contest_find(task);
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++)
        if (table[i].synthetic) return &table[i];
    return NULL;
}

bool contest_fixes_training(const struct contest *c)
{
    return c->train_digest != NULL || c->train_items > 0;
}

bool contest_has_digests(const struct contest *c)
{
    return c->test_digest != NULL && (c->train_digest != NULL || !contest_fixes_training(c));
}

bool contest_is_share(const struct contest *c)
{
    return c != NULL && c->board.items == 0;
}

int64_t contest_items(const struct contest *c, int64_t measured)
{
    return contest_is_share(c) ? c->items : measured;
}

bool contest_knows_data(const struct contest *c, const char *split, const char *digest)
{
    bool test = strcmp(split, "test") == 0;
    if (!test && !contest_fixes_training(c)) return contest_has_digests(c);
    const char *content = test ? c->test_digest : c->train_digest;
    return content != NULL && strcmp(content, digest) == 0;
}

int contest_digest(const char *task, const struct run_metric *m, int64_t target_micro, char hex[DIGEST_HEX])
{
    json_t *value = json_pack("{s:s, s:s, s:I, s:I}", "task", task, "metric", m->name, "target_micro", (json_int_t)target_micro,
                              "items", (json_int_t)run_metric_scale(m));
    if (value != NULL && m->lower_is_better) json_object_set_new(value, "lower_is_better", json_integer(1));
    const struct contest *c = contest_find(task);
    if (value != NULL && c != NULL && c->scored_set != NULL) json_object_set_new(value, "scored_set", json_string(c->scored_set));
    return canonical_digest(value, hex);
}

bool contest_meets(int64_t k, int64_t n, int64_t target_micro)
{
    return n > 0 && (__int128)k * 1000000 >= (__int128)target_micro * n;
}

const char *contest_column(const char *metric)
{
    static const char *const columns[][2] = {{"top1", "top1Accuracy"}, {"top5", "top5Accuracy"}, {"f1", "f1Score"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i][0], metric) == 0) return columns[i][1];
    return NULL;
}

const char *contest_metric_title(const char *metric)
{
    int count;
    const struct contest *table = contest_table(&count);
    static const char *const shown[][2] = {  // next to a contest's metric
        {"em", "exact match"}, {"ap50", "AP at an overlap of 0.5"}, {"box_ap50", "AP50 of boxes"}, {"mask_ap", "AP of masks"},
        {"box_ap", "AP of boxes"}, {"cer", "character error rate"}, {"bad-resigns", "bad resignations"}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(metric, shown[i][0]) == 0) return shown[i][1];
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].metric, metric) == 0) return table[i].metric_title;
    return metric;
}

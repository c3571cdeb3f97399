// SPDX-License-Identifier: Apache-2.0
// DAWNBench's archive and published histories in the record: the original files, and the rows of classic boards derived from
// them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/store/boards/store_boards.h"

static int64_t midnight_ms(const char *date)
{
    struct tm day = {0};
    const char *end = strptime(date, "%Y-%m-%d", &day);
    return end != NULL && *end == 0 ? (int64_t)timegm(&day) * 1000 : 0;
}

static struct entry entry_of(const struct dawnbench_entry *e, const char *source)
{
    return (struct entry){
        .cost = -1, .energy = -1, .p = -1, .runs = 1, .trust = TRUST_IMPORTED, .devices = e->devices,
        .accepted_ms = midnight_ms(e->date),
        .contest = e->contest->name, .group = "", .source = source, .author = e->author, .team = "", .model = e->model,
        .hardware = e->hardware, .framework = e->framework, .precision = "", .division = "", .date = e->date,
        .code_url = e->code_url, .tags = "",
    };
}

static int put_row(struct store *s, enum board board, int64_t target_micro, struct entry entry, double value)
{
    entry.value = entry.low = entry.high = value;
    const struct ranked row = {.board = board, .rank = RANK_CLASSIC, .entry = entry};
    return store_put_entry(s, &row, target_micro);
}

// The hours behind `seconds`, so that cost is hours x price without another rounding.
static double hours_of(const struct dawnbench_entry *e, double seconds)
{
    for (int i = 0; i < e->point_count; i++)
        if (!islessgreater(e->points[i].hours * 3600, seconds)) return e->points[i].hours;
    return seconds / 3600;
}

static int put_training(struct store *s, const struct dawnbench_entry *e, struct entry entry, int target)
{
    double seconds = e->seconds[target];
    int64_t target_micro = e->contest->target_micro[target];
    if (!(seconds >= 0)) return 0;
    entry.accuracy = e->accuracy[target];
    if (e->cost_per_hour >= 0) entry.cost = hours_of(e, seconds) * e->cost_per_hour;
    TRY(put_row(s, BOARD_TRAINING_TIME, target_micro, entry, seconds));
    return e->cost_per_hour >= 0 ? put_row(s, BOARD_TRAINING_COST, target_micro, entry, entry.cost) : 0;
}

// A latency counts only with a score that meets the target.
static int put_inference(struct store *s, const struct dawnbench_entry *e, struct entry entry, int target)
{
    int64_t target_micro = e->contest->target_micro[target];
    if (e->accuracy[target] < 0) return 0;
    entry.accuracy = e->accuracy[target];
    entry.cost = e->cost_per_item >= 0 ? e->cost_per_item : -1;
    if (e->latency_ms >= 0) TRY(put_row(s, BOARD_INFERENCE_LATENCY, target_micro, entry, e->latency_ms));
    return e->cost_per_item >= 0 ? put_row(s, BOARD_INFERENCE_COST, target_micro, entry, e->cost_per_item) : 0;
}

int store_put_import(struct store *s, const struct dawnbench_entry *e, int64_t now_ms)
{
    struct arena arena = {0};
    const char *kind = dawnbench_kind(e);
    const char *source = arena_text(&arena, "%s/%s/%s", e->contest->title, kind, e->stem);
    const struct entry entry = entry_of(e, source);
    int rc = sql_do(
        &s->sql,
        "INSERT INTO imports (source, contest, task, kind, stem, json, tsv, quirks, imported_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET json = excluded.json, tsv = excluded.tsv, "
        "quirks = excluded.quirks, imported_ms = excluded.imported_ms",
        "ttttttt"
        "ti",
        source, e->contest->name, e->contest->title, kind, e->stem, e->json, e->tsv != NULL ? e->tsv : "",
        e->quirks.at != NULL ? e->quirks.at : "", now_ms);
    if (rc == 0) rc = store_drop_entries(s, source);
    for (int i = 0; i < CONTEST_TARGETS && e->contest->target_micro[i] != 0 && rc == 0; i++)
        rc = e->training ? put_training(s, e, entry, i) : put_inference(s, e, entry, i);
    arena_free(&arena);
    return rc;
}

int store_import(struct store *s, const struct dawnbench_entry *const *entries, int count, int64_t now_ms)
{
    BUG_IF(!s->writes);
    pthread_mutex_lock(&s->mutex);
    int rc = store_begin(s);
    if (rc == 0) {
        for (int i = 0; i < count && rc == 0; i++) rc = store_put_import(s, entries[i], now_ms);
        rc = store_end(s, rc);
    }
    pthread_mutex_unlock(&s->mutex);
    return rc;
}

int imported_read(const struct imported *is, const struct contest *contest, struct dawnbench_entry **into)
{
    if (strcmp(is->kind, "history") == 0) return history_row(is->stem, is->tsv, into);
    bool training = strcmp(is->kind, "train") == 0;
    return dawnbench_read(contest, training, is->stem, is->json, strlen(is->json), training ? is->tsv : NULL,
                          training ? strlen(is->tsv) : 0, into);
}

// SPDX-License-Identifier: Apache-2.0
// Invariant: the written files can be imported again. The rows of an import are then the same to the last digit. The time of an
// own run is rounded up to 1e-10 hours, a third of a microsecond, as in `dawn results export`, so a log is never better than
// the measurement. Groups have no form in DAWNBench's files and are left out.
#include "scoreboard/board_export.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"
#include <jansson.h>
#include "scoreboard/dawnbench/dawnbench.h"
#include "submit/format/score/training_log.h"
#include "submit/format/statement.h"

struct out {
    struct reader *reader;
    const char *folder;
    int (*wrote)(void *, const char *);
    void *who;
    struct board_exported *written;
};

static int write_file(struct out *o, const char *name, const char *bytes, size_t count)
{
    struct text path = {0};
    text_add(&path, "%s/%s", o->folder, name);
    int rc = file_write(path.at, bytes, count);
    o->written->files += rc == 0;
    if (rc == 0) rc = o->wrote(o->who, path.at);
    text_free(&path);
    return rc;
}

static int make_folder(struct out *o, const char *task, const char *kind)
{
    struct text path = {0};
    text_add(&path, "%s/%s/%s", o->folder, task, kind);
    int rc = file_make_folder(path.at);
    text_free(&path);
    return rc;
}

static int write_pair(struct out *o, const char *task, const char *kind, const char *stem, const char *json, const char *tsv)
{
    struct text name = {0};
    TRY(make_folder(o, task, kind));
    text_add(&name, "%s/%s/%s.json", task, kind, stem);
    int rc = write_file(o, name.at, json, strlen(json));
    if (rc == 0 && tsv != NULL) {
        name.length = 0;
        text_add(&name, "%s/%s/%s.tsv", task, kind, stem);
        rc = write_file(o, name.at, tsv, strlen(tsv));
    }
    text_free(&name);
    return rc;
}

// ---- imports

// Names become paths, and a stranger may have altered the database.
static int check_names(const struct imported *import, const char **title)
{
    int count;
    const struct contest *table = contest_table(&count);
    bool training = strcmp(import->kind, "train") == 0;
    *title = NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, import->task) == 0 || strcmp(table[i].title, import->task) == 0) *title = table[i].title;
    if (*title == NULL || (!training && strcmp(import->kind, "inference") != 0) || !dawnbench_stem(import->stem))
        return fail(ERR_DATABASE, "the imported entry %.200s has a name that cannot be a file's", import->source);
    return 0;
}

static int write_imports(struct out *o)
{
    struct arena arena = {0};
    struct imported *imports;
    const char *task;
    int count, rc = store_imports(o->reader, &arena, &imports, &count);
    for (int i = 0; rc == 0 && i < count; i++) {
        const struct imported *import = &imports[i];
        rc = check_names(import, &task);
        const char *tsv = strcmp(import->kind, "train") == 0 ? import->tsv : NULL;
        if (rc == 0) rc = write_pair(o, task, import->kind, import->stem, import->json, tsv);
        o->written->imports += rc == 0;
    }
    arena_free(&arena);
    return rc;
}

// ---- own runs

static json_t *entry_json(const struct entry *e)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", "v1.0", "author", e->author, "authorEmail", "",
                     "framework", e->framework, "codeURL", e->code_url, "model", e->model, "hardware", e->hardware, "timestamp",
                     e->date);
}

// [author]_[model]_[number]_dawn: the statement's number keeps two runs apart.
static void stem_of(const struct entry *e, const char *tail, struct text *stem)
{
    text_add(stem, "%.60s_%.80s_run%lld_dawn%s", e->author, e->model, (long long)e->sequence, tail);
    for (char *at = stem->at; *at != 0; at++)
        if (!isalnum((unsigned char)*at) && strchr("_-", *at) == NULL) *at = '-';
    if (stem->at[0] == '-') stem->at[0] = '_';
}

static int write_entry(struct out *o, const struct entry *e, const char *tail, json_t *value, const char *tsv)
{
    struct text stem = {0}, text = {0};
    char *json = value != NULL ? json_dumps(value, JSON_INDENT(4) | JSON_REAL_PRECISION(17)) : NULL;
    if (json == NULL) return fail(ERR_DATABASE, "statement %lld holds text that is not UTF-8", (long long)e->sequence);
    text_add(&text, "%s\n", json);
    free(json);
    stem_of(e, tail, &stem);
    int rc = write_pair(o, contest_find(e->contest)->title, tsv != NULL ? "train" : "inference", stem.at, text.at, tsv);
    text_free(&stem);
    text_free(&text);
    o->written->runs += rc == 0;
    return rc;
}

static int write_training(struct out *o, const struct entry *e, const json_t *run)
{
    struct text tsv = {0};
    json_t *value = entry_json(e);
    int64_t price = canonical_int(run, "price.micro_usd_per_hour");
    if (value != NULL && price > 0) json_object_set_new(value, "costPerHour", json_real((double)price / 1e6));
    json_t *misc = json_pack("{s:s, s:s, s:s, s:I, s:s, s:s}", "evaluatedBy", canonical_text(run, "evaluated_by"), "recipe",
                             canonical_text(run, "recipe.name"), "precision", canonical_text(run, "precision"), "seed",
                             (json_int_t)canonical_int(run, "seed"), "nonce", canonical_text(run, "nonce"), "clock",
                             "classic: loading and initialising count, evaluation does not");
    if (misc != NULL && canonical_int(run, "views") > 0)  // 0: not known
        json_object_set_new(misc, "evaluationViews", json_integer(canonical_int(run, "views")));
    if (value != NULL && misc != NULL) json_object_set_new(value, "misc", misc);
    training_log(run, &tsv);
    int rc = write_entry(o, e, "", value, tsv.at);
    json_decref(value);
    text_free(&tsv);
    return rc;
}

// A file of DAWNBench may give latency, cost or both. Here each board's row has a file with its own figure.
static int write_inference(struct out *o, const struct contest *contest, const struct entry *e, enum board board)
{
    bool latency = board == BOARD_INFERENCE_LATENCY;
    json_t *value = entry_json(e);
    if (value != NULL) {
        json_object_set_new(value, latency ? "latency" : "cost", json_real(e->value));
        json_object_set_new(value, contest->dawnbench_column, json_real(e->accuracy * (double)contest->dawnbench_scale));
        json_object_set_new(value, "misc", json_pack("{s:s}", "precision", e->precision));
    }
    int rc = write_entry(o, e, latency ? "_latency" : "_cost", value, NULL);
    json_decref(value);
    return rc;
}

static int write_run(struct out *o, const struct entry *e)
{
    struct arena arena = {0};
    struct stored stored;
    struct statement statement;
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)e->sequence);
    int rc = store_statement(o->reader, id, &arena, &stored);
    if (rc == 0) rc = statement_read(stored.payload, stored.payload_count, &statement);
    if (rc == 0) {
        rc = write_training(o, e, statement.json);
        statement_free(&statement);
    }
    arena_free(&arena);
    return rc;
}

// Own rows of one classic board, page by page. The board of cost has no files, because it is derived from training's.
static int write_board(struct out *o, const struct contest *contest, enum board board)
{
    struct filter filter;
    TRY(filter_read("source=dawn&trust=signed&limit=200", &filter));
    filter.contest = contest;
    filter.board = board;
    int rc = 0;
    do {
        struct arena arena = {0};
        struct entries page;
        rc = store_entries(o->reader, &filter, &arena, &page);
        for (int i = 0; rc == 0 && i < page.count; i++)
            rc = board == BOARD_TRAINING_TIME ? write_run(o, &page.at[i])
                                              : write_inference(o, contest, &page.at[i], board);
        snprintf(filter.cursor, sizeof filter.cursor, "%s", rc == 0 && page.next != NULL ? page.next : "");
        arena_free(&arena);
    } while (rc == 0 && filter.cursor[0] != 0);
    return rc;
}

static int write_runs(struct out *o)
{
    static const enum board boards[] = {BOARD_TRAINING_TIME, BOARD_INFERENCE_LATENCY, BOARD_INFERENCE_COST};
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++) {
        if (table[i].dawnbench_column == NULL) continue;
        for (size_t b = 0; b < sizeof boards / sizeof *boards; b++) TRY(write_board(o, &table[i], boards[b]));
    }
    return 0;
}

int board_export_dawnbench(struct reader *reader, const char *folder, int (*wrote)(void *, const char *path), void *who,
                           struct board_exported *written)
{
    struct out o = {reader, folder, wrote, who, written};
    *written = (struct board_exported){0};
    TRY(file_make_folder(folder));
    TRY(write_imports(&o));
    return write_runs(&o);
}

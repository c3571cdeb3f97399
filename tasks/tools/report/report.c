// SPDX-License-Identifier: Apache-2.0
// Reads the record and writes the report. A file may hold more than a page can show: the last RUNS_MOST runs and GROUPS_MOST
// groups of measurements are shown, and the report says how many it leaves out.
#include "tasks/tools/report/report_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/build.h"
#include "runtime/common/base/clock.h"
#include "tasks/tools/show/document.h"
#include "tasks/tools/show/plain.h"

enum { RUNS_MOST = 200, GROUPS_MOST = 40 };

// ---- reading

static int read_runs(struct results *r, struct report_data *d)
{
    json_t *ids, *row, *run;
    size_t i;
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT id FROM (SELECT id FROM runs ORDER BY id DESC LIMIT %d) ORDER BY id", RUNS_MOST);
    TRY(record_rows(r, "SELECT count(*) AS runs FROM runs", 0, &ids));
    d->all_runs = record_int(json_array_get(ids, 0), "runs");
    json_decref(ids);
    TRY(record_rows(r, sql, 0, &ids));
    d->runs = json_array();
    int rc = 0;
    json_array_foreach(ids, i, row)
    {
        rc = record_read(r, record_int(row, "id"), &run);
        if (rc < 0) break;
        if (record_chain(run) < 0) json_object_set_new(run, "broken", json_string(error_text()));
        json_array_append_new(d->runs, run);
    }
    json_decref(ids);
    return rc;
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(record_text(a, key), record_text(b, key)) == 0;
}

// True if the two differ in the batch only.
static bool same_group(const json_t *a, const json_t *b)
{
    static const char *const texts[] = {"task", "data", "model", "recipe", "precision", "device"};
    static const char *const numbers[] = {"noise", "fusion", "threads", "machine"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!same_text(a, b, texts[i])) return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (record_int(a, numbers[i]) != record_int(b, numbers[i])) return false;
    return true;
}

static int by_batch(const void *x, const void *y)
{
    const json_t *a = *(const json_t *const *)x, *b = *(const json_t *const *)y;
    int64_t p = record_int(a, "batch"), q = record_int(b, "batch");
    if (p == q) p = record_int(a, "id"), q = record_int(b, "id");
    return (p > q) - (p < q);
}

// Sorts a group and keeps the last measurement of equal batches.
static void sort_group(struct report_group *g)
{
    int kept = 0;
    qsort(g->row, (size_t)g->rows, sizeof *g->row, by_batch);
    for (int i = 0; i < g->rows; i++) {
        bool again = i + 1 < g->rows && record_int(g->row[i], "batch") == record_int(g->row[i + 1], "batch");
        if (!again) g->row[kept++] = g->row[i];
    }
    g->rows = kept;
}

// Newest first, so that the report of a long record shows the latest measurements.
static void make_groups(struct report_data *d)
{
    d->group = zalloc(GROUPS_MOST * sizeof *d->group);
    for (size_t i = json_array_size(d->benches); i > 0; i--) {
        const json_t *row = json_array_get(d->benches, i - 1);
        int g = 0;
        while (g < d->groups && !same_group(d->group[g].row[0], row)) g++;
        if (g == GROUPS_MOST) continue;
        if (g == d->groups) d->groups++;
        struct report_group *group = &d->group[g];
        group->row = grow(group->row, (size_t)(group->rows + 1) * sizeof *group->row);
        group->row[group->rows++] = row;
    }
    for (int g = 0; g < d->groups; g++) sort_group(&d->group[g]);
}

static int read_all(struct results *r, struct report_data *d)
{
    TRY(read_runs(r, d));
    TRY(record_rows(r, "SELECT * FROM benches WHERE step_ns > 0 ORDER BY id", 0, &d->benches));
    TRY(record_rows(r, "SELECT * FROM bench_memory ORDER BY bench, number", 0, &d->memory));
    TRY(record_rows(r, "SELECT * FROM bench_operators ORDER BY bench, number", 0, &d->operators));
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT * FROM scalings WHERE sweep IN (SELECT DISTINCT sweep FROM scalings ORDER BY sweep DESC"
                              " LIMIT %d) ORDER BY sweep, id", GROUPS_MOST);
    TRY(record_rows(r, sql, 0, &d->scalings));
    TRY(record_rows(r, "SELECT * FROM scaling_reductions ORDER BY scaling, number", 0, &d->reductions));
    TRY(record_rows(r, "SELECT * FROM machines ORDER BY id", 0, &d->machines));
    TRY(record_rows(r, "SELECT * FROM software ORDER BY id", 0, &d->software));
    TRY(document_groups(r, 0, &d->groups_of_runs));
    make_groups(d);
    return 0;
}

static void free_all(struct report_data *d)
{
    json_t *const list[] = {d->runs,     d->benches,    d->memory,   d->operators,
                            d->scalings, d->reductions, d->machines, d->software};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) json_decref(list[i]);
    for (int g = 0; g < d->groups; g++) free(d->group[g].row);
    free(d->group);
    sheet_free(&d->groups_of_runs);
    text_free(&d->pictures);
    text_free(&d->answers);
}

// ---- the page

// The tasks of the runs, each once, in the order of their first run.
static void add_curves(const struct report_data *d, struct text *into)
{
    for (size_t i = 0; i < json_array_size(d->runs); i++) {
        const json_t *run = json_array_get(d->runs, i);
        bool again = false;
        for (size_t k = 0; k < i && !again; k++) again = same_text(json_array_get(d->runs, k), run, "task");
        if (!again) report_curves(d, record_text(run, "task"), into);
    }
}

static void add_words(enum sheet_form form, struct text *into, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add_words(enum sheet_form form, struct text *into, const char *format, ...)
{
    char words[ERROR_TEXT_MAX + 200];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    sheet_words(form, words, into);
}

// Says of each run that was changed what does not follow from its figures.
static void add_broken(const struct report_data *d, enum sheet_form form, struct text *into)
{
    size_t i;
    json_t *run;
    json_array_foreach(d->runs, i, run)
        if (record_has(run, "broken"))
            add_words(form, into, "BROKEN: run %lld was changed since the training wrote it: %s.",
                      (long long)record_int(run, "id"), record_text(run, "broken"));
}

static void add_runs(struct report_data *d, enum sheet_form form, struct text *into)
{
    struct sheet s;
    if (!json_array_size(d->runs)) return;
    sheet_heading(form, 2, "Runs", into);
    report_runs(d, &s);
    sheet_put(&s, form, into);
    sheet_put(&d->groups_of_runs, form, into);
    add_broken(d, form, into);
    if (form == SHEET_HTML) add_curves(d, into);
}

static void add_throughput(const struct report_data *d, enum sheet_form form, struct text *into)
{
    struct sheet s;
    if (d->groups == 0) return;
    sheet_heading(form, 2, "Throughput", into);
    sheet_words(form, "20 steps ignored, then the median of repeats of 100 steps each; \"short\" says that the step was too slow "
                      "for the whole protocol. The first five columns are DLPerf's; the range is over the repeats; others: "
                      "processors that other programs used; steady: windows of steps that varied and drifted little.", into);
    for (int g = 0; g < d->groups; g++) {
        struct text name = {0};
        report_group_name(&d->group[g], &name);
        sheet_heading(form, 3, name.at, into);
        text_free(&name);
        report_throughput(&d->group[g], &s);
        sheet_put(&s, form, into);
        report_lines(&d->group[g], &s);
        sheet_put(&s, form, into);
        if (form == SHEET_HTML) report_group_charts(d, g, into);
    }
}

static void add_scaling(const struct report_data *d, enum sheet_form form, struct text *into)
{
    struct sheet s;
    if (!json_array_size(d->scalings)) return;
    sheet_heading(form, 2, "Scaling", into);
    sheet_words(form, "The same batch in each process. The speedup compares samples per second with the first row. Predictions "
                      "add the reduction, as a line through measured ones gives it, to the step of one process.", into);
    for (size_t at = 0, first; at < json_array_size(d->scalings);) {
        first = at;
        report_scaling(d, &at, &s);
        sheet_put(&s, form, into);
        report_predictions(d, first, &s);
        sheet_put(&s, form, into);
    }
}

static void write_page(const struct results *r, struct report_data *d, enum sheet_form form, struct text *into)
{
    struct sheet s;
    char date[32];
    sheet_page(form, "DAWN report", into);
    add_words(form, into, "%s, %s UTC, DAWN %s", result_file(r), plain_when(date, clock_unix_ms()), build_version());
    add_runs(d, form, into);
    if (d->pictures.length > 0) {
        sheet_heading(form, 2, "Pictures", into);
        text_bytes(into, d->pictures.at, d->pictures.length);
    }
    if (d->answers.length > 0) {
        sheet_heading(form, 2, "Answers", into);
        text_bytes(into, d->answers.at, d->answers.length);
    }
    add_throughput(d, form, into);
    add_scaling(d, form, into);
    if (d->all_runs > RUNS_MOST) add_words(form, into, "The last %d of %lld runs.", RUNS_MOST, (long long)d->all_runs);
    if (d->groups == GROUPS_MOST) add_words(form, into, "The last %d settings that were measured.", GROUPS_MOST);
    sheet_heading(form, 2, "Environment", into);
    report_machines(d, &s);
    sheet_put(&s, form, into);
    report_software(d, &s);
    sheet_put(&s, form, into);
    sheet_page_end(form, into);
}

// ---- all forms

static int check_content(const struct results *r, const struct report_data *d, enum sheet_form form)
{
    const bool measured = d->groups > 0 || json_array_size(d->scalings) > 0;
    if (form == SHEET_CSV && !measured)
        return fail(ERR_DATABASE, "%s holds no measurement to write as CSV; \"dawn results export --format csv%s\" writes the "
                    "runs", result_file(r), result_option(r));
    if (!json_array_size(d->runs) && !measured)
        return fail(ERR_DATABASE, "%s holds neither a run nor a measurement: there is nothing to report", result_file(r));
    return 0;
}

int report_write(struct results *r, enum sheet_form form, const struct report_pictures *pictures, struct text *into)
{
    struct report_data d = {0};
    struct sheet s;
    int rc = read_all(r, &d);
    for (int i = 0; pictures && i < pictures->files.count && rc == 0; i++)
        rc = report_add_picture(pictures->files.word[i], &d.pictures);
    if (rc == 0) rc = check_content(r, &d, form);
    if (rc == 0 && form == SHEET_HTML && pictures && pictures->answers) report_answers(r, &d, &d.answers);
    if (rc == 0 && form != SHEET_CSV) write_page(r, &d, form, into);
    if (rc == 0 && form == SHEET_CSV) {
        report_all_throughput(&d, &s);
        sheet_put(&s, form, into);
    }
    free_all(&d);
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
// The page of one run. Cost: negligible.
#include "tasks/tools/show/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "tasks/tools/show/plot.h"

enum { PLOT_ROWS = 8, PLOT_WIDTH = 56 };

// Adds the curve of a metric, or of the training loss if `metric` is NULL.
static void add_plot(struct text *t, const json_t *run, const struct run_metric *metric, const struct plain_style *style)
{
    double *x, *y;
    int count = plot_points(run, metric, &x, &y);
    const struct plot plot = {.metric = metric, .target = metric ? (double)record_int(run, "target_micro") / 1e6 : NAN,
                              .series = {{'*', x, y, count}}, .count = 1};
    if (count > 1) {
        plain_heading(t, style, "%s, %d %s", metric ? contest_metric_title(metric->name) : "training loss", count,
                      metric ? "evaluations" : "points");
        plot_text(t, &plot, PLOT_ROWS, PLOT_WIDTH, style);
    }
    free(x);
    free(y);
}

void show_clocks(const json_t *run, struct sheet *s)
{
    static const char *const clocks[][3] = {
        {"end-to-end", "reached_ns", "last_ns"}, {"classic (DAWNBench)", "reached_classic_ns", "last_classic_ns"},
        {"warm", "reached_warm_ns", "last_warm_ns"},
        {"warm, with evaluation", "reached_warm_with_evaluation_ns", "last_warm_with_evaluation_ns"}};
    char figure[TEXT_FIGURE];
    sheet_begin(s, "Clocks", "clock|#to target|#to last evaluation");
    for (int i = 0; i < 4; i++) {
        sheet_add(s, "%s", clocks[i][0]);
        for (int k = 1; k < 3; k++)
            sheet_add(s, "%s", record_has(run, clocks[i][k]) ? plain_span(figure, record_int(run, clocks[i][k])) : "-");
    }
}

static void add_clocks(struct text *t, const json_t *run, const struct plain_style *style)
{
    struct sheet s;
    show_clocks(run, &s);
    plain_heading(t, style, "%-28s%14s%20s", "Clocks", "to target", "to last evaluation");
    for (char **cell = s.cell; cell < s.cell + s.cells; cell += 3) text_add(t, "  %-26s%14s%20s\n", cell[0], cell[1], cell[2]);
    sheet_free(&s);
}

static void add_segments(struct text *t, const json_t *run, const struct plain_style *style)
{
    int64_t sums[SEGMENT_END] = {0}, all = 0;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "segments"), i, row)
    {
        enum segment segment;
        int64_t ns = record_int(row, "end_ns") - record_int(row, "start_ns");
        if (ns < 0 || !stopwatch_find(record_text(row, "segment"), &segment)) continue;
        sums[segment] += ns;
        all += ns;
    }
    if (all == 0) return;
    char figure[TEXT_FIGURE];
    bool whole = record_has(run, "ended_ms");  // otherwise the process ended unexpectedly or still runs, and the rest is unknown
    if (whole) plain_heading(t, style, "Where the time went");
    else plain_heading(t, style, "Where the first %s went: no more was recorded yet", plain_span(figure, all));
    for (int s = 0; s < SEGMENT_END; s++) {
        if (sums[s] == 0) continue;
        double share = (double)sums[s] / (double)all;
        text_add(t, "  %-*s%12s", PLAIN_LABEL, stopwatch_name((enum segment)s), plain_span(figure, sums[s]));
        if (whole) text_add(t, "  %5.1f%%", 100 * share);
        int bars = whole ? (int)lround(40 * share) : 0;
        for (int bar = 0; bar < bars; bar++) text_add(t, "%s%s", bar == 0 ? "  " : "", style->unicode ? "█" : "#");
        text_add(t, "\n");
    }
}

// ---- facts: rows of a label and a value

static void fact(struct sheet *f, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void fact(struct sheet *f, const char *label, const char *format, ...)
{
    char value[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(value, sizeof value, format, values);
    va_end(values);
    sheet_add(f, "%s", label);
    sheet_add(f, "%s", value);
}

static void add_cost(struct sheet *f, const json_t *run)
{
    if (!record_has(run, "price_micro_per_hour")) return;
    int64_t price = record_int(run, "price_micro_per_hour");
    bool reached = record_has(run, "reached_ns");
    char cost[COST_TEXT], hour[COST_TEXT];
    cost_text(cost, cost_training_micro(record_int(run, reached ? "reached_ns" : "last_ns"), price));
    fact(f, "cost", "%s %s, at %s per hour%s%s (%s, %s)", cost, reached ? "to target" : "so far, target not reached",
               cost_text(hour, price), *record_text(run, "price_instance") ? " for " : "", record_text(run, "price_instance"),
               record_text(run, "price_source"), record_text(run, "price_date"));
}

static void add_data_sets(struct sheet *f, const json_t *run)
{
    struct text all = {0};
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "data_sets"), i, row)
    {
        char items[TEXT_FIGURE];
        const char *kind = record_int(row, "official") ? "official" : "not the published bytes";
        if (record_int(row, "synthetic")) kind = "synthetic";
        text_add(&all, "%s%s %s: %s items, %s", i > 0 ? "; " : "", record_text(row, "name"), record_text(row, "split"),
                 text_count(items, record_int(row, "items")), kind);
        long long side = (long long)record_int(row, "short_side"), quality = (long long)record_int(row, "quality");
        if (side > 0) text_add(&all, ", short side %lld", side);
        if (quality > 0) text_add(&all, ", re-encoded at quality %lld", quality);
        if (record_int(row, "remembered")) text_add(&all, ", digest remembered");
        if (record_int(row, "damaged") > 0) text_add(&all, ", %s damaged", text_count(items, record_int(row, "damaged")));
    }
    if (all.at != NULL) fact(f, "data", "%s", all.at);
    text_free(&all);
}

// Adds the files that a run took besides its data: results that began with trained weights are not comparable with others.
static void add_files(struct sheet *f, const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        char size[TEXT_FIGURE];
        const char *kind = record_text(row, "kind");
        fact(f, strcmp(kind, "weights") ? kind : "began with", "%s (%s%s)", record_text(row, "name"),
                   text_size(size, (double)record_int(row, "bytes")), record_int(row, "remembered") ? ", digest remembered" : "");
    }
}

// ", 2 views per item" and the like. A figure that an outside program did not report is 0 in the record and is left out.
static const char *known(char into[48], const char *before, int64_t n, const char *after)
{
    char count[TEXT_FIGURE];
    into[0] = 0;
    if (n > 0) snprintf(into, 48, "%s%s%s%s", before, text_count(count, n), after, n > 1 && *after ? "s" : "");
    return into;
}

static void add_score_line(struct sheet *f, const char *label, const struct run_metric *m, int64_t score, const char *more)
{
    char text[TEXT_FIGURE], k[TEXT_FIGURE], n[TEXT_FIGURE];
    run_metric_text(m, score, text);
    if (m->items > 0)
        fact(f, label, "%s %s: %s of %s correct%s", text, contest_metric_title(m->name), text_count(k, score),
                   text_count(n, m->items), more);
    else fact(f, label, "%s %s%s", text, contest_metric_title(m->name), more);
}

static void add_scores(struct sheet *f, const json_t *run)
{
    struct run_metric metrics[RUN_METRICS_MAX];
    int count = curve_metrics(run, metrics);
    char views[48], more[128], target[TEXT_FIGURE];
    if (!record_has(run, "last_score")) return;
    known(views, ", ", record_int(run, "views"), " view");
    for (int m = 0; m < count; m++) {
        int64_t score = curve_last(run, &metrics[m]);
        snprintf(more, sizeof more, "%s%s; target %s", views, *views ? " per item" : "",
                 run_metric_value_text(&metrics[0], (double)record_int(run, "target_micro") / 1e6, target));
        if (score != RUN_SCORE_NONE) add_score_line(f, m == 0 ? "score" : "", &metrics[m], score, m == 0 ? more : "");
    }
}

// The named losses at the last point.
static void add_losses(struct sheet *f, const json_t *run)
{
    const json_t *points = json_object_get(run, "points");
    const char *name[RUN_LOSSES_MAX];
    char figure[TEXT_FIGURE];
    struct text all = {0};
    for (int i = 0, count = curve_losses(run, name); i < count; i++)
        text_add(&all, "%s%s %s", i ? ", " : "", name[i],
                 plain_loss(figure, json_array_get(points, json_array_size(points) - 1), name[i]));
    if (all.at) fact(f, "losses", "%s", all.at);
    text_free(&all);
}

static void add_reached(struct sheet *f, const json_t *run)
{
    size_t i;
    json_t *point;
    char moment[CURVE_MOMENT], samples[48];
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        if (!record_has(run, "reached_step") || record_int(point, "step") != record_int(run, "reached_step")) continue;
        const bool failed = strcmp(record_text(run, "status"), run_status_name(RUN_FAILED)) == 0;
        fact(f, "reached", "at %s%s%s", curve_moment(point, moment),
                   known(samples, " after ", record_int(run, "reached_samples"), " sample"),
                   failed ? "; it does not count, because the run failed" : "");
        return;
    }
    fact(f, "reached", "never");
}

static void add_result(struct sheet *f, const json_t *run, bool unicode)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[48], e[48];
    const char *dot = unicode ? "·" : "-";
    add_scores(f, run);
    add_losses(f, run);
    add_reached(f, run);
    if (record_int(run, "resumed") > 0)
        fact(f, "resumed", "%lld time%s: the time between counts in the end-to-end clock alone",
                   (long long)record_int(run, "resumed"), record_int(run, "resumed") == 1 ? "" : "s");
    if (*record_text(run, "message")) fact(f, "message", "%s", record_text(run, "message"));
    add_data_sets(f, run);
    add_files(f, run);
    snprintf(c, sizeof c, " %s ", dot);
    known(d, c, record_int(run, "parameters"), " parameter");
    fact(f, "model", "%s%s %s recipe %s", record_text(run, "model"), d, dot, record_text(run, "recipe"));
    known(d, c, record_int(run, "threads"), " thread");
    snprintf(c, sizeof c, " %s batch ", dot);
    const char *precision = record_text(run, "precision");
    char how[48] = "";  // the precision of another program is unknown
    if (strcmp(precision, "unknown") != 0) snprintf(how, sizeof how, " %s %.32s", dot, precision);
    fact(f, "how", "%s%s%s%s %s seed %lld %s %s", record_text(run, "device"), how, d,
               known(e, c, record_int(run, "batch"), ""), dot, (long long)record_int(run, "seed"), dot,
               record_int(run, "stop_at_target") ? "stops at the target" : "whole schedule");
    add_cost(f, run);
    if (record_has(run, "peak_memory_bytes")) {
        text_size(a, (double)record_int(run, "peak_memory_bytes"));
        if (record_has(run, "planned_memory_bytes"))
            fact(f, "memory", "%s at most (planned %s)", a, text_size(b, (double)record_int(run, "planned_memory_bytes")));
        else fact(f, "memory", "%s at most", a);
    }
    if (record_has(run, "energy_uj")) {
        char target[TEXT_FIGURE + 24] = "";
        if (record_has(run, "reached_energy_uj"))
            snprintf(target, sizeof target, ", %s up to the target",
                     text_si(b, (double)record_int(run, "reached_energy_uj") / 1e6, "J"));
        fact(f, "energy", "%s%s (processor packages and GPUs, as far as it can be read)",
                   text_si(a, (double)record_int(run, "energy_uj") / 1e6, "J"), target);
    }
}

void show_machine(const json_t *run, struct sheet *f)
{
    const json_t *m = json_object_get(run, "machine_facts"), *s = json_object_get(run, "software_facts");
    char memory[TEXT_FIGURE];
    sheet_begin(f, "Machine and program", "what|value");
    fact(f, "processor", "%s, %lld of %lld threads usable%s%s", record_text(m, "cpu"),
               (long long)record_int(m, "cores_usable"), (long long)record_int(m, "cores_online"),
               *record_text(m, "virtualised") ? ", " : "", record_text(m, "virtualised"));
    fact(f, "features", "%s", record_text(m, "cpu_flags"));
    fact(f, "memory", "%s", text_size(memory, (double)record_int(m, "memory_bytes")));
    bool driver = *record_text(m, "driver");
    if (*record_text(m, "gpu"))
        fact(f, "GPU", "%s%s%s", record_text(m, "gpu"), driver ? ", driver " : "", record_text(m, "driver"));
    fact(f, "system", "%s, %s", record_text(m, "os"), record_text(m, "kernel"));
    fact(f, "compiler", "%s %s", record_text(s, "compiler"), record_text(s, "flags"));
    fact(f, "libraries", "%s", record_text(s, "libraries"));
    const char *commit = record_text(s, "commit_name");
    fact(f, "source", "%s%s", *commit ? commit : "unknown (built outside git)",
               record_int(s, "dirty") ? " with local changes" : "");
}

void show_digests(const json_t *run, struct sheet *f)
{
    sheet_begin(f, "Digests (SHA-256)", "what|value");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "data_sets"), i, row)
    {
        char label[64];
        snprintf(label, sizeof label, "%.12s", record_text(row, "split"));
        fact(f, label, "%s", record_text(row, "digest"));
    }
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        const char *kind = record_text(row, "kind");
        fact(f, strcmp(kind, "weights") ? kind : "began with", "%s", record_text(row, "digest"));
    }
    fact(f, "program", "%s", record_text(json_object_get(run, "software_facts"), "binary_digest"));
    fact(f, "recipe", "%s", record_text(run, "recipe_digest"));
    if (record_has(run, "weights_digest")) fact(f, "weights", "%s", record_text(run, "weights_digest"));
    const json_t *points = json_object_get(run, "points");
    if (json_array_size(points) > 0)
        fact(f, "chain", "%s", record_text(json_array_get(points, json_array_size(points) - 1), "hash"));
    if (record_has(run, "replay_of")) fact(f, "replay of", "%s", record_text(run, "replay_of"));
    const json_t *ticket = json_object_get(run, "ticket");
    if (ticket != NULL)
        fact(f, "ticket", "%s of %s", record_text(ticket, "statement"), record_text(ticket, "board_key"));
    fact(f, "nonce", "%s", record_text(run, "nonce"));
}

char *show_epochs(const json_t *run, char into[TEXT_FIGURE])
{
    json_t *recipe = json_loads(record_text(run, "recipe_json"), 0, NULL);
    double epochs = json_number_value(json_object_get(json_object_get(recipe, "schedule"), "epochs"));
    into[0] = 0;
    if (epochs > 0) snprintf(into, TEXT_FIGURE, "%g", epochs);
    json_decref(recipe);
    return into;
}

// Adds the progress of a run for a second terminal. The record has only its points.
static void add_running(struct sheet *f, const json_t *run)
{
    const json_t *points = json_object_get(run, "points"), *last = json_array_get(points, json_array_size(points) - 1);
    char epoch[CURVE_MOMENT], all[TEXT_FIGURE], since[TEXT_FIGURE], at[TEXT_FIGURE];
    if (strcmp(record_text(run, "status"), "running") != 0) return;
    text_span(since, (double)(clock_unix_ms() - record_int(run, "started_ms")) / 1e3);
    show_epochs(run, all);
    if (last == NULL) fact(f, "running", "for %s; no epoch is done yet", since);
    else
        fact(f, "running", "for %s; epoch %s%s%s was done after %s", since, curve_epoch(last, epoch), *all ? " of " : "",
                   all, plain_span(at, record_int(last, "t_ns")));
}

static void add_outside(struct sheet *f, const json_t *run)
{
    const json_t *outside = json_object_get(run, "outside");
    long long devices = (long long)record_int(outside, "devices");
    if (strcmp(record_text(run, "device"), "outside") != 0) return;
    if (outside != NULL)  // missing if dawn was killed at that moment
        fact(f, "program", "%s on %lld device%s: %s", record_text(outside, "framework"), devices, devices == 1 ? "" : "s",
                   record_text(outside, "command"));
    fact(f, "evaluated", "self-evaluated: the program reported its own score; only the clock is DAWN's");
}

// The processes of a run, and those it went on with.
static void add_places(struct sheet *f, const json_t *run)
{
    const json_t *places = json_object_get(run, "places"), *first;
    size_t count = json_array_size(places), end;
    for (size_t i = 0; i < count; i = end) {
        int64_t machines = 1, step = record_int(first = json_array_get(places, i), "step");
        for (end = i; end < count && record_int(json_array_get(places, end), "step") == step; end++)
            if (record_int(json_array_get(places, end), "machine_number") >= machines)
                machines = record_int(json_array_get(places, end), "machine_number") + 1;
        char since[48] = "";
        if (step > 0) snprintf(since, sizeof since, "from step %lld on, ", (long long)step);
        fact(f, "processes", "%s%zu on %lld machine%s: %s, %lld thread%s each", since, end - i, (long long)machines,
                   machines == 1 ? "" : "s", record_text(first, "device"), (long long)record_int(first, "threads"),
                   record_int(first, "threads") == 1 ? "" : "s");
    }
}

static void add_receipts(struct sheet *f, const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "receipts"), i, row)
    {
        const char *type = record_text(row, "type"), *label = "submitted:";
        if (strcmp(type, "amend") == 0) label = "amended:";
        if (strcmp(type, "withdraw") == 0) label = "withdrawn:";
        fact(f, label, "#%lld on %s%s", (long long)record_int(row, "sequence"), record_text(row, "board"),
                   record_has(row, "supersedes") ? ", in place of the one before" : "");
    }
}

void show_facts(const json_t *run, bool unicode, struct sheet *f)
{
    static const char *const labels[] = {"name", "note", "tags"};
    sheet_begin(f, "The run", "what|value");
    if (record_chain(run) < 0) fact(f, "BROKEN", "the record has been changed: %s", error_text());
    if (record_int(run, "synthetic"))
        fact(f, "CAUTION", "SYNTHETIC DATA: drawn by the program; only the board \"demo\" lists it");
    if (strstr(record_text(json_object_get(run, "machine_facts"), "gpu"), "(emulated card)"))
        fact(f, "CAUTION", "EMULATED GPU: its results are right, but its times and its energy are not measurements");
    for (int i = 0; i < 3; i++)
        if (record_has(run, labels[i])) fact(f, labels[i], "%s", record_text(run, labels[i]));
    add_running(f, run);
    add_result(f, run, unicode);
    add_outside(f, run);
    add_places(f, run);
    add_receipts(f, run);
}

// Prints facts below their title, if there is a style for it, and frees them.
static void add_facts(struct text *t, struct sheet *f, const struct plain_style *style)
{
    if (style != NULL) plain_heading(t, style, "%s", f->title);
    for (char **cell = f->cell; cell < f->cell + f->cells; cell += 2) plain_line(t, cell[0], "%s", cell[1]);
    sheet_free(f);
}

int show_run(struct results *r, int64_t id, const struct plain_style *style, struct text *t)
{
    json_t *run;
    struct sheet facts;
    TRY(record_read(r, id, &run));
    char date[32];
    const char *dot = style->unicode ? "·" : "-";
    plain_heading(t, style, "Run %lld %s %s %s %s %s %s UTC", (long long)id, dot, record_text(run, "task"), dot,
                  record_text(run, "status"), dot, plain_when(date, record_int(run, "started_ms")));
    show_facts(run, style->unicode, &facts);
    add_facts(t, &facts, NULL);
    add_clocks(t, run, style);
    const struct run_metric board = curve_board(run);
    add_plot(t, run, &board, style);
    add_plot(t, run, NULL, style);
    add_segments(t, run, style);
    show_latencies(t, json_object_get(run, "latencies"), style, "Inference, one item at a time");
    show_machine(run, &facts);
    add_facts(t, &facts, style);
    show_digests(run, &facts);
    add_facts(t, &facts, style);
    int rc = record_has(run, "group_id") ? show_group(r, record_int(run, "group_id"), style, t) : 0;
    plain_page(t, style);
    json_decref(run);
    return rc;
}

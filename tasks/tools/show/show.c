// SPDX-License-Identifier: Apache-2.0
// The page of one run. Cost: negligible.
#include "tasks/tools/show/show.h"

#include <math.h>
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

static void add_clock(struct text *t, const json_t *run, const char *name, const char *reached, const char *last)
{
    char a[TEXT_FIGURE] = "-", b[TEXT_FIGURE] = "-";
    if (record_has(run, reached)) plain_span(a, record_int(run, reached));
    if (record_has(run, last)) plain_span(b, record_int(run, last));
    text_add(t, "  %-26s%14s%20s\n", name, a, b);
}

static void add_clocks(struct text *t, const json_t *run, const struct plain_style *style)
{
    plain_heading(t, style, "%-28s%14s%20s", "Clocks", "to target", "to last evaluation");
    add_clock(t, run, "end-to-end", "reached_ns", "last_ns");
    add_clock(t, run, "classic (DAWNBench)", "reached_classic_ns", "last_classic_ns");
    add_clock(t, run, "warm", "reached_warm_ns", "last_warm_ns");
    add_clock(t, run, "warm, with evaluation", "reached_warm_with_evaluation_ns", "last_warm_with_evaluation_ns");
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

static void add_cost(struct text *t, const json_t *run)
{
    if (!record_has(run, "price_micro_per_hour")) return;
    int64_t price = record_int(run, "price_micro_per_hour");
    bool reached = record_has(run, "reached_ns");
    char cost[COST_TEXT], hour[COST_TEXT];
    cost_text(cost, cost_training_micro(record_int(run, reached ? "reached_ns" : "last_ns"), price));
    plain_line(t, "cost", "%s %s, at %s per hour%s%s (%s, %s)", cost, reached ? "to target" : "so far, target not reached",
               cost_text(hour, price), *record_text(run, "price_instance") ? " for " : "", record_text(run, "price_instance"),
               record_text(run, "price_source"), record_text(run, "price_date"));
}

static void add_data_sets(struct text *t, const json_t *run)
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
    if (all.at != NULL) plain_line(t, "data", "%s", all.at);
    text_free(&all);
}

// Adds the files that a run took besides its data: results that began with trained weights are not comparable with others.
static void add_files(struct text *t, const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        char size[TEXT_FIGURE];
        const char *kind = record_text(row, "kind");
        plain_line(t, strcmp(kind, "weights") ? kind : "began with", "%s (%s%s)", record_text(row, "name"),
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

static void add_score_line(struct text *t, const char *label, const struct run_metric *m, int64_t score, const char *more)
{
    char text[TEXT_FIGURE], k[TEXT_FIGURE], n[TEXT_FIGURE];
    run_metric_text(m, score, text);
    if (m->items > 0)
        plain_line(t, label, "%s %s: %s of %s correct%s", text, contest_metric_title(m->name), text_count(k, score),
                   text_count(n, m->items), more);
    else plain_line(t, label, "%s %s%s", text, contest_metric_title(m->name), more);
}

static void add_scores(struct text *t, const json_t *run)
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
        if (score != RUN_SCORE_NONE) add_score_line(t, m == 0 ? "score" : "", &metrics[m], score, m == 0 ? more : "");
    }
}

// The named losses at the last point.
static void add_losses(struct text *t, const json_t *run)
{
    const json_t *points = json_object_get(run, "points");
    const char *name[RUN_LOSSES_MAX];
    char figure[TEXT_FIGURE];
    struct text all = {0};
    for (int i = 0, count = curve_losses(run, name); i < count; i++)
        text_add(&all, "%s%s %s", i ? ", " : "", name[i],
                 plain_loss(figure, json_array_get(points, json_array_size(points) - 1), name[i]));
    if (all.at) plain_line(t, "losses", "%s", all.at);
    text_free(&all);
}

static void add_reached(struct text *t, const json_t *run)
{
    size_t i;
    json_t *point;
    char place[CURVE_PLACE], samples[48];
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        if (!record_has(run, "reached_step") || record_int(point, "step") != record_int(run, "reached_step")) continue;
        const bool failed = strcmp(record_text(run, "status"), run_status_name(RUN_FAILED)) == 0;
        plain_line(t, "reached", "at %s%s%s", curve_place(point, place),
                   known(samples, " after ", record_int(run, "reached_samples"), " sample"),
                   failed ? "; it does not count, because the run failed" : "");
        return;
    }
    plain_line(t, "reached", "never");
}

static void add_result(struct text *t, const json_t *run, const struct plain_style *style)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[48], e[48];
    const char *dot = style->unicode ? "·" : "-";
    add_scores(t, run);
    add_losses(t, run);
    add_reached(t, run);
    if (record_int(run, "resumed") > 0)
        plain_line(t, "resumed", "%lld time%s: the time between counts in the end-to-end clock alone",
                   (long long)record_int(run, "resumed"), record_int(run, "resumed") == 1 ? "" : "s");
    if (*record_text(run, "message")) plain_line(t, "message", "%s", record_text(run, "message"));
    add_data_sets(t, run);
    add_files(t, run);
    snprintf(c, sizeof c, " %s ", dot);
    known(d, c, record_int(run, "parameters"), " parameter");
    plain_line(t, "model", "%s%s %s recipe %s", record_text(run, "model"), d, dot, record_text(run, "recipe"));
    known(d, c, record_int(run, "threads"), " thread");
    snprintf(c, sizeof c, " %s batch ", dot);
    const char *precision = record_text(run, "precision");
    char how[48] = "";  // the precision of another program is unknown
    if (strcmp(precision, "unknown") != 0) snprintf(how, sizeof how, " %s %.32s", dot, precision);
    plain_line(t, "how", "%s%s%s%s %s seed %lld %s %s", record_text(run, "device"), how, d,
               known(e, c, record_int(run, "batch"), ""), dot, (long long)record_int(run, "seed"), dot,
               record_int(run, "stop_at_target") ? "stops at the target" : "whole schedule");
    add_cost(t, run);
    if (record_has(run, "peak_memory_bytes")) {
        text_size(a, (double)record_int(run, "peak_memory_bytes"));
        if (record_has(run, "planned_memory_bytes"))
            plain_line(t, "memory", "%s at most (planned %s)", a, text_size(b, (double)record_int(run, "planned_memory_bytes")));
        else plain_line(t, "memory", "%s at most", a);
    }
    if (record_has(run, "energy_uj")) {
        char target[TEXT_FIGURE + 24] = "";
        if (record_has(run, "reached_energy_uj"))
            snprintf(target, sizeof target, ", %s up to the target",
                     text_si(b, (double)record_int(run, "reached_energy_uj") / 1e6, "J"));
        plain_line(t, "energy", "%s%s (processor packages and GPUs, as far as it can be read)",
                   text_si(a, (double)record_int(run, "energy_uj") / 1e6, "J"), target);
    }
}

static void add_machine(struct text *t, const json_t *run, const struct plain_style *style)
{
    const json_t *m = json_object_get(run, "machine_facts"), *s = json_object_get(run, "software_facts");
    char memory[TEXT_FIGURE];
    plain_heading(t, style, "Machine and program");
    plain_line(t, "processor", "%s, %lld of %lld threads usable%s%s", record_text(m, "cpu"),
               (long long)record_int(m, "cores_usable"), (long long)record_int(m, "cores_online"),
               *record_text(m, "virtualised") ? ", " : "", record_text(m, "virtualised"));
    plain_line(t, "features", "%s", record_text(m, "cpu_flags"));
    plain_line(t, "memory", "%s", text_size(memory, (double)record_int(m, "memory_bytes")));
    bool driver = *record_text(m, "driver");
    if (*record_text(m, "gpu"))
        plain_line(t, "GPU", "%s%s%s", record_text(m, "gpu"), driver ? ", driver " : "", record_text(m, "driver"));
    plain_line(t, "system", "%s, %s", record_text(m, "os"), record_text(m, "kernel"));
    plain_line(t, "compiler", "%s %s", record_text(s, "compiler"), record_text(s, "flags"));
    plain_line(t, "libraries", "%s", record_text(s, "libraries"));
    const char *commit = record_text(s, "commit_name");
    plain_line(t, "source", "%s%s", *commit ? commit : "unknown (built outside git)",
               record_int(s, "dirty") ? " with local changes" : "");
}

static void add_digests(struct text *t, const json_t *run, const struct plain_style *style)
{
    plain_heading(t, style, "Digests (SHA-256)");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "data_sets"), i, row)
    {
        char label[64];
        snprintf(label, sizeof label, "%.12s", record_text(row, "split"));
        plain_line(t, label, "%s", record_text(row, "digest"));
    }
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        const char *kind = record_text(row, "kind");
        plain_line(t, strcmp(kind, "weights") ? kind : "began with", "%s", record_text(row, "digest"));
    }
    plain_line(t, "program", "%s", record_text(json_object_get(run, "software_facts"), "binary_digest"));
    plain_line(t, "recipe", "%s", record_text(run, "recipe_digest"));
    if (record_has(run, "weights_digest")) plain_line(t, "weights", "%s", record_text(run, "weights_digest"));
    const json_t *points = json_object_get(run, "points");
    if (json_array_size(points) > 0)
        plain_line(t, "chain", "%s", record_text(json_array_get(points, json_array_size(points) - 1), "hash"));
    if (record_has(run, "replay_of")) plain_line(t, "replay of", "%s", record_text(run, "replay_of"));
    const json_t *ticket = json_object_get(run, "ticket");
    if (ticket != NULL)
        plain_line(t, "ticket", "%s of %s", record_text(ticket, "statement"), record_text(ticket, "board_key"));
    plain_line(t, "nonce", "%s", record_text(run, "nonce"));
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
static void add_running(struct text *t, const json_t *run)
{
    const json_t *points = json_object_get(run, "points"), *last = json_array_get(points, json_array_size(points) - 1);
    char epoch[CURVE_PLACE], all[TEXT_FIGURE], since[TEXT_FIGURE], at[TEXT_FIGURE];
    if (strcmp(record_text(run, "status"), "running") != 0) return;
    text_span(since, (double)(clock_unix_ms() - record_int(run, "started_ms")) / 1e3);
    show_epochs(run, all);
    if (last == NULL) plain_line(t, "running", "for %s; no epoch is done yet", since);
    else
        plain_line(t, "running", "for %s; epoch %s%s%s was done after %s", since, curve_epoch(last, epoch), *all ? " of " : "",
                   all, plain_span(at, record_int(last, "t_ns")));
}

static void add_outside(struct text *t, const json_t *run)
{
    const json_t *outside = json_object_get(run, "outside");
    long long devices = (long long)record_int(outside, "devices");
    if (strcmp(record_text(run, "device"), "outside") != 0) return;
    if (outside != NULL)  // missing if dawn was killed at that moment
        plain_line(t, "program", "%s on %lld device%s: %s", record_text(outside, "framework"), devices, devices == 1 ? "" : "s",
                   record_text(outside, "command"));
    plain_line(t, "evaluated", "self-evaluated: the program reported its own score; only the clock is DAWN's");
}

// The processes of a run, and those it went on with.
static void add_places(struct text *t, const json_t *run)
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
        plain_line(t, "processes", "%s%zu on %lld machine%s: %s, %lld thread%s each", since, end - i, (long long)machines,
                   machines == 1 ? "" : "s", record_text(first, "device"), (long long)record_int(first, "threads"),
                   record_int(first, "threads") == 1 ? "" : "s");
    }
}

static void add_receipts(struct text *t, const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "receipts"), i, row)
    {
        const char *type = record_text(row, "type"), *label = "submitted:";
        if (strcmp(type, "amend") == 0) label = "amended:";
        if (strcmp(type, "withdraw") == 0) label = "withdrawn:";
        plain_line(t, label, "#%lld on %s%s", (long long)record_int(row, "sequence"), record_text(row, "board"),
                   record_has(row, "supersedes") ? ", in place of the one before" : "");
    }
}

int show_run(struct results *r, int64_t id, const struct plain_style *style, struct text *t)
{
    static const char *const labels[] = {"name", "note", "tags"};
    json_t *run;
    TRY(record_read(r, id, &run));
    char date[32];
    const char *dot = style->unicode ? "·" : "-";
    plain_heading(t, style, "Run %lld %s %s %s %s %s %s UTC", (long long)id, dot, record_text(run, "task"), dot,
                  record_text(run, "status"), dot, plain_when(date, record_int(run, "started_ms")));
    if (record_chain(run) < 0) plain_line(t, "BROKEN", "the record has been changed: %s", error_text());
    if (record_int(run, "synthetic"))
        text_add(t, "  SYNTHETIC DATA: drawn by the program; only the board \"demo\" lists it.\n");
    if (strstr(record_text(json_object_get(run, "machine_facts"), "gpu"), "(emulated card)"))
        text_add(t, "  EMULATED GPU: its results are right, but its times and its energy are not measurements.\n");
    for (int i = 0; i < 3; i++)
        if (record_has(run, labels[i])) plain_line(t, labels[i], "%s", record_text(run, labels[i]));
    add_running(t, run);
    add_result(t, run, style);
    add_outside(t, run);
    add_places(t, run);
    add_receipts(t, run);
    add_clocks(t, run, style);
    const struct run_metric board = curve_board(run);
    add_plot(t, run, &board, style);
    add_plot(t, run, NULL, style);
    add_segments(t, run, style);
    show_latencies(t, json_object_get(run, "latencies"), style, "Inference, one item at a time");
    add_machine(t, run, style);
    add_digests(t, run, style);
    int rc = record_has(run, "group_id") ? show_group(r, record_int(run, "group_id"), style, t) : 0;
    plain_page(t, style);
    json_decref(run);
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
// Cost: reads two whole records.
#include "runtime/common/cli/json_text.h"
#include "tasks/tools/show/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/format/score/contest.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/curve.h"
#include "submit/results/group_text.h"
#include "tasks/tools/show/differ.h"
#include "tasks/tools/show/plot.h"

enum { PLOT_ROWS = 8, PLOT_WIDTH = 56 };

// ---- figures

static void add_pair(struct text *t, const char *label, const char *a, const char *b, double ratio)
{
    char figure[TEXT_FIGURE] = "";
    if (isfinite(ratio) && ratio > 0) snprintf(figure, sizeof figure, "%.3f", ratio);
    plain_add(t, "  %-28s%16s%16s", label, a, b);
    text_add(t, *figure ? "%14s\n" : "\n", figure);
}

// Adds a row of nanoseconds, with a dash for a run that lacks the figure.
static void compare_clock(struct text *t, const json_t *a, const json_t *b, const char *label, const char *key)
{
    char x[TEXT_FIGURE] = "-", y[TEXT_FIGURE] = "-";
    bool both = record_has(a, key) && record_has(b, key);
    if (!record_has(a, key) && !record_has(b, key)) return;
    if (record_has(a, key)) plain_span(x, record_int(a, key));
    if (record_has(b, key)) plain_span(y, record_int(b, key));
    add_pair(t, label, x, y, both ? (double)record_int(b, key) / (double)record_int(a, key) : NAN);
}

static char *last_loss(const json_t *run, char into[TEXT_FIGURE])
{
    const json_t *points = json_object_get(run, "points");
    return plain_loss(into, json_array_get(points, json_array_size(points) - 1), NULL);
}

static char *cost_of(const json_t *run, char into[COST_TEXT])
{
    snprintf(into, COST_TEXT, "-");
    if (!record_has(run, "price_micro_per_hour")) return into;
    int64_t ns = record_int(run, record_has(run, "reached_ns") ? "reached_ns" : "last_ns");
    return cost_text(into, cost_training_micro(ns, record_int(run, "price_micro_per_hour")));
}

static void add_amount(struct text *t, const json_t *a, const json_t *b, const char *label, const char *key)
{
    char x[TEXT_FIGURE] = "-", y[TEXT_FIGURE] = "-";
    bool energy = strcmp(key, "energy_uj") == 0, both = record_has(a, key) && record_has(b, key);
    const json_t *of[] = {a, b};
    char *into[] = {x, y};
    if (!record_has(a, key) && !record_has(b, key)) return;
    for (int i = 0; i < 2; i++) {
        double amount = (double)record_int(of[i], key);
        if (record_has(of[i], key)) energy ? text_si(into[i], amount / 1e6, "J") : text_size(into[i], amount);
    }
    add_pair(t, label, x, y, both ? (double)record_int(b, key) / (double)record_int(a, key) : NAN);
}

static void add_figures(struct text *t, const json_t *a, const json_t *b)
{
    char x[TEXT_FIGURE], y[TEXT_FIGURE], cost[2][COST_TEXT];
    struct run_metric metrics[RUN_METRICS_MAX];
    int count = curve_metrics(a, metrics);
    bool broken[] = {record_chain(a) < 0, record_chain(b) < 0};
    add_pair(t, "status", record_text(a, "status"), record_text(b, "status"), NAN);
    if (broken[0] || broken[1]) add_pair(t, "record", broken[0] ? "BROKEN" : "good", broken[1] ? "BROKEN" : "good", NAN);
    for (int m = 0; m < count; m++) {
        const struct run_metric theirs = curve_own(b, &metrics[m]);
        add_pair(t, contest_metric_title(metrics[m].name), run_metric_text(&metrics[m], curve_last(a, &metrics[m]), x),
                 run_metric_text(&theirs, curve_last(b, &theirs), y), NAN);
    }
    add_pair(t, "training loss, last", last_loss(a, x), last_loss(b, y), NAN);
    compare_clock(t, a, b, "to target, end-to-end", "reached_ns");
    compare_clock(t, a, b, "to target, classic", "reached_classic_ns");
    compare_clock(t, a, b, "to target, warm", "reached_warm_ns");
    compare_clock(t, a, b, "to last point, end-to-end", "last_ns");
    compare_clock(t, a, b, "to last point, classic", "last_classic_ns");
    compare_clock(t, a, b, "to last point, warm", "last_warm_ns");
    if (record_has(a, "price_micro_per_hour") || record_has(b, "price_micro_per_hour"))
        add_pair(t, "cost", cost_of(a, cost[0]), cost_of(b, cost[1]), NAN);
    add_amount(t, a, b, "peak memory", "peak_memory_bytes");
    add_amount(t, a, b, "energy", "energy_uj");
}

static void add_broken(struct text *t, const json_t *run)
{
    if (record_chain(run) < 0)
        plain_line(t, "BROKEN", "run %lld has been changed: %s", (long long)record_int(run, "id"), error_text());
}

// ---- the sides of a comparison

struct side {
    json_t *run;   // of a group its first one, without its seed: seeds always differ
    json_t *runs;  // of a group
    struct group_facts facts;
};
struct sides {
    bool groups;
    int count;
    const int64_t *id;
    struct side at[DIFFER_MOST];
    const json_t *run[DIFFER_MOST];
};

static int check_tasks(const struct sides *s, int i)
{
    const char *kind = s->groups ? "group" : "run", *a = record_text(s->run[0], "task"), *b = record_text(s->run[i], "task");
    if (strcmp(a, b) == 0) return 0;
    return fail(ERR_USAGE, "%s %lld trained %s and %s %lld %s: different tasks cannot be compared", kind, (long long)s->id[0], a,
                kind, (long long)s->id[i], b);
}

static int read_group(struct results *r, int64_t group, struct side *s)
{
    TRY(record_group(r, group, &s->runs, &s->facts));
    if (json_array_size(s->runs) > 0) return 0;
    return fail(ERR_USAGE, "there is no group g%lld with runs in %s", (long long)group, result_file(r));
}

static int read_sides(struct results *r, struct sides *s)
{
    for (int i = 0; i < s->count; i++) {
        struct side *one = &s->at[i];
        if (s->groups) TRY(read_group(r, s->id[i], one));
        TRY(record_read(r, s->groups ? record_int(json_array_get(one->runs, 0), "id") : s->id[i], &one->run));
        if (s->groups) json_object_del(one->run, "seed");
        s->run[i] = one->run;
        TRY(check_tasks(s, i));
    }
    return 0;
}

static int free_sides(struct sides *s, int rc)
{
    for (int i = 0; i < s->count; i++) json_decref(s->at[i].run), json_decref(s->at[i].runs);
    return rc;
}

// ---- curves

static void add_curves(struct text *t, const struct sides *s, const struct run_metric *metric, const struct plain_style *style)
{
    double *x[DIFFER_MOST], *y[DIFFER_MOST];
    int most = 0;
    struct text who = {0};
    struct plot plot = {.metric = metric, .target = metric ? (double)record_int(s->run[0], "target_micro") / 1e6 : NAN,
                        .count = s->count};
    for (int i = 0; i < s->count; i++) {
        const struct run_metric own = metric ? curve_own(s->run[i], metric) : (struct run_metric){0};
        const int points = plot_points(s->run[i], metric ? &own : NULL, &x[i], &y[i]);
        plot.series[i] = (struct plot_series){(char)('A' + i), x[i], y[i], points};
        most = points > most ? points : most;
        text_add(&who, "%s %c is run %lld", i > 0 ? "," : "", 'A' + i, (long long)s->id[i]);
    }
    if (most > 1) {
        plain_heading(t, style, "%s:%s", metric ? contest_metric_title(metric->name) : "training loss", who.at);
        plot_text(t, &plot, PLOT_ROWS, PLOT_WIDTH, style);
    }
    text_free(&who);
    for (int i = 0; i < s->count; i++) free(x[i]), free(y[i]);
}

// ---- two runs

static void add_heads(struct text *t, const char *kind, const struct sides *s, const struct plain_style *style)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "%s %lld", kind, (long long)s->id[0]);
    snprintf(b, sizeof b, "%s %lld", kind, (long long)s->id[1]);
    plain_heading(t, style, "%-30s%16s%16s%14s", "", a, b, "second/first");
}

// Rows of runs, where two have columns.
static void add_run_rows(struct text *t, const struct sides *s, const struct plain_style *style)
{
    plain_heading(t, style, "%-8s%-12s%11s%13s%9s%15s%11s", "run", "status", "score", "to target", "of first", "to last point",
                  "last loss");
    for (int i = 0; i < s->count; i++) {
        const json_t *run = s->run[i];
        const struct run_metric board = curve_board(run);
        char score[TEXT_FIGURE], reached[TEXT_FIGURE] = "-", last[TEXT_FIGURE] = "-", loss[TEXT_FIGURE], ratio[TEXT_FIGURE] = "";
        const double ns = (double)record_int(run, "reached_ns"), first = (double)record_int(s->run[0], "reached_ns");
        if (ns > 0) plain_span(reached, record_int(run, "reached_ns"));
        if (ns > 0 && first > 0) snprintf(ratio, sizeof ratio, "%.3f", ns / first);
        if (record_has(run, "last_ns")) plain_span(last, record_int(run, "last_ns"));
        plain_add(t, "%-8lld%-12s%11s%13s%9s%15s%11s", (long long)s->id[i], record_text(run, "status"),
                  run_metric_text(&board, curve_last(run, &board), score), reached, ratio, last,
                  last_loss(run, loss));
        text_add(t, "\n");
        add_broken(t, run);
    }
}

static int show_runs(struct results *r, struct sides *s, const struct plain_style *style, struct text *t)
{
    TRY(read_sides(r, s));
    const struct run_metric board = curve_board(s->run[0]);
    if (s->count > 2) {
        add_run_rows(t, s, style);
    } else {
        add_heads(t, "run", s, style);
        add_figures(t, s->run[0], s->run[1]);
        add_broken(t, s->run[0]);
        if (s->id[0] != s->id[1]) add_broken(t, s->run[1]);
    }
    add_curves(t, s, &board, style);
    add_curves(t, s, NULL, style);
    differ_text(t, s->run, s->id, s->count, style);
    plain_page(t, style);
    return 0;
}

int compare_runs(struct results *r, const int64_t *id, int count, const struct plain_style *style, struct text *t)
{
    struct sides s = {.count = count, .id = id};
    return free_sides(&s, show_runs(r, &s, style, t));
}

// ---- groups

static void add_means(struct text *t, const struct side *a, const struct side *b)
{
    const struct run_metric board = curve_board(json_array_get(a->runs, 0));
    const struct group_facts *f = &a->facts, *g = &b->facts;
    char x[TEXT_FIGURE], y[TEXT_FIGURE];
    snprintf(x, sizeof x, "%d of %d", f->finished, f->planned);
    snprintf(y, sizeof y, "%d of %d", g->finished, g->planned);
    add_pair(t, "runs finished", x, y, NAN);
    run_metric_value_text(&board, f->accuracy.mean, x);
    run_metric_value_text(&board, g->accuracy.mean, y);
    add_pair(t, "score, mean", x, y, NAN);
    add_pair(t, "score, sigma", run_metric_spread_text(&board, f->accuracy.sigma, f->finished, x),
             run_metric_spread_text(&board, g->accuracy.sigma, g->finished, y), NAN);
    add_pair(t, "time, mean", text_span(x, f->seconds.mean), text_span(y, g->seconds.mean), g->seconds.mean / f->seconds.mean);
    add_pair(t, "time, sigma", f->finished > 1 ? text_span(x, f->seconds.sigma) : "-",
             g->finished > 1 ? text_span(y, g->seconds.sigma) : "-", NAN);
    add_pair(t, "verdict", f->official ? "OFFICIAL" : group_verdict_name(f->verdict),
             g->official ? "OFFICIAL" : group_verdict_name(g->verdict), NAN);
    bool self = record_group_is_outside(a->runs), other = record_group_is_outside(b->runs);
    if (self || other) add_pair(t, "evaluated", self ? "self-evaluated" : "by DAWN", other ? "self-evaluated" : "by DAWN", NAN);
}

static void add_test(struct text *t, const char *what, const struct group_mean *a, int n, const struct group_mean *b, int m)
{
    double p = group_welch_p(a, n, b, m);
    if (isnan(p)) plain_line(t, what, "cannot be tested: that needs two finished runs in each group, and some spread");
    else plain_line(t, what, "p = %.2g: %s", p, p < 0.01 ? "the means differ" : "the difference may be chance");
}

// The rows of a group do not have what the chain binds, so each run is read whole.
static int add_broken_runs(struct results *r, const struct side *s, struct text *t)
{
    for (size_t i = 0; i < json_array_size(s->runs); i++) {
        json_t *run;
        TRY(record_read(r, record_int(json_array_get(s->runs, i), "id"), &run));
        add_broken(t, run);
        json_decref(run);
    }
    return 0;
}

// Rows of groups, each tested against the first one.
static void add_group_rows(struct text *t, const struct sides *s, const struct plain_style *style)
{
    const struct run_metric board = curve_board(json_array_get(s->at[0].runs, 0));
    const struct group_facts *f = &s->at[0].facts;
    plain_heading(t, style, "%-8s%9s%11s%10s%13s%11s%9s%9s", "group", "finished", "score", "sigma", "time", "sigma", "p score",
                  "p time");
    for (int i = 0; i < s->count; i++) {
        const struct group_facts *g = &s->at[i].facts;
        char runs[TEXT_FIGURE], mean[TEXT_FIGURE], sigma[TEXT_FIGURE], time[TEXT_FIGURE], spread[TEXT_FIGURE] = "-";
        char p[2][TEXT_FIGURE] = {"-", "-"};
        const double score_p = group_welch_p(&f->accuracy, f->finished, &g->accuracy, g->finished);
        const double time_p = group_welch_p(&f->seconds, f->finished, &g->seconds, g->finished);
        if (i > 0 && !isnan(score_p)) snprintf(p[0], sizeof p[0], "%.2g", score_p);
        if (i > 0 && !isnan(time_p)) snprintf(p[1], sizeof p[1], "%.2g", time_p);
        if (g->finished > 1) text_span(spread, g->seconds.sigma);
        snprintf(runs, sizeof runs, "%d of %d", g->finished, g->planned);
        run_metric_value_text(&board, g->accuracy.mean, mean);
        run_metric_spread_text(&board, g->accuracy.sigma, g->finished, sigma);
        plain_add(t, "g%-7lld%9s%11s%10s%13s%11s%9s%9s", (long long)s->id[i], runs, mean, sigma,
                  text_span(time, g->seconds.mean), spread, p[0], p[1]);
        text_add(t, "\n");
    }
    text_add(t, "p: Welch's t-test, the chance of such a difference from the first group if the\ntrue means were equal.\n");
}

static int show_groups(struct results *r, struct sides *s, const struct plain_style *style, struct text *t)
{
    TRY(read_sides(r, s));
    const struct side *a = &s->at[0], *b = &s->at[1];
    if (s->count > 2) {
        add_group_rows(t, s, style);
    } else {
        add_heads(t, "group", s, style);
        add_means(t, a, b);
    }
    for (int i = 0; i < s->count; i++)
        if (i == 0 || s->id[i] != s->id[0]) TRY(add_broken_runs(r, &s->at[i], t));
    if (s->count == 2) {
        plain_heading(t, style, "Welch's t-test: the chance of such a difference if the true means were equal");
        add_test(t, "score", &a->facts.accuracy, a->facts.finished, &b->facts.accuracy, b->facts.finished);
        add_test(t, "time", &a->facts.seconds, a->facts.finished, &b->facts.seconds, b->facts.finished);
    }
    differ_text(t, s->run, s->id, s->count, style);
    plain_page(t, style);
    return 0;
}

int compare_groups(struct results *r, const int64_t *id, int count, const struct plain_style *style, struct text *t)
{
    struct sides s = {.groups = true, .count = count, .id = id};
    return free_sides(&s, show_groups(r, &s, style, t));
}

// ---- for programs

static const char *const figure_keys[] = {
    "id", "task", "status", "reached_ns", "reached_classic_ns", "reached_warm_ns", "last_ns", "last_classic_ns", "last_warm_ns",
    "peak_memory_bytes", "energy_uj", "price_micro_per_hour", NULL,
};

// Members of a run without a figure are left out.
static json_t *figures_of(const json_t *run)
{
    json_t *o = json_object(), *scores = json_object();
    const json_t *points = json_object_get(run, "points");
    const json_t *loss = json_object_get(json_array_get(points, json_array_size(points) - 1), "loss_micro");
    struct run_metric metrics[RUN_METRICS_MAX];
    for (int i = 0; figure_keys[i] != NULL; i++)
        if (record_has(run, figure_keys[i])) json_object_set(o, figure_keys[i], json_object_get(run, figure_keys[i]));
    for (int m = 0, count = curve_metrics(run, metrics); m < count; m++) {
        int64_t last = curve_last(run, &metrics[m]);
        if (last == RUN_SCORE_NONE) continue;
        json_object_set_new(scores, metrics[m].name,
                            json_pack("{sI sI}", "k", (json_int_t)last, "items", (json_int_t)metrics[m].items));
    }
    json_object_set_new(o, "scores", scores);
    if (json_is_integer(loss)) json_object_set(o, "last_loss_micro", (json_t *)loss);
    json_object_set_new(o, "broken", json_boolean(record_chain(run) < 0));
    return o;
}

static int means_of(struct results *r, int64_t group, const struct side *s, json_t **into)
{
    int broken = 0;
    for (size_t i = 0; i < json_array_size(s->runs); i++) {
        json_t *run;
        TRY(record_read(r, record_int(json_array_get(s->runs, i), "id"), &run));
        broken += record_chain(run) < 0;
        json_decref(run);
    }
    *into = json_pack("{sI si}", "id", (json_int_t)group, "broken_runs", broken);
    json_object_update_new(*into, group_text_json(&s->facts));
    return 0;
}

static void set_test(json_t *o, const char *name, double p)
{
    if (!isnan(p)) json_object_set_new(o, name, json_real(p));
}

// A test that cannot be made is left out.
static void set_tests(json_t *o, const struct group_facts *a, const struct group_facts *b)
{
    set_test(o, "score_p", group_welch_p(&a->accuracy, a->finished, &b->accuracy, b->finished));
    set_test(o, "seconds_p", group_welch_p(&a->seconds, a->finished, &b->seconds, b->finished));
}

// Two have members of their own, more are a list.
static int sides_json(struct results *r, struct sides *s, struct text *t)
{
    TRY(read_sides(r, s));
    json_t *o = json_pack("{ss}", "compares", s->groups ? "groups" : "runs"), *list = json_array();
    int rc = 0;
    for (int i = 0; rc == 0 && i < s->count; i++) {
        json_t *one = NULL;
        if (s->groups) rc = means_of(r, s->id[i], &s->at[i], &one);
        else one = figures_of(s->run[i]);
        if (s->count == 2) json_object_set(o, i == 0 ? "first" : "second", one);
        if (s->groups && i > 0 && rc == 0) set_tests(s->count == 2 ? o : one, &s->at[0].facts, &s->at[i].facts);
        json_array_append_new(list, one);
    }
    if (s->count > 2) json_object_set(o, s->groups ? "groups" : "runs", list);
    json_object_set_new(o, "differences", differ_json(s->run, s->count));
    json_decref(list);
    if (rc == 0) return json_text_add(t, o);
    json_decref(o);
    return rc;
}

int compare_json(struct results *r, bool groups, const int64_t *id, int count, struct text *t)
{
    struct sides s = {.groups = groups, .count = count, .id = id};
    return free_sides(&s, sides_json(r, &s, t));
}

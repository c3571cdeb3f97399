// SPDX-License-Identifier: Apache-2.0
// Cost: reads two whole records.
#include "runtime/common/cli/json_text.h"
#include "tasks/tools/show/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/curve.h"
#include "submit/results/group_text.h"
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

// ---- curves

static void add_curves(struct text *t, const json_t *a, const json_t *b, const struct run_metric *metric,
                       const struct plain_style *style)
{
    double *x[2], *y[2];
    const struct run_metric theirs = metric ? curve_own(b, metric) : (struct run_metric){0};
    int first = plot_points(a, metric, &x[0], &y[0]), second = plot_points(b, metric ? &theirs : NULL, &x[1], &y[1]);
    const struct plot plot = {.metric = metric, .target = metric ? (double)record_int(a, "target_micro") / 1e6 : NAN,
                              .series = {{'A', x[0], y[0], first}, {'B', x[1], y[1], second}}, .count = 2};
    if (first > 1 || second > 1) {
        plain_heading(t, style, "%s: A is run %lld, B is run %lld", metric ? contest_metric_title(metric->name) : "training loss",
                      (long long)record_int(a, "id"), (long long)record_int(b, "id"));
        plot_text(t, &plot, PLOT_ROWS, PLOT_WIDTH, style);
    }
    for (int i = 0; i < 2; i++) free(x[i]), free(y[i]);
}

// ---- facts that differ

static char *value_text(const json_t *value)
{
    if (value == NULL) return copy_text("-");
    if (json_is_string(value)) return copy_text(*json_string_value(value) ? json_string_value(value) : "-");
    return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
}

static void add_difference(struct text *t, const char *label, const json_t *a, const json_t *b, const struct plain_style *style)
{
    if (json_equal(a, b) || (a == NULL && b == NULL)) return;
    char *x = value_text(a), *y = value_text(b);
    if (x == NULL || y == NULL) BUG("out of memory");
    if ((int)strlen(label) < PLAIN_LABEL) plain_line(t, label, "%s %s %s", x, style->unicode ? "→" : "->", y);
    else plain_line(t, "", "%s: %s %s %s", label, x, style->unicode ? "→" : "->", y);
    free(x);
    free(y);
}

struct fact {
    const char *label, *key;
};
static void add_facts(struct text *t, const json_t *a, const json_t *b, const struct fact *facts, const struct plain_style *style)
{
    for (; facts->label != NULL; facts++)
        add_difference(t, facts->label, json_object_get(a, facts->key), json_object_get(b, facts->key), style);
}

static const struct fact run_facts[] = {
    {"target", "target_micro"}, {"model", "model"}, {"parameters", "parameters"}, {"recipe", "recipe"},
    {"precision", "precision"}, {"device", "device"}, {"threads", "threads"}, {"batch", "batch"}, {"views", "views"},
    {"seed", "seed"}, {"resumed", "resumed"}, {"official", "official"}, {"synthetic", "synthetic"}, {NULL, NULL},
};
static const struct fact machine_facts[] = {
    {"processor", "cpu"}, {"features", "cpu_flags"}, {"threads", "cores_usable"}, {"memory", "memory_bytes"}, {"GPU", "gpu"},
    {"driver", "driver"}, {"governor", "governor"}, {"host", "virtualised"}, {"system", "os"}, {"kernel", "kernel"}, {NULL, NULL},
};
static const struct fact program_facts[] = {
    {"source", "commit_name"}, {"compiler", "compiler"}, {"flags", "flags"}, {"libraries", "libraries"},
    {"program", "binary_digest"}, {NULL, NULL},
};

static void compare_data(struct text *t, const json_t *a, const json_t *b, const struct plain_style *style)
{
    const json_t *lists[] = {json_object_get(a, "data_sets"), json_object_get(b, "data_sets")};
    for (size_t i = 0; i < json_array_size(lists[0]) || i < json_array_size(lists[1]); i++) {
        const json_t *x = json_array_get(lists[0], i), *y = json_array_get(lists[1], i);
        add_difference(t, "data", json_object_get(x, "name"), json_object_get(y, "name"), style);
        add_difference(t, "digest", json_object_get(x, "digest"), json_object_get(y, "digest"), style);
        add_difference(t, "short side", json_object_get(x, "short_side"), json_object_get(y, "short_side"), style);
    }
}

// ---- recipes

// Collects every value by its path: "optimiser.filters.lr".
static void flatten(const json_t *value, const char *path, json_t *into)
{
    const char *key;
    json_t *member;
    if (!json_is_object(value)) {
        json_object_set(into, path, (json_t *)value);
        return;
    }
    json_object_foreach((json_t *)value, key, member)
    {
        struct text below = {0};
        text_add(&below, "%s%s%s", path, *path ? "." : "", key);
        flatten(member, below.at, into);
        text_free(&below);
    }
}

void compare_recipes(const json_t *first, const json_t *second, const struct plain_style *style, struct text *t)
{
    json_t *a = json_object(), *b = json_object(), *value;
    const char *key;
    flatten(first, "", a);
    flatten(second, "", b);
    json_object_foreach(b, key, value)
        if (json_object_get(a, key) == NULL) json_object_set_new(a, key, json_null());
    json_object_foreach(a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (strcmp(key, "about") != 0) add_difference(t, key, json_is_null(value) ? NULL : value, other, style);
    }
    json_decref(a);
    json_decref(b);
}

static void add_section(struct text *t, const char *title, struct text *body, const struct plain_style *style)
{
    if (body->at == NULL) return;
    plain_heading(t, style, "%s", title);
    text_add(t, "%s", body->at);
    text_free(body);
}

static void add_differences(struct text *t, const json_t *a, const json_t *b, const struct plain_style *style)
{
    struct text body = {0};
    size_t length = t->length;
    json_t *recipe[] = {json_loads(record_text(a, "recipe_json"), 0, NULL), json_loads(record_text(b, "recipe_json"), 0, NULL)};
    add_facts(&body, a, b, run_facts, style);
    compare_data(&body, a, b, style);
    add_section(t, "Settings that differ", &body, style);
    compare_recipes(recipe[0], recipe[1], style, &body);
    add_section(t, "Recipe keys that differ", &body, style);
    add_facts(&body, json_object_get(a, "machine_facts"), json_object_get(b, "machine_facts"), machine_facts, style);
    add_section(t, "Machine facts that differ", &body, style);
    add_facts(&body, json_object_get(a, "software_facts"), json_object_get(b, "software_facts"), program_facts, style);
    add_section(t, "Program facts that differ", &body, style);
    if (t->length == length) text_add(t, "\nSettings, recipe, machine and program are the same.\n");
    plain_page(t, style);
    json_decref(recipe[0]);
    json_decref(recipe[1]);
}

// ---- two runs

static int check_tasks(const char *kind, int64_t first, const json_t *a, int64_t second, const json_t *b)
{
    if (strcmp(record_text(a, "task"), record_text(b, "task")) == 0) return 0;
    return fail(ERR_USAGE, "%s %lld trained %s and %s %lld %s: different tasks cannot be compared", kind, (long long)first,
                record_text(a, "task"), kind, (long long)second, record_text(b, "task"));
}

static void add_heads(struct text *t, const char *kind, int64_t first, int64_t second, const struct plain_style *style)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "%s %lld", kind, (long long)first);
    snprintf(b, sizeof b, "%s %lld", kind, (long long)second);
    plain_heading(t, style, "%-30s%16s%16s%14s", "", a, b, "second/first");
}

int compare_runs(struct results *r, int64_t first, int64_t second, const struct plain_style *style, struct text *t)
{
    json_t *a = NULL, *b = NULL;
    int rc = record_read(r, first, &a);
    if (rc == 0) rc = record_read(r, second, &b);
    if (rc == 0) rc = check_tasks("run", first, a, second, b);
    if (rc == 0) {
        const struct run_metric board = curve_board(a);
        add_heads(t, "run", first, second, style);
        add_figures(t, a, b);
        add_broken(t, a);
        if (first != second) add_broken(t, b);
        add_curves(t, a, b, &board, style);
        add_curves(t, a, b, NULL, style);
        add_differences(t, a, b, style);
    }
    json_decref(a);
    json_decref(b);
    return rc;
}

// ---- two groups

struct side {
    json_t *runs;
    struct group_facts facts;
};

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

static int read_group(struct results *r, int64_t group, struct side *s)
{
    TRY(record_group(r, group, &s->runs, &s->facts));
    if (json_array_size(s->runs) > 0) return 0;
    return fail(ERR_USAGE, "there is no group g%lld with runs in %s", (long long)group, result_file(r));
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

static int add_group_figures(struct results *r, const struct side *a, const struct side *b, bool same, struct text *t)
{
    add_means(t, a, b);
    TRY(add_broken_runs(r, a, t));
    return same ? 0 : add_broken_runs(r, b, t);
}

int compare_groups(struct results *r, int64_t first, int64_t second, const struct plain_style *style, struct text *t)
{
    struct side a = {0}, b = {0};
    json_t *of_first = NULL, *of_second = NULL;
    int rc = read_group(r, first, &a);
    if (rc == 0) rc = read_group(r, second, &b);
    if (rc == 0) rc = check_tasks("group", first, json_array_get(a.runs, 0), second, json_array_get(b.runs, 0));
    if (rc == 0) rc = record_read(r, record_int(json_array_get(a.runs, 0), "id"), &of_first);
    if (rc == 0) rc = record_read(r, record_int(json_array_get(b.runs, 0), "id"), &of_second);
    if (rc == 0) {
        add_heads(t, "group", first, second, style);
        rc = add_group_figures(r, &a, &b, first == second, t);
    }
    if (rc == 0) {
        plain_heading(t, style, "Welch's t-test: the chance of such a difference if the true means were equal");
        add_test(t, "score", &a.facts.accuracy, a.facts.finished, &b.facts.accuracy, b.facts.finished);
        add_test(t, "time", &a.facts.seconds, a.facts.finished, &b.facts.seconds, b.facts.finished);
        json_object_del(of_first, "seed");  // seeds always differ
        json_object_del(of_second, "seed");
        add_differences(t, of_first, of_second, style);
    }
    json_decref(a.runs);
    json_decref(b.runs);
    json_decref(of_first);
    json_decref(of_second);
    return rc;
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

static void list_difference(json_t *list, const char *of, const char *name, const json_t *a, const json_t *b)
{
    if (json_equal(a, b) || (a == NULL && b == NULL)) return;
    json_array_append_new(list, json_pack("{ss ss sO? sO?}", "of", of, "name", name, "first", a, "second", b));
}

static void list_facts(json_t *list, const char *of, const struct fact *facts, const json_t *a, const json_t *b)
{
    for (; facts->label != NULL; facts++)
        list_difference(list, of, facts->key, json_object_get(a, facts->key), json_object_get(b, facts->key));
}

static void list_recipes(json_t *list, const json_t *first, const json_t *second)
{
    json_t *recipe[] = {json_loads(record_text(first, "recipe_json"), 0, NULL),
                        json_loads(record_text(second, "recipe_json"), 0, NULL)};
    json_t *a = json_object(), *b = json_object(), *value;
    const char *key;
    flatten(recipe[0], "", a);
    flatten(recipe[1], "", b);
    json_object_foreach(a, key, value)
        if (strcmp(key, "about") != 0) list_difference(list, "recipe", key, value, json_object_get(b, key));
    json_object_foreach(b, key, value)
        if (strcmp(key, "about") != 0 && json_object_get(a, key) == NULL) list_difference(list, "recipe", key, NULL, value);
    json_decref(a), json_decref(b);
    json_decref(recipe[0]), json_decref(recipe[1]);
}

static json_t *differences_of(const json_t *a, const json_t *b)
{
    static const char *const data_keys[] = {"name", "digest", "short_side"};
    json_t *list = json_array();
    const json_t *sets[] = {json_object_get(a, "data_sets"), json_object_get(b, "data_sets")};
    list_facts(list, "settings", run_facts, a, b);
    for (size_t i = 0; i < json_array_size(sets[0]) || i < json_array_size(sets[1]); i++)
        for (int k = 0; k < 3; k++)
            list_difference(list, "data", data_keys[k], json_object_get(json_array_get(sets[0], i), data_keys[k]),
                            json_object_get(json_array_get(sets[1], i), data_keys[k]));
    list_recipes(list, a, b);
    list_facts(list, "machine", machine_facts, json_object_get(a, "machine_facts"), json_object_get(b, "machine_facts"));
    list_facts(list, "program", program_facts, json_object_get(a, "software_facts"),
               json_object_get(b, "software_facts"));
    return list;
}

int compare_runs_json(struct results *r, int64_t first, int64_t second, struct text *t)
{
    json_t *a = NULL, *b = NULL;
    int rc = record_read(r, first, &a);
    if (rc == 0) rc = record_read(r, second, &b);
    if (rc == 0) rc = check_tasks("run", first, a, second, b);
    if (rc == 0)
        rc = json_text_add(t, json_pack("{ss so so so}", "compares", "runs", "first", figures_of(a), "second", figures_of(b),
                                        "differences", differences_of(a, b)));
    json_decref(a);
    json_decref(b);
    return rc;
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

// A test that cannot be made is left out.
static void set_test(json_t *o, const char *name, const struct group_mean *a, int n, const struct group_mean *b, int m)
{
    double p = group_welch_p(a, n, b, m);
    if (!isnan(p)) json_object_set_new(o, name, json_real(p));
}

int compare_groups_json(struct results *r, int64_t first, int64_t second, struct text *t)
{
    struct side a = {0}, b = {0};
    json_t *run[2] = {NULL}, *means[2] = {NULL};
    int rc = read_group(r, first, &a);
    if (rc == 0) rc = read_group(r, second, &b);
    if (rc == 0) rc = check_tasks("group", first, json_array_get(a.runs, 0), second, json_array_get(b.runs, 0));
    if (rc == 0) rc = record_read(r, record_int(json_array_get(a.runs, 0), "id"), &run[0]);
    if (rc == 0) rc = record_read(r, record_int(json_array_get(b.runs, 0), "id"), &run[1]);
    if (rc == 0) rc = means_of(r, first, &a, &means[0]);
    if (rc == 0) rc = means_of(r, second, &b, &means[1]);
    if (rc == 0) {
        json_object_del(run[0], "seed");  // seeds always differ
        json_object_del(run[1], "seed");
        json_t *o = json_pack("{ss sO sO so}", "compares", "groups", "first", means[0], "second", means[1], "differences",
                              differences_of(run[0], run[1]));
        set_test(o, "score_p", &a.facts.accuracy, a.facts.finished, &b.facts.accuracy, b.facts.finished);
        set_test(o, "seconds_p", &a.facts.seconds, a.facts.finished, &b.facts.seconds, b.facts.finished);
        rc = json_text_add(t, o);
    }
    json_t *all[] = {a.runs, b.runs, run[0], run[1], means[0], means[1]};
    for (int i = 0; i < 6; i++) json_decref(all[i]);
    return rc;
}

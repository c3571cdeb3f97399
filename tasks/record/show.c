// SPDX-License-Identifier: Apache-2.0
// Writes records for people. Invariant: no line is wider than 80 columns unless one word is; no byte from the file
// reaches a terminal that could steer it. Cost: none that matters.
#include "tasks/record/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/arena.h"
#include "submit/format/contest.h"
#include "submit/format/curve.h"

enum { WIDTH = 80, LABEL = 13 };

static int columns_of(const char *text)  // in code points: nothing wider is printed here
{
    int n = 0;
    for (; *text != 0; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

// Replaces what could steer a terminal: C0, DEL, and C1 in its UTF-8 form.
static void tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != 0; c++) {
        if (*c < 0x20 || *c == 0x7f) *c = '?';
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) c[0] = c[1] = '?';
    }
}

static void heading(struct text *t, const struct show_style *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void heading(struct text *t, const struct show_style *style, const char *format, ...)
{
    char words[512];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    tame(words);
    text_add(t, style->bold ? "\n\033[1m%s\033[0m\n" : "\n%s\n", words);
}

// "  label      words ...", wrapped between words under the first of them.
static void line(struct text *t, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(struct text *t, const char *label, const char *format, ...)
{
    char words[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    tame(words);
    text_add(t, "  %-*s", LABEL, label);
    int column = LABEL + 2;
    bool first = true;
    for (char *rest, *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int wide = columns_of(word);
        if (!first && column + 1 + wide > WIDTH) {
            text_add(t, "\n%*s", LABEL + 2, "");
            column = LABEL + 2;
            first = true;
        }
        text_add(t, "%s%s", first ? "" : " ", word);
        column += wide + !first;
        first = false;
    }
    text_add(t, "\n");
}

static char *when(char into[32], int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    gmtime_r(&seconds, &day);
    strftime(into, 32, "%Y-%m-%d %H:%M", &day);
    return into;
}

static char *span(char into[TEXT_FIGURE], int64_t ns)
{
    return text_span(into, (double)ns / 1e9);
}

// The board's score of the last evaluation; `into` stays as it is where there was none.
static void last_share(char into[TEXT_FIGURE], const json_t *run)
{
    struct run_metric board = curve_board(run);
    if (record_has(run, "last_score")) run_metric_text(&board, record_int(run, "last_score"), into);
}

void show_curve(struct text *t, const struct show_values *v, int rows, int width, const struct show_style *style)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", "|", "|", "#", "#"};
    const double *values = v->at, target = v->target;
    const char *unit = strcmp(v->metric->unit, "%") == 0 ? "%" : " ";
    int count = v->count, places = *unit == '%' ? 2 : 4;
    if (count < 1) return;
    double low = target, high = target;
    for (int i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    low = fmax(fmin(low, 0), low - 0.05 * (high - low) - 1e-9);
    if (!(high > low)) high = low + 1e-6;
    int bars = count < width ? count : width, each = width / bars < 6 ? width / bars : 6;
    int target_row = (int)fmin(rows - 1, floor((target - low) / (high - low) * rows));
    for (int row = rows - 1; row >= 0; row--) {
        if (row == rows - 1) text_add(t, "  %6.*f%s ", places, run_metric_shown(v->metric, high), unit);
        else if (row == 0) text_add(t, "  %6.*f%s ", places, run_metric_shown(v->metric, low), unit);
        else text_add(t, "  %8s", "");
        text_add(t, style->unicode ? "│" : "|");
        for (int bar = 0; bar < bars; bar++) {
            double value = values[(int)((int64_t)(bar + 1) * count / bars) - 1];
            int eighths = (int)lround((value - low) / (high - low) * rows * 8) - 8 * row;
            eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
            const char *cell = style->unicode ? blocks[eighths] : plain[eighths];
            const char *gap = style->unicode ? "┄" : "-";
            for (int i = 0; i < each; i++) {
                bool empty = eighths == 0 || (each > 1 && i == each - 1);
                text_add(t, "%s", !empty ? cell : row == target_row ? gap : " ");
            }
        }
        text_add(t, row == target_row ? " target\n" : "\n");
    }
}

static void add_curve(struct text *t, const json_t *run, const struct show_style *style)
{
    const json_t *points = json_object_get(run, "points");
    double *values = zalloc((json_array_size(points) + 1) * sizeof *values);
    struct run_metric board = curve_board(run);
    struct show_values curve = {.metric = &board, .at = values, .target = (double)record_int(run, "target_micro") / 1e6};
    size_t i;
    json_t *point;
    json_array_foreach((json_t *)points, i, point)
    {
        int64_t score = curve_score(point, &board);
        if (score != RUN_SCORE_NONE) values[curve.count++] = run_metric_value(&board, score);
    }
    if (curve.count > 1) {
        heading(t, style, "%s, %d evaluations", board.name, curve.count);
        show_curve(t, &curve, 6, 60, style);
    }
    free(values);
}

static void add_clock(struct text *t, const json_t *run, const char *name, const char *reached, const char *last)
{
    char a[TEXT_FIGURE] = "-", b[TEXT_FIGURE] = "-";
    if (record_has(run, reached)) span(a, record_int(run, reached));
    if (record_has(run, last)) span(b, record_int(run, last));
    text_add(t, "  %-26s%14s%20s\n", name, a, b);
}

static void add_clocks(struct text *t, const json_t *run, const struct show_style *style)
{
    heading(t, style, "%-28s%14s%20s", "Clocks", "to target", "to last evaluation");
    add_clock(t, run, "end-to-end", "reached_ns", "last_ns");
    add_clock(t, run, "classic (DAWNBench)", "reached_classic_ns", "last_classic_ns");
    add_clock(t, run, "warm", "reached_warm_ns", "last_warm_ns");
    add_clock(t, run, "warm, with evaluation", "reached_warm_with_evaluation_ns", "last_warm_with_evaluation_ns");
}

static void add_segments(struct text *t, const json_t *run, const struct show_style *style)
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
    heading(t, style, "Where the time went");
    for (int s = 0; s < SEGMENT_END; s++) {
        char figure[TEXT_FIGURE];
        if (sums[s] == 0) continue;
        double share = (double)sums[s] / (double)all;
        text_add(t, "  %-*s%12s  %5.1f%%", LABEL, stopwatch_name((enum segment)s), span(figure, sums[s]), 100 * share);
        int bars = (int)lround(40 * share);
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
    line(t, "cost", "%s %s, at %s an hour%s%s (%s, %s)", cost, reached ? "to target" : "so far, target not reached",
         cost_text(hour, price), *record_text(run, "price_instance") ? " for " : "", record_text(run, "price_instance"),
         record_text(run, "price_source"), record_text(run, "price_date"));
}

static void add_data(struct text *t, const json_t *run)
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
    }
    if (all.at != NULL) line(t, "data", "%s", all.at);
    text_free(&all);
}

// What a run took besides its data: a result that began with trained weights is another result.
static void add_files(struct text *t, const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        char size[TEXT_FIGURE];
        const char *kind = record_text(row, "kind");
        line(t, strcmp(kind, "weights") ? kind : "began with", "%s (%s)", record_text(row, "name"),
             text_size(size, (double)record_int(row, "bytes")));
    }
}

// ", 2 views an item" and the like. What an outside program did not tell is 0 in the record: nothing is said of it.
static const char *known(char into[48], const char *before, int64_t n, const char *after)
{
    char count[TEXT_FIGURE];
    into[0] = 0;
    if (n > 0) snprintf(into, 48, "%s%s%s%s", before, text_count(count, n), after, n > 1 && *after ? "s" : "");
    return into;
}

static void add_score(struct text *t, const char *label, const struct run_metric *m, int64_t score, const char *more)
{
    char text[TEXT_FIGURE], k[TEXT_FIGURE], n[TEXT_FIGURE];
    run_metric_text(m, score, text);
    if (m->items > 0)
        line(t, label, "%s %s: %s of %s correct%s", text, m->name, text_count(k, score), text_count(n, m->items), more);
    else line(t, label, "%s %s%s", text, m->name, more);
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
        snprintf(more, sizeof more, "%s%s; target %s", views, *views ? " an item" : "",
                 run_metric_value_text(&metrics[0], (double)record_int(run, "target_micro") / 1e6, target));
        if (score != RUN_SCORE_NONE) add_score(t, m == 0 ? "score" : "", &metrics[m], score, m == 0 ? more : "");
    }
}

static void add_reached(struct text *t, const json_t *run)
{
    size_t i;
    json_t *point;
    char place[CURVE_PLACE], samples[48];
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        if (!record_has(run, "reached_step") || record_int(point, "step") != record_int(run, "reached_step")) continue;
        line(t, "reached", "at %s%s", curve_place(point, place),
             known(samples, " after ", record_int(run, "reached_samples"), " sample"));
        return;
    }
    line(t, "reached", "never");
}

static void add_result(struct text *t, const json_t *run, const struct show_style *style)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[48], e[48];
    const char *dot = style->unicode ? "·" : "-";
    add_scores(t, run);
    add_reached(t, run);
    if (record_int(run, "resumed") > 0)
        line(t, "resumed", "%lld time%s: the time between counts in the end-to-end clock alone",
             (long long)record_int(run, "resumed"), record_int(run, "resumed") == 1 ? "" : "s");
    if (*record_text(run, "message")) line(t, "message", "%s", record_text(run, "message"));
    add_data(t, run);
    add_files(t, run);
    snprintf(c, sizeof c, " %s ", dot);
    known(d, c, record_int(run, "parameters"), " parameter");
    line(t, "model", "%s%s %s recipe %s", record_text(run, "model"), d, dot, record_text(run, "recipe"));
    known(d, c, record_int(run, "threads"), " thread");
    snprintf(c, sizeof c, " %s batch ", dot);
    line(t, "how", "%s %s %s%s%s %s seed %lld %s %s", record_text(run, "device"), dot, record_text(run, "precision"), d,
         known(e, c, record_int(run, "batch"), ""), dot, (long long)record_int(run, "seed"), dot,
         record_int(run, "stop_at_target") ? "stops at the target" : "whole schedule");
    add_cost(t, run);
    if (record_has(run, "peak_memory_bytes")) {
        text_size(a, (double)record_int(run, "peak_memory_bytes"));
        if (record_has(run, "planned_memory_bytes"))
            line(t, "memory", "%s at most (planned %s)", a, text_size(b, (double)record_int(run, "planned_memory_bytes")));
        else line(t, "memory", "%s at most", a);
    }
    if (record_has(run, "energy_uj")) {
        char target[TEXT_FIGURE + 24] = "";
        if (record_has(run, "reached_energy_uj"))
            snprintf(target, sizeof target, ", %s of it to the target",
                     text_si(b, (double)record_int(run, "reached_energy_uj") / 1e6, "J"));
        line(t, "energy", "%s%s (processor packages and GPUs, as far as it can be read)",
             text_si(a, (double)record_int(run, "energy_uj") / 1e6, "J"), target);
    }
}

// Of the items that were measured; a value is in millionths whatever their number.
static struct run_metric latency_metric(const json_t *row)
{
    const struct contest *contest = contest_find(record_text(row, "task"));
    struct run_metric metric = contest != NULL ? contest->board : (struct run_metric){.name = "", .unit = "%"};
    metric.items = contest_is_share(contest) ? 0 : record_int(row, "items");
    return metric;
}

static void add_latencies(struct text *t, const json_t *rows, const struct show_style *style, const char *title)
{
    if (json_array_size(rows) == 0) return;
    heading(t, style, "%s", title);
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row)
    {
        char items[TEXT_FIGURE], cost[COST_TEXT], score[TEXT_FIGURE];
        struct run_metric metric = latency_metric(row);
        text_add(t, "  %s, %lld thread%s, %s: %s of %s items%s\n", record_text(row, "precision"),
                 (long long)record_int(row, "threads"), record_int(row, "threads") == 1 ? "" : "s", record_text(row, "device"),
                 run_metric_text(&metric, record_int(row, "k"), score), text_count(items, record_int(row, "items")),
                 record_int(row, "eligible") ? "" : ", NOT ELIGIBLE");
        text_add(t, "    %-24s%11s%11s%11s%11s\n", "ms an item", "mean", "p50", "p90", "p99");
        static const char *const which[2][5] = {
            {"network alone", "model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"},
            {"with preprocessing", "whole_mean_ns", "whole_p50_ns", "whole_p90_ns", "whole_p99_ns"}};
        for (int w = 0; w < 2; w++) {
            text_add(t, "    %-24s", which[w][0]);
            for (int c = 1; c < 5; c++) text_add(t, "%11.4f", (double)record_int(row, which[w][c]) / 1e6);
            text_add(t, "\n");
        }
        int64_t mean = record_int(row, "whole_mean_ns"), price = record_int(row, "price_micro_per_hour");
        if (record_has(row, "price_micro_per_hour"))
            text_add(t, "    %s for 10,000 items\n", cost_text(cost, cost_inference_micro(mean, 10000, price)));
    }
}

static void add_machine(struct text *t, const json_t *run, const struct show_style *style)
{
    const json_t *m = json_object_get(run, "machine_facts"), *s = json_object_get(run, "software_facts");
    char memory[TEXT_FIGURE];
    heading(t, style, "Machine and program");
    line(t, "processor", "%s, %lld of %lld threads usable%s%s", record_text(m, "cpu"), (long long)record_int(m, "cores_usable"),
         (long long)record_int(m, "cores_online"), *record_text(m, "virtualised") ? ", " : "", record_text(m, "virtualised"));
    line(t, "can do", "%s", record_text(m, "cpu_flags"));
    line(t, "memory", "%s", text_size(memory, (double)record_int(m, "memory_bytes")));
    bool driver = *record_text(m, "driver");
    if (*record_text(m, "gpu"))
        line(t, "GPU", "%s%s%s", record_text(m, "gpu"), driver ? ", driver " : "", record_text(m, "driver"));
    line(t, "system", "%s, %s", record_text(m, "os"), record_text(m, "kernel"));
    line(t, "built", "%s %s", record_text(s, "compiler"), record_text(s, "flags"));
    line(t, "libraries", "%s", record_text(s, "libraries"));
    line(t, "source", "%s%s", *record_text(s, "commit_name") ? record_text(s, "commit_name") : "no commit known",
         record_int(s, "dirty") ? " with changes of its own" : "");
}

static void add_digests(struct text *t, const json_t *run, const struct show_style *style)
{
    heading(t, style, "Digests (SHA-256)");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "data_sets"), i, row)
    {
        char label[64];
        snprintf(label, sizeof label, "%.12s", record_text(row, "split"));
        line(t, label, "%s", record_text(row, "digest"));
    }
    json_array_foreach(json_object_get(run, "files"), i, row)
    {
        const char *kind = record_text(row, "kind");
        line(t, strcmp(kind, "weights") ? kind : "began with", "%s", record_text(row, "digest"));
    }
    line(t, "program", "%s", record_text(json_object_get(run, "software_facts"), "binary_digest"));
    line(t, "recipe", "%s", record_text(run, "recipe_digest"));
    if (record_has(run, "weights_digest")) line(t, "weights", "%s", record_text(run, "weights_digest"));
    const json_t *points = json_object_get(run, "points");
    if (json_array_size(points) > 0)
        line(t, "chain", "%s", record_text(json_array_get(points, json_array_size(points) - 1), "hash"));
    if (!record_bound(run)) line(t, "", "settings, machine and price are not bound: an older program began the run");
    line(t, "nonce", "%s", record_text(run, "nonce"));
}

static void add_interval(struct text *t, const char *label, const struct group_mean *m, double scale, const char *unit)
{
    int places = scale == 1 && *label != 's' ? 4 : 2;
    line(t, label, "mean %.*f%s, sigma %.*f, 95%% interval %.*f to %.*f", places, scale * m->mean, unit, places,
         scale * m->sigma, places, scale * m->low, places, scale * m->high);
}

int show_group(struct results *r, int64_t group, const struct show_style *style, struct text *t)
{
    json_t *runs;
    struct group_facts facts;
    TRY(record_group(r, group, &runs, &facts));
    heading(t, style, "Group %lld: %d of %d announced runs finished", (long long)group, facts.finished, facts.planned);
    size_t i;
    json_t *run;
    bool self = false;
    json_array_foreach(runs, i, run)
    {
        char figure[TEXT_FIGURE] = "-", share[TEXT_FIGURE] = "-";
        self = self || strcmp(record_text(run, "device"), "outside") == 0;
        if (record_has(run, "last_ns")) span(figure, record_int(run, "last_ns"));
        last_share(share, run);
        text_add(t, "  run %-5lld seed %-10lld %8s %14s  %s\n", (long long)record_int(run, "id"),
                 (long long)record_int(run, "seed"), share, figure, record_text(run, "status"));
    }
    struct run_metric board = curve_board(json_array_get(runs, 0));
    if (facts.finished > 0) {
        add_interval(t, board.name, &facts.accuracy, run_metric_shown(&board, 1), board.unit);
        add_interval(t, "seconds", &facts.seconds, 1, "");
    }
    if (facts.finished > 1) line(t, "t-test", "p = %.4g that such a mean comes from a true mean at the target", facts.p);
    line(t, "verdict", "%s: %s", facts.official ? "OFFICIAL" : "not official", group_verdict_sentence(facts.verdict));
    if (self) line(t, "evaluated", "self-evaluated: the programs reported their own scores; it is never called checked");
    json_decref(runs);
    return 0;
}

static void add_outside(struct text *t, const json_t *run)
{
    const json_t *outside = json_object_get(run, "outside");
    long long devices = (long long)record_int(outside, "devices");
    if (strcmp(record_text(run, "device"), "outside") != 0) return;
    if (outside != NULL)  // it is not there when dawn was killed just then
        line(t, "program", "%s on %lld device%s: %s", record_text(outside, "framework"), devices, devices == 1 ? "" : "s",
             record_text(outside, "command"));
    line(t, "evaluated", "self-evaluated: the program reported its own score; only the clock is DAWN's");
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
        line(t, label, "#%lld on %s%s", (long long)record_int(row, "sequence"), record_text(row, "board"),
             record_has(row, "supersedes") ? ", in place of the one before" : "");
    }
}

int show_run(struct results *r, int64_t id, const struct show_style *style, struct text *t)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    char date[32];
    const char *dot = style->unicode ? "·" : "-";
    heading(t, style, "Run %lld %s %s %s %s %s %s UTC", (long long)id, dot, record_text(run, "task"), dot,
            record_text(run, "status"), dot, when(date, record_int(run, "started_ms")));
    if (record_chain(run) < 0) line(t, "BROKEN", "the record has been changed: %s", error_text());
    if (record_int(run, "synthetic"))
        text_add(t, "  SYNTHETIC DATA: drawn by the program; it stands on no board but \"demo\".\n");
    if (strstr(record_text(json_object_get(run, "machine_facts"), "gpu"), "(emulated card)"))
        text_add(t, "  EMULATED CARD: what it computed is right, no time or energy of it is a measurement.\n");
    add_result(t, run, style);
    add_outside(t, run);
    add_receipts(t, run);
    add_clocks(t, run, style);
    add_curve(t, run, style);
    add_segments(t, run, style);
    add_latencies(t, json_object_get(run, "latencies"), style, "Inference, one item at a time");
    add_machine(t, run, style);
    add_digests(t, run, style);
    int rc = record_has(run, "group_id") ? show_group(r, record_int(run, "group_id"), style, t) : 0;
    json_decref(run);
    return rc;
}

static int list_groups(struct results *r, struct text *t)
{
    json_t *groups, *runs;
    TRY(record_rows(r, "SELECT id FROM groups ORDER BY id", 0, &groups));
    size_t i;
    json_t *group;
    int rc = 0;
    json_array_foreach(groups, i, group)
    {
        struct group_facts f;
        int64_t id = record_int(group, "id");
        rc = record_group(r, id, &runs, &f);
        if (rc < 0) break;
        size_t count = json_array_size(runs);
        long long first = (long long)record_int(json_array_get(runs, 0), "id");
        long long last = count > 0 ? (long long)record_int(json_array_get(runs, count - 1), "id") : 0;
        struct text words = {0};
        text_add(&words, "group %lld: %d of %d runs", (long long)id, f.finished, f.planned);
        if (count == 1) text_add(&words, " (run %lld)", first);
        if (count > 1) text_add(&words, " (%lld to %lld)", first, last);
        text_add(&words, "; %s", group_verdict_sentence(f.verdict));
        text_wrap(t, words.at, 0, 4);
        text_add(t, "\n");
        text_free(&words);
        json_decref(runs);
    }
    json_decref(groups);
    return rc;
}

// Whether each hash of a run still follows from its figures; what cannot be read is an error of its own.
static int is_broken(struct results *r, int64_t id, bool *broken)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    *broken = record_chain(run) < 0;
    json_decref(run);
    return 0;
}

static int list_runs(struct results *r, const json_t *runs, struct text *t, int *all_broken)
{
    size_t i;
    json_t *run;
    json_array_foreach((json_t *)runs, i, run)
    {
        char date[32], figure[TEXT_FIGURE] = "-", share[TEXT_FIGURE] = "-", row[256];
        bool broken, synthetic = record_int(run, "synthetic") != 0;
        TRY(is_broken(r, record_int(run, "id"), &broken));
        *all_broken += broken;
        if (record_has(run, "reached_ns")) span(figure, record_int(run, "reached_ns"));
        last_share(share, run);
        snprintf(row, sizeof row, "%4lld  %-16s  %-8.8s %-11s %8s %11s  %.*s%s", (long long)record_int(run, "id"),
                 when(date, record_int(run, "started_ms")), record_text(run, "task"), record_text(run, "status"), share, figure,
                 broken || synthetic ? 6 : 14, record_text(run, "model"), broken ? " BROKEN" : synthetic ? " SYNTH" : "");
        tame(row);
        text_add(t, "%s\n", row);
    }
    return 0;
}

int show_list(struct results *r, const struct show_style *style, struct text *t)
{
    json_t *runs;
    TRY(record_list(r, &runs));
    char head[128];
    snprintf(head, sizeof head, "%4s  %-16s  %-8s %-11s %8s %11s  %s", "run", "started (UTC)", "task", "status", "score",
             "to target", "model");
    text_add(t, style->bold ? "\033[1m%s\033[0m\n" : "%s\n", head);
    int broken = 0, rc = list_runs(r, runs, t, &broken);
    if (rc < 0) {
        json_decref(runs);
        return rc;
    }
    if (broken > 0)
        text_add(t, "%d run%s changed since the training wrote %s: \"dawn results verify\" says where.\n", broken,
                 broken == 1 ? " was" : "s were", broken == 1 ? "it" : "them");
    if (json_array_size(runs) == 0) text_add(t, "No run has been recorded in %s yet.\n", result_file(r));
    json_decref(runs);
    TRY(list_groups(r, t));
    json_t *loose;
    TRY(record_rows(r, "SELECT * FROM latencies WHERE run IS NULL ORDER BY id", 0, &loose));
    add_latencies(t, loose, style, "Inference with weights that no run here made");
    json_decref(loose);
    return 0;
}

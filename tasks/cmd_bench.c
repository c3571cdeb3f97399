// SPDX-License-Identifier: Apache-2.0
// dawn bench: times training steps (protocol.h), shows where the time goes, and compares it with the measured peaks of the
// device. `dawn bench ops` times single operators. Nothing is recorded.
#include "runtime/base/clock.h"
#include "runtime/base/text.h"
#include "runtime/cases/cases.h"
#include "runtime/fuse.h"
#include "tasks/choose.h"
#include "tasks/commands.h"
#include "tasks/measure/forecast.h"
#include "tasks/measure/protocol.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_ROWS = 20 };

struct arguments {
    struct choose choose;
    const char *op;
    double seconds;
    int64_t repeats, side;
    bool fake, measure, json;
};

struct bench {
    const struct arguments *a;
    struct chosen chosen;
    struct dataset *data;
    bool noise;
    char why[ERROR_TEXT_MAX];  // why noise was used without --fake
    struct device *device;
    struct device_facts facts;
    struct trainer *trainer;
    struct forecast forecast;
    const struct forecast_variant *variant;  // the variant that is timed
    struct protocol protocol;
    double step[PROTOCOL_REPEATS_MAX];  // seconds of a step, a repeat each
    struct spread spread;
    struct roofline roofline;
};

// ---- timing

static int run_steps(struct bench *b, int64_t count, double *seconds_a_step)
{
    struct session *s = b->trainer->session;
    int64_t began = clock_ns();
    for (int64_t i = 0; i < count; i++) TRY(session_run(s, b->variant->program));
    TRY(session_sync(s));
    int64_t ns = clock_ns() - began;
    *seconds_a_step = (double)(ns > 0 ? ns : 1) * 1e-9 / (double)(count ? count : 1);
    return 0;
}

static int time_steps(struct bench *b)
{
    enum { TRIAL = 2 };  // the first touches memory, the second is timed for the protocol
    double first;
    TRY(trainer_begin(b->trainer, 1));
    TRY(trainer_step(b->trainer));  // begins the epoch, with the first variant of the schedule
    TRY(run_steps(b, 1, &first));
    TRY(run_steps(b, 1, &first));
    b->protocol = protocol_fit(first, b->a->seconds, b->a->repeats);
    if (b->protocol.ignored < TRIAL) b->protocol.ignored = TRIAL;
    TRY(run_steps(b, b->protocol.ignored - TRIAL, &first));
    for (int64_t i = 0; i < b->protocol.repeats; i++) TRY(run_steps(b, b->protocol.timed, &b->step[i]));
    b->spread = protocol_spread(b->step, (int)b->protocol.repeats);
    return 0;
}

// Time by operator: the mean of a few profiled steps, after the timing, because profiling may slow the steps.
static int profile_steps(struct bench *b)
{
    const struct plan *plan = b->trainer->session->plan[b->variant->program];
    size_t bytes = (size_t)(plan->count + 1) * sizeof(int64_t);
    int64_t *ns = zalloc(bytes), *sum = zalloc(bytes);
    int rc = 0, runs = b->spread.median < 1 ? 5 : 1;
    for (int i = 0; i < runs && rc == 0; i++) {
        rc = session_profile(b->trainer->session, b->variant->program, ns);
        for (int at = 0; at < plan->count; at++) sum[at] += ns[at];
    }
    for (int at = 0; at < plan->count; at++) sum[at] /= runs;
    if (rc == 0) roofline_of(plan, &b->facts, ROOFLINE_OPERATORS, sum, &b->roofline);
    free(ns);
    free(sum);
    return rc;
}

static int choose_variant(struct bench *b)
{
    b->variant = &b->forecast.variant[b->forecast.full];
    if (!b->a->side || b->variant->side == b->a->side) return 0;
    const struct forecast_variant *best = NULL;
    for (int i = 0; i < b->forecast.variants; i++) {
        const struct forecast_variant *v = &b->forecast.variant[i];
        if (v->side == b->a->side && (!best || v->steps > best->steps)) best = v;
    }
    if (!best)
        return fail(ERR_USAGE, "--side: the schedule of recipe %s has no step of side or length %lld",
                    b->chosen.recipe.name, (long long)b->a->side);
    b->variant = best;
    return 0;
}

// Measured before the steps and again after them. The higher figure counts: other load can only lower it.
static int measure_peaks(struct bench *b)
{
    struct device_facts now;
    TRY(device_measure(b->device, &now));
    for (enum dtype t = F32; t <= F16; t++)
        if (now.peak_flops[t] > b->facts.peak_flops[t]) b->facts.peak_flops[t] = now.peak_flops[t];
    if (now.peak_bytes > b->facts.peak_bytes) b->facts.peak_bytes = now.peak_bytes;
    return 0;
}

static int bench_steps(struct bench *b)
{
    const struct arguments *a = b->a;
    TRY(choose_open(&b->chosen, a->fake, &b->noise, &b->data));
    if (b->noise && !a->fake) snprintf(b->why, sizeof b->why, "%s", error_text());
    TRY(device_open(a->choose.device, (int)a->choose.threads, &b->device));
    TRY(b->device->type->facts(b->device, &b->facts));
    struct trainer_choice choice = {b->chosen.task, b->chosen.recipe, b->data, b->device, FUSE_ALL, b->chosen.files};
    if (b->chosen.recipe.accumulate > 1)
        return fail(ERR_USAGE, "dawn bench times one program, and data.accumulate makes several of a step: set it to 1");
    TRY(trainer_new(&choice, &b->trainer));
    if (a->measure) TRY(measure_peaks(b));
    forecast_of(b->trainer, &b->facts, &b->forecast);
    TRY(choose_variant(b));
    TRY(trainer_ready(b->trainer));
    TRY(trainer_load(b->trainer));
    TRY(time_steps(b));
    if (a->measure) TRY(measure_peaks(b));
    forecast_of(b->trainer, &b->facts, &b->forecast);  // the same variants, from the better peaks
    return profile_steps(b);
}

// ---- output

static double peak_of(const struct bench *b)
{
    return b->facts.peak_flops[b->trainer->setting.dtype];
}

static void add_protocol(const struct bench *b, struct text *into)
{
    const struct protocol *p = &b->protocol;
    char cut[128] = "";
    if (!p->whole)
        snprintf(cut, sizeof cut, "; the whole protocol (%d ignored, %lld x %d) does not fit into --seconds %g",
                 PROTOCOL_IGNORED, (long long)b->a->repeats, PROTOCOL_TIMED, b->a->seconds);
    text_entry(into, "timed", "%lld steps ignored, then %lld x %lld step%s%s", (long long)p->ignored,
               (long long)p->repeats, (long long)p->timed, p->timed == 1 ? "" : "s", cut);
}

static void print_setting(const struct bench *b)
{
    const struct forecast_variant *v = b->variant;
    struct text text = {0};
    printf("%s on device %s\n", b->chosen.task->title, b->device->type->name);
    text_entry(&text, "data", "%s%s%s%s", dataset_facts(b->data)->title,
               b->noise ? ", its shape filled with noise" : "", *b->why ? ": " : "", b->why);
    text_entry(&text, "step", "%s, recipe %s, batch %lld at %s, %s", b->trainer->setting.model->name, b->chosen.recipe.name,
               (long long)v->batch, v->size, dtype_name(b->trainer->setting.dtype));
    text_entry(&text, "device", "%s", b->facts.name);
    add_protocol(b, &text);
    fputs(text.at, stdout);
    text_free(&text);
}

static void print_result(const struct bench *b)
{
    const struct spread *s = &b->spread;
    double batch = (double)b->variant->batch;
    char a[TEXT_FIGURE], rate[TEXT_FIGURE];
    snprintf(rate, sizeof rate, "%s/s", task_samples(b->chosen.task));
    printf("\n  %-10s %-15.1f median of %lld, %.1f to %.1f\n", rate, batch / s->median, (long long)b->protocol.repeats,
           batch / s->high, batch / s->low);
    printf("  step       %s\n", roofline_span(a, s->median));
    printf("  arithmetic %-15s", text_si(a, b->variant->flops / s->median, "FLOP/s"));
    if (peak_of(b) > 0)
        printf(" %.1f%% of the peak measured for a matrix product in %s\n", 100 * b->variant->flops / s->median / peak_of(b),
               dtype_name(b->trainer->setting.dtype));
    else
        printf("\n");
    if (b->variant->seconds > 0)
        printf("  roofline   %-15s the step takes %.2f times as long\n", roofline_span(a, b->variant->seconds),
               s->median / b->variant->seconds);
}

static void print_text(struct bench *b)
{
    struct text table = {0};
    print_setting(b);
    print_result(b);
    roofline_shorten(&b->roofline, TABLE_ROWS);
    roofline_text(&b->roofline, &table);
    printf("\nOne step by operator:\n%s", table.at);
    text_free(&table);
}

static void print_json(const struct bench *b)
{
    const struct protocol *p = &b->protocol;
    const struct forecast_variant *v = b->variant;
    double batch = (double)v->batch;
    json_t *steps = json_array();
    for (int64_t i = 0; i < p->repeats; i++) json_array_append_new(steps, json_real(b->step[i]));
    json_t *o = json_pack(
        "{ss ss sb ss ss ss sI sI ss ss s{sI sI sI sb} so sf sf sf sf sf so}", "task", b->chosen.task->name, "data",
        dataset_facts(b->data)->name, "noise", b->noise, "model", b->trainer->setting.model->name, "recipe",
        b->chosen.recipe.name, "precision", dtype_name(b->trainer->setting.dtype), "batch",
        (json_int_t)v->batch, "side", (json_int_t)v->side, "device", b->device->type->name, "device_name",
        b->facts.name, "protocol", "ignored", (json_int_t)p->ignored, "timed", (json_int_t)p->timed, "repeats",
        (json_int_t)p->repeats, "whole", p->whole, "step_s", steps, "step_median_s", b->spread.median, "samples_per_s",
        batch / b->spread.median, "flops_per_s", v->flops / b->spread.median, "peak_flops_per_s", peak_of(b),
        "roofline_s", v->seconds, "operators", roofline_json(&b->roofline));
    char *text = json_dumps(o, JSON_INDENT(2));
    puts(text);
    free(text);
    json_decref(o);
}

static int bench_task(const struct arguments *a, const char *task)
{
    struct bench b = {.a = a};
    if (a->op) return fail(ERR_USAGE, "--op is an option of \"dawn bench ops\"");
    TRY(choose(&a->choose, task, &b.chosen));
    if (a->fake && b.chosen.data_folder) return fail(ERR_USAGE, "--fake and --data DIR exclude each other");
    int rc = bench_steps(&b);
    if (rc == 0) a->json ? print_json(&b) : print_text(&b);
    roofline_free(&b.roofline);
    trainer_free(b.trainer);
    device_close(b.device);
    dataset_close(b.data);
    return rc;
}

// ---- single operators

struct listing {
    bool json;
    int rows;
};

static int print_operator_row(void *context, const struct case_speed *s)
{
    struct listing *l = context;
    char time[TEXT_FIGURE];
    if (!l->json && !l->rows)
        printf("%-34s %-5s %5s %10s %10s %9s\n", "case", "type", "runs", "time", "GFLOP/s", "GB/s");
    l->rows++;
    if (l->json) {
        json_t *o = json_pack("{ss ss si sf sf sf}", "case", s->row->name, "precision", dtype_name(s->type), "repeats",
                              s->repeats, "seconds", s->seconds, "flops", s->flops, "bytes", s->bytes);
        char *text = json_dumps(o, JSON_COMPACT);
        puts(text);
        free(text);
        json_decref(o);
    } else {
        double rate = s->seconds > 0 ? 1e-9 / s->seconds : 0;
        printf("%-34s %-5s %5d %10s %10.1f %9.1f\n", s->row->name, dtype_name(s->type), s->repeats,
               roofline_span(time, s->seconds), s->flops * rate, s->bytes * rate);
    }
    fflush(stdout);  // a row may take a second
    return 0;
}

static int bench_ops_by_type(struct device *device, const struct arguments *a, struct listing *l)
{
    struct device_facts facts;
    TRY(device->type->facts(device, &facts));
    enum dtype only = F32;
    bool one = a->choose.precision && strcmp(a->choose.precision, "auto") != 0;
    if (one) TRY(dtype_parse(a->choose.precision, &only));
    if (one && !dtype_is_float(only))
        return fail(ERR_USAGE, "--precision must be f32, bf16 or f16; got %s", dtype_name(only));
    for (enum dtype t = F32; t <= F16; t++)
        if (one ? t == only : t == F32 || facts.fast[t]) TRY(cases_bench(device, t, a->op, print_operator_row, l));
    if (l->rows) return 0;
    return fail(ERR_USAGE, "--op: no timed case that this device supports has \"%.60s\" in its name",
                a->op ? a->op : "");
}

static int bench_ops(const struct arguments *a)
{
    const struct choose *c = &a->choose;
    if (c->data || c->recipe || c->model || c->set.count || c->batch || a->fake || a->side)
        return fail(ERR_USAGE, "\"dawn bench ops\" takes only --op, --precision, --device, --threads and --json");
    struct device *device;
    struct listing l = {.json = a->json};
    TRY(device_open(c->device, (int)c->threads, &device));
    int rc = bench_ops_by_type(device, a, &l);
    device_close(device);
    return rc;
}

int cmd_bench(int argc, char **argv)
{
    struct arguments a = {.seconds = 60, .repeats = PROTOCOL_REPEATS, .measure = true};
    const struct option options[] = {
        CHOOSE_OPTIONS(a.choose),
        {OPTION_FLAG, 0, "fake", NULL, "use noise of the data set's shape instead of its files", &a.fake, 0, 0},
        {OPTION_INT, 0, "side", "N", "time the step at N x N, or of length N; 0: the largest", &a.side, 0, 1 << 14},
        {OPTION_FLOAT, 0, "seconds", "S", "time limit for all steps", &a.seconds, 0.001, 1e6},
        {OPTION_INT, 0, "repeats", "N", "repeats, of which the median is reported", &a.repeats, 1, PROTOCOL_REPEATS_MAX},
        {OPTION_FLAG, 0, "measure", NULL, "measure the peaks of the device", &a.measure, 0, 0},
        {OPTION_TEXT, 0, "op", "NAME", "with ops: only cases whose name has this text", &a.op, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "JSON instead of text", &a.json, 0, 0},
        {0},
    };
    const struct usage usage = {
        "bench", "TASK|ops [OPTIONS]",
        "Times training steps as DLPerf does: 20 ignored, the next 100 timed, the median of 7 repeats, or fewer on a "
        "slow device, and says so. Shows samples a second, the time by operator, and the share of the device's measured peaks. "
        "\"ops\" times single operators. Without the data set it uses noise of the same shape.",
        options,
        "Examples:\n"
        "  dawn bench cifar10 --seconds 120\n"
        "  dawn bench cifar10 --fake --precision f32 --side 24\n"
        "  dawn bench ops --op conv\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc) return rc > 0 ? 0 : rc;
    if (argc != 2) return task_wanted(", or ops");
    return strcmp(argv[1], "ops") ? bench_task(&a, argv[1]) : bench_ops(&a);
}

// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/throughput.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tasks/common/train/facts.h"

static enum dtype dtype_of(const struct trial *t)
{
    return t->trainer->setting.dtype;
}

static double peak_of(const struct trial *t)
{
    return t->facts.peak_flops[dtype_of(t)];
}

static double rate_of(const struct trial *t, double step)
{
    return (double)t->variant->batch / step;
}

// ---- text

static void add_protocol(const struct timing *t, double seconds, int64_t repeats, struct text *into)
{
    const struct protocol *p = &t->protocol;
    char cut[128] = "";
    if (!p->whole)
        snprintf(cut, sizeof cut, "; the whole protocol (%d ignored, %lld x %d) does not fit into --seconds %g",
                 PROTOCOL_IGNORED, (long long)repeats, PROTOCOL_TIMED, seconds);
    text_entry(into, "timed", "%lld steps ignored, then %lld x %lld step%s%s", (long long)p->ignored, (long long)p->repeats,
               (long long)p->timed, p->timed == 1 ? "" : "s", cut);
}

static void add_windows(const struct timing *t, struct text *into)
{
    char more[64] = "", others[96] = "";
    if (t->extended) snprintf(more, sizeof more, "; %lld more steps were run for it", (long long)t->extended);
    if (t->judged)
        text_entry(into, "windows",
                   "%d of %lld accepted: blocks vary by at most %.1f%% (limit %g%%), and drift by %.1f%% (%g%%)%s",
                   t->accepted, (long long)t->repeats, 100 * t->variation, 100 * FIT_VARIATION, 100 * t->slope,
                   100 * FIT_SLOPE, more);
    else
        text_entry(into, "windows", "too few steps in each to say how steady they are; a larger --seconds gives more");
    const struct others_share *m = &t->machine;
    if (m->others < 0) return;
    if (m->disturbed) snprintf(others, sizeof others, ": the machine was not idle, and another measurement may differ");
    if (m->disturbed || m->others > 0.005 * m->processors)
        text_entry(into, "machine", "other programs used %.2f of %d processors%s", m->others, m->processors, others);
}

void throughput_steadiness(const struct timing *t, double seconds, int64_t repeats, struct text *into)
{
    add_protocol(t, seconds, repeats, into);
    add_windows(t, into);
}

void throughput_text(const struct trial *t, struct text *into)
{
    const struct spread *s = &t->timing.step;
    char a[TEXT_FIGURE], b[TEXT_FIGURE], rate[TEXT_FIGURE];
    snprintf(rate, sizeof rate, "%s/s", task_samples(t->choice.task));
    text_add(into, "\n  %-10s %-15.1f median of %lld, %.1f to %.1f\n", rate, rate_of(t, s->median), (long long)t->timing.repeats,
             rate_of(t, s->high), rate_of(t, s->low));
    text_add(into, "  step       %s\n", roofline_span(a, s->median));
    text_add(into, peak_of(t) > 0 ? "  arithmetic %-15s" : "  arithmetic %s",
             text_si(a, t->variant->flops / s->median, "FLOP/s"));
    if (peak_of(t) > 0)
        text_add(into, " %.1f%% of the peak measured for a matrix product in %s",
                 100 * t->variant->flops / s->median / peak_of(t),
                 dtype_name(dtype_of(t)));
    text_add(into, "\n");
    if (t->variant->seconds > 0)
        text_add(into, "  roofline   %-15s the step takes %.2f times as long\n", roofline_span(a, t->variant->seconds),
                 s->median / t->variant->seconds);
    text_add(into, "  memory     %-15s of the step, by plan; training takes %s\n",
             text_size(a, (double)trial_plan(t)->total), text_size(b, (double)t->trainer->session->memory_total));
    if (t->energy_uj > 0)
        text_add(into, "  energy     %-15s per step, %s per sample: processor packages and GPUs\n",
                 text_si(a, (double)t->energy_uj * 1e-6, "J"),
                 text_si(b, (double)t->energy_uj * 1e-6 / (double)t->variant->batch, "J"));
}

void throughput_head(const struct trial_choice *c, struct text *into)
{
    char rate[TEXT_FIGURE];
    snprintf(rate, sizeof rate, "%s/s", task_samples(c->task));
    text_add(into, "  %7s %-4s %-5s %12s %9s %8s %7s %9s %5s\n", "batch", "type", "fused", rate, "step", "varies", "drifts",
             "memory", "ok");
}

void throughput_row(const struct trial *t, struct text *into)
{
    const struct timing *g = &t->timing;
    char step[TEXT_FIGURE], memory[TEXT_FIGURE], ok[TEXT_FIGURE] = "-", varies[TEXT_FIGURE] = "-", drifts[TEXT_FIGURE] = "-";
    if (g->judged) {
        snprintf(ok, sizeof ok, "%d/%lld", g->accepted, (long long)g->repeats);
        snprintf(varies, sizeof varies, "%.1f%%", 100 * g->variation);
        snprintf(drifts, sizeof drifts, "%.1f%%", 100 * g->slope);
    }
    text_add(into, "  %7lld %-4s %-5s %12.1f %9s %8s %7s %9s %5s%s\n", (long long)t->variant->batch, dtype_name(dtype_of(t)),
             t->choice.fuse ? "on" : "off", rate_of(t, g->step.median), roofline_span(step, g->step.median), varies, drifts,
             text_size(memory, (double)trial_plan(t)->total), ok, g->machine.disturbed ? " !" : "");
}

// ---- JSON

static json_t *json_repeats(const struct timing *t)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < t->repeats; i++) {
        const struct timing_repeat *r = &t->repeat[i];
        json_t *o = json_pack("{sf sI}", "step_s", r->step, "extended", (json_int_t)r->extended);
        if (r->window.judged)
            json_object_update_new(o, json_pack("{sf sf sb}", "variation", r->window.variation, "slope", r->window.slope,
                                                "accepted", r->window.accepted));
        json_array_append_new(list, o);
    }
    return list;
}

static void add_machine(const struct trial *t, json_t *into)
{
    const struct others_share *m = &t->timing.machine;
    if (m->others >= 0)
        json_object_update_new(into, json_pack("{s{si sf sf sb}}", "machine", "processors", m->processors, "own", m->own,
                                               "others", m->others, "disturbed", m->disturbed));
    if (t->energy_uj > 0) json_object_set_new(into, "energy_j", json_real((double)t->energy_uj * 1e-6));
}

struct json_t *throughput_json(const struct trial *t, bool noise, const struct roofline *operators)
{
    const struct protocol *p = &t->timing.protocol;
    const struct forecast_variant *v = t->variant;
    double step = t->timing.step.median;
    json_t *steps = json_array();
    for (int64_t i = 0; i < t->timing.repeats; i++) json_array_append_new(steps, json_real(t->timing.repeat[i].step));
    json_t *o = json_pack(
        "{ss ss sb ss ss ss sb sI sI ss ss s{sI sI sI sb sI} so so sf sf sf sf sf sI so}", "task", t->choice.task->name, "data",
        dataset_facts(t->choice.data)->name, "noise", noise, "model", t->trainer->setting.model->name, "recipe",
        t->choice.recipe->name, "precision", dtype_name(dtype_of(t)), "fusion", t->choice.fuse != 0, "batch",
        (json_int_t)v->batch, "side", (json_int_t)v->side, "device", t->choice.device->type->name, "device_name", t->facts.name,
        "protocol", "ignored", (json_int_t)p->ignored, "timed", (json_int_t)p->timed, "repeats", (json_int_t)p->repeats, "whole",
        p->whole, "extended", (json_int_t)t->timing.extended, "step_s", steps, "repeats", json_repeats(&t->timing),
        "step_median_s", step, "samples_per_s", rate_of(t, step), "flops_per_s", v->flops / step, "peak_flops_per_s", peak_of(t),
        "roofline_s", v->seconds, "memory_bytes", (json_int_t)trial_plan(t)->total, "operators",
        roofline_json(operators));
    add_machine(t, o);
    return o;
}

// ---- the record

static int64_t in_ns(double seconds)
{
    return llround(seconds * 1e9);
}

static int list_memory(const struct plan *p, struct bench_memory row[MEMORY_CLASSES])
{
    for (int c = 0; c < MEMORY_CLASSES; c++)
        row[c] = (struct bench_memory){memory_class_name((enum memory_class)c), (int64_t)p->memory[c]};
    return MEMORY_CLASSES;
}

static struct bench_operator *list_operators(const struct roofline *r)
{
    struct bench_operator *list = zalloc((size_t)(r->rows + 1) * sizeof *list);
    for (int i = 0; i < r->rows; i++) {
        const struct roofline_row *row = &r->row[i];
        list[i] = (struct bench_operator){row->name, roofline_pass(row->pass), row->nodes, in_ns(row->measured),
                                          llround(row->flops), llround(row->bytes), in_ns(row->seconds)};
    }
    return list;
}

static int list_repeats(const struct timing *t, struct bench_repeat row[PROTOCOL_REPEATS_MAX])
{
    for (int64_t i = 0; i < t->repeats; i++) {
        const struct timing_repeat *r = &t->repeat[i];
        int64_t ns = in_ns(r->step);
        row[i] = (struct bench_repeat){ns > 0 ? ns : 1, r->extended, r->window.judged, r->window.accepted,
                                       llround(r->window.variation * 1e6), llround(r->window.slope * 1e6)};
    }
    return (int)t->repeats;
}

static int store_bench(const struct trial *t, struct bench_facts *f, struct results *r, int64_t *id)
{
    struct machine_facts machine;
    struct software_facts software;
    struct bench_memory memory[MEMORY_CLASSES];
    struct bench_repeat repeat[PROTOCOL_REPEATS_MAX];
    struct roofline operators;
    TRY(facts_read(&t->facts, &machine, &software));
    f->machine = &machine, f->software = &software;
    f->memory = memory, f->memory_count = list_memory(trial_plan(t), memory);
    f->repeats = repeat, f->repeat_count = list_repeats(&t->timing, repeat);
    roofline_of(trial_plan(t), &t->facts, ROOFLINE_PASSES, t->ns, &operators);
    struct bench_operator *list = list_operators(&operators);
    f->operators = list, f->operator_count = operators.rows;
    int rc = result_bench_add(r, f, id);
    free(list);
    roofline_free(&operators);
    return rc;
}

int throughput_record(const struct trial *t, bool noise, int64_t sweep, struct results *r, int64_t *id)
{
    const struct spread *s = &t->timing.step;
    const struct protocol *p = &t->timing.protocol;
    const struct forecast_variant *v = t->variant;
    const struct others_share *m = &t->timing.machine;
    char *recipe = recipe_line(t->choice.recipe);
    int64_t median = in_ns(s->median);
    struct bench_facts f = {
        .sweep = sweep, .task = t->choice.task->name, .samples = task_samples(t->choice.task),
        .data = dataset_facts(t->choice.data)->name, .noise = noise, .model = t->trainer->setting.model->name,
        .recipe = t->choice.recipe->name, .recipe_json = recipe, .precision = dtype_name(dtype_of(t)),
        .fusion = t->choice.fuse != 0, .device = t->choice.device->type->name, .threads = t->facts.threads, .batch = v->batch,
        .size = v->size, .ignored = p->ignored, .timed = p->timed, .whole = p->whole, .step_ns = median > 0 ? median : 1,
        .step_low_ns = in_ns(s->low), .step_high_ns = in_ns(s->high),
        .others_micro = m->others < 0 ? -1 : llround(m->others * 1e6), .energy_uj = t->energy_uj, .flops = llround(v->flops),
        .bytes = llround(v->bytes), .bound_ns = in_ns(v->seconds), .peak_flops = llround(peak_of(t)),
        .peak_bytes = llround(t->facts.peak_bytes), .memory_bytes = (int64_t)trial_plan(t)->total,
    };
    int rc = store_bench(t, &f, r, id);
    free(recipe);
    return rc;
}

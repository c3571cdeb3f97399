// SPDX-License-Identifier: Apache-2.0
// A profile as tables of 80 columns and as JSON.
#include "tasks/tools/profile/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- operators

static void add_operator(const struct profile *p, const struct roofline_row *r, const char *pass, struct text *into)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[TEXT_FIGURE], e[TEXT_FIGURE];
    text_add(into, "  %-20.20s %-8s %5d %9s %6s %7s %7s %7s\n", r->name, pass, r->nodes, roofline_span(a, r->measured),
             roofline_share(b, r->measured, p->passes.all.measured), roofline_figure(c, r->flops), roofline_figure(d, r->bytes),
             r->seconds > 0 ? roofline_share(e, r->seconds, r->measured) : "-");
}

// Adds one row for each pass: the sum of the operators from `from` on.
static void add_rest(const struct profile *p, int from, struct text *into)
{
    for (enum phase pass = PHASE_FORWARD; pass <= PHASE_UPDATE; pass++) {
        struct roofline_row rest = {.name = "others"};
        for (int i = from; i < p->passes.rows; i++) {
            const struct roofline_row *r = &p->passes.row[i];
            if (r->pass != pass) continue;
            rest.nodes += r->nodes, rest.flops += r->flops, rest.bytes += r->bytes;
            rest.seconds += r->seconds, rest.measured += r->measured;
        }
        if (rest.nodes) add_operator(p, &rest, roofline_pass(pass), into);
    }
}

static void add_operators(const struct profile *p, int rows, struct text *into)
{
    int first = p->passes.rows <= rows ? p->passes.rows : rows - 3;
    text_add(into, "\n  %-20s %-8s %5s %9s %6s %7s %7s %7s\n", "operator", "pass", "nodes", "time", "share", "FLOP", "bytes",
             "of roof");
    for (int i = 0; i < first; i++) add_operator(p, &p->passes.row[i], roofline_pass(p->passes.row[i].pass), into);
    add_rest(p, first, into);
    add_operator(p, &p->passes.all, "", into);
    for (enum phase pass = PHASE_FORWARD; pass <= PHASE_UPDATE; pass++) {
        struct roofline_row sum = {.name = "  of it"};
        for (int i = 0; i < p->passes.rows; i++) {
            const struct roofline_row *r = &p->passes.row[i];
            if (r->pass != pass) continue;
            sum.nodes += r->nodes, sum.flops += r->flops, sum.bytes += r->bytes;
            sum.seconds += r->seconds, sum.measured += r->measured;
        }
        if (sum.nodes) add_operator(p, &sum, roofline_pass(pass), into);
    }
}

// ---- time

// For a device that computes one node after the other. Concurrent nodes sum to more than the step.
static double busy_share(const struct profile *p)
{
    double step = p->steps ? p->fed_s / p->steps : p->step_s, busy = p->nodes_s < p->step_s ? p->nodes_s : p->step_s;
    return step > 0 ? fmin(busy / step, 1) : 0;
}

// Of a step.
static double runs_between(const struct trial *t, const struct forecast_variant *own)
{
    return (double)own->steps / (double)t->trainer->steps;
}

static void add_between(const struct trial *t, const struct profile *p, struct text *into)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    for (int i = 0; i < p->owns; i++) {
        const struct forecast_variant *own = &p->own[i];
        const double runs = runs_between(t, own);
        text_entry(into, "between", "%s, %s, runs at most %.3g times per step, with %s; the step has %s", own->name, own->samples,
                   runs, text_si(a, runs * own->flops, "FLOP"), text_si(b, p->flops, "FLOP"));
    }
}

static void add_step_time(const struct trial *t, const struct profile *p, struct text *into)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    double more = p->nodes_s - p->step_s;
    text_entry(into, "step", "%s as a whole (median of %lld); its nodes, timed one by one, sum to %s: %s (%.1f%%) %s",
               roofline_span(a, p->step_s), (long long)t->timing.repeats, roofline_span(b, p->nodes_s),
               roofline_span(c, fabs(more)), 100 * fabs(more) / p->step_s, more < 0 ? "less" : "more");
    if (p->peak > 0)
        text_entry(into, "arithmetic", "model FLOP utilisation %.1f%% (forward and backward), hardware %.1f%% (updates too), of "
                   "%s in %s, as measured", 100 * p->model_flops / p->step_s / p->peak, 100 * p->flops / p->step_s / p->peak,
                   text_si(a, p->peak, "FLOP/s"), dtype_name(t->trainer->setting.dtype));
    add_between(t, p, into);
    double fed = p->fed_s / p->steps;
    text_entry(into, "with feed", "%d steps, %s each, %.1f %s/s; waiting for the feed %.1f%% of the time", p->steps,
               roofline_span(a, fed), (double)p->samples / p->fed_s, task_samples(t->choice.task), 100 * p->stalled_s / p->fed_s);
    text_entry(into, "device", "busy %.1f%% of the time", 100 * busy_share(p));
    if (p->machine.others >= 0)
        text_entry(into, "processors", "%.2f of %d in use by this program, %.2f by others%s", p->machine.own,
                   p->machine.processors, p->machine.others, p->machine.disturbed ? ": the machine was not idle" : "");
    if (p->counted.cycles > 0)
        text_entry(into, "counters", "%.2f instructions a cycle in user space",
                   (double)p->counted.instructions / (double)p->counted.cycles);
}

// ---- memory

static size_t other_bytes(const struct profile_layers_row *r)
{
    return r->all - r->bytes[MEMORY_WEIGHTS] - r->bytes[MEMORY_OPTIMISER] - r->bytes[MEMORY_GRADIENTS] -
           r->bytes[MEMORY_ACTIVATIONS];
}

static const char *size_text(char into[TEXT_FIGURE], size_t bytes)
{
    return bytes ? text_size(into, (double)bytes) : "-";
}

// A long name is cut at its beginning, because the end is more specific.
static void add_layer(const struct profile_layers_row *r, struct text *into)
{
    enum { ROOM = 24 };
    size_t n = strlen(r->name);
    char name[ROOM + 2];
    snprintf(name, sizeof name, "%s%.*s", n > ROOM ? "~" : "", n > ROOM ? ROOM - 1 : ROOM,
             n > ROOM ? r->name + n - ROOM + 1 : r->name);
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[TEXT_FIGURE], e[TEXT_FIGURE], f[TEXT_FIGURE];
    text_add(into, "  %-24s %8s %8s %8s %8s %8s %8s\n", name, size_text(a, r->bytes[MEMORY_WEIGHTS]),
             size_text(b, r->bytes[MEMORY_OPTIMISER]), size_text(c, r->bytes[MEMORY_GRADIENTS]),
             size_text(d, r->bytes[MEMORY_ACTIVATIONS]), size_text(e, other_bytes(r)), size_text(f, r->all));
}

// The program that determines the size of the slab.
static const char *largest_program(const struct session *s)
{
    int largest = 0;
    for (int i = 1; i < s->programs; i++)
        if (s->plan[i]->slab_bytes > s->plan[largest]->slab_bytes) largest = i;
    return s->graph[largest]->name;
}

static void add_memory(const struct trial *t, const struct profile *p, int rows, struct text *into)
{
    struct profile_layers short_list = p->layers;
    const struct session *session = t->trainer->session;
    char a[TEXT_FIGURE];
    size_t bytes = (size_t)(p->layers.rows + 1) * sizeof *short_list.row;
    short_list.row = memcpy(zalloc(bytes), p->layers.row, bytes - sizeof *short_list.row);
    profile_layers_shorten(&short_list, rows);
    text_add(into, "\nMemory at the peak of the step, by plan:\n");
    for (int c = 0; c < MEMORY_CLASSES; c++)
        if (p->layers.sum.bytes[c])
            text_add(into, "  %-34s %9s %6.1f%%\n", memory_class_name((enum memory_class)c),
                     text_size(a, (double)p->layers.sum.bytes[c]),
                     100 * (double)p->layers.sum.bytes[c] / (double)p->layers.sum.all);
    text_add(into, "\n  %-24s %8s %8s %8s %8s %8s %8s\n", "layer", "weights", "optim.", "grads", "activ.", "other", "all");
    for (int i = 0; i < short_list.rows; i++) add_layer(&short_list.row[i], into);
    add_layer(&p->layers.sum, into);
    text_add(into, "  the whole training takes %s; its largest program: %s\n", text_size(a, (double)session->memory_total),
             largest_program(session));
    if (p->feed_bytes) text_add(into, "  and %s of the host for the feed\n", text_size(a, (double)p->feed_bytes));
    profile_layers_free(&short_list);
}

void profile_text(const struct trial *t, const struct profile *p, int operators, int layers, struct text *into)
{
    add_step_time(t, p, into);
    add_operators(p, operators, into);
    add_memory(t, p, layers, into);
}

// ---- JSON

static json_t *json_operators(const struct roofline *list)
{
    json_t *rows = json_array();
    for (int i = 0; i < list->rows; i++) {
        const struct roofline_row *r = &list->row[i];
        json_array_append_new(rows, json_pack("{ss ss ss* si sf sf sf sf}", "operator", r->name, "pass", roofline_pass(r->pass),
                                              "scope", r->scope, "nodes", r->nodes, "seconds", r->measured, "flops", r->flops,
                                              "bytes", r->bytes, "roofline_s", r->seconds));
    }
    return rows;
}

static json_t *json_classes(const struct profile_layers_row *r)
{
    json_t *classes = json_object();
    for (int c = 0; c < MEMORY_CLASSES; c++)
        if (r->bytes[c]) json_object_set_new(classes, memory_class_name((enum memory_class)c),
                                             json_integer((json_int_t)r->bytes[c]));
    return classes;
}

static json_t *json_memory(const struct trial *t, const struct profile *p)
{
    json_t *layers = json_array();
    size_t whole = t->trainer->session->memory_total;
    for (int i = 0; i < p->layers.rows; i++)
        json_array_append_new(layers, json_pack("{ss sI so}", "layer", p->layers.row[i].name, "bytes",
                                                (json_int_t)p->layers.row[i].all, "classes", json_classes(&p->layers.row[i])));
    return json_pack("{sI sI so so sI}", "training_bytes", (json_int_t)whole, "total_bytes", (json_int_t)p->layers.sum.all,
                     "classes", json_classes(&p->layers.sum), "layers",
                     layers, "feed_host_bytes", (json_int_t)p->feed_bytes);
}

struct json_t *profile_json(const struct trial *t, const struct profile *p)
{
    json_t *o = json_pack("{ss ss ss ss sI ss ss}", "task", t->choice.task->name, "model", t->trainer->setting.model->name,
                          "recipe", t->choice.recipe->name, "precision", dtype_name(t->trainer->setting.dtype), "batch",
                          (json_int_t)t->variant->batch, "device", t->choice.device->type->name, "device_name", t->facts.name);
    json_object_update_new(o, json_pack("{sf sf sf sf sf}", "step_s", p->step_s, "nodes_s", p->nodes_s, "model_flops",
                                        p->model_flops, "flops", p->flops, "peak_flops_per_s", p->peak));
    if (p->peak > 0)
        json_object_update_new(o, json_pack("{sf sf}", "model_flop_utilisation", p->model_flops / p->step_s / p->peak,
                                            "hardware_flop_utilisation", p->flops / p->step_s / p->peak));
    json_object_set_new(o, "feed", json_pack("{si sI sf sf}", "steps", p->steps, "samples", (json_int_t)p->samples, "seconds",
                                             p->fed_s, "stalled_share", p->stalled_s / p->fed_s));
    json_object_set_new(o, "device_busy_share", json_real(busy_share(p)));
    if (p->machine.others >= 0)
        json_object_set_new(o, "processors", json_pack("{si sf sf sb}", "count", p->machine.processors, "own", p->machine.own,
                                                       "others", p->machine.others, "disturbed", p->machine.disturbed));
    if (p->counted.cycles > 0)
        json_object_set_new(o, "counters", json_pack("{sI sI}", "cycles", (json_int_t)p->counted.cycles, "instructions",
                                                     (json_int_t)p->counted.instructions));
    json_t *between = json_array();
    for (int i = 0; i < p->owns; i++)
        json_array_append_new(between, json_pack("{ss sf sf}", "name", p->own[i].name, "runs", runs_between(t, &p->own[i]),
                                                 "flops", p->own[i].flops));
    json_object_set_new(o, "between", between);
    json_object_set_new(o, "operators", json_operators(&p->passes));
    json_object_set_new(o, "nodes", json_operators(&p->nodes));
    json_object_set_new(o, "memory", json_memory(t, p));
    return o;
}

// SPDX-License-Identifier: Apache-2.0
// The nodes follow each other from 0 on, as they were timed. The steps through the feed are a process of their own, because they
// ran at another time. No process has the number of a thread, because Perfetto calls such a thread the main one.
#include "tasks/tools/profile/trace.h"

#include "runtime/common/base/file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_PROCESS = 10, FEED_PROCESS = 20, FEED_THREAD = 1, DEVICE_THREAD = 2 };

static void add_name(json_t *events, const char *what, int process, int thread, const char *name)
{
    json_array_append_new(events, json_pack("{ss ss si si s{ss}}", "name", what, "ph", "M", "pid", process, "tid", thread, "args",
                                            "name", name));
}

// Times of the format are microseconds. Perfetto takes the whole part of 1000 times each, and drops a span that then overlaps the
// one before it, if only by a nanosecond. So the result is large enough for that whole part to be ns.
static double microseconds(int64_t ns)
{
    double us = (double)ns / 1000;
    while (us * 1000 < (double)ns) us = nextafter(us, INFINITY);
    return us;
}

static json_t *span(const char *name, const char *category, int process, int thread, int64_t from_ns, int64_t ns)
{
    return json_pack("{ss ss ss si si sf sf}", "name", name, "cat", category, "ph", "X", "pid", process, "tid", thread, "ts",
                     microseconds(from_ns), "dur", microseconds(ns));
}

// Bytes of the slab in use at a position, by class; after the last position none.
static json_t *memory_at(const struct plan *p, int at)
{
    size_t by[MEMORY_CLASSES] = {[MEMORY_WORKSPACE] = at < p->count ? p->work_bytes[at] : 0};
    json_t *o = json_object();
    for (int v = 0; v < p->graph->values; v++) {
        const struct placement *placement = &p->placement[v];
        if (placement->bytes && placement->first <= at && placement->last >= at) by[placement->memory] += placement->bytes;
    }
    for (int c = MEMORY_GRADIENTS; c < MEMORY_SLACK; c++)
        json_object_set_new(o, memory_class_name((enum memory_class)c), json_integer((json_int_t)by[c]));
    return o;
}

static void add_memory(const struct plan *p, int at, int64_t ns, json_t *events)
{
    json_array_append_new(events, json_pack("{ss ss si sf so}", "name", "slab", "ph", "C", "pid", STEP_PROCESS, "ts",
                                            microseconds(ns), "args", memory_at(p, at)));
}

static void add_nodes(const struct trial *t, json_t *events)
{
    const struct plan *p = trial_plan(t);
    int64_t now = 0;
    add_name(events, "process_name", STEP_PROCESS, 0, "one step, node by node");
    for (enum phase pass = PHASE_FORWARD; pass <= PHASE_UPDATE; pass++)
        add_name(events, "thread_name", STEP_PROCESS, 1 + (int)pass, roofline_pass(pass));
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &p->graph->node[p->order[at]];
        struct cost cost = node_cost(p->graph, n);
        json_t *o = span(node_name(n), roofline_pass(n->phase), STEP_PROCESS, 1 + (int)n->phase, now, t->ns[at]);
        json_object_set_new(o, "args", json_pack("{ss sf sf}", "layer", n->scope, "flops", cost.flops, "bytes",
                                                 cost.read + cost.written));
        json_array_append_new(events, o);
        add_memory(p, at, now, events);
        now += t->ns[at];
    }
    add_memory(p, p->count, now, events);  // Perfetto draws the last value up to the end of the trace
}

static void add_steps(const struct profile *p, json_t *events)
{
    add_name(events, "process_name", FEED_PROCESS, 0, "steps with their feed");
    add_name(events, "thread_name", FEED_PROCESS, FEED_THREAD, "feed");
    add_name(events, "thread_name", FEED_PROCESS, DEVICE_THREAD, "steps");
    for (int i = 0; i < p->steps; i++) {
        const struct profile_step *s = &p->step[i];
        json_array_append_new(events, span("next batch", "feed", FEED_PROCESS, FEED_THREAD, s->begin_ns,
                                           s->fed_ns - s->begin_ns));
        json_t *o = span("step", "step", FEED_PROCESS, DEVICE_THREAD, s->fed_ns, s->end_ns - s->fed_ns);
        json_object_set_new(o, "args", json_pack("{sI}", "samples", (json_int_t)s->samples));
        json_array_append_new(events, o);
    }
}

static json_t *describe_steps(const struct trial *t, const struct profile *p)
{
    json_t *events = json_array();
    add_nodes(t, events);
    add_steps(p, events);
    return json_pack("{so ss s{ss ss ss sI ss}}", "traceEvents", events, "displayTimeUnit", "ms", "otherData", "task",
                     t->choice.task->name, "model", t->trainer->setting.model->name, "precision",
                     dtype_name(t->trainer->setting.dtype), "batch", (json_int_t)t->variant->batch, "device", t->facts.name);
}

int trace_write(const struct trial *t, const struct profile *p, const char *path)
{
    json_t *o = describe_steps(t, p);
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(o);
    if (!text) return fail(ERR_INPUT, "the trace cannot be written as JSON");
    int rc = file_write(path, text, strlen(text));
    free(text);
    return rc;
}

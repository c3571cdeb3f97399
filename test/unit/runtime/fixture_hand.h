// SPDX-License-Identifier: Apache-2.0
// For tests of `ref` by hand: one small graph, its inputs given as numbers, its results compared with numbers.
#pragma once

#include "test/unit/must.h"

#include "runtime/session.h"

#include "runtime/element.h"

// One graph on ref: in() makes an input with its numbers, out() keeps a result, run() runs, want() compares.
enum { MOST = 64, ROOM = 24 };
static struct device *device;
static struct session *session;
static struct graph *g;
static struct {
    char name[16];
    struct slot *slot;
    double value[MOST];
} inputs[ROOM];
static int input_count, output_count;

SETUP(begin)
{
    input_count = output_count = 0;
    if (device_open("ref", 1, &device) < 0 || session_new(device, &session) < 0) return -1;
    g = graph_new(session->store, "hand");
    return 0;
}

SETUP(end)
{
    session_free(session);
    device_close(device);
    return 0;
}

static int in_typed(struct shape shape, enum dtype type, const double *value)
{
    int n = (int)shape_count(&shape), i = input_count++;
    assert_true(n <= MOST && i < ROOM);
    snprintf(inputs[i].name, sizeof inputs[i].name, "in%d", i);
    int v = graph_state(g, inputs[i].name, shape, type, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    assert_int_not_equal(v, NONE);
    inputs[i].slot = g->value[v].slot;
    for (int j = 0; j < n; j++) inputs[i].value[j] = value[j];
    return v;
}
#define IN(type, shape, ...) in_typed(shape, type, (const double[]){__VA_ARGS__})

// Keeps a value in a slot of its own; returns the slot's number for want().
static int out(int v)
{
    char name[16];
    if (graph_check(g) < 0) fail_msg("%s", error_text());
    snprintf(name, sizeof name, "out%d", output_count);
    struct value x = g->value[v];
    int slot = graph_state(g, name, x.shape, x.dtype, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){slot, v}, 2, NULL, &slot, NULL);
    return output_count++;
}

static void run(void)
{
    int program = session_add(session, g);
    if (program < 0 || session_ready(session) < 0) fail_msg("%s", error_text());
    for (int i = 0; i < input_count; i++) {
        double buffer[MOST] = {0};
        for (int j = 0; j < (int)shape_count(&inputs[i].slot->shape); j++)
            element_set(inputs[i].slot->dtype, buffer, j, inputs[i].value[j]);
        assert_int_equal(session_put(session, inputs[i].name, buffer, 0, slot_bytes(inputs[i].slot)), 0);
    }
    assert_int_equal(session_run(session, program), 0);
}

static void want_slot(const char *name, int n, const double *value)
{
    const struct slot *slot = slot_find(session->store, name);
    double buffer[MOST];
    assert_non_null(slot);
    assert_int_equal(shape_count(&slot->shape), n);
    assert_int_equal(session_get(session, name, buffer, slot_bytes(slot)), 0);
    for (int i = 0; i < n; i++) {
        double got = element_get(slot->dtype, buffer, i);
        if (got != value[i] && (isnan(value[i]) ? !isnan(got) : !(fabs(got - value[i]) <= 1e-6 * fmax(1.0, fabs(value[i])))))
            fail_msg("%s[%d] is %.9g, not %.9g", name, i, got, value[i]);
    }
}

static void want_many(int number, int n, const double *value)
{
    char name[16];
    snprintf(name, sizeof name, "out%d", number);
    want_slot(name, n, value);
}
#define COUNT(...) ((int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))
#define WANT(number, ...) want_many(number, COUNT(__VA_ARGS__), (const double[]){__VA_ARGS__})
#define WANT_IN(number, ...) want_slot(inputs[number].name, COUNT(__VA_ARGS__), (const double[]){__VA_ARGS__})

static int node(enum op op, const int *in, int count, const union attr *attr, int *outs)
{
    return graph_node(g, op, in, count, attr, outs);
}

// SPDX-License-Identifier: Apache-2.0
// Shared by tests of graphs: failing with the sentence, slots that are filled and read, and a program on `ref`.
#pragma once

#include "test/unit/must.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"
#include "runtime/session.h"

static inline struct session *session_on(const char *name)
{
    struct device *device;
    struct session *s;
    OK(device_open(name, 1, &device));
    OK(session_new(device, &s));
    return s;
}

// False on a processor, or at a level of DAWN_ISA, whose products are in f32 alone.
static inline bool runs_bf16(void)
{
    struct device *d;
    struct device_facts facts;
    OK(device_open("cpu", 1, &d));
    OK(d->type->facts(d, &facts));
    device_close(d);
    return facts.fast[BF16];
}

static inline void session_done(struct session *s)
{
    struct device *device = s->device;
    session_free(s);
    device_close(device);
}

// An f32 slot that the test fills.
static inline int input(struct graph *g, const char *name, struct shape shape)
{
    return graph_state(g, name, shape, F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
}

static inline int weight(struct graph *g, const char *name, struct shape shape)
{
    g->trains = 1;
    return graph_param(g, name, shape, (struct init){INIT_UPLOAD, 0}, ROLE_MATRIX);
}

// Copies a value to a slot of that name, so that it can be read after the run.
static inline void keep(struct graph *g, const char *name, int v)
{
    if (g->error) return;
    enum dtype type = g->value[v].dtype;
    int to = graph_state(g, name, g->value[v].shape, type, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){to, v}, 2, NULL, &to, NULL);
}

static inline float draw(uint32_t which, int64_t i)  // about [-1, 1)
{
    return 2.0f * rng_unit(rng_draw(7, RNG_TEST, which, (uint32_t)i, 0).v[0]) - 1.0f;
}

// Fills every f32 slot of INIT_UPLOAD with draws keyed by its name.
static inline void fill(struct session *s)
{
    for (int i = 0; i < s->store->count; i++) {
        struct slot *slot = s->store->slot[i];
        if (slot->init.kind != INIT_UPLOAD || slot->dtype != F32) continue;
        int64_t n = shape_count(&slot->shape);
        float *x = zalloc((size_t)n * sizeof *x);
        uint32_t key = 0;
        for (const char *c = slot->name; *c; c++) key = key * 31 + (unsigned char)*c;
        for (int64_t j = 0; j < n; j++) x[j] = draw(key, j);
        OK(session_put(s, slot->name, x, 0, slot_bytes(slot)));
        free(x);
    }
}

static inline void start(struct session *s)
{
    OK(session_ready(s));
    OK(session_reset(s, 1));
    fill(s);
}

static inline float *read_slot(struct session *s, const char *name)  // free() it
{
    struct slot *slot = slot_find(s->store, name);
    if (!slot) fail_msg("there is no slot %s", name);
    float *x = zalloc(slot_bytes(slot));
    OK(session_get(s, name, x, slot_bytes(slot)));
    return x;
}

static inline float read_one(struct session *s, const char *name)
{
    float *x = read_slot(s, name), y = x[0];
    free(x);
    return y;
}

static inline int count_op(const struct graph *g, enum op op)
{
    int n = 0;
    for (int i = 0; i < g->nodes; i++) n += g->node[i].op == op;
    return n;
}

// Maps with a formula in [first, end).
static inline int count_map(const struct graph *g, int first, int end)
{
    int count = 0;
    for (int i = 0; i < g->nodes; i++) {
        int formula = (int)g->node[i].attr.map.formula;
        count += g->node[i].op == OP_MAP && formula >= first && formula < end;
    }
    return count;
}

static inline int count_acts(const struct graph *g) { return count_map(g, MAP_RELU, ACT_KINDS) + count_op(g, OP_ACT); }

static inline struct node *find_op(const struct graph *g, enum op op)  // the first; NULL: none
{
    for (int i = 0; i < g->nodes; i++)
        if (g->node[i].op == op) return &g->node[i];
    return NULL;
}

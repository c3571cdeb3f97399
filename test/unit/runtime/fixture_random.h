// SPDX-License-Identifier: Apache-2.0
// Random graphs: element by element, moves, aliases, reductions and updates of a few slots, keyed by a seed.
#pragma once

#include "test/unit/fixture_graph.h"

enum { POOL = 48, SLOTS = 4 };
struct dice {
    uint32_t seed, count;
};

static inline uint32_t roll(struct dice *d, uint32_t below)
{
    return rng_below(rng_draw(d->seed, RNG_TEST, 1, d->count++, 0).v[0], below);
}

static const int64_t SIDES[] = {2, 3, 4};

static inline struct shape random_shape(struct dice *d)
{
    return SHAPE(SIDES[roll(d, 3)], SIDES[roll(d, 3)], 4);
}

// Another value of the same shape, or the value itself.
static inline int partner(struct dice *d, const struct graph *g, const int *pool, int count, int v)
{
    for (int tries = 0; tries < 12; tries++) {
        int u = pool[roll(d, (uint32_t)count)];
        if (shape_equal(&g->value[u].shape, &g->value[v].shape)) return u;
    }
    return v;
}

static inline int random_node(struct dice *d, struct graph *g, const int *pool, int count, const int *slot, int lr)
{
    int v = pool[roll(d, (uint32_t)count)], u = partner(d, g, pool, count, v);
    struct shape s = g->value[v].shape;
    int64_t last = s.dim[2];
    switch (roll(d, 12)) {
    case 0: return g_add(g, v, u);
    case 1: return g_mul(g, v, u);
    case 2: return g_scale(g, v, 0.5f);
    case 3: return g_act(g, v, (enum act)(1 + roll(d, 3)));
    case 4:  // an alias; not of a persistent value, which may be overwritten later
        return g->value[v].slot ? g_scale(g, v, -1) : g_reshape(g, v, SHAPE(s.dim[1], s.dim[0], last));
    case 5: return g_transpose(g, v, (int[]){1, 0, 2});
    case 6: return g_slice(g, g_concat(g, (int[]){v, u}, 2, 2), 2, 1, 1 + last);
    case 7: return g_softmax(g, v);
    case 8: {
        int r = g_reduce(g, v, 1u << roll(d, 3), true, F32);
        return g_add(g, v, graph_node(g, OP_BROADCAST, &r, 1, &(union attr){.move = {.shape = s, .factor = 0.7f}}, NULL));
    }
    case 9: {  // something with several outputs
        int out[3];
        graph_node(g, OP_MAP_GRAD, (int[]){v, u, u}, 3, &(union attr){.map = {.formula = MAP_MUL}}, out);
        return out[0];
    }
    default: {  // an update: persistent values are read before and after it
        int w = slot[roll(d, SLOTS)], x = partner(d, g, pool, count, w);
        graph_node_over(g, OP_LERP, (int[]){w, x, lr}, 3, NULL, &w, NULL);
        return w;
    }
    }
}

static inline struct graph *random_graph(struct slot_store *store, uint32_t seed)
{
    struct dice d = {seed, 0};
    struct graph *g = graph_new(store, "random");
    int pool[POOL], slot[SLOTS], count = 0;
    for (int i = 0; i < SLOTS; i++) {
        char name[24];
        snprintf(name, sizeof name, "s%d", i);
        pool[count++] = slot[i] = weight(g, name, random_shape(&d));
    }
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.25f});
    while (count < POOL) pool[count] = random_node(&d, g, pool, count, slot, lr), count++;
    for (int i = 0; i < 6; i++) {
        char name[24];
        snprintf(name, sizeof name, "out%d", i);
        keep(g, name, pool[count - 1 - (int)roll(&d, POOL / 2)]);
    }
    OK(graph_check(g));
    return g;
}

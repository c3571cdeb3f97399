// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan_flow.h"

#include <stdlib.h>

static uint64_t *set_at(const struct plan_flow *f, uint64_t *sets, int i) { return sets + (size_t)i * f->words; }
static void put(uint64_t *set, int i) { set[i / 64] |= UINT64_C(1) << (i % 64); }
static bool has(const uint64_t *set, int i) { return set[i / 64] >> (i % 64) & 1u; }

static int root_of(const struct plan *p, int v)
{
    while (p->place[v].root != v) v = p->place[v].root;
    return v;
}

// All of `whom`, and what was finished when they started.
static void add(const struct plan_flow *f, int at, const uint64_t *whom)
{
    uint64_t *to = set_at(f, f->finished, at);
    for (int i = at - 1; i >= 0; i--) {
        if (!has(whom, i) || has(to, i)) continue;
        const uint64_t *from = set_at(f, f->finished, i);
        for (size_t w = 0; w < f->words; w++) to[w] |= from[w];
        put(to, i);
    }
}

struct plan_flow *plan_flow_new(const struct plan *p, struct arena *arena)
{
    const struct graph *g = p->graph;
    struct plan_flow *f = arena_alloc(arena, sizeof *f);
    f->words = (size_t)p->count / 64 + 1;
    f->finished = arena_alloc(arena, (size_t)(p->count + 1) * f->words * sizeof *f->finished);
    f->users = arena_alloc(arena, (size_t)(g->values + 1) * f->words * sizeof *f->users);
    uint64_t *writers = zalloc((size_t)(g->values + 1) * f->words * sizeof *writers);
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        for (int i = 0; i < MAX_IN; i++)
            if (n->in[i] != NONE) add(f, at, set_at(f, writers, root_of(p, n->in[i])));
        for (int i = 0; i < MAX_OUT; i++) {
            int root = n->out[i] == NONE ? NONE : root_of(p, n->out[i]);
            if (root != NONE) add(f, at, set_at(f, g->value[root].slot ? writers : f->users, root));
        }
        for (int i = 0; i < MAX_IN; i++)
            if (n->in[i] != NONE) put(set_at(f, f->users, root_of(p, n->in[i])), at);
        for (int i = 0; i < MAX_OUT; i++) {
            int root = n->out[i] == NONE ? NONE : root_of(p, n->out[i]);
            if (root != NONE) put(set_at(f, f->users, root), at), put(set_at(f, writers, root), at);
        }
    }
    free(writers);
    return f;
}

bool plan_flow_finished(const struct plan_flow *f, int root, int user, int at)
{
    const uint64_t *finished = set_at(f, f->finished, at);
    if (root == NONE) return has(finished, user);
    const uint64_t *users = set_at(f, f->users, root);
    for (size_t w = 0; w < f->words; w++)
        if (users[w] & ~finished[w]) return false;
    return true;
}

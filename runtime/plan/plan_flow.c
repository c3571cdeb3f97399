// SPDX-License-Identifier: Apache-2.0
// Walks from the last node to the first: the set of nodes that wait for a node follows from the later nodes. A writer of bytes
// waits for all earlier users of them. So the next writer represents all later users, and no set is kept for each pair of nodes.
#include "runtime/plan/plan_flow.h"

#include <stdlib.h>

enum { BATCH = 64 };  // starts that one pass follows

// The sets of one pass, which goes from the last position to the first. Bit b stands for the pass's start b.
struct pass {
    const struct plan *plan;
    uint64_t *node;    // per position: the starts that wait for it
    uint64_t *writer;  // per root: the starts that wait for its next writer
    uint64_t *users;   // per root: the same of every user up to the next writer
};

// A device may launch the terms of a sum together, so a term does not wait for the one before.
static bool is_running_sum(const struct node *n, int input) { return n->op == OP_SQUARES && input == 1; }

static void follow(struct pass *w, int at, uint64_t own)
{
    const struct plan *p = w->plan;
    const struct node *n = &p->graph->node[p->order[at]];
    uint64_t after = 0;
    for (int i = 0; i < MAX_IN; i++)
        if (n->in[i] != NONE && !p->graph->value[p->placement[n->in[i]].root].slot)
            after |= w->writer[p->placement[n->in[i]].root];
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE) after |= w->users[p->placement[n->out[i]].root];
    w->node[at] = after;
    for (int i = 0; i < MAX_IN; i++)
        if (n->in[i] != NONE) w->users[p->placement[n->in[i]].root] |= is_running_sum(n, i) ? after : after | own;
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE) w->users[p->placement[n->out[i]].root] = w->writer[p->placement[n->out[i]].root] = after | own;
}

static void run_pass(const struct plan *p, struct plan_flow *f, int batch)
{
    size_t values = (size_t)p->graph->values + 1;
    struct pass w = {p, zalloc((size_t)(p->count + 1) * sizeof *w.node), zalloc(values * sizeof *w.writer),
                     zalloc(values * sizeof *w.users)};
    for (int at = p->count - 1; at >= 0; at--) {
        int start = f->start[at] - batch * BATCH;
        follow(&w, at, f->start[at] != NONE && start >= 0 && start < BATCH ? UINT64_C(1) << start : 0);
        f->after_node[(size_t)at * f->words + (size_t)batch] = w.node[at];
        const struct node *n = &p->graph->node[p->order[at]];
        for (int i = 0; i < MAX_IN; i++)
            if (n->in[i] != NONE) f->after_root[(size_t)p->placement[n->in[i]].root * f->words + (size_t)batch] &= w.node[at];
        for (int i = 0; i < MAX_OUT; i++)
            if (n->out[i] != NONE) f->after_root[(size_t)p->placement[n->out[i]].root * f->words + (size_t)batch] &= w.node[at];
    }
    free(w.node);
    free(w.writer);
    free(w.users);
}

// Numbers the positions of the update at which a value's bytes or a workspace begin.
static int number_starts(const struct plan *p, int *start)
{
    int starts = 0;
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &p->graph->node[p->order[at]];
        bool begins = p->work_bytes[at] > 0;
        for (int i = 0; i < MAX_OUT; i++)
            begins |= n->out[i] != NONE && p->placement[n->out[i]].bytes && p->placement[n->out[i]].first == at;
        start[at] = begins && n->phase == PHASE_UPDATE ? starts++ : NONE;
    }
    return starts;
}

struct plan_flow *plan_flow_new(const struct plan *p, struct arena *arena)
{
    struct plan_flow *f = arena_alloc(arena, sizeof *f);
    f->start = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *f->start);
    f->words = ((size_t)number_starts(p, f->start) + BATCH - 1) / BATCH;
    size_t roots = (size_t)(p->graph->values + 1) * f->words;
    f->after_node = arena_alloc(arena, (size_t)(p->count + 1) * f->words * sizeof *f->after_node);
    f->after_root = arena_alloc(arena, roots * sizeof *f->after_root);
    for (size_t i = 0; i < roots; i++) f->after_root[i] = UINT64_MAX;
    for (size_t batch = 0; batch < f->words; batch++) run_pass(p, f, (int)batch);
    return f;
}

bool plan_flow_finished(const struct plan_flow *f, int root, int user, int at)
{
    int start = f->start[at];
    const uint64_t *set = root == NONE ? f->after_node + (size_t)user * f->words : f->after_root + (size_t)root * f->words;
    return set[start / BATCH] >> (start % BATCH) & 1u;
}

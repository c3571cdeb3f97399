// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.h"

#include "runtime/device.h"
#include "runtime/plan_flow.h"

#include <stdio.h>
#include <stdlib.h>

static size_t align_up(size_t n)
{
    return (n + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
}

static int root_of(const struct plan *p, int v)
{
    while (p->place[v].root != v) v = p->place[v].root;
    return v;
}

// ---- lifetimes

static bool persistent(const struct plan *p, int root)
{
    return p->graph->value[root].slot != NULL;
}

// Joins the bytes of aliases, then notes for each root between which positions it is live.
static void lifetimes(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->values; v++) p->place[v] = (struct place){.root = v, .first = -1, .last = -1};
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        if (op_table[n->op].flags & OP_FLAG_ALIAS) p->place[n->out[0]].root = n->in[0];
        for (int i = 0; i < MAX_IN; i++)
            if (n->in[i] != NONE) p->place[root_of(p, n->in[i])].last = at;
        for (int i = 0; i < MAX_OUT; i++) {
            if (n->out[i] == NONE) continue;
            struct place *place = &p->place[root_of(p, n->out[i])];
            if (place->first < 0) place->first = at;
            if (place->last < at) place->last = at;
        }
    }
}

// An element-wise node may write over its first input when that dies here and nobody else reads it in this node.
static void reuse_inputs(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        if (!(op_table[n->op].flags & OP_FLAG_INPLACE) || n->out[0] == NONE || g->value[n->out[0]].slot) continue;
        int from = root_of(p, n->in[0]), to = root_of(p, n->out[0]);
        if (persistent(p, from) || p->place[from].last != at || from == to) continue;
        if (value_bytes(&g->value[from]) != value_bytes(&g->value[to])) continue;
        bool shared = false;
        for (int i = 1; i < MAX_IN; i++) shared |= n->in[i] != NONE && root_of(p, n->in[i]) == from;
        if (shared) continue;
        p->place[to].root = from;
        p->place[from].last = p->place[to].last;
    }
}

// An alias of a persistent value is its bytes, and would read what an update in between has written: refused.
static int stale_aliases(const struct plan *p)
{
    const struct graph *g = p->graph;
    int *since = zalloc((size_t)(g->values + 1) * sizeof *since), rc = 0;  // position + 1 of making or overwriting
    for (int at = 0; at < p->count && rc == 0; at++) {
        const struct node *n = &g->node[p->order[at]];
        for (int i = 0; i < MAX_IN && rc == 0; i++) {
            int root = n->in[i] == NONE ? NONE : root_of(p, n->in[i]);
            if (root == NONE || root == n->in[i] || !persistent(p, root) || since[root] <= since[n->in[i]]) continue;
            rc = fail(ERR_SHAPE, "graph \"%s\", %s: %s reads \"%s\" through a reshape made before it was overwritten",
                      g->name, n->scope, op_table[n->op].name, g->value[root].slot->name);
        }
        for (int i = 0; i < MAX_OUT; i++)
            if (n->out[i] != NONE) since[n->out[i]] = at + 1;
    }
    free(since);
    return rc;
}

static enum phase phase_at(const struct plan *p, int at)
{
    return p->graph->node[p->order[at]].phase;
}

static void classify(struct plan *p)
{
    for (int v = 0; v < p->graph->values; v++) {
        struct place *place = &p->place[v];
        if (place->root != v || persistent(p, v) || place->first < 0) continue;
        place->bytes = align_up(value_bytes(&p->graph->value[v]));
        enum phase born = phase_at(p, place->first), dies = phase_at(p, place->last);
        place->memory = born == PHASE_FORWARD && dies != PHASE_FORWARD  ? MEMORY_ACTIVATIONS
                        : born == PHASE_BACKWARD && dies == PHASE_UPDATE ? MEMORY_GRADIENTS
                                                                         : MEMORY_TEMPORARIES;
    }
}

// ---- offsets

// A value's bytes or a node's workspace: what has to be laid into the slab.
struct block {
    size_t bytes, offset;
    int first, last;
    int owner;  // value id, or -1 - position for a workspace
};

static int larger_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->owner - y->owner;
}

static int lower_first(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset ? 1 : x->owner - y->owner;
}

// Whether two blocks may not share bytes. Where nodes run beside each other, what a node of the update writes lies only
// where the flow of data, and not just the order of the plan, is done with what was there.
static bool meet(const struct plan *p, const struct block *a, const struct block *b)
{
    if (a->first <= b->last && b->first <= a->last) return true;
    const struct block *early = a->last < b->first ? a : b, *late = early == a ? b : a;
    if (!p->flow || phase_at(p, late->first) < PHASE_UPDATE) return false;
    return !plan_flow_finished(p->flow, early->owner < 0 ? NONE : early->owner, early->last, late->first);
}

static int collect(const struct plan *p, struct block *block)
{
    int count = 0;
    for (int v = 0; v < p->graph->values; v++)
        if (p->place[v].bytes)
            block[count++] = (struct block){p->place[v].bytes, p->place[v].offset, p->place[v].first, p->place[v].last, v};
    for (int at = 0; at < p->count; at++)
        if (p->work_bytes[at])
            block[count++] = (struct block){p->work_bytes[at], p->work_offset[at], at, at, -1 - at};
    return count;
}

static struct block *blocks_of(const struct plan *p, int *count)
{
    struct block *block = zalloc((size_t)(p->graph->values + p->count + 1) * sizeof *block);
    *count = collect(p, block);
    return block;
}

// Largest first, each at the lowest gap between those already laid that are live at the same time.
static void lay_out(struct plan *p)
{
    int count;
    struct block *block = blocks_of(p, &count);
    struct block **near = zalloc((size_t)(count + 1) * sizeof *near);
    qsort(block, (size_t)count, sizeof *block, larger_first);
    for (int i = 0; i < count; i++) {
        int neighbours = 0;
        for (int j = 0; j < i; j++)
            if (meet(p, &block[i], &block[j])) near[neighbours++] = &block[j];
        qsort(near, (size_t)neighbours, sizeof *near, lower_first);
        size_t offset = 0;
        for (int j = 0; j < neighbours && offset + block[i].bytes > near[j]->offset; j++)
            if (near[j]->offset + near[j]->bytes > offset) offset = near[j]->offset + near[j]->bytes;
        block[i].offset = offset;
        if (block[i].owner >= 0)
            p->place[block[i].owner].offset = offset;
        else
            p->work_offset[-1 - block[i].owner] = offset;
        if (offset + block[i].bytes > p->slab_bytes) p->slab_bytes = offset + block[i].bytes;
    }
    free(near);
    free(block);
}

int plan_verify(const struct plan *p)
{
    int count, rc = 0;
    struct block *b = blocks_of(p, &count);
    for (int i = 0; i < count && rc == 0; i++) {
        if (b[i].offset + b[i].bytes > p->slab_bytes)
            rc = fail(ERR_SHAPE, "graph \"%s\": block %d leaves the slab", p->graph->name, b[i].owner);
        for (int j = 0; j < i && rc == 0; j++)
            if (meet(p, &b[i], &b[j]) && b[i].offset < b[j].offset + b[j].bytes && b[j].offset < b[i].offset + b[i].bytes)
                rc = fail(ERR_SHAPE, "graph \"%s\": blocks %d and %d overlap while both are live", p->graph->name,
                          b[i].owner, b[j].owner);
    }
    free(b);
    return rc;
}

// ---- figures

static void measure(struct plan *p)
{
    const struct store *store = p->graph->store;
    for (int i = 0; i < store->count; i++) p->memory[store->slot[i]->memory] += align_up(slot_bytes(store->slot[i]));
    size_t most = 0;
    for (int at = 0; at < p->count; at++) {
        size_t by[MEMORY_CLASSES] = {0}, live = p->work_bytes[at];
        by[MEMORY_WORKSPACE] = p->work_bytes[at];
        for (int v = 0; v < p->graph->values; v++)
            if (p->place[v].bytes && p->place[v].first <= at && at <= p->place[v].last) {
                by[p->place[v].memory] += p->place[v].bytes;
                live += p->place[v].bytes;
            }
        if (live <= most) continue;
        most = live;
        p->peak_at = at;
        for (int c = MEMORY_GRADIENTS; c < MEMORY_CLASSES; c++) p->memory[c] = by[c];
    }
    p->memory[MEMORY_WORKSPACE] += p->kept_bytes;
    p->memory[MEMORY_SLACK] = p->slab_bytes - most;
    for (int c = 0; c < MEMORY_CLASSES; c++) p->total += p->memory[c];
}

static int workspaces(struct plan *p, struct device *d)
{
    const struct graph *g = p->graph;
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        TRY(d->type->supports(d, g, n));
        size_t bytes = 0;
        TRY(d->type->workspace(d, g, n, &bytes));
        p->work_bytes[at] = align_up(bytes);
        p->kept_offset[at] = p->kept_bytes;
        if (d->type->kept) p->kept_bytes += align_up(d->type->kept(d, g, n));
    }
    return 0;
}

int plan_new(const struct graph *g, struct device *device, struct plan **into)
{
    TRY(graph_check(g));
    struct plan *p = zalloc(sizeof *p);
    p->graph = g;
    p->count = g->nodes;
    p->order = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->order);
    for (int i = 0; i < p->count; i++) p->order[i] = i;
    p->place = arena_alloc(&p->arena, (size_t)(g->values + 1) * sizeof *p->place);
    p->work_bytes = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->work_bytes);
    p->work_offset = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->work_offset);
    p->kept_offset = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->kept_offset);
    lifetimes(p);
    reuse_inputs(p);
    classify(p);
    if (device->type->overlaps) p->flow = plan_flow_new(p, &p->arena);
    int rc = stale_aliases(p);
    if (rc == 0) rc = workspaces(p, device);
    if (rc < 0) {
        plan_free(p);
        return rc;
    }
    lay_out(p);
    if (plan_verify(p) < 0) BUG(error_text());
    measure(p);
    *into = p;
    return 0;
}

void plan_free(struct plan *p)
{
    if (!p) return;
    arena_free(&p->arena);
    free(p);
}

void *plan_address(const struct plan *p, void *slab, int v)
{
    if (v == NONE) return NULL;
    int root = root_of(p, v);
    const struct slot *slot = p->graph->value[root].slot;
    if (slot) return slot->device;
    return p->place[root].bytes ? (char *)slab + p->place[root].offset : NULL;
}

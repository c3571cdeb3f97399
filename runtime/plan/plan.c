// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/plan.h"

#include "runtime/device.h"
#include "runtime/plan/plan_flow.h"
#include "runtime/plan/plan_layout.h"

#include <stdlib.h>

// ---- lifetimes

static bool persistent(const struct plan *p, int root)
{
    return p->graph->value[root].slot != NULL;
}

// Joins the bytes of aliases, then notes for each root between which positions it is live.
static void lifetimes(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int v = 0; v < g->values; v++) p->placement[v] = (struct placement){.root = v, .first = -1, .last = -1};
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        if (op_table[n->op].flags & OP_FLAG_ALIAS) p->placement[n->out[0]].root = p->placement[n->in[0]].root;
        for (int i = 0; i < MAX_IN; i++)
            if (n->in[i] != NONE) p->placement[p->placement[n->in[i]].root].last = at;
        for (int i = 0; i < MAX_OUT; i++) {
            if (n->out[i] == NONE) continue;
            struct placement *placement = &p->placement[p->placement[n->out[i]].root];
            if (placement->first < 0) placement->first = at;
            if (placement->last < at) placement->last = at;
        }
    }
}

// An element-wise node may overwrite its first input if this node is the last reader and reads it once.
static void reuse_inputs(struct plan *p)
{
    const struct graph *g = p->graph;
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &g->node[p->order[at]];
        if (op_table[n->op].flags & OP_FLAG_ALIAS)
            p->placement[n->out[0]].root = p->placement[n->in[0]].root;  // which may have moved
        if (!(op_table[n->op].flags & OP_FLAG_INPLACE) || n->out[0] == NONE || g->value[n->out[0]].slot) continue;
        int from = p->placement[n->in[0]].root, to = p->placement[n->out[0]].root;
        if (persistent(p, from) || p->placement[from].last != at || from == to) continue;
        if (value_bytes(&g->value[from]) != value_bytes(&g->value[to])) continue;
        bool shared = false;
        for (int i = 1; i < MAX_IN; i++) shared |= n->in[i] != NONE && p->placement[n->in[i]].root == from;
        if (shared) continue;
        p->placement[to].root = from;
        p->placement[from].last = p->placement[to].last;
    }
}

// An alias of a persistent value shares its bytes, so after an update it would read the new ones: refused.
static int stale_aliases(const struct plan *p)
{
    const struct graph *g = p->graph;
    int *since = zalloc((size_t)(g->values + 1) * sizeof *since), rc = 0;  // position + 1 of making or overwriting
    for (int at = 0; at < p->count && rc == 0; at++) {
        const struct node *n = &g->node[p->order[at]];
        for (int i = 0; i < MAX_IN && rc == 0; i++) {
            int root = n->in[i] == NONE ? NONE : p->placement[n->in[i]].root;
            if (root == NONE || root == n->in[i] || !persistent(p, root) || since[root] <= since[n->in[i]]) continue;
            rc = fail(ERR_SHAPE, "graph \"%s\", %s: %s reads \"%s\" through a reshape made before it was overwritten",
                      g->name, n->scope, node_name(n), g->value[root].slot->name);
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
        struct placement *placement = &p->placement[v];
        if (placement->root != v || persistent(p, v) || placement->first < 0) continue;
        placement->bytes = plan_round_up(value_bytes(&p->graph->value[v]));
        enum phase born = phase_at(p, placement->first), dies = phase_at(p, placement->last);
        placement->memory = born == PHASE_FORWARD && dies != PHASE_FORWARD  ? MEMORY_ACTIVATIONS
                        : born == PHASE_BACKWARD && dies == PHASE_UPDATE ? MEMORY_GRADIENTS
                                                                         : MEMORY_TEMPORARIES;
    }
}

// ---- figures

// Bytes live at each position by class, as differences: bytes added at a position count until they are subtracted again.
static size_t *live_differences(const struct plan *p)
{
    size_t *by = zalloc((size_t)(p->count + 1) * MEMORY_CLASSES * sizeof *by);
    for (int v = 0; v < p->graph->values; v++) {
        const struct placement *placement = &p->placement[v];
        if (!placement->bytes) continue;
        by[placement->first * MEMORY_CLASSES + (int)placement->memory] += placement->bytes;
        by[(placement->last + 1) * MEMORY_CLASSES + (int)placement->memory] -= placement->bytes;
    }
    return by;
}

static void measure(struct plan *p)
{
    const struct slot_store *store = p->graph->store;
    for (int i = 0; i < store->count; i++) p->memory[store->slot[i]->memory] += plan_round_up(slot_bytes(store->slot[i]));
    size_t most = 0, by[MEMORY_CLASSES] = {0}, *difference = live_differences(p);
    for (int at = 0; at < p->count; at++) {
        size_t live = by[MEMORY_WORKSPACE] = p->work_bytes[at];
        for (int c = 0; c < MEMORY_CLASSES; c++)
            if (c != MEMORY_WORKSPACE) live += by[c] += difference[at * MEMORY_CLASSES + c];
        if (live <= most) continue;
        most = live;
        p->peak_at = at;
        for (int c = MEMORY_GRADIENTS; c < MEMORY_CLASSES; c++) p->memory[c] = by[c];
    }
    free(difference);
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
        p->work_bytes[at] = plan_round_up(bytes);
        p->kept_offset[at] = p->kept_bytes;
        if (d->type->kept) p->kept_bytes += plan_round_up(d->type->kept(d, g, n));
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
    p->placement = arena_alloc(&p->arena, (size_t)(g->values + 1) * sizeof *p->placement);
    p->work_bytes = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->work_bytes);
    p->work_offset = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->work_offset);
    p->kept_offset = arena_alloc(&p->arena, (size_t)(p->count + 1) * sizeof *p->kept_offset);
    lifetimes(p);
    reuse_inputs(p);
    classify(p);
    int rc = stale_aliases(p);
    if (rc == 0) rc = workspaces(p, device);
    if (rc < 0) {
        plan_free(p);
        return rc;
    }
    if (device->type->overlaps) p->flow = plan_flow_new(p, &p->arena);
    plan_layout(p);
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
    int root = p->placement[v].root;
    const struct slot *slot = p->graph->value[root].slot;
    if (slot) return slot->device;
    return p->placement[root].bytes ? (char *)slab + p->placement[root].offset : NULL;
}

// SPDX-License-Identifier: Apache-2.0
// Offsets equal the plain algorithm's (largest first, at the lowest gap), which is written out here and looks
// at every pair of blocks; and a recurrence unrolled to 20,000 nodes is planned in a moment.
#include "runtime/common/base/clock.h"
#include "runtime/plan/plan_flow.h"
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_random.h"
#include "test/unit/runtime/fixture_unrolled.h"

// ---- the plain algorithm

struct block {
    size_t bytes, offset;
    int first, last, owner;  // owner: value id, or -1 - position for a workspace
};

struct plain {
    const struct plan *plan;
    bool overlaps;
    bool *finished;  // [at * count + before]: by data flow
};

static bool node_uses(const struct plan *p, int at, int root, bool written)
{
    const struct node *n = &p->graph->node[p->order[at]];
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE && p->placement[n->out[i]].root == root) return true;
    for (int i = 0; i < MAX_IN && !written; i++)
        if (n->in[i] != NONE && p->placement[n->in[i]].root == root) return true;
    return false;
}

// True if node `at` waits for the earlier node: it reads what that wrote, or overwrites what that wrote or (no slot) read.
static bool waits(const struct plan *p, int at, int before)
{
    const struct node *n = &p->graph->node[p->order[at]];
    for (int i = 0; i < MAX_IN; i++)
        if (n->in[i] != NONE && node_uses(p, before, p->placement[n->in[i]].root, true)) return true;
    for (int i = 0; i < MAX_OUT; i++) {
        if (n->out[i] == NONE) continue;
        int root = p->placement[n->out[i]].root;
        if (node_uses(p, before, root, p->graph->value[root].slot != NULL)) return true;
    }
    return false;
}

static void find_finished(struct plain *t)
{
    int count = t->plan->count;
    t->finished = zalloc((size_t)count * (size_t)count + 1);
    for (int at = 0; at < count; at++)
        for (int before = 0; before < at; before++) {
            if (!waits(t->plan, at, before)) continue;
            t->finished[at * count + before] = true;
            for (int i = 0; i < before; i++) t->finished[at * count + i] |= t->finished[before * count + i];
        }
}

static bool meet(const struct plain *t, const struct block *a, const struct block *b)
{
    if (a->first <= b->last && b->first <= a->last) return true;
    const struct block *early = a->last < b->first ? a : b, *late = early == a ? b : a;
    const struct plan *p = t->plan;
    if (!t->overlaps || p->graph->node[p->order[late->first]].phase < PHASE_UPDATE) return false;
    const bool *finished = t->finished + late->first * p->count;
    if (early->owner < 0) return !finished[early->last];
    for (int at = 0; at < p->count; at++)
        if (node_uses(p, at, early->owner, false) && !finished[at]) return true;
    return false;
}

static int larger_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->owner - y->owner;
}

static bool is_free(const struct plain *t, const struct block *block, int i, size_t offset)
{
    for (int j = 0; j < i; j++)
        if (offset < block[j].offset + block[j].bytes && block[j].offset < offset + block[i].bytes &&
            meet(t, &block[i], &block[j]))
            return false;
    return true;
}

// Every multiple of PLAN_ALIGN is tried.
static int lay_plainly(const struct plain *t, struct block *block)
{
    const struct plan *p = t->plan;
    int count = 0;
    for (int v = 0; v < p->graph->values; v++)
        if (p->placement[v].bytes)
            block[count++] = (struct block){p->placement[v].bytes, 0, p->placement[v].first, p->placement[v].last, v};
    for (int at = 0; at < p->count; at++)
        if (p->work_bytes[at]) block[count++] = (struct block){p->work_bytes[at], 0, at, at, -1 - at};
    qsort(block, (size_t)count, sizeof *block, larger_first);
    for (int i = 0; i < count; i++)
        while (!is_free(t, block, i, block[i].offset)) block[i].offset += PLAN_ALIGN;
    return count;
}

// ---- random graphs, on a device with workspaces of many sizes

static int workspace(struct device *d, const struct graph *g, const struct node *n, size_t *bytes)
{
    (void)d;
    *bytes = 0;
    for (int o = 0; o < MAX_OUT; o++)
        if (n->out[o] != NONE) *bytes += rng_draw(3, RNG_TEST, (uint32_t)n->out[o], (uint32_t)g->nodes, 0).v[0] % 700;
    if (*bytes % 3 == 0) *bytes = 0;
    return 0;
}

static void compare(uint32_t seed, bool overlaps, int *moved)
{
    struct session *s = session_on("ref");
    struct device_type type = device_ref;
    type.workspace = workspace, type.overlaps = overlaps;
    s->device->type = &type;
    struct graph *g = random_graph(s->store, seed);
    for (int i = 0; i < g->nodes; i++)
        if (i > g->nodes / 3 && rng_draw(4, RNG_TEST, seed, (uint32_t)i, 0).v[0] % 3) g->node[i].phase = PHASE_UPDATE;
    int program = session_add(s, g);
    OK(program);
    OK(session_plan(s));
    struct plain t = {s->plan[program], overlaps, NULL};
    find_finished(&t);
    struct block *block = zalloc((size_t)(g->values + g->nodes + 1) * sizeof *block);
    int count = lay_plainly(&t, block);
    size_t slab = 0;
    for (int i = 0; i < count; i++) {
        const struct block *b = &block[i];
        size_t offset = b->owner < 0 ? t.plan->work_offset[-1 - b->owner] : t.plan->placement[b->owner].offset;
        if (offset != b->offset) fail_msg("graph %u: block %d lies at %zu, not at %zu", seed, b->owner, offset, b->offset);
        *moved += offset > 0;
        if (b->offset + b->bytes > slab) slab = b->offset + b->bytes;
    }
    assert_int_equal(slab, t.plan->slab_bytes);
    OK(plan_verify(t.plan));
    free(block);
    free(t.finished);
    session_done(s);
}

TEST(test_offsets_are_those_of_the_plain_algorithm)
{
    int moved = 0;
    for (uint32_t seed = 1; seed <= 200; seed++)
        for (int overlaps = 0; overlaps < 2; overlaps++) compare(seed, overlaps, &moved);
    assert_true(moved > 4000);  // or the comparison would prove nothing
}

// The proof finds the same overlaps as a comparison of all pairs, for blocks that were moved at random.
TEST(test_proof_finds_every_overlap)
{
    int refused = 0, passed = 0;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct session *s = session_on("ref");
        struct graph *g = random_graph(s->store, seed);
        int program = session_add(s, g);
        OK(program);
        OK(session_plan(s));
        struct plan *p = s->plan[program];
        struct dice d = {seed + 1000, 0};
        for (int tries = 0; tries < 20; tries++) {
            int v = (int)roll(&d, (uint32_t)g->values);
            struct placement was = p->placement[v];
            if (!was.bytes) continue;
            p->placement[v].offset = roll(&d, (uint32_t)((p->slab_bytes - was.bytes) / PLAN_ALIGN + 1)) * PLAN_ALIGN;
            bool overlap = false;
            for (int u = 0; u < g->values; u++) {
                const struct placement *a = &p->placement[v], *b = &p->placement[u];
                overlap |= u != v && b->bytes && a->first <= b->last && b->first <= a->last &&
                           a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            }
            if (overlap) {
                REFUSED(plan_verify(p), "overlap");
                refused++;
            } else {
                OK(plan_verify(p));
                passed++;
            }
            p->placement[v] = was;
        }
        session_done(s);
    }
    assert_true(refused > 100 && passed > 100);
}

// ---- long graphs

enum { STEPS = 2000, SECONDS_MOST = 10 };  // under 0.1 s on one core of a Zen 5; the plain algorithm took 4 s

TEST(test_long_recurrence)
{
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        struct session *s = session_on("null");
        struct device_type type = device_null;
        type.overlaps = overlaps;
        s->device->type = &type;
        int64_t began = clock_cpu_ns();
        int program = session_add(s, unrolled_graph(s->store, STEPS));
        OK(program);
        OK(session_plan(s));
        double seconds = (double)(clock_cpu_ns() - began) * 1e-9;
        print_message("%d nodes, %s: %.3f s\n", s->plan[program]->count, overlaps ? "concurrent" : "in order", seconds);
        assert_true(s->plan[program]->count >= 20000);
        assert_true(seconds < SECONDS_MOST);
        // One value of every step's forward pass lives on to its backward pass; the rest of a step comes on top.
        size_t value = 4 * 16 * sizeof(float);
        assert_true(s->slab_bytes >= 2 * STEPS * value && s->slab_bytes < 4 * STEPS * value);
        s->device->type = &device_null;  // null closes only what calls itself so
        session_done(s);
    }
}

// A chain of reshapes of any length is one block.
TEST(test_long_chain_of_aliases)
{
    struct session *s = session_on("null");
    struct graph *g = graph_new(s->store, "chain");
    int v = g_scale(g, input(g, "x", SHAPE(4, 16)), 2);
    for (int i = 0; i < 20000; i++) v = g_reshape(g, v, i % 2 ? SHAPE(4, 16) : SHAPE(64));
    keep(g, "out", v);
    int64_t began = clock_cpu_ns();
    OK(session_add(s, g));
    OK(session_plan(s));
    assert_true((double)(clock_cpu_ns() - began) * 1e-9 < SECONDS_MOST);
    assert_int_equal(s->slab_bytes, 4 * 16 * sizeof(float));
    session_done(s);
}

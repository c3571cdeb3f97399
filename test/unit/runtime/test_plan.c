// SPDX-License-Identifier: Apache-2.0
// Offsets of values: the proof detects planted faults, the classes sum to the total, and random graphs compute on a
// shared, reused slab exactly what they compute when every value has memory of its own.
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "runtime/optim.h"
#include "runtime/ref/ref.h"
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_random.h"

// ---- a training step of one layer: saved activations, gradients, temporaries

static struct session *layered(struct plan **plan)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "layers");
    int x = input(g, "x", SHAPE(8, 16)), params[4], grads[4];
    for (int i = 0; i < 4; i++) {
        char name[24];
        snprintf(name, sizeof name, "w%d", i);
        params[i] = weight(g, name, SHAPE(16, 16));
        x = g_act(g, g_linear(g, x, params[i], NONE, F32), ACT_GELU);
    }
    OK(grad_of(g, g_reshape(g, g_reduce(g, x, 3u, true, F32), SHAPE(1)), params, 4, grads));
    g->phase = PHASE_UPDATE;
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    struct optim_settings o = {.momentum = 0.9f, .clip = NONE};
    for (int i = 0; i < 4; i++) optim_sgd(g, params[i], grads[i], lr, &o);
    int program = session_add(s, g);
    OK(program);
    OK(session_plan(s));
    *plan = s->plan[program];
    return s;
}

static int live_together(const struct plan *p, int v)  // another value of the slab, live at the same time; NONE: none
{
    for (int u = 0; u < p->graph->values; u++) {
        const struct placement *a = &p->placement[u], *b = &p->placement[v];
        if (u != v && a->bytes && a->first <= b->last && b->first <= a->last) return u;
    }
    return NONE;
}

TEST(test_verify_can_fail)
{
    struct plan *p;
    struct session *s = layered(&p);
    OK(plan_verify(p));
    int planted = 0;
    for (int v = 0; v < p->graph->values; v++) {
        if (!p->placement[v].bytes) continue;
        int other = live_together(p, v);
        struct placement was = p->placement[v];
        p->placement[v].offset = p->slab_bytes - was.bytes + PLAN_ALIGN;
        REFUSED(plan_verify(p), "leaves the slab");
        p->placement[v] = was;
        if (other == NONE) continue;
        p->placement[v].offset = p->placement[other].offset;
        REFUSED(plan_verify(p), "overlap");
        p->placement[v] = was;
        OK(plan_verify(p));
        planted++;
    }
    assert_true(planted > 10);
    p->work_bytes[3] = p->slab_bytes;  // a workspace over everything
    REFUSED(plan_verify(p), "overlap");
    session_done(s);
}

// ---- for a device that runs nodes concurrently

enum { BANKS = 3 };

// Newton-Schulz of a few banks whose gradients are there from the start: chains that need nothing of each other.
static struct session *banks(const struct device_type *type, struct plan **plan)
{
    struct session *s = session_on("ref");
    s->device->type = type;
    struct graph *g = graph_new(s->store, "banks");
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    struct optim_settings o = {.momentum = 0.6f, .ns_steps = 3, .ns = {3, -4, 2}, .renormalise = NONE,
                               .ns_norm = NONE, .clip = NONE};
    g->phase = PHASE_UPDATE;
    for (int i = 0; i < BANKS; i++) {
        char name[2][16];
        snprintf(name[0], sizeof name[0], "w%d", i), snprintf(name[1], sizeof name[1], "g%d", i);
        optim_muon(g, weight(g, name[0], SHAPE(16, 24)), input(g, name[1], SHAPE(16, 24)), lr, &o);
    }
    int program = session_add(s, g);
    OK(program);
    OK(session_plan(s));
    *plan = s->plan[program];
    return s;
}

static bool share_bytes(const struct placement *a, const struct placement *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

// Scopes stay empty here, so the node's position in the order identifies a bank.
static int bank_of(const struct plan *p, int v) { return p->placement[v].first / (p->count / BANKS); }

static int banks_that_share(const struct plan *p)
{
    int pairs = 0;
    for (int v = 0; v < p->graph->values; v++)
        for (int u = 0; u < v; u++)
            pairs += p->placement[u].bytes && p->placement[v].bytes && bank_of(p, u) != bank_of(p, v) &&
                     share_bytes(&p->placement[u], &p->placement[v]);
    return pairs;
}

TEST(test_chains_beside_each_other_share_no_bytes)
{
    struct device_type overlapping = device_ref;
    overlapping.overlaps = true;
    struct plan *one, *many;
    struct session *s = banks(&device_ref, &one), *t = banks(&overlapping, &many);
    assert_null(one->flow);
    assert_non_null(many->flow);
    assert_true(banks_that_share(one) > 10);
    assert_int_equal(banks_that_share(many), 0);
    assert_true(many->slab_bytes <= BANKS * one->slab_bytes);  // within a bank bytes are used again
    OK(plan_verify(many));
    int planted = 0;
    for (int v = 0; v < many->graph->values; v++)
        for (int u = 0; u < v; u++) {
            struct placement *a = &many->placement[u], *b = &many->placement[v], was = *b;
            if (!a->bytes || !b->bytes || a->last >= b->first || bank_of(many, u) == bank_of(many, v)) continue;
            b->offset = a->offset;
            REFUSED(plan_verify(many), "overlap");
            *b = was;
            planted++;
        }
    assert_true(planted > 10);
    session_done(s);
    session_done(t);
}

TEST(test_classes_sum)
{
    struct plan *p;
    struct session *s = layered(&p);
    size_t sum = 0, slots = 0, slab = 0;
    for (int c = 0; c < MEMORY_CLASSES; c++) sum += p->memory[c];
    for (int c = MEMORY_GRADIENTS; c < MEMORY_CLASSES; c++) slab += p->memory[c];
    for (int i = 0; i < s->store->count; i++) slots += (slot_bytes(s->store->slot[i]) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    assert_int_equal(sum, p->total);
    assert_int_equal(slab, p->slab_bytes);
    assert_int_equal(sum, slots + p->slab_bytes);
    assert_int_equal(p->memory[MEMORY_WEIGHTS], 4 * 16 * 16 * 4);
    assert_int_equal(p->memory[MEMORY_OPTIMISER], 4 * 16 * 16 * 4);
    assert_int_equal(s->memory_total, p->total);
    assert_true(p->memory[MEMORY_ACTIVATIONS] + p->memory[MEMORY_GRADIENTS] > 0);
    bool saved = false, gradient = false;
    for (int v = 0; v < p->graph->values; v++) {
        saved |= p->placement[v].bytes && p->placement[v].memory == MEMORY_ACTIVATIONS;
        gradient |= p->placement[v].bytes && p->placement[v].memory == MEMORY_GRADIENTS;
    }
    assert_true(saved && gradient);
    size_t all = 0;
    for (int v = 0; v < p->graph->values; v++) all += p->placement[v].bytes;
    assert_true(p->slab_bytes < all);  // memory is used again
    session_done(s);
}

TEST(test_sharing)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "sharing");
    int x = input(g, "x", SHAPE(4, 8)), y = input(g, "y", SHAPE(4, 8));
    int a = g_add(g, x, y), flat = g_reshape(g, a, SHAPE(32)), b = g_scale(g, flat, 2), c = g_scale(g, b, 3);
    int d = g_mul(g, c, b);  // b is read after c was made from it: c may not lie over b; d may lie over c
    int square = g_mul(g, d, d), persistent = g_scale(g, x, 2);
    keep(g, "out", g_add(g, g_reshape(g, square, SHAPE(4, 8)), persistent));
    int program = session_add(s, g);
    OK(program);
    OK(session_plan(s));
    const struct plan *p = s->plan[program];
    char slab[1 << 12];
    assert_true(p->slab_bytes <= sizeof slab);
    void *at[] = {plan_address(p, slab, a), plan_address(p, slab, flat), plan_address(p, slab, b), plan_address(p, slab, c),
                  plan_address(p, slab, d), plan_address(p, slab, square)};
    assert_ptr_equal(at[0], at[1]);      // an alias
    assert_ptr_equal(at[1], at[2]);      // in place: a has no other reader
    assert_ptr_not_equal(at[2], at[3]);
    assert_ptr_equal(at[3], at[4]);
    assert_ptr_not_equal(at[4], at[5]);  // both inputs are d: not in place
    assert_ptr_not_equal(plan_address(p, slab, persistent), plan_address(p, slab, x));
    assert_null(plan_address(p, slab, NONE));
    session_done(s);
}

// A reshape of a persistent value is its bytes: reading them after an update would read the new ones.
TEST(test_stale_alias)
{
    for (int late = 0; late < 2; late++) {
        struct session *s = session_on("ref");
        struct graph *g = graph_new(s->store, "stale");
        int w = weight(g, "w", SHAPE(4, 8)), flat = g_reshape(g, w, SHAPE(32));
        if (!late) keep(g, "out", g_scale(g, flat, 2));
        graph_node_over(g, OP_ASSIGN, (int[]){w, input(g, "x", SHAPE(4, 8))}, 2, NULL, &w, NULL);
        if (late) keep(g, "out", g_scale(g, flat, 2));
        OK(session_add(s, g));
        if (late)
            REFUSED(session_plan(s), "\"w\"");
        else
            OK(session_plan(s));
        session_done(s);
    }
}

// ---- random graphs

// Runs the graph with memory of its own for every value, persistent ones in mem[] as they are.
static void run_apart(const struct graph *g, void **mem)
{
    for (int v = 0; v < g->values; v++)
        if (!g->value[v].slot) mem[v] = zalloc(value_bytes(&g->value[v]) + 1);
    struct arena scratch = {0};
    for (int i = 0; i < g->nodes; i++) {
        struct ref_step step = {.graph = g, .node = &g->node[i], .scratch = &scratch};
        for (int j = 0; j < MAX_IN; j++) step.in[j] = g->node[i].in[j] == NONE ? NULL : mem[g->node[i].in[j]];
        for (int j = 0; j < MAX_OUT; j++) step.out[j] = g->node[i].out[j] == NONE ? NULL : mem[g->node[i].out[j]];
        if (op_table[g->node[i].op].flags & OP_FLAG_ALIAS)
            memcpy(step.out[0], step.in[0], value_bytes(&g->value[g->node[i].out[0]]));
        else
            ref_ops[g->node[i].op](&step);
        arena_free(&scratch);
    }
}

static bool differs(struct session *s, const struct graph *g, int program)
{
    start(s);
    memset(s->slab, 0xff, s->slab_bytes);
    void **mem = zalloc((size_t)g->values * sizeof *mem);
    for (int v = 0; v < g->values; v++)
        if (g->value[v].slot) mem[v] = read_slot(s, g->value[v].slot->name);
    run_apart(g, mem);
    OK(session_run(s, program));
    bool differ = false;
    for (int v = 0; v < g->values; v++) {
        if (g->value[v].slot) {
            float *x = read_slot(s, g->value[v].slot->name);
            differ |= memcmp(x, mem[v], slot_bytes(g->value[v].slot)) != 0;
            free(x);
        }
        free(mem[v]);
    }
    free(mem);
    return differ;
}

TEST(test_random_graphs)
{
    int shared = 0, reused = 0;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct session *s = session_on("ref");
        struct graph *g = random_graph(s->store, seed);
        int program = session_add(s, g);
        OK(program);
        if (differs(s, g, program)) fail_msg("random graph %u computes something else on the shared slab", seed);
        size_t all = 0;
        const struct plan *p = s->plan[program];
        for (int v = 0; v < g->values; v++) {
            shared += p->placement[v].root != v && !g->value[p->placement[v].root].slot;
            all += p->placement[v].bytes;
        }
        reused += all > p->slab_bytes;
        session_done(s);
    }
    assert_true(shared > 300);  // the graphs would prove nothing if nothing were in place or reused
    assert_true(reused > 150);
}

// And the comparison notices a wrong plan: two live values on the same bytes.
TEST(test_random_graphs_can_differ)
{
    int noticed = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        struct session *s = session_on("ref");
        struct graph *g = random_graph(s->store, seed);
        int program = session_add(s, g);
        OK(program);
        OK(session_plan(s));
        struct plan *p = s->plan[program];
        for (int v = 0; v < g->values; v++)
            if (p->placement[v].bytes) p->placement[v].offset = 0;  // all of them at the beginning
        noticed += differs(s, g, program);
        session_done(s);
    }
    assert_true(noticed > 20);
}

// SPDX-License-Identifier: Apache-2.0
// The session: nothing that it keeps between runs is stale, memory is refused before it is allocated, and slots are guarded.
#include "runtime/null/null.h"

#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#include <malloc.h>

enum { SIDE = 6, IN = 16, OUT = 32, X = SIDE * SIDE * IN, W = OUT * 9 * IN, Y = SIDE * SIDE * OUT };

// One image through one convolution whose filters are a slot: small batches keep packed filters on the cpu.
static int conv_program(struct session *s, int *tick)
{
    struct graph *g = graph_new(s->store, "conv");
    int x = input(g, "x", SHAPE(1, SIDE, SIDE, IN)), w = weight(g, "w", SHAPE(OUT, 3, 3, IN));
    keep(g, "y", g_conv(g, x, w, 1, 1));
    int program = session_add(s, g);
    // A second program that overwrites the filters with their negative.
    struct graph *turn = graph_new(s->store, "turn");
    int p = weight(turn, "w", SHAPE(OUT, 3, 3, IN));
    graph_node_over(turn, OP_ASSIGN, (int[]){p, g_scale(turn, p, -1.0f)}, 2, NULL, &p, NULL);
    *tick = session_add(s, turn);
    assert_true(program >= 0 && *tick >= 0);
    OK(session_ready(s));
    return program;
}

static void put_draws(struct session *s, const char *slot, int n, uint32_t which)
{
    float *x = zalloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) x[i] = 2 * rng_unit(rng_draw(1, RNG_TEST, which, (uint32_t)i, 0).v[0]) - 1;
    OK(session_put(s, slot, x, 0, (size_t)n * sizeof *x));
    free(x);
}

static void expect_same(struct session *a, struct session *b)
{
    float x[Y], y[Y];
    OK(session_get(a, "y", x, sizeof x));
    OK(session_get(b, "y", y, sizeof y));
    for (int i = 0; i < Y; i++) assert_float_equal(x[i], y[i], 1e-4);
}

TEST(packed_filters_are_never_stale)
{
    struct session *s[2] = {session_on("cpu"), session_on("ref")};
    int program[2], turn[2];
    for (int i = 0; i < 2; i++) program[i] = conv_program(s[i], &turn[i]);
    for (uint32_t round = 0; round < 3; round++) {  // new filters, the same filters again, filters overwritten
        for (int i = 0; i < 2; i++) {
            put_draws(s[i], "x", X, 10 + round);
            if (round == 0) put_draws(s[i], "w", W, 20);
            if (round == 2) OK(session_run(s[i], turn[i]));
            OK(session_run(s[i], program[i]));
        }
        expect_same(s[0], s[1]);
    }
    for (int i = 0; i < 2; i++) {
        put_draws(s[i], "w", W, 30);
        OK(session_run(s[i], program[i]));
    }
    expect_same(s[0], s[1]);
    assert_true(s[0]->plan[program[0]]->kept_bytes >= W * sizeof(float));  // else this test shows nothing
    for (int i = 0; i < 2; i++) session_done(s[i]);
}

TEST(memory_is_refused_from_the_plan)
{
    struct session *s = session_on("null");
    null_limit(s->device, 1000);
    struct graph *g = graph_new(s->store, "large");
    keep(g, "y", g_scale(g, input(g, "x", SHAPE(1000)), 2));
    assert_true(session_add(s, g) >= 0);
    OK(session_plan(s));
    assert_true(s->memory_total >= 8000);
    assert_int_equal(session_ready(s), ERR_MEMORY);
    assert_int_equal(null_counts(s->device)->allocations, 0);
    session_done(s);
}

TEST(classes_sum_to_the_total)
{
    struct session *s = session_on("cpu");
    int turn;
    conv_program(s, &turn);
    size_t sum = 0;
    for (int c = 0; c < MEMORY_CLASSES; c++) sum += s->memory[c];
    assert_int_equal(sum, s->memory_total);
    session_done(s);
}

// On every device without memory of its own a stage is an upload; what the next run reads is the same.
TEST(what_is_staged_is_in_the_next_run)
{
    static const char *const devices[] = {"ref", "cpu", "null"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        struct session *s = session_on(devices[d]);
        struct graph *g = graph_new(s->store, "double");
        keep(g, "y", g_scale(g, input(g, "x", SHAPE(8)), 2.0f));
        assert_int_equal(session_add(s, g), 0);
        OK(session_ready(s));
        OK(session_reset(s, 1));
        struct slot *x = slot_find(s->store, "x");
        uint64_t version = x->version;
        float *host, y[8];
        OK(s->device->type->host_alloc(s->device, 8 * sizeof *host, (void **)&host));
        for (int i = 0; i < 8; i++) host[i] = (float)i;
        OK(session_stage(s, x, host, 8 * sizeof *host));
        OK(session_stage_done(s));
        assert_true(x->version > version);  // packed forms of it are stale
        host[0] = 99;
        OK(session_run(s, 0));
        OK(session_get(s, "y", y, sizeof y));
        for (int i = 0; i < 8 && d < 2; i++) assert_true(y[i] == 2 * (float)i);
        REFUSED(session_stage(s, x, host, 9 * sizeof *host), "holds 32 bytes, not 36");
        s->device->type->host_free(s->device, host);
        session_done(s);
    }
}

TEST(slots_are_guarded)
{
    struct session *s = session_on("cpu");
    int turn;
    float x[X + 1] = {0};
    conv_program(s, &turn);
    REFUSED(session_put(s, "nobody", x, 0, 4), "nobody");
    REFUSED(session_put(s, "x", x, 4, X * sizeof(float)), "holds");
    REFUSED(session_get(s, "x", x, (X + 1) * sizeof(float)), "holds");
    REFUSED(session_put(s, "x", x, SIZE_MAX, 8), "holds");
    session_done(s);
}

// Uploaded slots are zero until they are uploaded, even in used memory, and keep what they got in a reset.
TEST(uploaded_slots_begin_with_zeros)
{
    static const char *const devices[] = {"ref", "cpu"};
    for (int d = 0; d < 2; d++) {
        struct session *s = session_on(devices[d]);
        float x[X], zero[X] = {0};
        int turn;
        mallopt(M_PERTURB, 0x5a);  // fills allocated memory
        conv_program(s, &turn);
        mallopt(M_PERTURB, 0);
        OK(session_get(s, "x", x, sizeof x));
        assert_memory_equal(x, zero, sizeof x);
        put_draws(s, "x", X, 1);
        OK(session_reset(s, 1));
        OK(session_get(s, "x", x, sizeof x));
        assert_memory_not_equal(x, zero, sizeof x);
        session_done(s);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Merged launches: the order that cuda_merge_find gives small programs, and updates of many parameters by every optimiser, which
// must be the same bytes merged, one by one, and from captured graphs.
#include "runtime/cuda/cuda_merge.h"
#include "runtime/cuda/cuda_program.h"
#include "runtime/optim.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

// ---- small programs: one word per task; capitals are written, small letters are read, from s on they are running sums

enum { SMALL = 16 };

// The launches as a text: the digits of a launch's tasks, a blank between launches.
static void assert_launches(const char *const words[], const char *kinds, int from, int most, const char *want)
{
    static const char bytes[26];
    struct cuda_task task[SMALL] = {0};
    struct arena arena = {0};
    struct cuda_merge m;
    int tasks = 0, kind[SMALL] = {0};
    char got[3 * SMALL] = "";
    for (; words[tasks]; tasks++) {
        task[tasks].touch = arena_alloc(&arena, (strlen(words[tasks]) + 1) * sizeof *task[tasks].touch);
        kind[tasks] = kinds[tasks] - '0';
        for (const char *c = words[tasks]; *c; c++) {
            bool written = *c < 'a';
            task[tasks].touch[task[tasks].touches++] = (struct cuda_touch){bytes + (*c - (written ? 'A' : 'a')), 1,
                                                                         written | ((*c | 32) >= 's' ? TOUCH_SUMS : 0)};
        }
    }
    cuda_merge_find(task, kind, tasks, from, most, &m, &arena);
    for (int b = 0, at = 0; b < m.batches; b++) {
        if (b) got[at++] = ' ';
        for (int i = 0; i < m.batch[b].count; i++) got[at++] = (char)('0' + m.task[m.batch[b].first + i]);
    }
    assert_string_equal(got, want);
    arena_free(&arena);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(launches_are_merged_in_an_order_that_is_allowed)
{
    assert_launches(WORDS("A", "aB", "C", "cD"), "1212", 0, 9, "02 13");
    assert_launches(WORDS("A", "aB", "C", "cD"), "1010", 0, 9, "02 1 3");      // 0: never merged
    assert_launches(WORDS("A", "aB", "C", "cD"), "1212", 2, 9, "0 1 2 3");     // the first two keep their order
    assert_launches(WORDS("A", "B", "C", "D", "E"), "11111", 0, 2, "01 23 4");
    assert_launches(WORDS("A", "aA", "aA"), "111", 0, 9, "0 1 2");             // each depends on the one before
    assert_launches(WORDS("aB", "A", "bC"), "111", 0, 9, "0 12");              // a write after a read
    assert_launches(WORDS("A", "", "B"), "111", 0, 9, "02");                   // without touches: nothing is launched
    assert_launches(WORDS("A", "abC", "B"), "121", 0, 9, "0 1 2");             // 2 writes bytes that 1 read before
    assert_launches(WORDS("aS", "bsT", "ctU"), "111", 0, 9, "012");            // a running sum
    assert_launches(WORDS("aS", "bsT", "ctU"), "111", 0, 2, "01 2");
    assert_launches(WORDS("aS", "bsT", "uA"), "112", 0, 9, "01 2");
    assert_launches(WORDS("aS", "B", "bsT", "tuV"), "1211", 0, 9, "1 023");    // 3 waits for 2, which waits for 1
    assert_launches(WORDS("aS", "bsT", "tC"), "112", 0, 9, "01 2");            // the reader is no part of the sum
    assert_launches(WORDS("AS", "AsT"), "11", 0, 9, "0 1");                    // and scratch is none
    // The kind with the longer path goes first, and ends of chains wait for each other.
    assert_launches(WORDS("A", "aB", "C", "cD", "dE", "eF"), "123243", 0, 9, "0 2 13 4 5");
    assert_launches(WORDS("A", "aB", "C", "cD", "dE", "eF"), "141234", 0, 9, "02 3 4 15");
}

TEST(every_task_comes_once)
{
    enum { TASKS = 60, BYTES = 12 };
    static const char bytes[BYTES];
    for (uint32_t round = 0; round < 50; round++) {
        struct arena arena = {0};
        struct cuda_merge m;
        struct cuda_touch touch[TASKS][3];
        struct cuda_task task[TASKS] = {0};
        int kind[TASKS], position[TASKS] = {0}, seen = 0;
        for (int t = 0; t < TASKS; t++) {
            for (int i = 0; i < 3; i++) {
                uint32_t r = rng_draw(9, RNG_TEST, round, (uint32_t)(t * 3 + i), 0).v[0];
                int sum = r % BYTES < BYTES / 2 ? TOUCH_SUMS : 0;
                touch[t][i] = (struct cuda_touch){bytes + r % BYTES, 1, (int)(r >> 8 & 1) | sum};
            }
            task[t].touch = touch[t], task[t].touches = 3;
            kind[t] = (int)(rng_draw(9, RNG_TEST, round, (uint32_t)t, 1).v[0] % 3);
        }
        cuda_merge_find(task, kind, TASKS, 10, 4, &m, &arena);
        for (int b = 0; b < m.batches; b++) {
            assert_in_range(m.batch[b].count, 1, 4);
            for (int i = 0; i < m.batch[b].count; i++, seen++) {
                int t = m.task[m.batch[b].first + i];
                assert_int_equal(position[t], 0);
                position[t] = 10 * b + i + 10;
                assert_int_equal(kind[t], kind[m.task[m.batch[b].first]]);
            }
        }
        assert_int_equal(seen, TASKS);
        for (int t = 0; t < TASKS; t++)
            for (int before = 0; before < t; before++) {
                if (!cuda_lanes_conflict(&task[before], &task[t])) continue;
                bool sum = kind[t] && kind[t] == kind[before] && cuda_lanes_add(&task[before], &task[t]);
                assert_true(sum ? position[before] < position[t] : position[before] / 10 < position[t] / 10);
            }
        arena_free(&arena);
    }
}

// ---- updates of many parameters

enum { PARAMS = 30, RUNS = 2 };

static void add_updates(struct graph *g)
{
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    int some = graph_state(g, "some", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.25f});
    int step = graph_state(g, "step", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    int other = graph_state(g, "other", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    struct optim_settings o = {.momentum = 0.6f, .nesterov = true, .decay = 1e-3f, .beta1 = 0.9f, .beta2 = 0.99f, .eps = 1e-8f,
                               .clip = NONE, .ns_steps = 3, .ns = {3.4f, -4.7f, 2.0f}, .renormalise = some, .ns_norm = NONE};
    int param[PARAMS], grad[PARAMS];
    g->phase = PHASE_UPDATE;
    for (int i = 0; i < PARAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        // Sizes that no vector length divides, of several blocks, and both ways of cutting a product.
        struct shape shape = i % 3 == 2 ? SHAPE(8 + i % 5, 3, 3, 4 + i) : SHAPE(1 + 97 * i, 3);
        param[i] = weight(g, name, shape);
        snprintf(name, sizeof name, "g%d", i);
        grad[i] = input(g, name, shape);
    }
    o.clip = optim_clip(g, grad, PARAMS, 0.5f);
    for (int i = 0; i < PARAMS; i++) {
        if (i % 3 == 0) optim_sgd(g, param[i], grad[i], lr, &o);
        if (i % 3 == 1) optim_adamw(g, param[i], grad[i], lr, &o);
        if (i % 3 == 2) optim_muon(g, param[i], grad[i], lr, &o);
        optim_ema(g, param[i], some);
    }
    optim_muon(g, weight(g, "wide", SHAPE(24, 700)), input(g, "gw", SHAPE(24, 700)), lr, &o);  // products in slices
    int left = input(g, "left", SHAPE(400, 8)), right = input(g, "right", SHAPE(8, 400));
    keep(g, "large", g_matmul(g, left, false, right, false, F32));              // tiles of 64 x 64
    g_tick(g, step, 1);
    g_tick(g, other, 3);
}

// All slots after some runs; free() it.
static char *update_bytes(const char *lanes, const char *graphs, size_t *count, int *launches)
{
    setenv("DAWN_CUDA_LANES", lanes, 1);
    setenv("DAWN_CUDA_GRAPHS", graphs, 1);
    struct session *s = session_on("cuda");
    unsetenv("DAWN_CUDA_LANES");
    unsetenv("DAWN_CUDA_GRAPHS");
    struct graph *g = graph_new(s->store, "update");
    add_updates(g);
    assert_int_equal(session_add(s, g), 0);
    start(s);
    for (int i = 0; i < RUNS; i++) OK(session_run(s, 0));
    *count = 0;
    for (int i = 0; i < s->store->count; i++) *count += slot_bytes(s->store->slot[i]);
    char *bytes = zalloc(*count), *at = bytes;
    for (int i = 0; i < s->store->count; at += slot_bytes(s->store->slot[i++]))
        OK(session_get(s, s->store->slot[i]->name, at, slot_bytes(s->store->slot[i])));
    *launches = cuda_program_launches(s->program[0])->batches;
    session_done(s);
    return bytes;
}

TEST(merged_updates_are_the_same_bytes)
{
    size_t n, m;
    int merged, eager, alone;
    char *a = update_bytes("1", "on", &n, &merged), *b = update_bytes("2", "on", &m, &alone);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(b);
    b = update_bytes("1", "off", &m, &eager);
    assert_memory_equal(a, b, n);
    print_message("%d launches\n", merged);
    assert_int_equal(alone, 0);
    assert_int_equal(eager, merged);
    assert_in_range(merged, 1, 45);
    free(a), free(b);
}

// SPDX-License-Identifier: Apache-2.0
// The null device: it counts the calls of the device interface, has no memory, and fails when its limit is reached. With it,
// the bookkeeping of a session is tested without any computation.
#include "runtime/null/null.h"
#include "runtime/session.h"
#include "test/unit/test.h"

static struct device *open_null(void)
{
    struct device *d;
    assert_int_equal(device_open("null", 1, &d), 0);
    return d;
}

TEST(test_addresses_are_distinct)
{
    struct device *d = open_null();
    void *a, *b, *c;
    assert_int_equal(d->type->alloc(d, 1000, &a), 0);
    assert_int_equal(d->type->alloc(d, 0, &b), 0);
    assert_int_equal(d->type->alloc(d, 5000000, &c), 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_true((char *)b >= (char *)a + 1000);
    assert_true((char *)c > (char *)b);
    assert_int_equal((uintptr_t)a % PLAN_ALIGN, 0);
    assert_int_equal((uintptr_t)b % PLAN_ALIGN, 0);
    assert_int_equal((uintptr_t)c % PLAN_ALIGN, 0);
    assert_int_equal(null_counts(d)->allocated, 5001000);
    d->type->free(d, a);
    assert_int_equal(null_counts(d)->allocated, 5000000);
    assert_int_equal(null_counts(d)->peak, 5001000);
    d->type->free(d, c);
    d->type->free(d, b);
    d->type->free(d, NULL);  // as free() does
    assert_int_equal(null_counts(d)->frees, 3);
    assert_int_equal(null_counts(d)->allocated, 0);
    device_close(d);
}

TEST(test_copies_are_counted)
{
    struct device *d = open_null();
    void *a;
    char host[100];
    memset(host, 7, sizeof host);
    assert_int_equal(d->type->alloc(d, 100, &a), 0);
    assert_int_equal(d->type->upload(d, a, host, 100), 0);
    assert_int_equal(d->type->upload(d, (char *)a + 40, host, 60), 0);
    assert_int_equal(d->type->download(d, host, (char *)a + 10, 90), 0);
    for (int i = 0; i < 90; i++) assert_int_equal(host[i], 0);
    for (int i = 90; i < 100; i++) assert_int_equal(host[i], 7);  // no byte more than asked for
    assert_int_equal(null_counts(d)->uploaded, 160);
    assert_int_equal(null_counts(d)->downloaded, 90);
    d->type->free(d, a);
    device_close(d);
}

TEST(test_limit)
{
    struct device *d = open_null();
    struct device_facts facts;
    void *a, *b = NULL;
    null_limit(d, 1000);
    assert_int_equal(d->type->alloc(d, 600, &a), 0);
    assert_int_equal(d->type->facts(d, &facts), 0);
    assert_int_equal(facts.memory, 400);
    assert_fails(d->type->alloc(d, 401, &b), ERR_MEMORY, "401 bytes");
    assert_int_equal(d->type->alloc(d, SIZE_MAX, &b), ERR_MEMORY);
    assert_null(b);
    d->type->free(d, a);
    assert_int_equal(d->type->alloc(d, 1000, &a), 0);
    d->type->free(d, a);
    device_close(d);
}

// y = relu(x w) over n images, of any size.
static struct graph *large_graph(struct session *s, int64_t n)
{
    struct graph *g = graph_new(s->store, "large");
    int x = graph_state(g, "x", SHAPE(n, 32, 32, 64), F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int w = graph_param(g, "w", SHAPE(64, 3, 3, 64), (struct init){INIT_NORMAL, 0.1f}, ROLE_FILTER);
    int y = graph_state(g, "y", SHAPE(n, 16, 16, 64), F32, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    int z = g_maxpool(g, g_act(g, g_conv(g, x, w, 1, 1), ACT_RELU), 2, 2);
    graph_node_over(g, OP_ASSIGN, (int[]){y, z}, 2, NULL, &y, NULL);
    return g;
}

TEST(test_a_session_over_null)
{
    struct device *d = open_null();
    struct session *s;
    assert_int_equal(session_new(d, &s), 0);
    int program = session_add(s, large_graph(s, 1000000));  // 262 GB of images
    assert_int_equal(program, 0);
    assert_int_equal(session_plan(s), 0);
    assert_int_equal(null_counts(d)->allocations, 0);  // a plan needs no memory
    assert_int_equal(session_ready(s), 0);
    assert_int_equal(null_counts(d)->allocations, 4);  // three slots and the slab
    assert_int_equal(null_counts(d)->compiled_programs, 1);
    assert_int_equal(null_counts(d)->compiled_nodes, 4);
    size_t images = (size_t)1000000 * 32 * 32 * 64 * 4, weights = 64 * 9 * 64 * 4;
    assert_true(null_counts(d)->allocated >= images + images / 4 + weights + images);  // x, y, w, and a temporary

    assert_true(null_counts(d)->uploaded == images + images / 4);  // zeros, where the caller uploads

    assert_int_equal(session_reset(s, 3), 0);
    assert_true(null_counts(d)->uploaded == images + images / 4 + weights);  // what the caller uploads is left alone
    int64_t before = null_counts(d)->allocations;
    for (int i = 0; i < 5; i++) assert_int_equal(session_run(s, program), 0);
    assert_int_equal(session_sync(s), 0);
    assert_int_equal(null_counts(d)->runs, 5);
    assert_int_equal(null_counts(d)->nodes_run, 20);
    assert_int_equal(null_counts(d)->allocations, before);  // nothing is allocated while it runs
    char bytes[64];
    assert_int_equal(session_put(s, "w", bytes, 64, 64), 0);
    assert_true(null_counts(d)->uploaded == images + images / 4 + weights + 64);
    session_free(s);
    assert_int_equal(null_counts(d)->allocated, 0);  // everything went back
    assert_int_equal(null_counts(d)->released_programs, 1);
    assert_int_equal(null_counts(d)->frees, null_counts(d)->allocations);
    device_close(d);
}

TEST(test_too_little_memory_is_said_before)
{
    struct device *d = open_null();
    struct session *s;
    null_limit(d, 1000000);
    assert_int_equal(session_new(d, &s), 0);
    assert_int_equal(session_add(s, large_graph(s, 100)), 0);
    assert_int_equal(session_ready(s), ERR_MEMORY);
    assert_int_equal(null_counts(d)->allocations, 0);
    session_free(s);
    device_close(d);
}

TEST(test_profile_is_a_run)
{
    struct device *d = open_null();
    struct session *s;
    assert_int_equal(session_new(d, &s), 0);
    int program = session_add(s, large_graph(s, 10));
    assert_int_equal(program, 0);
    assert_int_equal(session_ready(s), 0);
    int64_t ns[4] = {-1, -1, -1, -1};
    assert_int_equal(d->type->profile(s->program[program], ns), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(ns[i], 0);
    assert_int_equal(null_counts(d)->runs, 1);
    session_free(s);
    device_close(d);
}

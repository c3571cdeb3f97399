// SPDX-License-Identifier: Apache-2.0
// Staged copies: the next run reads the staged bytes, queued runs read the old ones, and the host's memory may be reused
// after stage_done. The emulator does the work of a stream as late as possible, so that a missing wait shows.
#include "runtime/cuda/cuda.h"

#include "test/unit/test.h"
#include "test/emulate/emulate_test.h"
#include "test/unit/fixture_graph.h"

enum { COUNT = 300 };

struct staged {
    struct session *session;
    struct device *device;
    struct slot *x;
    float *host[2];  // pinned
    int program;
};

// sum += x, so that every run's x is seen in the end.
static struct staged staged_open(void)
{
    struct staged t = {.session = session_on("cuda")};
    t.device = t.session->device;
    struct graph *g = graph_new(t.session->store, "sum");
    int x = input(g, "x", SHAPE(COUNT));
    int sum = graph_state(g, "sum", SHAPE(COUNT), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){sum, g_add(g, sum, x)}, 2, NULL, &sum, NULL);
    t.program = session_add(t.session, g);
    assert_int_equal(t.program, 0);
    OK(session_ready(t.session));
    OK(session_reset(t.session, 1));
    t.x = slot_find(t.session->store, "x");
    for (int i = 0; i < 2; i++) OK(t.device->type->host_alloc(t.device, COUNT * sizeof(float), (void **)&t.host[i]));
    return t;
}

static void staged_close(struct staged *t)
{
    emulate_late(EMULATE_AT_ONCE);
    for (int i = 0; i < 2; i++) t->device->type->host_free(t->device, t->host[i]);
    session_done(t->session);
    struct emulate_counts c = emulate_counts();
    assert_int_equal(c.streams + c.events + c.graphs, 0);
    assert_int_equal(emulate_memory_in_use(), 0);
}

static void set(float *x, float value)
{
    for (int i = 0; i < COUNT; i++) x[i] = value + (float)i;
}

// Slot `name` holds times * i + value in element i.
static void assert_holds(struct staged *t, const char *name, float value, float times)
{
    float got[COUNT];
    OK(session_get(t->session, name, got, sizeof got));
    for (int i = 0; i < COUNT; i++)
        if (got[i] != value + times * (float)i) fail_msg("%s[%d] is %g, not %g", name, i, got[i], value + times * (float)i);
}

TEST(the_next_run_has_what_was_staged)
{
    struct staged t = staged_open();
    emulate_late(EMULATE_LATE);
    set(t.host[0], 5);
    OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));
    OK(session_run(t.session, 0));
    assert_holds(&t, "sum", 5, 1);
    assert_holds(&t, "x", 5, 1);
    staged_close(&t);
}

TEST(queued_runs_have_the_old_bytes)
{
    struct staged t = staged_open();
    emulate_late(EMULATE_LATE);
    float sum = 0;
    struct emulate_counts before = {0};
    for (int i = 0; i < 8; i++) {  // the device's own stream does only the work that a wait needs
        if (i >= 2) OK(session_stage_done(t.session));
        set(t.host[i % 2], (float)(1 << i));
        OK(session_stage(t.session, t.x, t.host[i % 2], sizeof(float[COUNT])));
        OK(session_run(t.session, 0));
        sum += (float)(1 << i);
        if (i == 0) before = emulate_counts();
    }
    struct emulate_counts after = emulate_counts();
    assert_int_equal(after.allocations, before.allocations);  // only the first takes memory
    assert_int_equal(after.graph_launches - before.graph_launches, 7);
    assert_int_equal(after.launches, before.launches);
    assert_holds(&t, "sum", sum, 8);
    staged_close(&t);
}

TEST(the_hosts_memory_is_free_when_it_is_done)
{
    struct staged t = staged_open();
    emulate_late(EMULATE_LATE);
    set(t.host[0], 5);
    OK(session_stage_done(t.session));  // of nothing
    OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));
    OK(session_stage_done(t.session));
    set(t.host[0], 7);
    OK(session_run(t.session, 0));
    assert_holds(&t, "sum", 5, 1);
    staged_close(&t);
}

TEST(everything_after_it_comes_after_it)
{
    struct staged t = staged_open();
    emulate_late(EMULATE_LATE);
    set(t.host[0], 5), set(t.host[1], 9);
    OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));
    assert_holds(&t, "x", 5, 1);  // a download
    OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));
    OK(session_put(t.session, "x", t.host[1], 0, sizeof(float[COUNT])));  // an upload is the later one
    assert_holds(&t, "x", 9, 1);
    OK(session_stage(t.session, t.x, t.host[1], sizeof(float[COUNT])));
    OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));  // twice before one run: the last one stands
    int64_t ns[4];
    OK(session_profile(t.session, 0, ns));
    assert_holds(&t, "sum", 5, 1);
    set(t.host[1], 0);
    OK(session_stage(t.session, t.x, t.host[1], 4 * sizeof(float)));  // fewer bytes: the rest stays
    float got[COUNT];
    OK(session_get(t.session, "x", got, sizeof got));
    assert_true(got[3] == 3 && got[4] == 9);
    REFUSED(session_stage(t.session, t.x, t.host[1], sizeof(float[COUNT + 1])), "slot \"x\" holds 1200 bytes, not 1204");
    staged_close(&t);
}

TEST(a_range_may_grow)
{
    struct staged t = staged_open();
    emulate_late(EMULATE_LATE);
    set(t.host[0], 5), set(t.host[1], 9);
    OK(session_put(t.session, "x", t.host[0], 0, sizeof(float[COUNT])));
    OK(session_stage(t.session, t.x, t.host[1], 4 * sizeof(float)));
    OK(session_stage(t.session, t.x, t.host[1], 200 * sizeof(float)));
    OK(session_run(t.session, 0));
    float got[COUNT];
    OK(session_get(t.session, "sum", got, sizeof got));
    assert_true(got[0] == 9 && got[199] == 208 && got[200] == 205);
    staged_close(&t);
}

TEST(what_fails_is_said)
{
    static const char *const calls[] = {"cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaMalloc",
                                        "cudaStreamWaitEvent", "cudaMemcpyAsync", "cudaEventRecord"};
    setenv("DAWN_CUDA_POOL", "off", 1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct staged t = staged_open();
        emulate_fail(calls[i], cudaErrorMemoryAllocation);
        assert_int_equal(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])), ERR_MEMORY);
        set(t.host[0], 5);
        OK(session_stage(t.session, t.x, t.host[0], sizeof(float[COUNT])));  // a failed copy is not remembered
        OK(session_run(t.session, 0));
        assert_holds(&t, "sum", 5, 1);
        staged_close(&t);
    }
    unsetenv("DAWN_CUDA_POOL");
    struct device *d;
    void *at;
    OK(device_open("cuda", 1, &d));
    emulate_fail("cudaHostAlloc", cudaErrorMemoryAllocation);
    assert_fails(d->type->host_alloc(d, 64, &at), ERR_MEMORY, "taking pinned memory of the host");
    device_close(d);
}

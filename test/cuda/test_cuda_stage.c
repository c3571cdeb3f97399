// SPDX-License-Identifier: Apache-2.0
// Staged copies of batches, on a real GPU too: a sum over many runs holds every batch exactly once. On a GPU the copies are
// large enough to overlap with the runs, so that a wrong order of events shows as a wrong sum.
#include "runtime/cuda/cuda.h"

#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { COUNT = 1 << 20, RUNS = 24, BUFFERS = 2 };

static float value_of(int run, int64_t i) { return (float)((run * 31 + i) % 64); }

TEST(every_batch_is_added_once)
{
    struct session *s = session_on("cuda");
    const struct device_type *type = s->device->type;
    struct graph *g = graph_new(s->store, "sum");
    int x = input(g, "x", SHAPE(COUNT)), label = input(g, "label", SHAPE(COUNT / 64));
    int sum = graph_state(g, "sum", SHAPE(COUNT), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    int labels = graph_state(g, "labels", SHAPE(COUNT / 64), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){sum, g_add(g, sum, x)}, 2, NULL, &sum, NULL);
    graph_node_over(g, OP_ASSIGN, (int[]){labels, g_add(g, labels, label)}, 2, NULL, &labels, NULL);
    assert_int_equal(session_add(s, g), 0);
    OK(session_ready(s));
    OK(session_reset(s, 1));
    float *host[BUFFERS], *want = zalloc(COUNT * sizeof *want);
    for (int b = 0; b < BUFFERS; b++) OK(type->host_alloc(s->device, (COUNT + COUNT / 64) * sizeof(float), (void **)&host[b]));
    for (int run = 0; run < RUNS; run++) {
        float *batch = host[run % BUFFERS];
        OK(session_stage_done(s));
        for (int64_t i = 0; i < COUNT; i++) want[i] += batch[i] = value_of(run, i);
        for (int64_t i = 0; i < COUNT / 64; i++) batch[COUNT + i] = value_of(run, i);
        OK(session_stage(s, slot_find(s->store, "x"), batch, COUNT * sizeof *batch));
        OK(session_stage(s, slot_find(s->store, "label"), batch + COUNT, COUNT / 64 * sizeof *batch));
        OK(session_run(s, 0));
    }
    float *got = read_slot(s, "sum"), *got_labels = read_slot(s, "labels");
    assert_memory_equal(got, want, COUNT * sizeof *want);
    assert_memory_equal(got_labels, want, COUNT / 64 * sizeof *want);
    for (int b = 0; b < BUFFERS; b++) type->host_free(s->device, host[b]);
    free(got);
    free(got_labels);
    free(want);
    session_done(s);
}

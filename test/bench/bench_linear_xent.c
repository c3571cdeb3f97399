// SPDX-License-Identifier: Apache-2.0
// An output layer with its cross-entropy and their gradients on the CPU device: as one operator, and as g_linear and g_xent.
//
//   linear_xent [ROWS [CHANNELS [CLASSES [bf16|f32|f16 [THREADS [REPEATS]]]]]]
//
// Prints of both the memory of the plan, and the least and the median seconds of the nodes that compute, run in turn.
#include "runtime/grad.h"
#include "runtime/session.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 7, MOST = 100 };

struct layer {
    int64_t rows, channels, classes;
    enum dtype type;
};

static void check(int rc)
{
    if (rc >= 0) return;
    fprintf(stderr, "linear_xent: %s\n", error_text());
    exit(1);
}

static void keep(struct graph *g, const char *name, int v)
{
    if (g->error) return;
    struct value of = g->value[v];
    int slot = graph_state(g, name, of.shape, of.dtype, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){slot, v}, 2, NULL, &slot, NULL);
}

static struct graph *build(const struct layer *l, struct slot_store *store, bool one)
{
    struct graph *g = graph_new(store, one ? "one" : "two");
    g->trains = 1;
    int in = graph_param(g, "x", SHAPE(l->rows, l->channels), (struct init){INIT_NORMAL, 1}, ROLE_MATRIX), grad[2], out[3];
    int w = graph_param(g, "w", SHAPE(l->classes, l->channels), (struct init){INIT_NORMAL, 0.02f}, ROLE_MATRIX);
    int labels = graph_state(g, "labels", SHAPE(l->rows), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    int x = g_cast(g, in, l->type);
    int loss = one ? g_linear_xent(g, &(struct linear_xent){.x = x, .w = w, .bias = NONE, .labels = labels, .weights = NONE,
                                                            .mean = true}, out)
                   : g_xent(g, g_linear(g, x, w, NONE, l->type), labels, 0, true);
    check(grad_of(g, loss, (int[]){x, w}, 2, grad));
    keep(g, "loss", loss);
    keep(g, "dx", grad[0]);
    keep(g, "dw", grad[1]);
    check(graph_check(g));
    return g;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds_of(struct session *s, int program)
{
    const struct plan *plan = s->plan[program];
    int64_t *ns = zalloc((size_t)plan->count * sizeof *ns), sum = 0;
    check(session_profile(s, program, ns));
    for (int i = 0; i < plan->count; i++) {
        enum op op = plan->graph->node[plan->order[i]].op;
        if (op != OP_ASSIGN && op != OP_CAST) sum += ns[i];
    }
    free(ns);
    return (double)sum * 1e-9;
}

int main(int argc, char **argv)
{
    struct layer l = {argc > 1 ? atoll(argv[1]) : 4096, argc > 2 ? atoll(argv[2]) : 768, argc > 3 ? atoll(argv[3]) : 50257, BF16};
    if (argc > 4) l.type = !strcmp(argv[4], "f32") ? F32 : !strcmp(argv[4], "f16") ? F16 : BF16;
    int threads = argc > 5 ? atoi(argv[5]) : 0, repeats = argc > 6 ? atoi(argv[6]) : REPEATS;
    struct device *device;
    struct session *s[2];
    double seconds[2][MOST], loss[2];
    if (repeats > MOST) repeats = MOST;
    check(device_open("cpu", threads, &device));
    for (int i = 0; i < 2; i++) {
        check(session_new(device, &s[i]));
        check(session_add(s[i], build(&l, s[i]->store, i == 0)));
        check(session_ready(s[i]));
        check(session_reset(s[i], 1));
        (void)seconds_of(s[i], 0);
    }
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < 2; i++) seconds[i][r] = seconds_of(s[i], 0);
    for (int i = 0; i < 2; i++) {
        float value;
        check(session_get(s[i], "loss", &value, sizeof value));
        loss[i] = (double)value;
        qsort(seconds[i], (size_t)repeats, sizeof **seconds, by_size);
        printf("%-12s slab %8.1f MB, least %.4f s, median %.4f s, loss %.6f\n", i ? "two nodes" : "one operator",
               (double)s[i]->slab_bytes / 1e6, seconds[i][0], seconds[i][repeats / 2], loss[i]);
    }
    printf("one / two: least %.3f, median %.3f\n", seconds[0][0] / seconds[1][0],
           seconds[0][repeats / 2] / seconds[1][repeats / 2]);
    for (int i = 0; i < 2; i++) session_free(s[i]);
    device_close(device);
    return 0;
}

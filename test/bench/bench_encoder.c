// SPDX-License-Identifier: Apache-2.0
// A training step of an encoder of BERT's architecture, and its matrix products alone, on the CPU device.
//
//   encoder [minilm|base [BATCH [TOKENS [bf16|f32 [LAYERS [THREADS [DROPOUT]]]]]]]
//
// The step has embeddings, layers, span logits, loss, gradients and AdamW of every parameter. "Products alone" is a second
// program of the same matrix products, with attention's as batched products over (sample, head). Prints the processor time of
// both per thread (on a busy machine it is disturbed less than the wall clock; with more than one thread it includes waiting),
// the least of REPEATS runs in turn, and the share of every operator.
#include "runtime/common/base/clock.h"
#include "runtime/common/base/threads.h"
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "runtime/optim.h"
#include "runtime/session.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARAMS = 512, REPEATS = 3, VOCABULARY = 30522, POSITIONS = 512 };

struct encoder {
    struct graph *g;
    int64_t layers, width, heads, inner, batch, tokens;
    enum dtype type;
    float dropout;
    int param[PARAMS], params, key, step, lengths, sites;
};

static void check(int rc)
{
    if (rc >= 0) return;
    fprintf(stderr, "encoder: %s\n", error_text());
    exit(1);
}

static int param(struct encoder *e, const char *name, int64_t layer, struct shape shape, enum role role)
{
    char slot[128];
    snprintf(slot, sizeof slot, "%s.%d", name, (int)layer);
    struct init init = {role == ROLE_BIAS ? INIT_ZERO : INIT_NORMAL, 0.02f};
    return e->param[e->params++] = graph_param(e->g, slot, shape, init, role);
}

static int linear(struct encoder *e, const char *name, int64_t layer, int x, int64_t from, int64_t to, enum dtype type)
{
    char bias[64];
    snprintf(bias, sizeof bias, "%s.bias", name);
    int w = param(e, name, layer, SHAPE(to, from), ROLE_MATRIX);
    return g_linear(e->g, x, w, param(e, bias, layer, SHAPE(to), ROLE_BIAS), type);
}

static int norm(struct encoder *e, const char *name, int64_t layer, int x)
{
    char slot[64], part[80];
    snprintf(slot, sizeof slot, "%s.%lld", name, (long long)layer);
    int y = g_layer_norm(e->g, slot, x, 1e-12f);
    for (int i = 0; i < 2; i++) {
        snprintf(part, sizeof part, "%s.%s", slot, i ? "bias" : "weight");
        e->param[e->params++] = graph_slot(e->g, slot_find(e->g->store, part));
    }
    return y;
}

static int drop(struct encoder *e, int x)
{
    return e->dropout > 0 ? g_dropout(e->g, x, e->key, e->step, e->dropout, e->sites++) : x;
}

static int layer(struct encoder *e, int x, int64_t i)
{
    struct graph *g = e->g;
    int qkv = linear(e, "qkv", i, x, e->width, 3 * e->width, e->type);
    struct attention a = {.q = qkv, .kv = NONE, .lengths = e->lengths, .q_lengths = NONE, .key = e->key, .step = e->step,
                          .attr = {.heads = (int)e->heads, .p = e->dropout, .site = e->sites++}};
    int y = g_attention(g, &a);
    y = linear(e, "out", i, y, e->width, e->width, e->type);
    x = norm(e, "norm1", i, g_add(g, drop(e, y), x));
    y = g_act(g, linear(e, "up", i, x, e->width, e->inner, e->type), ACT_GELU);
    y = linear(e, "down", i, y, e->inner, e->width, e->type);
    return norm(e, "norm2", i, g_add(g, drop(e, y), x));
}

static int forward(struct encoder *e)
{
    struct graph *g = e->g;
    struct init zero = {INIT_ZERO, 0};
    int tokens = graph_state(g, "tokens", SHAPE(e->batch, e->tokens), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int starts = graph_state(g, "starts", SHAPE(e->batch), I32, MEMORY_DATA, zero);
    e->lengths = graph_state(g, "lengths", SHAPE(e->batch), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    e->key = graph_state(g, "key", SHAPE(4), I32, MEMORY_DATA, zero);
    e->step = graph_state(g, "step", SHAPE(1), I32, MEMORY_DATA, zero);
    int x = g_gather(g, param(e, "words", 0, SHAPE(VOCABULARY, e->width), ROLE_EMBEDDING), tokens);
    int position = param(e, "positions", 0, SHAPE(POSITIONS, e->width), ROLE_EMBEDDING);
    x = norm(e, "norm", 0, g_add(g, x, g_slice(g, position, 0, 0, e->tokens)));
    x = drop(e, g_cast(g, x, e->type));
    for (int64_t i = 0; i < e->layers; i++) x = layer(e, x, i);
    int logits = linear(e, "span", 0, x, e->width, 2, F32), loss = NONE;
    for (int i = 0; i < 2; i++) {
        int part = g_reshape(g, g_slice(g, logits, 2, i, i + 1), SHAPE(e->batch, e->tokens));
        int one = g_xent(g, g_mask(g, part, NONE, e->lengths), starts, 0, true);
        loss = i ? g_add(g, loss, one) : one;
    }
    return loss;
}

static struct graph *build_step(struct encoder *e, struct slot_store *store)
{
    e->g = graph_new(store, "step");
    e->g->trains = 1;
    int loss = forward(e), grad[PARAMS];
    check(fuse_graph(e->g, FUSE_ALL));
    check(grad_of(e->g, loss, e->param, e->params, grad));
    e->g->phase = PHASE_UPDATE;
    int rate = graph_state(e->g, "rate", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1e-5f});
    struct optim_settings s = {.decay = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .clip = NONE, .ns_norm = NONE,
                               .renormalise = NONE};
    for (int i = 0; i < e->params; i++) optim_adamw(e->g, e->param[i], grad[i], rate, &s);
    check(graph_check(e->g));
    return e->g;
}

// ---- products alone
static int operand(struct graph *g, const char *name, struct shape shape, enum dtype type)
{
    char slot[96], text[SHAPE_TEXT];
    snprintf(slot, sizeof slot, "%s %s", name, shape_text(text, &shape));
    return graph_state(g, slot, shape, type, MEMORY_DATA, (struct init){type == F32 ? INIT_NORMAL : INIT_ZERO, 0.02f});
}

// y = op(a) op(b) into a slot; [count,]m,k,n as of the result.
static void product(struct graph *g, int64_t count, int64_t m, int64_t k, int64_t n, bool ta, bool tb, enum dtype type,
                    enum dtype to)
{
    struct shape a = ta ? SHAPE(count, k, m) : SHAPE(count, m, k), b = tb ? SHAPE(count, n, k) : SHAPE(count, k, n);
    struct shape y = SHAPE(count, m, n);
    if (count == 1)
        for (int d = 0; d < 2; d++) a.dim[d] = a.dim[d + 1], b.dim[d] = b.dim[d + 1], y.dim[d] = y.dim[d + 1];
    if (count == 1) a.rank = b.rank = y.rank = 2;
    int value = g_matmul(g, operand(g, "a", a, type), ta, operand(g, "b", b, type), tb, to);
    int into = operand(g, to == F32 ? "y32" : "y", y, to);
    if (g->error) return;
    g->node[g->nodes - 1].out[0] = into;  // written in place, as the step's own values are
    (void)value;
}

static struct graph *build_products(const struct encoder *e, struct slot_store *store)
{
    struct graph *g = graph_new(store, "products");
    int64_t rows = e->batch * e->tokens, heads = e->batch * e->heads, d = e->width / e->heads, t = e->tokens;
    const int64_t shape[][2] = {{e->width, 3 * e->width}, {e->width, e->width}, {e->width, e->inner}, {e->inner, e->width}};
    for (int64_t i = 0; i < e->layers; i++) {
        for (int j = 0; j < 4; j++) {
            product(g, 1, rows, shape[j][0], shape[j][1], false, true, e->type, e->type);
            product(g, 1, rows, shape[j][1], shape[j][0], false, false, e->type, e->type);
            product(g, 1, shape[j][1], rows, shape[j][0], true, false, e->type, F32);
        }
        product(g, heads, t, d, t, false, true, e->type, e->type);   // q k'
        product(g, heads, t, t, d, false, false, e->type, e->type);  // p v
        product(g, heads, t, d, t, false, true, e->type, e->type);   // dy v'
        product(g, heads, t, t, d, true, false, e->type, e->type);   // p' dy
        product(g, heads, t, t, d, true, false, e->type, e->type);   // ds' q
        product(g, heads, t, t, d, false, false, e->type, e->type);  // ds k
    }
    check(graph_check(g));
    return g;
}

static void upload(struct session *s, const struct encoder *e)
{
    int64_t count = e->batch * e->tokens;
    int32_t *index = zalloc((size_t)count * sizeof *index);
    for (int64_t i = 0; i < count; i++) index[i] = (int32_t)(i * 7919 % VOCABULARY);
    check(session_put(s, "tokens", index, 0, (size_t)count * sizeof *index));
    for (int64_t i = 0; i < e->batch; i++) index[i] = (int32_t)e->tokens;
    check(session_put(s, "lengths", index, 0, (size_t)e->batch * sizeof *index));
    free(index);
}

static void show_operators(struct session *s, int program, double whole)
{
    const struct plan *plan = s->plan[program];
    int64_t *ns = zalloc((size_t)plan->count * sizeof *ns), sum[OP_COUNT] = {0}, all = 0;
    double flops[OP_COUNT] = {0};
    int count[OP_COUNT] = {0};
    check(session_profile(s, program, ns));
    for (int i = 0; i < plan->count; i++) {
        const struct node *n = &plan->graph->node[plan->order[i]];
        sum[n->op] += ns[i], count[n->op]++, all += ns[i];
        flops[n->op] += node_cost(plan->graph, n).flops;
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (sum[op] * 1000 > all)
            printf("  %-16s %4d  %8.1f ms  %5.1f%%  %7.1f GFLOP/s\n", op_table[op].name, count[op], (double)sum[op] * 1e-6,
                   100.0 * (double)sum[op] / (double)all, flops[op] / (double)sum[op]);
    (void)whole;
    free(ns);
}

int main(int argc, char **argv)
{
    bool base = argc > 1 && strcmp(argv[1], "base") == 0;
    struct encoder e = {.layers = base ? 12 : 6, .width = base ? 768 : 384, .heads = 12, .inner = base ? 3072 : 1536,
                        .batch = 32, .tokens = base ? 384 : 256, .type = BF16, .dropout = 0.1f};
    if (argc > 2) e.batch = atoi(argv[2]);
    if (argc > 3) e.tokens = atoi(argv[3]);
    if (argc > 4) e.type = strcmp(argv[4], "f32") == 0 ? F32 : BF16;
    if (argc > 5) e.layers = atoi(argv[5]);
    if (argc > 7) e.dropout = (float)atof(argv[7]);
    struct device *device;
    struct session *step, *alone;
    check(device_open("cpu", argc > 6 ? atoi(argv[6]) : 0, &device));
    check(session_new(device, &step));
    check(session_new(device, &alone));
    check(session_add(step, build_step(&e, step->store)));
    check(session_add(alone, build_products(&e, alone->store)));
    check(session_ready(step));
    check(session_reset(step, 1));
    check(session_ready(alone));
    check(session_reset(alone, 1));
    upload(step, &e);
    double least[2] = {1e30, 1e30};
    for (int i = 0; i <= REPEATS; i++)
        for (int which = 0; which < 2; which++) {
            struct session *s = which ? alone : step;
            int64_t began = clock_cpu_ns();
            check(session_run(s, 0));
            double seconds = (double)(clock_cpu_ns() - began) * 1e-9 / threads_count();
            if (i && seconds < least[which]) least[which] = seconds;
        }
    printf("%s, %lld layers, %lld x %lld, %s, %d threads, dropout %g\n", base ? "base" : "minilm", (long long)e.layers,
           (long long)e.batch, (long long)e.tokens, dtype_name(e.type), threads_count(), (double)e.dropout);
    printf("step %.3f s, products alone %.3f s, ratio %.3f\n", least[0], least[1], least[0] / least[1]);
    show_operators(step, 0, least[0]);
    printf("products alone:\n");
    show_operators(alone, 0, least[1]);
    session_free(step);
    session_free(alone);
    device_close(device);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Recurrent layers on the GPU: arguments of k_recurrent.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_gru.h"
#include "runtime/cuda/kernels/k_lstm_wide.h"
#include "runtime/element.h"

// Inputs from `u` on are u, skip input and biases; from `lengths` on lengths, key and step.
static struct k_sru sru_arguments(const struct cuda_step *s, int u, int lengths)
{
    const struct value *v = cuda_in(s, u);
    const struct recurrent_attr *a = &s->node->attr.recurrent;
    return (struct k_sru){.u = s->in[u], .x = s->in[u + 1], .bias = s->in[u + 2], .length = s->in[lengths],
                          .key = s->in[lengths + 1], .step = s->in[lengths + 2], .samples = (int)v->shape.dim[0],
                          .words = (int)v->shape.dim[1], .directions = a->directions,
                          .units = (int)(v->shape.dim[2] / (s->in[u + 1] ? 3 : 4) / a->directions), .p = a->p,
                          .factor = element_factor(a->p), .site = (uint32_t)a->site, .act = a->act,
                          .type = v->dtype};
}

static int sru_prepare(struct cuda_step *s)
{
    struct k_sru k = sru_arguments(s, 0, 3);
    k.h = s->out[0], k.c = s->out[1];
    s->launch = k_sru;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static int sru_grad_prepare(struct cuda_step *s)
{
    struct k_sru k = sru_arguments(s, 1, 5);
    k.dh = s->in[0], k.states = s->in[4], k.du = s->out[0], k.dx = s->out[1], k.dbias = s->out[2], k.partial = s->work;
    s->launch = k_sru_grad;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static size_t sru_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return (size_t)(node_in(g, n, 0)->shape.dim[0] * cuda_count(node_in(g, n, 3))) * sizeof(float);
}

// ---- LSTM
static int64_t lstm_units(const struct graph *g, const struct node *n)
{
    return node_in(g, n, 0)->shape.dim[2] / 4 / n->attr.recurrent.directions;
}

static bool is_wide(const struct graph *g, const struct node *n) { return n->in[1] != NONE && lstm_units(g, n) > K_LSTM_UNITS; }

static struct k_lstm lstm_sizes(const struct graph *g, const struct node *n)
{
    const struct value *v = node_in(g, n, 0);
    return (struct k_lstm){.samples = (int)v->shape.dim[0], .words = (int)v->shape.dim[1],
                           .directions = n->attr.recurrent.directions, .units = (int)lstm_units(g, n), .type = v->dtype};
}

static size_t lstm_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    struct k_lstm_wide wide = {.lstm = lstm_sizes(g, n)};
    if (is_wide(g, n)) return k_lstm_wide_carve(&wide, NULL, n->op == OP_LSTM_GRAD);
    return n->in[1] == NONE ? 0 : k_lstm_bytes(wide.lstm.directions, wide.lstm.units);
}

static struct k_lstm lstm_arguments(const struct cuda_step *s)
{
    struct k_lstm k = lstm_sizes(s->graph, s->node);
    k.w = s->in[1], k.packed = s->work;
    return k;
}

typedef cudaError_t launcher(cudaStream_t, const void *);

static void launch_lstm(struct cuda_step *s, const struct k_lstm *k, launcher *narrow, launcher *wide)
{
    if (!is_wide(s->graph, s->node)) {
        s->launch = narrow;
        s->args = memcpy(arena_alloc(s->arena, sizeof *k), k, sizeof *k);
        return;
    }
    struct k_lstm_wide w = {.lstm = *k};
    (void)k_lstm_wide_carve(&w, s->work, s->node->op == OP_LSTM_GRAD);
    s->launch = wide;
    s->args = memcpy(arena_alloc(s->arena, sizeof w), &w, sizeof w);
}

static int lstm_prepare(struct cuda_step *s)
{
    struct k_lstm k = lstm_arguments(s);
    k.x = s->in[0], k.length = s->in[2], k.h0 = s->in[3], k.c0 = s->in[4];
    k.h = s->out[0], k.c = s->out[1], k.gates = s->out[2], k.h_last = s->out[3], k.c_last = s->out[4];
    launch_lstm(s, &k, k_lstm, k_lstm_wide);
    return 0;
}

static int lstm_grad_prepare(struct cuda_step *s)
{
    struct k_lstm k = lstm_arguments(s);
    k.activations = s->in[0], k.outputs = s->in[2], k.states = s->in[3], k.length = s->in[4], k.h0 = s->in[5], k.c0 = s->in[6];
    k.dh = s->in[7], k.dh_last = s->in[8], k.dc_last = s->in[9];
    k.dx = s->out[0], k.before = s->out[1], k.dh0 = s->out[2], k.dc0 = s->out[3];
    launch_lstm(s, &k, k_lstm_grad, k_lstm_wide_grad);
    return 0;
}

// ---- GRU
static struct k_gru gru_arguments(const struct graph *g, const struct node *n, int parts)
{
    const struct value *v = node_in(g, n, 0);
    const struct recurrent_attr *a = &n->attr.recurrent;
    return (struct k_gru){.samples = (int)v->shape.dim[0], .words = (int)v->shape.dim[1], .directions = a->directions,
                          .units = (int)(v->shape.dim[2] / parts / a->directions), .original = a->original, .type = v->dtype};
}

static size_t gru_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct k_gru k = gru_arguments(g, n, n->op == OP_GRU ? 3 : 4);
    return k_gru_packed_bytes(k.directions, k.units) + k_gru_rows_bytes(k.samples, k.directions, k.units);
}

static void launch_gru(struct cuda_step *s, struct k_gru *k)
{
    k->w = s->in[1], k->length = s->in[3], k->packed = s->work;
    k->rows = (float *)((char *)s->work + k_gru_packed_bytes(k->directions, k->units));
    s->args = memcpy(arena_alloc(s->arena, sizeof *k), k, sizeof *k);
}

static int gru_prepare(struct cuda_step *s)
{
    struct k_gru k = gru_arguments(s->graph, s->node, 3);
    k.x = s->in[0], k.bias = s->in[2], k.h = s->out[0], k.kept = s->out[1];
    launch_gru(s, &k);
    s->launch = k_gru;
    return 0;
}

static int gru_grad_prepare(struct cuda_step *s)
{
    struct k_gru k = gru_arguments(s->graph, s->node, 4);
    k.gates = s->in[0], k.outputs = s->in[2], k.dh = s->in[4], k.dx = s->out[0], k.before = s->out[1], k.du = s->out[2];
    launch_gru(s, &k);
    s->launch = k_gru_grad;
    return 0;
}

const struct cuda_op cuda_sru = {.prepare = sru_prepare};
const struct cuda_op cuda_sru_grad = {.prepare = sru_grad_prepare, .workspace = sru_grad_workspace};
const struct cuda_op cuda_lstm = {.prepare = lstm_prepare, .workspace = lstm_workspace};
const struct cuda_op cuda_lstm_grad = {.prepare = lstm_grad_prepare, .workspace = lstm_workspace};
const struct cuda_op cuda_gru = {.prepare = gru_prepare, .workspace = gru_workspace};
const struct cuda_op cuda_gru_grad = {.prepare = gru_grad_prepare, .workspace = gru_workspace};

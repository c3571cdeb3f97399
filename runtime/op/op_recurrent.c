// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: the scan over words. All products that need no state are operators of their own, one for all words: of the
// input before the scan, of the gradients after it.
#include "runtime/op/op.h"

#include <math.h>

static int check_directions(struct graph *g, const struct node *n)
{
    int d = n->attr.recurrent.directions;
    NEED(d == 1 || d == 2, g, "%s has one direction or two, not %d", op_table[n->op].name, d);
    return 0;
}

// Input `i` is a sequence [B,T,..] of whole parts: sets the hidden units of all directions.
static int check_sequence(struct graph *g, const struct node *n, int i, int parts, int64_t *wide)
{
    const struct value *x = op_in(g, n, i);
    char s[SHAPE_TEXT];
    TRY(check_directions(g, n));
    NEED(x && dtype_is_float(x->dtype) && x->shape.rank == 3, g,
         "%s requires floats [B,T,C] as input %d", op_table[n->op].name, i);
    int64_t d = n->attr.recurrent.directions, last = shape_last(&x->shape);
    NEED(last > 0 && last % (d * parts) == 0, g, "%s of %d directions with %d parts cannot read %s", op_table[n->op].name, (int)d,
         parts, shape_text(s, &x->shape));
    *wide = last / parts;
    return 0;
}

// Input `i` is [B,T,wide], of the type of input `like`.
static int check_units(struct graph *g, const struct node *n, int i, int like, int64_t wide)
{
    const struct value *x = op_in(g, n, i), *y = op_in(g, n, like);
    struct shape want = y->shape;
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    want.dim[2] = wide;
    NEED(x && x->dtype == y->dtype && shape_equal(&x->shape, &want), g, "%s requires %s %s as input %d, not %s",
         op_table[n->op].name, dtype_name(y->dtype), shape_text(s, &want), i, x ? shape_text(t, &x->shape) : "none");
    return 0;
}

// ---- SRU. Input `of` is u, the next two are the skip input and the biases.
static int check_sru(struct graph *g, const struct node *n, int of, int lengths, int64_t *wide)
{
    const struct recurrent_attr *a = &n->attr.recurrent;
    TRY(check_sequence(g, n, of, n->in[of + 1] == NONE ? 4 : 3, wide));
    if (n->in[of + 1] != NONE) TRY(check_units(g, n, of + 1, of, *wide));
    NEED(op_in(g, n, of + 2), g, "%s requires biases", op_table[n->op].name);
    TRY(op_channel(g, n, of + 2, 2 * *wide));
    TRY(op_per_sample(g, n, lengths, op_in(g, n, of)->shape.dim[0]));
    if (n->in[lengths + 1] != NONE) TRY(op_drops(g, n, lengths + 1, a->p));
    NEED(a->act == ACT_NONE || a->act == ACT_TANH || a->act == ACT_RELU, g, "%s has tanh, relu or no activation",
         op_table[n->op].name);
    return 0;
}

int op_sru_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_sru(g, n, 0, 3, &wide));
    const struct value *u = op_in(g, n, 0);
    for (int i = 0; i < 2; i++) op_out(g, n, i, SHAPE(u->shape.dim[0], u->shape.dim[1], wide), u->dtype);
    return 0;
}

int op_sru_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {dy[0], n->in[0], n->in[1], n->in[2], n->out[1], n->in[3], n->in[4], n->in[5]}, out[3];
    graph_node(g, OP_SRU_GRAD, in, 8, &n->attr, out);
    for (int i = 0; i < 3; i++) dx[i] = out[i];
    return g->error;
}

int op_sru_grad_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_sru(g, n, 1, 5, &wide));
    TRY(check_units(g, n, 0, 1, wide));
    TRY(check_units(g, n, 4, 1, wide));
    const struct value *u = op_in(g, n, 1);
    op_out(g, n, 0, u->shape, u->dtype);
    op_out(g, n, 1, SHAPE(u->shape.dim[0], u->shape.dim[1], wide), u->dtype);
    op_out(g, n, 2, SHAPE(2 * wide), F32);
    if (n->in[2] == NONE) op_drop(n, 1);
    return 0;
}

// ---- LSTM
// Optional input `i` is a state [B,wide] of each sample of input 0.
static int check_state(struct graph *g, const struct node *n, int i, int64_t wide, enum dtype type)
{
    const struct value *v = op_in(g, n, i);
    struct shape want = SHAPE(op_in(g, n, 0)->shape.dim[0], wide);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    NEED(!v || (v->dtype == type && shape_equal(&v->shape, &want)), g, "%s requires %s %s as input %d, not %s %s",
         op_table[n->op].name, dtype_name(type), shape_text(s, &want), i, dtype_name(v->dtype), shape_text(t, &v->shape));
    return 0;
}

// Input 0 is x or gates, 1 the weights; `lengths` and the initial states are the same inputs of both operators.
static int check_lstm(struct graph *g, const struct node *n, int lengths, int64_t *wide)
{
    TRY(check_sequence(g, n, 0, 4, wide));
    const struct value *x = op_in(g, n, 0), *v = op_in(g, n, 1);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    struct shape want = SHAPE(4 * *wide, *wide / n->attr.recurrent.directions);
    bool single = !v && x->shape.dim[1] == 1 && n->in[lengths + 1] == NONE;
    NEED(single || (v && v->dtype == F32 && shape_equal(&v->shape, &want)), g, "%s requires f32 recurrent weights %s, not %s",
         op_table[n->op].name, shape_text(s, &want), v ? shape_text(t, &v->shape) : "none");
    TRY(check_state(g, n, lengths + 1, *wide, x->dtype));
    TRY(check_state(g, n, lengths + 2, *wide, F32));
    return op_per_sample(g, n, lengths, x->shape.dim[0]);
}

int op_lstm_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_lstm(g, n, 2, &wide));
    const struct value *x = op_in(g, n, 0);
    for (int i = 0; i < 2; i++) op_out(g, n, i, SHAPE(x->shape.dim[0], x->shape.dim[1], wide), x->dtype);
    op_out(g, n, 2, x->shape, x->dtype);
    op_out(g, n, 3, SHAPE(x->shape.dim[0], wide), x->dtype);
    op_out(g, n, 4, SHAPE(x->shape.dim[0], wide), F32);
    return 0;
}

// Columns [begin, end) of v[B,T,..] as a matrix.
static int columns_of(struct graph *g, int v, int64_t begin, int64_t end)
{
    if (g->error) return NONE;
    const struct shape shape = g->value[v].shape;
    if (end - begin < shape.dim[2]) v = g_slice(g, v, 2, begin, end);
    return g_reshape(g, v, SHAPE(shape_rows(&shape), end - begin));
}

// The gradient of the recurrent weights: the gradient of the gates times the states of the words before, for each direction.
static int weight_gradient(struct graph *g, int d, int before, int directions, int gates)
{
    if (g->error) return NONE;
    int64_t units = g->value[before].shape.dim[2] / directions;
    int part[2] = {NONE, NONE};
    for (int i = 0; i < directions; i++) {
        int a = columns_of(g, d, i * gates * units, (i + 1) * gates * units);
        part[i] = g_matmul(g, a, true, columns_of(g, before, i * units, (i + 1) * units), false, F32);
    }
    return directions == 1 ? part[0] : g_concat(g, part, 2, 0);
}

int op_lstm_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {n->out[2], n->in[1], n->out[0], n->out[1], n->in[2], n->in[3], n->in[4], dy[0], dy[3], dy[4]}, out[4];
    NEED(dy[1] == NONE && dy[2] == NONE, g, "%s has gradients for its results and final states alone", op_table[n->op].name);
    graph_node(g, OP_LSTM_GRAD, in, 10, &n->attr, out);
    dx[0] = out[0], dx[3] = out[2], dx[4] = out[3];
    if (n->in[1] != NONE && g->value[n->in[1]].trains)
        dx[1] = weight_gradient(g, out[0], out[1], n->attr.recurrent.directions, 4);
    return g->error;
}

int op_lstm_grad_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_lstm(g, n, 4, &wide));
    TRY(check_units(g, n, 2, 0, wide));
    TRY(check_units(g, n, 3, 0, wide));
    const struct value *gates = op_in(g, n, 0), *h = op_in(g, n, 2);
    if (n->in[7] != NONE) TRY(check_units(g, n, 7, 0, wide));
    TRY(check_state(g, n, 8, wide, gates->dtype));
    TRY(check_state(g, n, 9, wide, F32));
    op_out(g, n, 0, gates->shape, gates->dtype);
    op_out(g, n, 1, h->shape, h->dtype);
    op_out(g, n, 2, SHAPE(h->shape.dim[0], wide), h->dtype);
    op_out(g, n, 3, SHAPE(h->shape.dim[0], wide), F32);
    for (int i = 2; i < 4; i++)
        if (n->in[3 + i] == NONE) op_drop(n, i);
    return 0;
}

// ---- GRU
// Input 1 is the weights of units `wide`.
static int check_gru(struct graph *g, const struct node *n, int lengths, int64_t wide)
{
    const struct value *v = op_in(g, n, 1);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    struct shape want = SHAPE(3 * wide, wide / n->attr.recurrent.directions);
    NEED(v && v->dtype == F32 && shape_equal(&v->shape, &want), g, "%s requires f32 recurrent weights %s, not %s",
         op_table[n->op].name, shape_text(s, &want), v ? shape_text(t, &v->shape) : "none");
    return op_per_sample(g, n, lengths, op_in(g, n, 0)->shape.dim[0]);
}

int op_gru_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_sequence(g, n, 0, 3, &wide));
    TRY(check_gru(g, n, 3, wide));
    TRY(op_channel(g, n, 2, 3 * wide));
    const struct value x = *op_in(g, n, 0);
    op_out(g, n, 0, SHAPE(x.shape.dim[0], x.shape.dim[1], wide), x.dtype);
    op_out(g, n, 1, SHAPE(x.shape.dim[0], x.shape.dim[1], 4 * wide), x.dtype);
    op_constant(g, n, 1);
    return 0;
}

// With the original reset gate the weights of n read r h, which is a part of `kept`.
static int original_gradient(struct graph *g, int dx, int before, int kept, int directions)
{
    if (g->error) return NONE;
    int64_t units = g->value[before].shape.dim[2] / directions;
    int part[4];
    for (int i = 0; i < directions; i++) {
        int64_t at = 3 * i * units;
        int gates = columns_of(g, dx, at, at + 2 * units), candidate = columns_of(g, dx, at + 2 * units, at + 3 * units);
        int states = columns_of(g, before, i * units, (i + 1) * units);
        int reset = columns_of(g, kept, (4 * i + 2) * units, (4 * i + 3) * units);
        part[2 * i] = g_matmul(g, gates, true, states, false, F32);
        part[2 * i + 1] = g_matmul(g, candidate, true, reset, false, F32);
    }
    return g_concat(g, part, 2 * directions, 0);
}

int op_gru_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {n->out[1], n->in[1], n->out[0], n->in[3], dy[0]}, out[3], d = n->attr.recurrent.directions;
    graph_node(g, OP_GRU_GRAD, in, 5, &n->attr, out);
    if (g->error) return g->error;
    int of_product = out[2] == NONE ? out[0] : out[2];
    dx[0] = out[0];
    if (g->value[n->in[1]].trains)
        dx[1] = n->attr.recurrent.original ? original_gradient(g, out[0], out[1], n->out[1], d)
                                           : weight_gradient(g, of_product, out[1], d, 3);
    if (n->in[2] != NONE && g->value[n->in[2]].trains)
        dx[2] = g_reshape(g, g_reduce(g, of_product, 3, false, F32), g->value[n->in[2]].shape);
    return g->error;
}

int op_gru_grad_infer(struct graph *g, struct node *n)
{
    int64_t wide;
    TRY(check_sequence(g, n, 0, 4, &wide));
    TRY(check_gru(g, n, 3, wide));
    TRY(check_units(g, n, 2, 0, wide));
    TRY(check_units(g, n, 4, 0, wide));
    const struct value h = *op_in(g, n, 2);
    for (int i = 0; i < 3; i++)
        op_out(g, n, i, SHAPE(h.shape.dim[0], h.shape.dim[1], i == 1 ? wide : 3 * wide), h.dtype);
    if (n->attr.recurrent.original) op_drop(n, 2);
    return 0;
}

// A gate's activation counts 8, as in op_act_flops.
static double hidden_values(const struct graph *g, int sequence, int parts)
{
    return (double)shape_count(&g->value[sequence].shape) / parts;
}
double op_sru_flops(const struct graph *g, const struct node *n)
{
    return 33.0 * hidden_values(g, n->in[0], n->in[1] == NONE ? 4 : 3);
}
double op_sru_grad_flops(const struct graph *g, const struct node *n) { return 48.0 * hidden_values(g, n->in[0], 1); }
static double recurrent_product(const struct graph *g, int w)  // of four gates
{
    return w == NONE ? 0.0 : 8.0 * (double)g->value[w].shape.dim[1];
}
double op_lstm_flops(const struct graph *g, const struct node *n)
{
    return (recurrent_product(g, n->in[1]) + 44.0) * hidden_values(g, n->in[0], 4);
}
double op_lstm_grad_flops(const struct graph *g, const struct node *n)
{
    return (recurrent_product(g, n->in[1]) + 32.0) * hidden_values(g, n->in[0], 4);
}
double op_gru_flops(const struct graph *g, const struct node *n)
{
    return (0.75 * recurrent_product(g, n->in[1]) + 33.0) * hidden_values(g, n->in[0], 3);
}
double op_gru_grad_flops(const struct graph *g, const struct node *n)
{
    return (0.75 * recurrent_product(g, n->in[1]) + 20.0) * hidden_values(g, n->in[0], 4);
}
NO_GRAD(sru_grad)
NO_GRAD(lstm_grad)
NO_GRAD(gru_grad)

// ---- builders
int g_sru(struct graph *g, int u, int x, int bias, const struct sru_layer *how)
{
    bool drops = how->attr.p > 0;
    int in[] = {u, x, bias, how->lengths, drops ? how->key : NONE, drops ? how->step : NONE};
    return graph_node(g, OP_SRU, in, 6, &(union attr){.recurrent = how->attr}, NULL);
}

int g_sru_layer(struct graph *g, const char *name, int x, int dropped, const struct sru_layer *how)
{
    if (g->error || x == NONE || dropped == NONE) return NONE;
    int64_t c = shape_last(&g->value[x].shape), wide = how->hidden * how->attr.directions;
    bool skips = c == wide;
    // Lei et al. 2017, section 2.3: a variance of 1 / c.
    struct init uniform = {INIT_UNIFORM, (float)sqrt(3.0 / (double)c)};
    int w = graph_param(g, arena_text(&g->arena, "%s.weight", name), SHAPE(wide * (skips ? 3 : 4), c), uniform, ROLE_MATRIX);
    int bias = graph_param(g, arena_text(&g->arena, "%s.bias", name), SHAPE(2 * wide), (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    if (g->error) return NONE;
    int u = g_linear(g, dropped, w, NONE, g->value[x].dtype);
    return g_sru(g, u, skips ? x : NONE, bias, how);
}

int g_lstm(struct graph *g, int x, int w, const struct lstm *how)
{
    if (g->error || x == NONE) return NONE;
    union attr a = {.recurrent = {.directions = how->directions}};
    struct lstm_states *s = how->states;
    int in[] = {x, w, how->lengths, s ? s->h : NONE, s ? s->c : NONE}, out[5];
    const struct value v = g->value[x];
    // One word, as in decoding: a product of all samples, which needs no packed weights, and the rest element by element.
    if (in[3] != NONE && v.shape.rank == 3 && v.shape.dim[1] == 1 && how->directions == 1 && how->lengths == NONE) {
        int flat = g_reshape(g, x, SHAPE(v.shape.dim[0], v.shape.dim[2]));
        struct matmul_attr sum = {.tb = true, .alpha = 1, .beta = 1, .out = v.dtype};
        in[0] = g_reshape(g, g_matmul_full(g, in[3], w, flat, &sum), v.shape);
        in[1] = in[3] = NONE;
    }
    int h = graph_node(g, OP_LSTM, in, 5, &a, out);
    if (s) *s = (struct lstm_states){out[3], out[4]};
    return h;
}

static int rnn_param(struct graph *g, const char *name, const char *what, int layer, bool reverse, struct shape shape,
                      float range)
{
    char *slot = arena_text(&g->arena, "%s.%s_l%d%s", name, what, layer, reverse ? "_reverse" : "");
    return graph_param(g, slot, shape, (struct init){INIT_UNIFORM, range}, shape.rank == 1 ? ROLE_BIAS : ROLE_MATRIX);
}

int g_lstm_layer(struct graph *g, const char *name, int layer, int x, const struct lstm *how)
{
    if (g->error || x == NONE) return NONE;
    int64_t c = shape_last(&g->value[x].shape), hidden = how->hidden, gates = 4 * hidden;
    float range = how->range > 0 ? how->range : (float)(1.0 / sqrt((double)hidden));
    int w[2], u[2], bias[2], directions = how->directions;
    BUG_IF(directions < 1 || directions > 2);
    for (int i = 0; i < directions; i++) {
        w[i] = rnn_param(g, name, "weight_ih", layer, i, SHAPE(gates, c), range);
        u[i] = rnn_param(g, name, "weight_hh", layer, i, SHAPE(gates, hidden), range);
        bias[i] = g_add(g, rnn_param(g, name, "bias_ih", layer, i, SHAPE(gates), range),
                        rnn_param(g, name, "bias_hh", layer, i, SHAPE(gates), how->range > 0 ? 0 : range));
    }
    if (directions == 2) w[0] = g_concat(g, w, 2, 0), u[0] = g_concat(g, u, 2, 0), bias[0] = g_concat(g, bias, 2, 0);
    if (g->error) return NONE;
    return g_lstm(g, g_linear(g, x, w[0], bias[0], g->value[x].dtype), u[0], how);
}

int g_gru(struct graph *g, int x, int w, int bias, const struct gru *how)
{
    union attr a = {.recurrent = {.directions = how->directions, .original = how->original}};
    return graph_node(g, OP_GRU, (int[]){x, w, bias, how->lengths}, 4, &a, NULL);
}

int g_gru_layer(struct graph *g, const char *name, int layer, int x, const struct gru *how)
{
    if (g->error || x == NONE) return NONE;
    int64_t c = shape_last(&g->value[x].shape), hidden = how->hidden, gates = 3 * hidden;
    float range = (float)(1.0 / sqrt((double)hidden));
    int w[2], u[2], bias[2], of_state[2], directions = how->directions;
    BUG_IF(directions < 1 || directions > 2);
    for (int i = 0; i < directions; i++) {
        w[i] = rnn_param(g, name, "weight_ih", layer, i, SHAPE(gates, c), range);
        u[i] = rnn_param(g, name, "weight_hh", layer, i, SHAPE(gates, hidden), range);
        bias[i] = rnn_param(g, name, "bias_ih", layer, i, SHAPE(gates), range);
        of_state[i] = rnn_param(g, name, "bias_hh", layer, i, SHAPE(gates), range);
    }
    int *const all[] = {w, u, bias, of_state};
    for (int i = 0; i < 4 && directions == 2; i++) all[i][0] = g_concat(g, all[i], 2, 0);
    if (g->error) return NONE;
    int h = g_gru(g, g_linear(g, x, w[0], bias[0], g->value[x].dtype), u[0], of_state[0], how);
    if (!how->sum || directions == 1) return h;
    return g_add(g, g_slice(g, h, 2, 0, hidden), g_slice(g, h, 2, hidden, 2 * hidden));
}

// r = sigmoid(a0 + b0), z = sigmoid(a1 + b1), n = tanh(a2 + r b2), h' = n + z (h - n), with a of x and b of h
int g_gru_cell(struct graph *g, int x, int h, const int parameter[4])
{
    if (g->error || x == NONE || h == NONE) return NONE;
    enum dtype type = g->value[x].dtype;
    int64_t units = shape_last(&g->value[h].shape);
    int a = g_linear(g, x, parameter[0], parameter[2], type), b = g_linear(g, h, parameter[1], parameter[3], type);
    int gates = g_act(g, g_add(g, g_slice(g, a, 1, 0, 2 * units), g_slice(g, b, 1, 0, 2 * units)), ACT_SIGMOID);
    int r = g_slice(g, gates, 1, 0, units), z = g_slice(g, gates, 1, units, 2 * units);
    int a2 = g_slice(g, a, 1, 2 * units, 3 * units), b2 = g_slice(g, b, 1, 2 * units, 3 * units);
    int n = g_act(g, g_add(g, a2, g_mul(g, r, b2)), ACT_TANH);
    return g_add(g, n, g_mul(g, z, g_add(g, h, g_scale(g, n, -1.0f))));
}

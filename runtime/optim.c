// SPDX-License-Identifier: Apache-2.0
#include "runtime/optim.h"

#include <math.h>

static int state_like(struct graph *g, int param, const char *what, struct shape shape, enum dtype dtype)
{
    if (g->error || param == NONE) return NONE;
    const struct slot *slot = g->value[param].slot;
    BUG_IF(!slot);
    char *name = arena_text(&g->arena, "%s.%s", slot->name, what);
    return graph_state(g, name, shape, dtype, MEMORY_OPTIMISER, (struct init){INIT_ZERO, 0});
}

static int state_of(struct graph *g, int param, const char *what)
{
    return g->error || param == NONE ? NONE : state_like(g, param, what, g->value[param].shape, F32);
}

static int momentum(struct graph *g, int param, int grad, float decay, const struct optim_settings *o)
{
    int m = state_of(g, param, "momentum"), over[] = {NONE, m};
    union attr a = {.optim = {.mu = o->momentum, .nesterov = o->nesterov, .decay = decay}};
    return graph_node_over(g, OP_MOMENTUM, (int[]){grad, m, decay ? param : NONE, o->clip}, 4, &a, over, NULL);
}

static int descend(struct graph *g, int param, int u, int lr, float decay, const struct optim_settings *o)
{
    union attr a = {.optim = {.factor = 1.0f, .decay = decay, .limit = o->limit}};
    return graph_node_over(g, OP_DESCEND, (int[]){param, u, lr}, 3, &a, &param, NULL);
}

int optim_sgd(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    return descend(g, param, momentum(g, param, grad, o->decay, o), lr, 0.0f, o);
}

// The step of Adam or Adamax, without the learning rate and the decay.
static int adam(struct graph *g, int param, int grad, bool infinity, const struct optim_settings *o)
{
    int m = state_of(g, param, "moment1"), v = state_of(g, param, "moment2"), over[] = {NONE, m, v};
    int updates = state_like(g, param, "updates", SHAPE(1), I32);
    union attr a = {.optim = {.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .infinity = infinity}};
    int u = graph_node_over(g, OP_ADAM, (int[]){grad, m, v, updates, o->clip}, 5, &a, over, NULL);
    g_tick_unless(g, updates, 1, o->clip);
    return u;
}

int optim_adamw(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    return descend(g, param, adam(g, param, grad, false, o), lr, o->decay, o);
}

int optim_adamax(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    return descend(g, param, adam(g, param, grad, true, o), lr, o->decay, o);
}

int optim_rmsprop(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    // The first moment of Adam with a beta1 of 0 is the gradient; nobody reads its slot, which the operator requires.
    int m = state_of(g, param, "moment1"), v = state_of(g, param, "moment2"), over[] = {NONE, m, v};
    union attr a = {.optim = {.beta2 = o->beta2, .eps = o->inside ? 0 : o->eps, .root_eps = o->inside ? o->eps : 0}};
    int u = graph_node_over(g, OP_ADAM, (int[]){grad, m, v, NONE, o->clip}, 5, &a, over, NULL);
    struct optim_settings as_it_is = {.momentum = o->momentum, .clip = NONE};
    if (o->momentum > 0) u = momentum(g, param, u, 0, &as_it_is);
    return descend(g, param, u, lr, o->decay, o);
}

int optim_lamb(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    if (g->error || param == NONE) return NONE;
    enum role role = g->value[param].slot->role;
    if (role == ROLE_BIAS || role == ROLE_SCALE) return optim_adamw(g, param, grad, lr, o);
    int u = adam(g, param, grad, false, o);
    if (o->decay > 0) u = g_add(g, u, g_scale(g, param, o->decay));
    int norms[] = {graph_node(g, OP_SQUARES, (int[]){param, NONE}, 2, NULL, NULL),
                   graph_node(g, OP_SQUARES, (int[]){u, NONE}, 2, NULL, NULL), lr};
    return descend(g, param, u, graph_node(g, OP_TRUST, norms, 3, NULL, NULL), 0.0f, o);
}

static int unit_norm(struct graph *g, int x, double target, int factor, float eps)
{
    union attr a = {.optim = {.target = (float)target, .eps = eps}};
    return graph_node(g, OP_UNIT_NORM, (int[]){x, factor}, 2, &a, NULL);
}

static int lerp(struct graph *g, int e, int p, int t)
{
    return graph_node_over(g, OP_LERP, (int[]){e, p, t}, 3, NULL, &e, NULL);
}

// X <- a X + (b A + c A A) X with A = X X'; for a tall X the same with A = X' X on the other side. X: a matrix, or a batch.
static int newton_schulz(struct graph *g, int x, const struct optim_settings *o)
{
    if (g->error) return NONE;
    const struct value *v = &g->value[x];
    const enum dtype type = v->dtype;
    const bool tall = v->shape.dim[v->shape.rank - 2] > v->shape.dim[v->shape.rank - 1];
    for (int i = 0; i < o->ns_steps; i++) {
        int a = g_matmul(g, x, tall, x, !tall, type);
        int b = g_matmul_full(g, a, a, a, &(struct matmul_attr){.alpha = o->ns[2], .beta = o->ns[1], .out = type});
        x = g_matmul_full(g, tall ? x : b, tall ? b : x, x, &(struct matmul_attr){.alpha = 1, .beta = o->ns[0], .out = type});
    }
    return x;
}

// What Newton-Schulz starts from: the momentum as a matrix of norm 1.
static int muon_start(struct graph *g, int param, int grad, const struct optim_settings *o)
{
    if (g->error || param == NONE) return NONE;
    const struct shape shape = g->value[param].shape;
    const int64_t k = shape.dim[0];
    if (o->renormalise != NONE) lerp(g, param, unit_norm(g, param, sqrt((double)k), NONE, 1e-7f), o->renormalise);
    int u = g_reshape(g, momentum(g, param, grad, 0, o), SHAPE(k, shape_count(&shape) / k));
    u = unit_norm(g, u, 1.0, o->ns_norm, 1e-7f);
    return o->ns_bf16 ? g_cast(g, u, BF16) : u;
}

static int muon_end(struct graph *g, int param, int x, int lr, const struct optim_settings *o)
{
    if (g->error || param == NONE) return NONE;
    return descend(g, param, g_reshape(g, g_cast(g, x, F32), g->value[param].shape), lr, o->decay, o);
}

int optim_muon(struct graph *g, int param, int grad, int lr, const struct optim_settings *o)
{
    return muon_end(g, param, newton_schulz(g, muon_start(g, param, grad, o), o), lr, o);
}

void optim_muon_together(struct graph *g, const int *params, const int *grads, int count, int lr, const struct optim_settings *o)
{
    int x[OPTIM_TOGETHER];
    BUG_IF(count < 1 || count > OPTIM_TOGETHER);
    for (int i = 0; i < count; i++) {
        x[i] = muon_start(g, params[i], grads[i], o);
        if (g->error) return;
        const struct shape shape = g->value[x[i]].shape;
        x[i] = g_reshape(g, x[i], SHAPE(1, shape.dim[0], shape.dim[1]));
    }
    int all = newton_schulz(g, g_concat(g, x, count, 0), o);
    for (int i = 0; i < count; i++) muon_end(g, params[i], g_slice(g, all, 0, i, i + 1), lr, o);
}

// Summed from the last gradient to the first: the order in which the backward pass makes them, so that a device with
// concurrent nodes need not wait for all of them.
static int sum_squares(struct graph *g, const int *grads, int count)
{
    int squares = NONE;
    for (int i = count - 1; i >= 0; i--)
        if (grads[i] != NONE) squares = graph_node(g, OP_SQUARES, (int[]){grads[i], squares}, 2, NULL, NULL);
    return squares;
}

int optim_clip(struct graph *g, const int *grads, int count, float max_norm)
{
    int squares = sum_squares(g, grads, count);
    if (squares == NONE) return NONE;
    return graph_node(g, OP_CLIP_FACTOR, &squares, 1, &(union attr){.optim = {.target = max_norm}}, NULL);
}

int optim_scale_slot(struct graph *g, float first)
{
    return graph_state(g, OPTIM_SCALE, SHAPE(1), F32, MEMORY_OPTIMISER, (struct init){INIT_CONSTANT, first});
}

// 2^24 is far above what any gradient in f16 bears. Below 2^-16 a loss whose gradient is not finite is no overflow any more.
struct optim_scaled optim_unscale(struct graph *g, const int *grads, int count, float first, float max_norm)
{
    union attr a = {.loss_scale = {.target = max_norm, .least = 0x1p-16f, .most = 0x1p24f, .every = OPTIM_GROWTH_STEPS}};
    int squares = sum_squares(g, grads, count), out[MAX_OUT];
    if (squares == NONE || g->error) return (struct optim_scaled){NONE, NONE};
    int scale = optim_scale_slot(g, first);
    int counts = graph_state(g, OPTIM_SCALE_COUNTS, SHAPE(2), I32, MEMORY_OPTIMISER, (struct init){INIT_ZERO, 0});
    int over[] = {NONE, NONE, scale, counts};
    if (graph_node_over(g, OP_LOSS_SCALE, (int[]){squares, scale, counts}, 3, &a, over, out) == NONE)
        return (struct optim_scaled){NONE, NONE};
    return (struct optim_scaled){out[0], out[1]};
}

int optim_ema(struct graph *g, int v, int t)
{
    if (g->error || v == NONE) return NONE;
    const struct slot *slot = g->value[v].slot;
    BUG_IF(!slot);
    char *name = arena_text(&g->arena, "ema.%s", slot->name);
    int e = graph_state(g, name, slot->shape, F32, MEMORY_OPTIMISER, (struct init){INIT_ZERO, 0});
    return lerp(g, e, v, t);
}

// SPDX-License-Identifier: Apache-2.0
// A training reads a whole target at once; a decoding reads one word of each hypothesis and keeps the keys and values of the
// words before it in a cache. Both write the same layer.
#include "tasks/common/layers/net_transformer.h"

#include <math.h>

static const struct init ZERO = {INIT_ZERO, 0};

// Glorot and Bengio 2010; the parts of a joint weight begin with less, as in fairseq.
static struct init glorot(int64_t in, int64_t out, double gain)
{
    return (struct init){INIT_UNIFORM, (float)(gain * sqrt(6.0 / (double)(in + out)))};
}

static const struct init *begin_of(const struct net_transformer *t, bool last)
{
    return !t->begin ? NULL : last ? &t->begin->last : &t->begin->weight;
}

static int dense(struct net *n, const char *name, int x, int64_t out, const struct net_transformer *t, bool last)
{
    const struct init *begin = begin_of(t, last);
    struct init weight = begin ? *begin : glorot(net_channels(n, x), out, 1);
    struct net_dense d = {out, n->step->setting->dtype, weight, ZERO, t->rotary != NULL};
    return net_dense(n, name, x, &d);
}

// Rows [first, end) of the joint weight and bias of queries, keys and values, in units of the width.
static int project(struct net *n, const char *name, int x, int first, int end, const struct init *begin)
{
    struct graph *g = n->g;
    int64_t c = net_channels(n, x);
    struct init init = begin ? *begin : glorot(c, c, sqrt(0.5));
    int w = graph_param(g, net_join(n, name, "in_proj_weight"), SHAPE(3 * c, c), init, ROLE_MATRIX);
    int b = graph_param(g, net_join(n, name, "in_proj_bias"), SHAPE(3 * c), ZERO, ROLE_BIAS);
    if (end - first < 3) w = g_slice(g, w, 0, first * c, end * c), b = g_slice(g, b, 0, first * c, end * c);
    return g_linear(g, x, w, b, n->step->setting->dtype);
}

// Queries, keys and values by weights of their own, the first two normalised and rotated.
static void project_rotated(struct net *n, const char *name, int x, const struct net_transformer *t, struct attention *a)
{
    struct graph *g = n->g;
    static const char *const parts[] = {"q_proj.weight", "k_proj.weight", "v_proj.weight"};
    int64_t c = net_channels(n, x);
    int w[3];
    if (g->error) return;
    for (int i = 0; i < 3; i++) w[i] = graph_param(g, net_join(n, name, parts[i]), SHAPE(c, c), t->begin->weight, ROLE_MATRIX);
    int y = g_linear(g, x, g_concat(g, w, 3, 0), NONE, n->step->setting->dtype);
    const struct shape is = g->value[x].shape;
    int heads = g_reshape(g, g_slice(g, y, 2, 0, 2 * c), SHAPE(is.dim[0], is.dim[1], 2 * t->heads, c / t->heads));
    heads = g_rotary(g, g_rms_norm(g, heads, NONE, n->eps), t->decoding ? t->decoding->at : NONE, t->rotary->base);
    int qk = g_reshape(g, heads, SHAPE(is.dim[0], is.dim[1], 2 * c));
    a->q = g_slice(g, qk, 2, 0, c);
    a->kv = g_concat(g, (int[]){g_slice(g, qk, 2, c, 2 * c), g_slice(g, y, 2, 2 * c, 3 * c)}, 2, 2);
}

static int attend(struct net *n, const char *name, const struct net_transformer *t, struct attention a)
{
    bool drops = n->key != NONE && t->attention_p > 0;
    a.key = n->key, a.step = n->counter;
    a.attr.heads = t->heads, a.attr.p = drops ? t->attention_p : 0, a.attr.site = step_site(n->step);
    int y = g_attention(n->g, &a);
    return dense(n, net_join(n, name, "out_proj"), y, net_channels(n, y), t, true);
}

static int attend_self(struct net *n, const char *name, int x, const struct net_transformer *t)
{
    struct graph *g = n->g;
    const struct net_decoding *d = t->decoding;
    struct attention a = {.q = NONE, .kv = NONE, .lengths = t->lengths, .q_lengths = NONE,
                          .attr.causal = t->decoder || t->causal};
    if (t->rotary) project_rotated(n, name, x, t, &a);
    else a.q = project(n, name, x, 0, 3, begin_of(t, false));
    if (d) {
        int64_t c = net_channels(n, x);
        if (!t->rotary) a.kv = g_slice(g, a.q, 2, c, 3 * c), a.q = g_slice(g, a.q, 2, 0, c);
        a.kv = g_append(g, d->cache, a.kv, d->at), a.lengths = d->count, a.attr.causal = false;
    }
    return attend(n, name, t, a);
}

int net_source(struct net *n, const char *name, int memory)
{
    return project(n, net_join(n, name, "multihead_attn"), memory, 1, 3, NULL);
}

// x[B,T,H*D] -> [B*H,T,D]
static int split_heads(struct graph *g, int x, int64_t heads)
{
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    int64_t d = is.dim[2] / heads;
    x = g_transpose(g, g_reshape(g, x, SHAPE(is.dim[0], is.dim[1], heads, d)), (int[]){0, 2, 1, 3});
    return g_reshape(g, x, SHAPE(is.dim[0] * heads, is.dim[1], d));
}

// The probabilities that g_attention never stores: q[B,n,C] and kv[B,S,2C] -> [B*n,S].
static int attention_seen(struct graph *g, int q, const struct net_transformer *t)
{
    if (g->error) return NONE;
    const struct shape is = g->value[q].shape;
    int64_t samples = is.dim[0], queries = is.dim[1], places = g->value[t->source].shape.dim[1], heads = t->heads;
    struct matmul_attr scores = {.tb = true, .alpha = (float)(1 / sqrt((double)(is.dim[2] / heads))), .out = F32};
    int k = split_heads(g, g_slice(g, t->source, 2, 0, is.dim[2]), heads);
    int x = g_matmul_full(g, split_heads(g, q, heads), k, NONE, &scores);
    x = g_softmax(g, g_mask(g, g_reshape(g, x, SHAPE(samples, heads * queries, places)), NONE, t->source_lengths));
    x = g_reduce(g, g_reshape(g, x, SHAPE(samples, heads, queries, places)), 1u << 1, true, F32);
    return g_reshape(g, x, SHAPE(samples * queries, places));
}

// Hypotheses of one sample are queries of one sequence.
static int attend_source(struct net *n, const char *name, int x, const struct net_transformer *t)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    int64_t samples = g->value[t->source].shape.dim[0];
    int q = project(n, name, x, 0, 1, begin_of(t, false));
    q = g_reshape(g, q, SHAPE(samples, is.dim[0] / samples * is.dim[1], is.dim[2]));
    struct attention a = {.q = q, .kv = t->source, .lengths = t->source_lengths,
                          .q_lengths = t->decoding ? NONE : t->lengths};
    if (t->seen) *t->seen = attention_seen(g, q, t);
    return g_reshape(g, attend(n, name, t, a), is);
}

static int feed_forward(struct net *n, const char *name, int x, const struct net_transformer *t)
{
    int64_t inner = t->feed_forward;
    int y = dense(n, net_join(n, name, "linear1"), x, t->between == NET_GATED ? 2 * inner : inner, t, false), by = NONE;
    if (t->between == NET_GATED) by = g_slice(n->g, y, 2, inner, 2 * inner), y = g_slice(n->g, y, 2, 0, inner);
    if (t->between == NET_GATED) y = g_map_of(n->g, MAP_SILU_MUL, (int[]){y, by, NONE});
    else if (t->between == NET_SQUARED) y = g_map(n->g, MAP_RELU_SQUARE, y, 0, 0);
    else y = g_act(n->g, y, t->act ? t->act : ACT_RELU);
    if (n->key != NONE && t->act_p > 0) y = g_dropout(n->g, y, n->key, n->counter, t->act_p, step_site(n->step));
    return dense(n, net_join(n, name, "linear2"), y, net_channels(n, x), t, true);
}

typedef int part(struct net *, const char *, int, const struct net_transformer *);

// x + f(norm(x)), or norm(x + f(x)).
static int residual(struct net *n, const char *name, int x, const struct net_transformer *t, part *of, const char *below,
                    const char *norm)
{
    struct graph *g = n->g;
    norm = net_join(n, name, norm);
    graph_scope(g, "%s%s%s", name, *below ? "." : "", below);
    name = *below ? net_join(n, name, below) : name;
    if (t->rotary) return g_add(g, x, net_dropout(n, of(n, name, g_rms_norm(g, x, NONE, n->eps), t)));
    if (t->pre_norm) return g_add(g, x, net_dropout(n, of(n, name, g_layer_norm(g, norm, x, n->eps), t)));
    return g_layer_norm(g, norm, g_add(g, x, net_dropout(n, of(n, name, x, t))), n->eps);
}

int net_transformer_layer(struct net *n, const char *name, int x, const struct net_transformer *t)
{
    x = residual(n, name, x, t, attend_self, "self_attn", "norm1");
    if (t->decoder) x = residual(n, name, x, t, attend_source, "multihead_attn", "norm2");
    return residual(n, name, x, t, feed_forward, "", t->decoder ? "norm3" : "norm2");
}

void net_positions(int64_t rows, int64_t width, float *into)
{
    int64_t half = width / 2;
    for (int64_t t = 0; t < rows; t++)
        for (int64_t i = 0; i < half; i++) {
            double angle = (double)t * exp(-(double)i * log(1e4) / (double)(half > 1 ? half - 1 : 1));
            into[t * width + i] = (float)sin(angle), into[t * width + half + i] = (float)cos(angle);
        }
}

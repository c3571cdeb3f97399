// SPDX-License-Identifier: Apache-2.0
// The sums of queries and keys have the queries' places first, so that keys are added to repeated queries without being repeated
// themselves.
#include "tasks/common/layers/net_additive.h"

#include <math.h>

static int linear(struct net *n, const struct net_additive *a, const char *part, int x, int bias)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    char *name = arena_text(&g->arena, "%s.%s.weight", a->name, part);
    int w = graph_param(g, name, SHAPE(a->units, net_channels(n, x)), (struct init){INIT_UNIFORM, a->range}, ROLE_MATRIX);
    return g_linear(g, x, w, bias, n->step->setting->dtype);
}

int net_additive_keys(struct net *n, const struct net_additive *a, int memory)
{
    return linear(n, a, "linear_k", memory, NONE);
}

// What the hyperbolic tangents are multiplied by: f32[1,units].
static int direction(struct net *n, const struct net_additive *a)
{
    struct graph *g = n->g;
    struct init uniform = {INIT_UNIFORM, a->range}, scale = {INIT_CONSTANT, (float)(1 / sqrt((double)a->units))};
    int v = graph_param(g, net_join(n, a->name, "linear_att"), SHAPE(a->units), uniform, ROLE_BIAS);
    if (!a->normalised) return g_reshape(g, v, SHAPE(1, a->units));
    int norm = g_map(g, MAP_SQRT, g_reduce(g, g_map(g, MAP_SQUARE, v, 0, 0), 1, false, F32), 0, 0);
    int length = graph_param(g, net_join(n, a->name, "normalize_scalar"), SHAPE(1), scale, ROLE_BIAS);
    int factor = g_map_of(g, MAP_DIV, (int[]){length, norm, NONE});
    return g_reshape(g, g_mul(g, g_reshape(g, v, SHAPE(a->units, 1)), factor), SHAPE(1, a->units));
}

// q[B,T,..], keys[B,S,units] -> f32[B,T,S]
static int score(struct net *n, const struct net_additive *a, int q, int keys)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    static const int swap[] = {1, 0, 2};
    int64_t samples = g->value[q].shape.dim[0], places = g->value[q].shape.dim[1], source = g->value[keys].shape.dim[1];
    struct init zero = {INIT_ZERO, 0};
    int bias = NONE;
    if (a->normalised) bias = graph_param(g, net_join(n, a->name, "normalize_bias"), SHAPE(a->units), zero, ROLE_BIAS);
    q = g_transpose(g, linear(n, a, "linear_q", q, bias), swap);
    q = g_reshape(g, q, SHAPE(places, samples, 1, a->units));
    union attr spread = {.move = {.axes = 1u << 2, .shape = SHAPE(places, samples, source, a->units), .factor = 1}};
    int sums = g_act(g, g_add(g, graph_node(g, OP_BROADCAST, &q, 1, &spread, NULL), keys), ACT_TANH);
    int scores = g_linear(g, sums, direction(n, a), NONE, F32);
    return g_transpose(g, g_reshape(g, scores, SHAPE(places, samples, source)), swap);
}

int net_additive_attend(struct net *n, const struct net_additive *a, int q, const struct net_additive_source *s, int *weights)
{
    struct graph *g = n->g;
    enum dtype type = n->step->setting->dtype;
    graph_scope(g, "%s", a->name);
    *weights = g_softmax(g, g_mask(g, score(n, a, q, s->keys), NONE, s->lengths));
    return g_matmul(g, g_cast(g, *weights, type), false, s->memory, false, type);
}

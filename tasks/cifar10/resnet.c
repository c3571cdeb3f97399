// SPDX-License-Identifier: Apache-2.0
// The residual networks of DAWNBench: ResNet-9 of its fast entries, ResNet-56 and ResNet-164 of its seed.
//
//   resnet9   conv, norm, act (64); three layers of conv, norm, act, max pool 2 (128, 256, 512), the first and the last
//             followed by x + two times (conv, norm, act); global max pool; linear without bias, times 0.125
//             (D. Page, "How to train your ResNet", 2018)
//   resnet56  conv (16); three stages of 9 blocks (16, 32, 64): norm, act, conv 3x3, norm, act, conv 3x3, plus x
//   resnet164 the same with 18 blocks of norm, act, conv 1x1, norm, act, conv 3x3, norm, act, conv 1x1 (4 x the width)
//             then both: norm, act, global average pool, linear with bias (He et al., "Identity Mappings", 2016)
//
// Parameters are named as PyTorch would name them. x[N,H,W,3] -> [N,classes] in f32.
#include "tasks/cifar10/networks.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's

// ---- shared pieces

// He et al. 2015: a layer and its activation keep the variance of the gradient in the backward pass.
static struct init kaiming(int64_t fan)
{
    return (struct init){INIT_NORMAL, (float)sqrt(2.0 / (double)fan)};
}

static int64_t channels(const struct graph *g, int x)
{
    return g->error || x == NONE ? 1 : shape_last(&g->value[x].shape);
}

static int conv(struct step *s, const char *name, int x, int64_t k, int side, int stride)
{
    struct graph *g = s->g;
    char *weight = arena_text(&g->arena, "%s.weight", name);
    int w = graph_param(g, weight, SHAPE(k, side, side, channels(g, x)), kaiming(k * side * side), ROLE_FILTER);
    return networks_conv(s, x, w, stride, side / 2);
}

static int norm_act(struct step *s, const char *name, int x)
{
    struct graph *g = s->g;
    x = g_norm(g, name, x, step_trains(s), true, true, NORM_EPS, (float)cifar10_keys(s->setting->recipe)->norm_momentum);
    return g_act(g, x, (enum act)cifar10_keys(s->setting->recipe)->activation);
}

static int flatten(struct graph *g, int x)
{
    if (g->error) return NONE;
    int64_t n = g->value[x].shape.dim[0];
    return g_reshape(g, x, SHAPE(n, shape_count(&g->value[x].shape) / n));
}

static int head(struct step *s, const char *name, int x, bool biased)
{
    struct graph *g = s->g;
    graph_scope(g, "%s", name);
    x = flatten(g, x);
    int64_t features = channels(g, x);
    char *weight = arena_text(&g->arena, "%s.weight", name), *bias = arena_text(&g->arena, "%s.bias", name);
    struct init init = {INIT_UNIFORM, (float)(1.0 / sqrt((double)features))}, zero = {INIT_ZERO, 0};
    int w = graph_param(g, weight, SHAPE(s->setting->data->classes, features), init, ROLE_MATRIX);
    return g_linear(g, x, w, biased ? graph_param(g, bias, SHAPE(s->setting->data->classes), zero, ROLE_BIAS) : NONE, F32);
}

// The widths of the recipe if it gives any, else the network's own.
static const double *widths(struct step *s, const double *usual, int count)
{
    struct graph *g = s->g;
    const struct recipe_list *own = &s->setting->recipe->widths;
    if (own->count == 0) return usual;
    if (own->count == count) return own->at;
    graph_fail(g, ERR_USAGE, "this network needs %d widths; got %d", count, own->count);
    return usual;
}

// ---- ResNet-9

static int conv_norm_act(struct step *s, const char *name, int x, double k)
{
    struct graph *g = s->g;
    graph_scope(g, "%s", name);
    x = conv(s, arena_text(&g->arena, "%s.conv", name), x, (int64_t)k, 3, 1);
    return norm_act(s, arena_text(&g->arena, "%s.norm", name), x);
}

static int residual(struct step *s, const char *name, int x, double k)
{
    struct graph *g = s->g;
    int y = conv_norm_act(s, arena_text(&g->arena, "%s.residual.0", name), x, k);
    y = conv_norm_act(s, arena_text(&g->arena, "%s.residual.1", name), y, k);
    return g_add(g, x, y);
}

void resnet9_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct graph *g = s->g;
    int x = in[0];
    static const double usual[] = {64, 128, 256, 512};
    const double *width = widths(s, usual, 4);
    x = conv_norm_act(s, "prep", x, width[0]);
    for (int i = 1; i <= 3; i++) {
        char *name = arena_text(&g->arena, "layer%d", i);
        x = g_maxpool(g, conv_norm_act(s, name, x, width[i]), 2, 2);
        if (i != 2) x = residual(s, name, x, width[i]);
    }
    out[0] = g_scale(g, head(s, "head", g_maxpool_global(g, x), false), 0.125f);
}

// ---- ResNet-56 and ResNet-164: pre-activation

struct block {
    const char *name;
    int64_t width, out;  // channels of the inner convolutions, of the sum
    int stride;
    bool bottleneck;
};

static char *part(struct graph *g, const struct block *k, const char *what)
{
    return arena_text(&g->arena, "%s.%s", k->name, what);
}

static int pre_block(struct step *s, int x, const struct block *k)
{
    struct graph *g = s->g;
    graph_scope(g, "%s", k->name);
    bool same = k->stride == 1 && channels(g, x) == k->out;
    int y = norm_act(s, part(g, k, "norm1"), x);
    // If the shape changes, the shortcut begins after the shared activation.
    int shortcut = same ? x : conv(s, part(g, k, "shortcut"), y, k->out, 1, k->stride);
    y = conv(s, part(g, k, "conv1"), y, k->width, k->bottleneck ? 1 : 3, k->bottleneck ? 1 : k->stride);
    y = norm_act(s, part(g, k, "norm2"), y);
    if (k->bottleneck) {
        y = conv(s, part(g, k, "conv2"), y, k->width, 3, k->stride);
        y = norm_act(s, part(g, k, "norm3"), y);
        y = conv(s, part(g, k, "conv3"), y, k->out, 1, 1);
    } else {
        y = conv(s, part(g, k, "conv2"), y, k->out, 3, 1);
    }
    return g_add(g, shortcut, y);
}

static int pre_activation(struct step *s, int x, int blocks, bool bottleneck)
{
    struct graph *g = s->g;
    static const double usual[] = {16, 32, 64};
    const double *width = widths(s, usual, 3);
    graph_scope(g, "conv1");
    x = conv(s, "conv1", x, (int64_t)width[0], 3, 1);
    for (int stage = 0; stage < 3; stage++) {
        int64_t inner = (int64_t)width[stage];
        for (int i = 0; i < blocks; i++) {
            char *name = arena_text(&g->arena, "layer%d.%d", stage + 1, i);
            struct block k = {name, inner, bottleneck ? 4 * inner : inner, stage && i == 0 ? 2 : 1, bottleneck};
            x = pre_block(s, x, &k);
        }
    }
    graph_scope(g, "norm");
    return head(s, "fc", g_avgpool_global(g, norm_act(s, "norm", x)), true);
}

void resnet56_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = pre_activation(s, in[0], 9, false);
}

void resnet164_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = pre_activation(s, in[0], 18, true);
}

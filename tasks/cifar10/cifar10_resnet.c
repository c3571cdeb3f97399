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
#include "tasks/cifar10/cifar10_networks.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's

static int head(struct net *n, const char *name, int x, bool unbiased)
{
    if (n->g->error) return NONE;
    const struct shape *shape = &n->g->value[x].shape;
    float bound = (float)(1.0 / sqrt((double)(shape_count(shape) / shape->dim[0])));
    const struct net_dense d = {n->step->setting->data->classes, F32, {INIT_UNIFORM, bound}, {INIT_ZERO, 0}, unbiased};
    return net_head(n, name, x, &d);
}

// ---- ResNet-9

static int conv_norm_act(struct net *n, const char *name, int x, int64_t k)
{
    graph_scope(n->g, "%s", name);
    return net_conv_norm_act(n, net_join(n, name, "conv"), net_join(n, name, "norm"), x, (struct net_conv){k, 3, 1, 1});
}

static int residual(struct net *n, const char *name, int x, int64_t k)
{
    int y = conv_norm_act(n, net_join(n, name, "residual.0"), x, k);
    return g_add(n->g, x, conv_norm_act(n, net_join(n, name, "residual.1"), y, k));
}

void resnet9_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct graph *g = s->g;
    struct net n = cifar10_net(s, NORM_EPS);
    int64_t width[] = {64, 128, 256, 512};
    net_take(&n, "model.widths", &s->setting->recipe->widths, width, 4);
    int x = conv_norm_act(&n, "prep", in[0], width[0]);
    for (int i = 1; i <= 3; i++) {
        char *name = arena_text(&g->arena, "layer%d", i);
        x = g_maxpool(g, conv_norm_act(&n, name, x, width[i]), 2, 2);
        if (i != 2) x = residual(&n, name, x, width[i]);
    }
    out[0] = g_scale(g, head(&n, "head", g_maxpool_global(g, x), true), 0.125f);
}

// ---- ResNet-56 and ResNet-164: pre-activation

static int pre_block(struct net *n, int x, const struct net_block *k)
{
    const int64_t sum = k->bottleneck ? 4 * k->width : k->width;
    bool same = k->stride == 1 && net_channels(n, x) == sum;
    int y = net_norm_act(n, net_join(n, k->name, "norm1"), x);
    // If the shape changes, the shortcut begins after the shared activation.
    int shortcut = same ? x : net_conv(n, net_join(n, k->name, "shortcut"), y, (struct net_conv){sum, 1, k->stride, 0});
    struct net_conv first = {k->width, 3, k->stride, 1};
    if (k->bottleneck) first = (struct net_conv){k->width, 1, 1, 0};
    y = net_conv(n, net_join(n, k->name, "conv1"), y, first);
    y = net_norm_act(n, net_join(n, k->name, "norm2"), y);
    if (k->bottleneck) {
        y = net_conv(n, net_join(n, k->name, "conv2"), y, (struct net_conv){k->width, 3, k->stride, 1});
        y = net_norm_act(n, net_join(n, k->name, "norm3"), y);
        y = net_conv(n, net_join(n, k->name, "conv3"), y, (struct net_conv){sum, 1, 1, 0});
    } else {
        y = net_conv(n, net_join(n, k->name, "conv2"), y, (struct net_conv){sum, 3, 1, 1});
    }
    return g_add(n->g, shortcut, y);
}

static int pre_activation(struct step *s, int x, int64_t blocks, bool bottleneck)
{
    struct net n = cifar10_net(s, NORM_EPS);
    struct net_stages stages = {3, {16, 32, 64}, {blocks, blocks, blocks}, bottleneck, pre_block};
    net_take(&n, "model.widths", &s->setting->recipe->widths, stages.width, 3);
    graph_scope(s->g, "conv1");
    x = net_stages(&n, net_conv(&n, "conv1", x, (struct net_conv){stages.width[0], 3, 1, 1}), &stages);
    graph_scope(s->g, "norm");
    return head(&n, "fc", g_avgpool_global(s->g, net_norm_act(&n, "norm", x)), false);
}

void resnet56_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = pre_activation(s, in[0], 9, false);
}

void resnet164_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = pre_activation(s, in[0], 18, true);
}

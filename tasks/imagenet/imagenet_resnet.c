// SPDX-License-Identifier: Apache-2.0
// ResNet-18 and ResNet-50 (He et al. 2015; version 1.5 has the stride of a bottleneck on its 3x3 convolution).
//
//   stem    conv7: conv 7x7/2, norm, act, max pool 3x3/2 padded by 1
//           deep:  three convolutions 3x3, the first with stride 2, each with norm and act, then the pool (ResNet-C)
//           patch: conv 4x4/4, norm, act
//   stages  four, of `blocks` blocks; the first block of all but the first stage has stride 2
//   block   basic: conv 3x3, norm, act, conv 3x3, norm; bottleneck: conv 1x1, norm, act, conv 3x3, norm, act, conv 1x1 (4 x
//           the width), norm; plus the shortcut, act. Where the shape changes the shortcut is a conv 1x1 and a norm, with
//           the stride in the convolution (conv) or in an average pool 2x2 before it (pool: ResNet-D)
//   blur    with model.blur the max pool is 2x2 with stride 1 and a blur; a block has no stride, but a blur before its last
//           convolution and before the one of its shortcut (Zhang 2019; the 7x7 convolution keeps its stride, as there)
//   head    global average pool, linear with bias
//
// Names are torchvision's; where it has no such part (deep stem, pooled shortcut), timm's. The scale of a block's last
// norm begins at 0, so that every block begins as its shortcut; filters begin as N(0, 2 / (K R S)), the head as N(0, .01)
// (Goyal et al. 2017).
#include "tasks/common/layers/net.h"
#include "tasks/imagenet/blur.h"
#include "tasks/imagenet/imagenet_keys.h"
#include "tasks/imagenet/imagenet_networks.h"

#define NORM_EPS 1e-5f  // PyTorch's
enum { EXPANSION = 4 };

static const struct imagenet_keys *own(const struct net *n)
{
    return imagenet_keys(n->step->setting->recipe);
}

// Applies the last norm of a block. The first use of a slot sets its initial value, and this is the first use.
static int last_norm(struct net *n, const char *name, int x)
{
    struct init gamma = {INIT_CONSTANT, (float)own(n)->last_gamma};
    graph_param(n->g, net_join(n, name, "weight"), SHAPE(net_channels(n, x)), gamma, ROLE_SCALE);
    return net_norm(n, name, x);
}

// ---- stem

static int stem(struct net *n, int x, int64_t width)
{
    struct graph *g = n->g;
    graph_scope(g, "conv1");
    if (own(n)->stem == STEM_PATCH) return net_conv_norm_act(n, "conv1", "bn1", x, (struct net_conv){width, 4, 4, 0});
    if (own(n)->stem == STEM_DEEP) {
        int64_t half = width > 1 ? width / 2 : 1;
        x = net_conv_norm_act(n, "conv1.0", "conv1.1", x, (struct net_conv){half, 3, 2, 1});
        x = net_conv_norm_act(n, "conv1.3", "conv1.4", x, (struct net_conv){half, 3, 1, 1});
        x = net_conv_norm_act(n, "conv1.6", "bn1", x, (struct net_conv){width, 3, 1, 1});
    } else {
        x = net_conv_norm_act(n, "conv1", "bn1", x, (struct net_conv){width, 7, 2, 3});
    }
    return own(n)->blur ? blur_halve(g, g_maxpool(g, x, 2, 1)) : g_maxpool_pad(g, x, 3, 2, 1);
}

// ---- blocks

static int shortcut(struct net *n, const char *block, int x, int64_t k, int stride)
{
    if (stride == 1 && net_channels(n, x) == k) return x;
    bool pools = stride > 1 && (own(n)->shortcut == SHORTCUT_POOL || own(n)->blur);
    if (pools) x = own(n)->shortcut == SHORTCUT_POOL ? g_avgpool(n->g, x, stride, stride) : blur_halve(n->g, x);
    x = net_conv(n, net_join(n, block, pools ? "downsample.1" : "downsample.0"), x,
                 (struct net_conv){k, 1, pools ? 1 : stride, 0});
    return net_norm(n, net_join(n, block, pools ? "downsample.2" : "downsample.1"), x);
}

static int block(struct net *n, int x, const struct net_block *b)
{
    int64_t k = b->bottleneck ? EXPANSION * b->width : b->width;
    bool blurs = b->stride > 1 && own(n)->blur;
    const struct net_conv one = {b->width, 1, 1, 0}, three = {b->width, 3, blurs ? 1 : b->stride, 1};
    const char *conv1 = net_join(n, b->name, "conv1"), *conv2 = net_join(n, b->name, "conv2");
    const char *bn1 = net_join(n, b->name, "bn1"), *bn2 = net_join(n, b->name, "bn2");
    int y = net_conv_norm_act(n, conv1, bn1, x, b->bottleneck ? one : three);
    if (b->bottleneck) y = net_conv_norm_act(n, conv2, bn2, y, three);
    if (blurs) y = blur_halve(n->g, y);
    if (b->bottleneck)
        y = last_norm(n, net_join(n, b->name, "bn3"),
                      net_conv(n, net_join(n, b->name, "conv3"), y, (struct net_conv){k, 1, 1, 0}));
    else
        y = last_norm(n, bn2, net_conv(n, conv2, y, (struct net_conv){k, 3, 1, 1}));
    return net_act(n, g_add(n->g, y, shortcut(n, b->name, x, k, b->stride)));
}

// ---- networks

static int resnet(struct step *s, int x, struct net_stages stages)
{
    struct net n = net_of(s);
    const struct net_dense fc = {s->setting->data->classes, F32, {INIT_NORMAL, .01f}, {INIT_ZERO, 0}, false};
    n.act = (enum act)own(&n)->activation, n.eps = NORM_EPS, n.momentum = (float)own(&n)->norm_momentum;
    stages.count = NET_STAGES, stages.block = block;
    net_take(&n, "model.widths", &s->setting->recipe->widths, stages.width, NET_STAGES);
    net_take(&n, "model.blocks", &own(&n)->blocks, stages.blocks, NET_STAGES);
    x = net_stages(&n, stem(&n, x, stages.width[0]), &stages);
    graph_scope(s->g, "fc");
    return net_head(&n, "fc", g_avgpool_global(s->g, x), &fc);
}

void resnet18_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = resnet(s, in[0], (struct net_stages){.width = {64, 128, 256, 512}, .blocks = {2, 2, 2, 2}});
}

void resnet50_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = resnet(s, in[0], (struct net_stages){.width = {64, 128, 256, 512}, .blocks = {3, 4, 6, 3}, .bottleneck = true});
}

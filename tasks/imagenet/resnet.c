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
// Names are torchvision's; where it has no such part (deep stem, pooled shortcut), those of timm. The scale of a block's last
// norm begins at 0, so that every block begins as its shortcut; filters begin as N(0, 2 / (K R S)), the head as N(0, .01)
// (Goyal et al. 2017).
#include "tasks/imagenet/blur.h"
#include "tasks/imagenet/keys.h"
#include "tasks/imagenet/networks.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's
enum { STAGES = 4, EXPANSION = 4 };

struct shape_of_resnet {
    int64_t width[STAGES], blocks[STAGES];
    bool bottleneck;
};

static const struct imagenet_keys *own(const struct step *s)
{
    return imagenet_keys(s->setting->recipe);
}

static int64_t channels(const struct graph *g, int x)
{
    return g->error || x == NONE ? 1 : shape_last(&g->value[x].shape);
}

static char *join(struct graph *g, const char *block, const char *part)
{
    return arena_text(&g->arena, "%s%s%s", block, *block ? "." : "", part);
}

// ---- layers

static int conv(struct step *s, const char *name, int x, int64_t k, int side, int stride, int pad)
{
    struct graph *g = s->g;
    struct init init = {INIT_NORMAL, (float)sqrt(2.0 / (double)(k * side * side))};
    int w = graph_param(g, join(g, name, "weight"), SHAPE(k, side, side, channels(g, x)), init, ROLE_FILTER);
    return g_conv(g, x, w, stride, pad);
}

static int norm(struct step *s, const char *name, int x)
{
    return g_norm(s->g, name, x, step_trains(s), true, true, NORM_EPS, (float)own(s)->norm_momentum);
}

// Applies the last norm of a block. The first use of a slot sets its initial value, and this is the first use.
static int last_norm(struct step *s, const char *name, int x)
{
    struct graph *g = s->g;
    struct init gamma = {INIT_CONSTANT, (float)own(s)->last_gamma};
    graph_param(g, join(g, name, "weight"), SHAPE(channels(g, x)), gamma, ROLE_SCALE);
    return norm(s, name, x);
}

static int act(struct step *s, int x)
{
    return g_act(s->g, x, (enum act)own(s)->activation);
}

static int conv_norm_act(struct step *s, const char *filter, const char *statistics, int x, int64_t k, int side, int stride)
{
    return act(s, norm(s, statistics, conv(s, filter, x, k, side, stride, side / 2)));
}

// ---- stem

static int stem(struct step *s, int x, int64_t width)
{
    struct graph *g = s->g;
    graph_scope(g, "conv1");
    if (own(s)->stem == STEM_PATCH) return act(s, norm(s, "bn1", conv(s, "conv1", x, width, 4, 4, 0)));
    if (own(s)->stem == STEM_DEEP) {
        int64_t half = width > 1 ? width / 2 : 1;
        x = conv_norm_act(s, "conv1.0", "conv1.1", x, half, 3, 2);
        x = conv_norm_act(s, "conv1.3", "conv1.4", x, half, 3, 1);
        x = conv_norm_act(s, "conv1.6", "bn1", x, width, 3, 1);
    } else {
        x = conv_norm_act(s, "conv1", "bn1", x, width, 7, 2);
    }
    return own(s)->blur ? blur_halve(g, g_maxpool(g, x, 2, 1)) : g_maxpool_pad(g, x, 3, 2, 1);
}

// ---- blocks

static int shortcut(struct step *s, const char *block, int x, int64_t k, int stride)
{
    struct graph *g = s->g;
    if (stride == 1 && channels(g, x) == k) return x;
    bool pools = stride > 1 && (own(s)->shortcut == SHORTCUT_POOL || own(s)->blur);
    if (pools) x = own(s)->shortcut == SHORTCUT_POOL ? g_avgpool(g, x, stride, stride) : blur_halve(g, x);
    x = conv(s, join(g, block, pools ? "downsample.1" : "downsample.0"), x, k, 1, pools ? 1 : stride, 0);
    return norm(s, join(g, block, pools ? "downsample.2" : "downsample.1"), x);
}

static int block(struct step *s, const char *name, int x, int64_t width, int stride, bool bottleneck)
{
    struct graph *g = s->g;
    int64_t k = bottleneck ? EXPANSION * width : width;
    bool blurs = stride > 1 && own(s)->blur;
    graph_scope(g, "%s", name);
    const char *conv1 = join(g, name, "conv1"), *conv2 = join(g, name, "conv2"), *conv3 = join(g, name, "conv3");
    const char *bn1 = join(g, name, "bn1"), *bn2 = join(g, name, "bn2");
    int y;
    if (bottleneck) {
        y = conv_norm_act(s, conv1, bn1, x, width, 1, 1);
        y = conv_norm_act(s, conv2, bn2, y, width, 3, blurs ? 1 : stride);
        if (blurs) y = blur_halve(g, y);
        y = last_norm(s, join(g, name, "bn3"), conv(s, conv3, y, k, 1, 1, 0));
    } else {
        y = conv_norm_act(s, conv1, bn1, x, width, 3, blurs ? 1 : stride);
        if (blurs) y = blur_halve(g, y);
        y = last_norm(s, bn2, conv(s, conv2, y, k, 3, 1, 1));
    }
    return act(s, g_add(g, y, shortcut(s, name, x, k, stride)));
}

// ---- head

static int head(struct step *s, int x)
{
    struct graph *g = s->g;
    graph_scope(g, "fc");
    x = g_avgpool_global(g, x);
    if (g->error) return NONE;
    int64_t features = channels(g, x), classes = s->setting->data->classes;
    x = g_reshape(g, x, SHAPE(g->value[x].shape.dim[0], features));
    int w = graph_param(g, "fc.weight", SHAPE(classes, features), (struct init){INIT_NORMAL, .01f}, ROLE_MATRIX);
    int b = graph_param(g, "fc.bias", SHAPE(classes), (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    return g_linear(g, x, w, b, F32);
}

// ---- networks

// The figures of the stages: the recipe's if it gives any, else the network's own.
static void take_stages(struct step *s, const char *what, const struct recipe_list *list, int64_t into[STAGES])
{
    if (list->count && list->count != STAGES)
        graph_fail(s->g, ERR_USAGE, "a ResNet has %d stages; \"model.%s\" has %d numbers", STAGES, what, list->count);
    for (int i = 0; list->count == STAGES && i < STAGES; i++) into[i] = (int64_t)list->at[i];
}

static int resnet(struct step *s, int x, struct shape_of_resnet *n)
{
    struct graph *g = s->g;
    take_stages(s, "widths", &s->setting->recipe->widths, n->width);
    take_stages(s, "blocks", &own(s)->blocks, n->blocks);
    x = stem(s, x, n->width[0]);
    for (int stage = 0; stage < STAGES; stage++)
        for (int64_t i = 0; i < n->blocks[stage]; i++) {
            char *name = arena_text(&g->arena, "layer%d.%lld", stage + 1, (long long)i);
            x = block(s, name, x, n->width[stage], stage && i == 0 ? 2 : 1, n->bottleneck);
        }
    return head(s, x);
}

void resnet18_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = resnet(s, in[0], &(struct shape_of_resnet){{64, 128, 256, 512}, {2, 2, 2, 2}, false});
}

void resnet50_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    out[0] = resnet(s, in[0], &(struct shape_of_resnet){{64, 128, 256, 512}, {3, 4, 6, 3}, true});
}

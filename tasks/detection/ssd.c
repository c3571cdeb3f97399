// SPDX-License-Identifier: Apache-2.0
// SSD (Liu et al. 2016) as MLPerf Training had it: ResNet-34 up to its third stage, which keeps the size of the second, on images
// of 300 x 300.
//
//   stem    conv 7x7/2, norm, relu, max pool 3x3/2
//   stages  3, 4 and 6 blocks of two conv 3x3 with norm; 64, 128 and 256 channels, strides 4, 8 and 8: the first level
//   extras  each a level: conv 1x1 and relu, conv 3x3 and relu; three with stride 2, two without padding. 512, 512, 256, 256, 256
//           channels, and in between half of them
//   heads   of each level a conv 3x3 of its own for the classes and one for the boxes
//
// The backbone has torchvision's names and begins as N(0, 2 / (K R S)), or with weights that were trained on ImageNet. All else
// begins as Xavier's uniform numbers, its biases as 0.
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's
enum { STAGES = 3, WIDTHS = STAGES + 2, HALVED = 4 };

static const float shares[ANCHOR_LEVELS + 1] = {21.0f / 300, 45.0f / 300, 99.0f / 300, 153.0f / 300, 207.0f / 300, 261.0f / 300,
                                                315.0f / 300};
const struct anchors_style ssd_style = {
    .levels = ANCHOR_LEVELS, .halved = HALVED, .share = shares, .wide = 3, .taken = 0x1.000002p-1f /* more than half */,
    .ignored = 0x1.000002p-1f, .unit = {0.1f, 0.2f}, .none = 0,
};

// ---- backbone

static int block(struct net *n, const char *name, int x, int64_t width, int stride)
{
    int y = net_conv_norm_act(n, net_join(n, name, "conv1"), net_join(n, name, "bn1"), x, (struct net_conv){width, 3, stride, 1});
    y = net_norm(n, net_join(n, name, "bn2"), net_conv(n, net_join(n, name, "conv2"), y, (struct net_conv){width, 3, 1, 1}));
    if (stride > 1 || net_channels(n, x) != width) {
        x = net_conv(n, net_join(n, name, "downsample.0"), x, (struct net_conv){width, 1, stride, 0});
        x = net_norm(n, net_join(n, name, "downsample.1"), x);
    }
    return net_act(n, g_add(n->g, y, x));
}

static int backbone(struct net *n, int x, const int64_t width[WIDTHS])
{
    static const int blocks[STAGES] = {3, 4, 6};
    graph_scope(n->g, "conv1");
    x = net_conv_norm_act(n, "conv1", "bn1", x, (struct net_conv){width[0], 7, 2, 3});
    x = g_maxpool_pad(n->g, x, 3, 2, 1);
    for (int i = 0; i < STAGES; i++)
        for (int k = 0; k < blocks[i]; k++) {
            char *name = arena_text(&n->g->arena, "layer%d.%d", i + 1, k);
            graph_scope(n->g, "%s", name);
            x = block(n, name, x, width[i], i == 1 && k == 0 ? 2 : 1);
        }
    return x;
}

// ---- extras and heads

static int xavier(struct net *n, const char *name, int x, struct net_conv how)
{
    double fans = (double)(how.side * how.side) * (double)(how.k + net_channels(n, x));
    return detector_layer(n, name, x, &(struct detector_layer){how.k, how.side, how.stride, how.pad,
                                                               {INIT_UNIFORM, (float)sqrt(6 / fans)}, 0});
}

static int extra(struct net *n, int level, int x, int64_t width)
{
    const char *name = arena_text(&n->g->arena, "extra%d", level);
    bool halves = level < HALVED;
    graph_scope(n->g, "%s", name);
    x = net_act(n, xavier(n, net_join(n, name, "1"), x, (struct net_conv){width > 1 ? width / 2 : 1, 1, 1, 0}));
    return net_act(n, xavier(n, net_join(n, name, "2"), x, (struct net_conv){width, 3, halves ? 2 : 1, halves}));
}

static int head(struct net *n, const char *name, int level, int x, int64_t columns)
{
    const struct net_conv how = {columns * anchors_sizes(&ssd_style, level), 3, 1, 1};
    graph_scope(n->g, "%s", name);
    return detector_rows(n->g, xavier(n, arena_text(&n->g->arena, "%s.%d", name, level), x, how), columns);
}

void ssd_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct net n = net_of(s);
    const struct detection_keys *k = detection_keys(s->setting->recipe);
    int64_t width[WIDTHS] = {64, 128, 256, 512, 256};
    int classes[ANCHOR_LEVELS], boxes[ANCHOR_LEVELS], levels = 0;
    n.act = ACT_RELU, n.eps = NORM_EPS, n.momentum = 0.9f;
    net_take(&n, "model.widths", &s->setting->recipe->widths, width, WIDTHS);
    int x = backbone(&n, in[0], width);
    while (levels < ANCHOR_LEVELS) {
        if (!anchors_cells(&ssd_style, k->height, levels) || !anchors_cells(&ssd_style, k->width, levels)) break;
        if (levels > 0) x = extra(&n, levels, x, width[levels < 3 ? 3 : 4]);
        classes[levels] = head(&n, "classes", levels, x, s->setting->data->classes + 1);
        boxes[levels] = head(&n, "boxes", levels, x, ANCHOR_DELTA);
        levels++;
    }
    out[0] = detector_join(s->g, classes, levels);
    out[1] = detector_join(s->g, boxes, levels);
}

// SPDX-License-Identifier: Apache-2.0
// EfficientDet-D0 (Tan et al. 2020): EfficientNet-B0 without its head, three BiFPN cells on five levels, two heads. Images keep
// their size divided by the stride, rounded up (TensorFlow's "same" windows).
//
//   backbone  stem conv 3x3/2, norm, swish; 16 blocks: conv 1x1 (expand), depthwise conv, squeeze and excitation, conv 1x1
//             (project), all but the last with swish; a shortcut where the shape stays. Strides of 8, 16 and 32 are levels 1 to 3
//   levels    level 4: conv 1x1 of the last stage, norm, max pool 3x3/2; level 5: max pool of level 4
//   cell      a node is the weighted mean of its inputs, then swish, a separable conv and a norm. Inputs top-down: the level and
//             the node above. Inputs bottom-up: the level, its top-down node and the node below
//   heads     three separable convs that all levels share, each with a norm per level and swish; then one conv without them
//
// Weights of a node are relu(w) / (sum of relu(w) + 0.0001). An input with another number of channels passes a conv 1x1 and a
// norm of this node. Initial values: filters N(0, 2 / outputs of a position), separable ones N(0, 1 / inputs), class scores 0.01.
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"

#include <math.h>

#define NORM_EPS 1e-3f
enum { LEVELS = 5, FROM_BACKBONE = 3, CELLS = 3, HEAD_LAYERS = 3, NODE_INPUTS = 3 };

const struct anchors_style efficientdet_style = {
    .levels = LEVELS, .halved = LEVELS, .base = 4, .ratios = 3, .taken = 0.5f, .ignored = 0.5f, .unit = {1, 1}, .rows_more = 1,
    .none = -1,
};

static const struct stage {
    int64_t width;
    int expand, side, stride, blocks;
    bool level;
} stages[] = {
    {16, 1, 3, 1, 1, false}, {24, 6, 3, 2, 2, false},  {40, 6, 5, 2, 2, true},  {80, 6, 3, 2, 3, false},
    {112, 6, 5, 1, 3, true}, {192, 6, 5, 2, 4, false}, {320, 6, 3, 1, 1, true},
};
enum { STAGES = sizeof stages / sizeof *stages, WIDTHS = 1 + STAGES };

// ---- layers

static void pad_same(struct conv_attr *a, const struct shape *x, int side)
{
    for (int i = 0; i < 2; i++) {
        int64_t size = x->dim[1 + i], stride = a->stride[i], all = ((size + stride - 1) / stride - 1) * stride + side - size;
        a->before[i] = all > 0 ? (int)all / 2 : 0, a->after[i] = all > 0 ? (int)(all - all / 2) : 0;
    }
}

// A convolution without a bias; of each channel alone where k is 0.
static int conv(struct net *n, const char *name, int x, int64_t k, int side, int stride, float deviation)
{
    if (n->g->error) return NONE;
    const int64_t from = net_channels(n, x);
    struct conv_attr a = {.stride = {stride, stride}, .groups = k ? 1 : (int)from};
    pad_same(&a, &n->g->value[x].shape, side);
    int w = graph_param(n->g, net_join(n, name, "weight"), SHAPE(k ? k : from, side, side, k ? from : 1),
                        (struct init){INIT_NORMAL, deviation}, ROLE_FILTER);
    return g_conv_full(n->g, x, w, NONE, &a);
}

static int unit(struct net *n, const char *name, int x, int64_t k, int side, int stride)
{
    float deviation = (float)sqrt(2.0 / (double)((k ? k : 1) * side * side));
    return net_norm(n, net_join(n, name, "bn"), conv(n, net_join(n, name, "conv"), x, k, side, stride, deviation));
}

static int pointwise(struct net *n, const char *name, int x, int64_t k, float bias)
{
    const struct init weight = {INIT_NORMAL, (float)sqrt(1.0 / (double)net_channels(n, x))};
    return detector_layer(n, name, x, &(struct detector_layer){k, 1, 1, 0, weight, bias});
}

static int separable(struct net *n, const char *name, int x, int64_t k, float bias)
{
    x = conv(n, net_join(n, name, "depthwise"), x, 0, 3, 1, 1.0f / 3);
    return pointwise(n, net_join(n, name, "pointwise"), x, k, bias);
}

// ---- backbone

static int squeeze(struct net *n, const char *name, int x, int64_t k)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    union attr spread = {.move = {.shape = g->value[x].shape, .axes = 1u << 1 | 1u << 2, .factor = 1}};
    int s = net_act(n, pointwise(n, net_join(n, name, "reduce"), g_avgpool_global(g, x), k, 0));
    s = g_act(g, pointwise(n, net_join(n, name, "expand"), s, net_channels(n, x), 0), ACT_SIGMOID);
    return g_mul(g, x, graph_node(g, OP_BROADCAST, &s, 1, &spread, NULL));
}

static int block(struct net *n, const char *name, int x, const struct stage *s, int stride)
{
    int64_t from = net_channels(n, x);
    int y = x;
    if (s->expand > 1) y = net_act(n, unit(n, net_join(n, name, "expand"), y, s->expand * from, 1, 1));
    y = net_act(n, unit(n, net_join(n, name, "depthwise"), y, 0, s->side, stride));
    y = squeeze(n, net_join(n, name, "squeeze"), y, from > 4 ? from / 4 : 1);
    y = unit(n, net_join(n, name, "project"), y, s->width, 1, 1);
    return stride == 1 && from == s->width ? g_add(n->g, y, x) : y;
}

static void backbone(struct net *n, int x, const int64_t width[WIDTHS], int level[FROM_BACKBONE])
{
    int levels = 0;
    graph_scope(n->g, "stem");
    x = net_act(n, unit(n, "stem", x, width[0], 3, 2));
    for (int i = 0; i < STAGES; i++) {
        struct stage s = stages[i];
        s.width = width[1 + i];
        for (int k = 0; k < s.blocks; k++) {
            char *name = arena_text(&n->g->arena, "stage%d.%d", i + 1, k);
            graph_scope(n->g, "%s", name);
            x = block(n, name, x, &s, k == 0 ? s.stride : 1);
        }
        if (s.level) level[levels++] = x;
    }
}

// ---- cells

// Max pool 3x3/2, whose windows begin at even rows and columns: the last one is repeated for windows that reach beyond it.
static int halve(struct graph *g, int x)
{
    for (int axis = 1; axis <= 2 && !g->error; axis++) {
        int64_t size = g->value[x].shape.dim[axis];
        if (size % 2 == 0) x = g_concat(g, (int[]){x, g_slice(g, x, axis, size - 1, size)}, 2, axis);
        else x = g_concat(g, (int[]){g_slice(g, x, axis, 0, 1), x, g_slice(g, x, axis, size - 1, size)}, 3, axis);
    }
    return g_maxpool(g, x, 3, 2);
}

static int resample(struct net *n, int x, int like)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    const int64_t *from = g->value[x].shape.dim, *to = g->value[like].shape.dim;
    if (from[1] == to[1] && from[2] == to[2]) return x;
    return from[1] > to[1] || from[2] > to[2] ? halve(g, x) : detector_double(n, x, like);
}

// The inputs of a node at the size and with the channels of the first, which is of its level.
static int node(struct net *n, const char *name, const int *in, int inputs, int64_t width)
{
    struct graph *g = n->g;
    union attr spread = {.move = {.shape = SHAPE(inputs, width), .axes = 1u << 1, .factor = 1}};
    graph_scope(g, "%s", name);
    int w = graph_param(g, net_join(n, name, "weights"), SHAPE(inputs, 1), (struct init){INIT_CONSTANT, 1}, ROLE_SCALE);
    int part = g_act(g, w, ACT_RELU), all = g_reshape(g, g_reduce(g, part, 1, false, F32), SHAPE(1));
    all = g_map(g, MAP_SHIFT, all, 1e-4f, 0);
    part = g_map_of(g, MAP_DIV, (int[]){part, all, NONE});
    part = graph_node(g, OP_BROADCAST, &part, 1, &spread, NULL);
    int sum = NONE;
    for (int i = 0; i < inputs && !g->error; i++) {
        int x = in[i];
        if (net_channels(n, x) != width) {
            const char *fit = arena_text(&g->arena, "%s.fit%d", name, i + 1);
            x = net_norm(n, net_join(n, fit, "bn"), pointwise(n, net_join(n, fit, "conv"), x, width, 0));
        }
        x = resample(n, x, in[0]);
        int own = g_cast(g, g_reshape(g, g_slice(g, part, 0, i, i + 1), SHAPE(width)), g->value[x].dtype);
        x = g_mul(g, x, own);
        sum = i > 0 ? g_add(g, sum, x) : x;
    }
    return net_norm(n, net_join(n, name, "bn"), separable(n, name, net_act(n, sum), width, 0));
}

static void cell(struct net *n, int number, int level[LEVELS], int64_t width)
{
    int down[LEVELS];
    down[LEVELS - 1] = level[LEVELS - 1];
    for (int i = LEVELS - 2; i >= 0; i--)
        down[i] = node(n, arena_text(&n->g->arena, "cell%d.down%d", number, i + 1), (int[]){level[i], down[i + 1]}, 2, width);
    level[0] = down[0];
    for (int i = 1; i < LEVELS; i++) {
        const char *name = arena_text(&n->g->arena, "cell%d.up%d", number, i + 1);
        bool top = i == LEVELS - 1;
        level[i] = node(n, name, (int[]){level[i], top ? level[i - 1] : down[i], level[i - 1]}, top ? 2 : NODE_INPUTS, width);
    }
}

// ---- heads

static int head(struct net *n, const char *name, const int level[LEVELS], int64_t columns, float bias)
{
    int answer[LEVELS];
    graph_scope(n->g, "%s", name);
    for (int l = 0; l < LEVELS; l++) {
        int x = level[l];
        for (int i = 1; i <= HEAD_LAYERS; i++) {
            x = separable(n, arena_text(&n->g->arena, "%s.%d", name, i), x, net_channels(n, x), 0);
            x = net_norm_act(n, arena_text(&n->g->arena, "%s.%d.bn%d", name, i, l + 1), x);
        }
        x = separable(n, net_join(n, name, "last"), x, columns * anchors_sizes(&efficientdet_style, l), bias);
        answer[l] = detector_rows(n->g, x, columns);
    }
    return detector_join(n->g, answer, LEVELS);
}

void efficientdet_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct net n = net_of(s);
    const struct recipe *r = s->setting->recipe;
    const int64_t pyramid = detection_keys(r)->pyramid;
    int64_t width[WIDTHS] = {32};
    int level[LEVELS];
    n.act = ACT_SILU, n.eps = NORM_EPS, n.momentum = 0.99f;
    for (int i = 0; i < STAGES; i++) width[1 + i] = stages[i].width;
    net_take(&n, "model.widths", &r->widths, width, WIDTHS);
    backbone(&n, in[0], width, level);
    graph_scope(s->g, "level4");
    int x = pointwise(&n, "level4.conv", level[FROM_BACKBONE - 1], pyramid, 0);
    level[3] = halve(s->g, net_norm(&n, "level4.bn", x));
    level[4] = halve(s->g, level[3]);
    for (int i = 0; i < CELLS; i++) cell(&n, i + 1, level, pyramid);
    out[0] = head(&n, "classes", level, s->setting->data->classes, -logf(99));
    out[1] = head(&n, "boxes", level, ANCHOR_DELTA, 0);
}

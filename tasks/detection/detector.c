// SPDX-License-Identifier: Apache-2.0
// With a label for none the classes of an anchor exclude each other (softmax, Liu et al. 2016); else each class is a question of
// its own (focal loss, Lin et al. 2017).
#include "tasks/detection/detector.h"

#include "tasks/detection/detection_keys.h"

#include <math.h>

// ---- models

// Weights of a ResNet-34 lack all that is behind it.
static const char *const prefixes[] = {"module.", NULL}, *const behind[] = {"extra", "classes.", "boxes.", NULL};

const struct model detector_models[] = {
    {.name = "retina", .about = "a small residual backbone, a pyramid of three levels, and heads with a focal loss",
     .forward = retina_forward, .own = &retina_style, .parts = PART_PYRAMID | PART_FOCAL | PART_BOX},
    {.name = "ssd", .about = "SSD on ResNet-34 at 300 x 300 with 8,732 anchors, as MLPerf has it (Liu et al. 2016)",
     .forward = ssd_forward, .own = &ssd_style, .parts = PART_BOX, .prefixes = prefixes, .fresh = behind},
    {.name = "efficientdet-d0", .about = "EfficientNet-B0 and three BiFPN cells of depthwise convolutions (Tan et al. 2020)",
     .forward = efficientdet_forward, .own = &efficientdet_style, .parts = PART_PYRAMID | PART_FOCAL | PART_BOX},
    {0},
};

// ---- layers

int detector_layer(struct net *n, const char *name, int x, const struct detector_layer *l)
{
    struct graph *g = n->g;
    const struct init bias = {INIT_CONSTANT, l->bias};
    const struct shape shape = SHAPE(l->k, l->side, l->side, net_channels(n, x));
    int w = graph_param(g, net_join(n, name, "weight"), shape, l->weight, ROLE_FILTER);
    int b = graph_param(g, net_join(n, name, "bias"), SHAPE(l->k), bias, ROLE_BIAS);
    const struct conv_attr a = {.stride = {l->stride, l->stride}, .before = {l->pad, l->pad}, .after = {l->pad, l->pad},
                                .groups = 1};
    return g_conv_full(g, x, w, b, &a);
}

int detector_unit(struct net *n, const char *name, int x, struct net_conv how)
{
    return net_norm(n, net_join(n, name, "bn"), net_conv(n, net_join(n, name, "conv"), x, how));
}

int detector_double(struct net *n, int x, int like)
{
    struct graph *g = n->g;
    x = net_double(n, x);
    for (int axis = 1; axis <= 2 && !g->error; axis++)
        if (g->value[x].shape.dim[axis] > g->value[like].shape.dim[axis])
            x = g_slice(g, x, axis, 0, g->value[like].shape.dim[axis]);
    return x;
}

int detector_rows(struct graph *g, int x, int64_t columns)
{
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    return g_reshape(g, x, SHAPE(is.dim[0], shape_count(&is) / is.dim[0] / columns, columns));
}

int detector_join(struct graph *g, const int answer[], int levels)
{
    return g_cast(g, g_concat(g, answer, levels, 1), F32);
}

// ---- losses

static int map2(struct graph *g, enum map formula, int a, int b)
{
    return g_map_of(g, formula, (int[]){a, b, NONE});
}

static int sum_of(struct graph *g, int x)
{
    if (g->error) return NONE;
    return g_reshape(g, g_reduce(g, x, (1u << g->value[x].shape.rank) - 1, false, F32), SHAPE(1));
}

// The sum over the last dimension of x, which goes away.
static int sum_last(struct graph *g, int x)
{
    if (g->error) return NONE;
    struct shape s = g->value[x].shape;
    s.rank--;
    return g_reshape(g, g_reduce(g, x, 1u << s.rank, false, F32), s);
}

// The focal loss of an answer z that should be low is weight sigmoid(z)^gamma softplus(z).
static int focal(struct graph *g, int z, double gamma, double weight)
{
    int p = g_act(g, z, ACT_SIGMOID);
    int power = gamma == 2 ? g_map(g, MAP_SQUARE, p, 0, 0) : g_map(g, MAP_POW, p, (float)gamma, 0);
    return g_scale(g, g_mul(g, power, g_map(g, MAP_SOFTPLUS, z, 0, 0)), (float)weight);
}

// Of an anchor: as if it had no class, for each class; with a truth its class has another loss. `counts` and `taken` are 1 or 0.
static int focal_loss(struct graph *g, int logits, int labels, const int counts_taken[2], const struct detection_keys *k)
{
    int none = sum_last(g, focal(g, logits, k->gamma, 1 - k->alpha)), z = g_class_slice(g, logits, labels, 2);
    int own = map2(g, MAP_SUB, focal(g, g_map(g, MAP_NEG, z, 0, 0), k->gamma, k->alpha), focal(g, z, k->gamma, 1 - k->alpha));
    return g_add(g, g_mul(g, none, counts_taken[0]), g_mul(g, own, counts_taken[1]));
}

// Cross-entropy of the anchors with a truth, and of as many others as `negatives` says, those of largest loss: [N,A] -> [N].
static int mined_loss(struct graph *g, int logits, int labels, int taken, int negatives)
{
    int out[3], index;
    g_xent_full(g, (int[]){logits, labels, NONE}, 0, false, out);
    if (g->error) return NONE;
    const struct shape rows = g->value[taken].shape;
    int64_t most = rows.dim[1] < DETECTOR_NEGATIVES_MOST ? rows.dim[1] : DETECTOR_NEGATIVES_MOST;
    int all = g_reshape(g, out[1], rows), there = g_mul(g, all, taken);
    int worst = g_top(g, map2(g, MAP_SUB, all, there), most, &index);
    worst = graph_node(g, OP_MASK, (int[]){worst, NONE, negatives}, 3, &(union attr){.mask = {0, 0}}, NULL);
    return g_add(g, sum_last(g, there), sum_last(g, worst));
}

// Smooth L1 (Girshick 2015): with c = d clamped to +-beta it is c (d - c / 2) / beta. Of each anchor with a truth.
static int box_loss(struct graph *g, int deltas, int wanted, int taken, float beta)
{
    int d = map2(g, MAP_SUB, deltas, wanted), c = g_map(g, MAP_CLAMP, d, -beta, beta);
    int each = sum_last(g, g_scale(g, g_mul(g, c, map2(g, MAP_SUB, d, g_scale(g, c, 0.5f))), 1 / beta));
    return g_mul(g, each, taken);
}

struct detector_losses detector_losses(struct step *s, const int answer[MODEL_VALUES], const struct detector_targets *t)
{
    const struct detection_keys *k = detection_keys(s->setting->recipe);
    const struct anchors_style *style = detector_style(s->setting->model);
    struct graph *g = s->g;
    graph_scope(g, "loss");
    int label = g_map(g, MAP_SHIFT, g_cast(g, t->labels, F32), (float)-style->none, 0);  // 1 and more, 0: none, -1: ignored
    int taken = g_map(g, MAP_CLAMP, label, 0, 1), counts = g_map(g, MAP_CLAMP, g_map(g, MAP_SHIFT, label, 1, 0), 0, 1);
    int box = box_loss(g, answer[1], t->deltas, taken, (float)k->beta);
    if (style->none < 0)
        return (struct detector_losses){.class = sum_of(g, focal_loss(g, answer[0], t->labels, (int[]){counts, taken}, k)),
                                        .box = sum_of(g, box),
                                        .rows = g_map(g, MAP_SHIFT, sum_of(g, taken), style->rows_more, 0)};
    // Each picture's losses are divided by its own anchors with a truth; then the mean is over pictures.
    int positive = sum_last(g, taken), share = g_map(g, MAP_RECIPROCAL, g_map(g, MAP_CLAMP, positive, 1, INFINITY), 0, 0);
    return (struct detector_losses){
        .class = sum_of(g, g_mul(g, mined_loss(g, answer[0], t->labels, taken, t->negatives), share)),
        .box = sum_of(g, g_mul(g, sum_last(g, box), share)),
        .rows = sum_of(g, g_map(g, MAP_CLAMP, positive, 1, 1))};
}

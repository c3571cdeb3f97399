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

// The loss of an anchor as if it had no class, for each class; with a truth its class has another loss. With `overlap` that is
// varifocal (Zhang et al. 2021): cross-entropy with the overlap of box and truth, times it. `counts` and `taken` are 1 or 0.
static int focal_loss(struct graph *g, const int logits_labels[2], const int counts_taken[2], int overlap,
                      const struct detection_keys *k)
{
    int none = sum_last(g, focal(g, logits_labels[0], k->gamma, 1 - k->alpha));
    int z = g_class_slice(g, logits_labels[0], logits_labels[1], 2), there;
    if (overlap == NONE) there = focal(g, g_map(g, MAP_NEG, z, 0, 0), k->gamma, k->alpha);
    else there = g_mul(g, map2(g, MAP_SUB, g_map(g, MAP_SOFTPLUS, z, 0, 0), g_mul(g, z, overlap)), overlap);
    int own = map2(g, MAP_SUB, there, focal(g, z, k->gamma, 1 - k->alpha));
    return g_add(g, g_mul(g, none, counts_taken[0]), g_mul(g, own, counts_taken[1]));
}

// Cross-entropy of the anchors with a truth, and of as many others as `negatives` says, by largest loss: [N,A] -> [N].
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

// Smooth L1 (Girshick 2015) of each anchor: with c = d clamped to +-beta it is c (d - c / 2) / beta.
static int smooth_loss(struct graph *g, int deltas, int wanted, float beta)
{
    int d = map2(g, MAP_SUB, deltas, wanted), c = g_map(g, MAP_CLAMP, d, -beta, beta);
    return sum_last(g, g_scale(g, g_mul(g, c, map2(g, MAP_SUB, d, g_scale(g, c, 0.5f))), 1 / beta));
}

// ---- overlaps of answers with their truths, of deltas in sides of the anchor: that changes no overlap
struct extent {
    int low, high, size;  // [N,A,2], of columns and rows
};

static struct extent extent_of(struct graph *g, int deltas)
{
    int centre = g_slice(g, deltas, 2, 0, 2), growth = g_slice(g, deltas, 2, 2, 4);
    struct extent e = {.size = g_map(g, MAP_EXP, g_map(g, MAP_CLAMP, growth, -INFINITY, ANCHOR_GROWTH), 0, 0)};
    int half = g_scale(g, e.size, 0.5f);
    e.low = map2(g, MAP_SUB, centre, half), e.high = g_add(g, centre, half);
    return e;
}

static int area_of(struct graph *g, int sides)
{
    return g_mul(g, g_slice(g, sides, 2, 0, 1), g_slice(g, sides, 2, 1, 2));
}

struct overlap {
    int iou, loss;  // [N,A]; the loss is 1 - GIoU (Rezatofighi et al. 2019)
};

static struct overlap overlap_of(struct graph *g, int deltas, int wanted)
{
    const struct extent a = extent_of(g, deltas), b = extent_of(g, wanted);
    int low = map2(g, MAP_MAX, a.low, b.low), high = map2(g, MAP_MIN, a.high, b.high);
    int shared = area_of(g, g_map(g, MAP_CLAMP, map2(g, MAP_SUB, high, low), 0, INFINITY));
    int either = map2(g, MAP_SUB, g_add(g, area_of(g, a.size), area_of(g, b.size)), shared);
    int hull = area_of(g, map2(g, MAP_SUB, map2(g, MAP_MAX, a.high, b.high), map2(g, MAP_MIN, a.low, b.low)));
    int iou = sum_last(g, map2(g, MAP_DIV, shared, either)), filled = sum_last(g, map2(g, MAP_DIV, either, hull));
    return (struct overlap){iou, g_map(g, MAP_SHIFT, g_map(g, MAP_NEG, g_add(g, iou, filled), 0, 0), 2, 0)};
}

// Scores learn the overlap, but it does not learn from them.
static int overlap_as_target(struct graph *g, const struct overlap *o)
{
    if (g->error) return NONE;
    int iou = g_reshape(g, o->iou, g->value[o->iou].shape);
    if (!g->error) g->value[iou].trains = false;
    return iou;
}

struct detector_losses detector_losses(struct step *s, const int answer[MODEL_VALUES], const struct detector_targets *t)
{
    const struct detection_keys *k = detection_keys(s->setting->recipe);
    const struct anchors_style *style = detector_style(s->setting->model);
    struct graph *g = s->g;
    graph_scope(g, "loss");
    int label = g_map(g, MAP_SHIFT, g_cast(g, t->labels, F32), (float)-style->none, 0);  // 1 and more, 0: none, -1: ignored
    int taken = g_map(g, MAP_CLAMP, label, 0, 1), counts = g_map(g, MAP_CLAMP, g_map(g, MAP_SHIFT, label, 1, 0), 0, 1);
    const bool free = style->none < 0;  // to choose; a recipe of another model may say what this one does not know
    const bool giou = free && k->box_loss == BOX_LOSS_GIOU, varifocal = free && k->class_loss == CLASS_LOSS_VARIFOCAL;
    struct overlap o = {NONE, NONE};
    if (giou || varifocal) o = overlap_of(g, answer[1], t->deltas);
    int box = g_mul(g, giou ? o.loss : smooth_loss(g, answer[1], t->deltas, (float)k->beta), taken);
    int target = varifocal ? overlap_as_target(g, &o) : NONE;
    const int answers[] = {answer[0], t->labels}, marks[] = {counts, taken};
    if (free)
        return (struct detector_losses){.class = sum_of(g, focal_loss(g, answers, marks, target, k)),
                                        .box = sum_of(g, box),
                                        .rows = g_map(g, MAP_SHIFT, sum_of(g, taken), style->rows_more, 0)};
    // Each picture's losses are divided by its own anchors with a truth; then the mean is over pictures.
    int positive = sum_last(g, taken), share = g_map(g, MAP_RECIPROCAL, g_map(g, MAP_CLAMP, positive, 1, INFINITY), 0, 0);
    return (struct detector_losses){
        .class = sum_of(g, g_mul(g, mined_loss(g, answer[0], t->labels, taken, t->negatives), share)),
        .box = sum_of(g, g_mul(g, sum_last(g, box), share)),
        .rows = sum_of(g, g_map(g, MAP_CLAMP, positive, 1, 1))};
}

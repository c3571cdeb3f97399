// SPDX-License-Identifier: Apache-2.0
//   stem     conv 3x3/2, norm, relu
//   stages   four: conv 3x3/2, norm, relu; a block of two convolutions with a shortcut; in all but the first one convolution
//            more with a shortcut. The last three are the levels, of strides 8, 16 and 32
//   pyramid  a level is its conv 1x1 and norm, plus the level above, doubled; each ends with conv 3x3, norm, relu
//   heads    two conv 3x3 with bias and relu, one conv 3x3 with bias: a score per anchor and class, a delta per anchor
//
// Filters begin as N(0, 2 / (K R S)), the last ones of the heads as N(0, 0.01), and every class with a score of 0.01: else the
// many anchors without a truth would rule the first steps.
#include "tasks/detection/retina.h"

#include "tasks/detection/anchors.h"
#include "tasks/detection/detection_keys.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's
enum { STAGES = RETINA_WIDTHS - 1, HEAD_LAYERS = 3 };

// ---- backbone

static int unit(struct net *n, const char *name, int x, struct net_conv how)  // without an activation
{
    return net_norm(n, net_join(n, name, "bn"), net_conv(n, net_join(n, name, "conv"), x, how));
}

static int stage(struct net *n, const char *name, int x, int64_t width, bool last)
{
    const struct net_conv same = {width, 3, 1, 1};
    x = net_act(n, unit(n, net_join(n, name, "down"), x, (struct net_conv){width, 3, 2, 1}));
    int y = net_act(n, unit(n, net_join(n, name, "block1"), x, same));
    x = net_act(n, g_add(n->g, unit(n, net_join(n, name, "block2"), y, same), x));
    if (last) x = net_act(n, g_add(n->g, unit(n, net_join(n, name, "block3"), x, same), x));
    return x;
}

static void backbone(struct net *n, int x, const int64_t width[RETINA_WIDTHS], int level[ANCHOR_LEVELS])
{
    graph_scope(n->g, "stem");
    x = net_act(n, unit(n, "stem", x, (struct net_conv){width[0], 3, 2, 1}));
    for (int i = 0; i < STAGES; i++) {
        char *name = arena_text(&n->g->arena, "stage%d", i + 1);
        graph_scope(n->g, "%s", name);
        x = stage(n, name, x, width[i + 1], i > 0);
        if (i > 0) level[i - 1] = x;
    }
}

// ---- pyramid

// The first rows and columns of x, as many as `like` has.
static int cut(struct graph *g, int x, int like)
{
    if (g->error) return NONE;
    for (int axis = 1; axis <= 2; axis++)
        if (g->value[x].shape.dim[axis] > g->value[like].shape.dim[axis])
            x = g_slice(g, x, axis, 0, g->value[like].shape.dim[axis]);
    return x;
}

static void pyramid(struct net *n, int level[ANCHOR_LEVELS], int64_t width)
{
    int above = NONE;
    for (int i = ANCHOR_LEVELS - 1; i >= 0; i--) {
        char *name = arena_text(&n->g->arena, "pyramid%d", i + 1);
        graph_scope(n->g, "%s", name);
        int x = unit(n, net_join(n, name, "in"), level[i], (struct net_conv){width, 1, 1, 0});
        if (above != NONE) x = g_add(n->g, x, cut(n->g, net_double(n, above), x));
        above = x;
        level[i] = net_act(n, unit(n, net_join(n, name, "out"), x, (struct net_conv){width, 3, 1, 1}));
    }
}

void retina_pyramid(struct net *n, int x, const struct retina_widths *w, int level[ANCHOR_LEVELS])
{
    n->act = ACT_RELU, n->eps = NORM_EPS, n->momentum = 0.9f;
    backbone(n, x, w->width, level);
    pyramid(n, level, w->pyramid);
}

struct retina_widths retina_widths(struct net *n)
{
    const struct recipe *r = n->step->setting->recipe;
    struct retina_widths w = {{16, 32, 64, 96, 128}, detection_keys(r)->pyramid};
    net_take(n, "model.widths", &r->widths, w.width, RETINA_WIDTHS);
    return w;
}

// ---- heads: [N,H,W,C] -> [N,H*W*sizes,per_anchor]

struct head {
    const char *name;
    int64_t per_anchor;
    float bias;  // of the last layer, at the beginning
};

static int head_level(struct net *n, const struct head *h, int x)
{
    struct graph *g = n->g;
    for (int i = 0; i < HEAD_LAYERS && !g->error; i++) {
        bool last = i == HEAD_LAYERS - 1;
        int64_t from = net_channels(n, x), to = last ? h->per_anchor * ANCHOR_SIZES : from;
        const char *name = arena_text(&g->arena, "%s.%d", h->name, i + 1);
        struct init init = {INIT_NORMAL, last ? .01f : (float)sqrt(2.0 / (double)(to * 9))};
        int w = graph_param(g, net_join(n, name, "weight"), SHAPE(to, 3, 3, from), init, ROLE_FILTER);
        int b = graph_param(g, net_join(n, name, "bias"), SHAPE(to), (struct init){INIT_CONSTANT, last ? h->bias : 0}, ROLE_BIAS);
        const struct conv_attr same = {.stride = {1, 1}, .before = {1, 1}, .after = {1, 1}, .groups = 1};
        x = g_conv_full(g, x, w, b, &same);
        if (!last) x = net_act(n, x);
    }
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    return g_reshape(g, x, SHAPE(is.dim[0], is.dim[1] * is.dim[2] * ANCHOR_SIZES, h->per_anchor));
}

static int head(struct net *n, const struct head *h, const int level[ANCHOR_LEVELS])
{
    int answer[ANCHOR_LEVELS];
    graph_scope(n->g, "%s", h->name);
    for (int i = 0; i < ANCHOR_LEVELS; i++) answer[i] = head_level(n, h, level[i]);
    return g_cast(n->g, g_concat(n->g, answer, ANCHOR_LEVELS, 1), F32);
}

static void retina_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct net n = net_of(s);
    const struct head classes = {"classes", s->setting->data->classes, -logf(99)}, boxes = {"boxes", ANCHOR_DELTA, 0};
    const struct retina_widths widths = retina_widths(&n);
    int level[ANCHOR_LEVELS];
    retina_pyramid(&n, in[0], &widths, level);
    out[0] = head(&n, &classes, level);
    out[1] = head(&n, &boxes, level);
}

const struct model retina_models[] = {
    {.name = "retina", .about = "a small residual backbone, a pyramid of three levels, and heads with a focal loss",
     .forward = retina_forward},
    {0},
};

// ---- losses

static int sum_of(struct graph *g, int x)
{
    return g_reshape(g, g_reduce(g, x, 7u, false, F32), SHAPE(1));
}

static int map2(struct graph *g, enum map formula, int a, int b)
{
    return g_map_of(g, formula, (int[]){a, b, NONE});
}

// The focal loss: with z = sign x logit an answer is right where z is low, and costs w sigmoid(z)^gamma softplus(z). The weight w
// is alpha where the class is there (sign -1), 1 - alpha where it is not (1), and 0 where nothing counts (0).
static int focal_loss(struct graph *g, int logits, int signs, const struct detection_keys *k)
{
    int z = g_mul(g, logits, signs), p = g_act(g, z, ACT_SIGMOID);
    int weight = g_mul(g, g_map(g, MAP_SQUARE, signs, 0, 0),
                       g_map(g, MAP_SHIFT, g_scale(g, signs, (float)(0.5 - k->alpha)), 0.5f, 0));
    int power = k->gamma == 2 ? g_map(g, MAP_SQUARE, p, 0, 0) : g_map(g, MAP_POW, p, (float)k->gamma, 0);
    return sum_of(g, g_mul(g, g_mul(g, power, g_map(g, MAP_SOFTPLUS, z, 0, 0)), weight));
}

// Smooth L1 (Girshick 2015): with c = d clamped to +-beta it is c (d - c / 2) / beta.
static int box_loss(struct graph *g, int deltas, const struct retina_targets *t, float beta)
{
    int d = g_mul(g, map2(g, MAP_SUB, deltas, t->deltas), t->taken), c = g_map(g, MAP_CLAMP, d, -beta, beta);
    return sum_of(g, g_scale(g, g_mul(g, c, map2(g, MAP_SUB, d, g_scale(g, c, 0.5f))), 1 / beta));
}

struct retina_losses retina_losses(struct step *s, const int answer[MODEL_VALUES], const struct retina_targets *t)
{
    const struct detection_keys *k = detection_keys(s->setting->recipe);
    graph_scope(s->g, "loss");
    return (struct retina_losses){.class = focal_loss(s->g, answer[0], t->signs, k),
                                  .box = box_loss(s->g, answer[1], t, (float)k->beta),
                                  .rows = g_scale(s->g, sum_of(s->g, t->taken), 1.0f / ANCHOR_DELTA)};
}

// SPDX-License-Identifier: Apache-2.0
// A small one-stage detector: a residual backbone, a pyramid of features (Lin et al. 2017a) and two heads that all levels share,
// as RetinaNet has them (Lin et al. 2017b).
//
//   stem     conv 3x3/2, norm, relu
//   stages   four: conv 3x3/2, norm, relu; a block of two convolutions with a shortcut; in all but the first one convolution
//            more with a shortcut. The last three are the levels, of strides 8, 16 and 32
//   pyramid  a level is its conv 1x1 and norm, plus the level above, doubled; each ends with conv 3x3, norm, relu
//   heads    two conv 3x3 with bias and relu, one conv 3x3 with bias: a score per anchor and class, a delta per anchor
//
// Filters begin as N(0, 2 / (K R S)), the last ones of the heads as N(0, 0.01), and every class with a score of 0.01: else the
// many anchors without a truth would rule the first steps.
#include "tasks/detection/retina.h"

#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"

#include <math.h>

#define NORM_EPS 1e-5f  // PyTorch's
enum { STAGES = RETINA_WIDTHS - 1, HEAD_LAYERS = 3 };

const struct anchors_style retina_style = {
    .levels = RETINA_LEVELS, .halved = RETINA_LEVELS, .base = 2, .ratios = 1, .taken = 0.5f, .ignored = 0.4f, .unit = {1, 1},
    .averaged = 0.65f, .none = -1,
};

// ---- backbone

static int stage(struct net *n, const char *name, int x, int64_t width, bool last)
{
    const struct net_conv same = {width, 3, 1, 1};
    x = net_act(n, detector_unit(n, net_join(n, name, "down"), x, (struct net_conv){width, 3, 2, 1}));
    int y = net_act(n, detector_unit(n, net_join(n, name, "block1"), x, same));
    x = net_act(n, g_add(n->g, detector_unit(n, net_join(n, name, "block2"), y, same), x));
    if (last) x = net_act(n, g_add(n->g, detector_unit(n, net_join(n, name, "block3"), x, same), x));
    return x;
}

static void backbone(struct net *n, int x, const int64_t width[RETINA_WIDTHS], int level[RETINA_LEVELS])
{
    graph_scope(n->g, "stem");
    x = net_act(n, detector_unit(n, "stem", x, (struct net_conv){width[0], 3, 2, 1}));
    for (int i = 0; i < STAGES; i++) {
        char *name = arena_text(&n->g->arena, "stage%d", i + 1);
        graph_scope(n->g, "%s", name);
        x = stage(n, name, x, width[i + 1], i > 0);
        if (i > 0) level[i - 1] = x;
    }
}

// ---- pyramid

static void pyramid(struct net *n, int level[RETINA_LEVELS], int64_t width)
{
    int above = NONE;
    for (int i = RETINA_LEVELS - 1; i >= 0; i--) {
        char *name = arena_text(&n->g->arena, "pyramid%d", i + 1);
        graph_scope(n->g, "%s", name);
        int x = detector_unit(n, net_join(n, name, "in"), level[i], (struct net_conv){width, 1, 1, 0});
        if (above != NONE) x = g_add(n->g, x, detector_double(n, above, x));
        above = x;
        level[i] = net_act(n, detector_unit(n, net_join(n, name, "out"), x, (struct net_conv){width, 3, 1, 1}));
    }
}

void retina_pyramid(struct net *n, int x, const struct retina_widths *w, int level[RETINA_LEVELS])
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

// ---- heads: [N,H,W,C] -> [N,H*W*sizes,columns]

struct head {
    const char *name;
    int64_t columns;
    float bias;  // of the last layer, at the beginning
};

static int head_level(struct net *n, const struct head *h, int x)
{
    for (int i = 0; i < HEAD_LAYERS; i++) {
        bool last = i == HEAD_LAYERS - 1;
        int64_t to = last ? h->columns * anchors_sizes(&retina_style, 0) : net_channels(n, x);
        struct init weight = {INIT_NORMAL, last ? .01f : (float)sqrt(2.0 / (double)(to * 9))};
        x = detector_layer(n, arena_text(&n->g->arena, "%s.%d", h->name, i + 1), x,
                           &(struct detector_layer){to, 3, 1, 1, weight, last ? h->bias : 0});
        if (!last) x = net_act(n, x);
    }
    return detector_rows(n->g, x, h->columns);
}

static int head(struct net *n, const struct head *h, const int level[RETINA_LEVELS])
{
    int answer[RETINA_LEVELS];
    graph_scope(n->g, "%s", h->name);
    for (int i = 0; i < RETINA_LEVELS; i++) answer[i] = head_level(n, h, level[i]);
    return detector_join(n->g, answer, RETINA_LEVELS);
}

void retina_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct net n = net_of(s);
    const struct head classes = {"classes", s->setting->data->classes, -logf(99)}, boxes = {"boxes", ANCHOR_DELTA, 0};
    const struct retina_widths widths = retina_widths(&n);
    int level[RETINA_LEVELS];
    retina_pyramid(&n, in[0], &widths, level);
    out[0] = head(&n, &classes, level);
    out[1] = head(&n, &boxes, level);
}

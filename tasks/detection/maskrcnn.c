// SPDX-License-Identifier: Apache-2.0
// The order of every list is torchvision's: anchors by level, row, column and ratio; of equal scores the first.
#include "tasks/detection/maskrcnn.h"

#include "tasks/detection/retina.h"

#include <math.h>
#include <string.h>

#define NORM_EPS 1e-5f
#define BETA (1.0f / 9.0f)  // of the smooth L1 loss
#define LAST 0.25f  // scale of a block's last norm in random weights: 16 blocks may not double the variance each
static const float PLAIN[2] = {1, 1}, FINE[2] = {10, 5};  // weights of codes: of anchors, of proposals

const struct maskrcnn maskrcnn_r50_fpn = {
    .classes = 91, .pyramid = maskrcnn_resnet, .levels = 5, .cut = 4, .stride = 4, .size = 32, .ratio = {0.5, 1, 2}, .side = 112,
    .width = {64, 128, 256, 512}, .blocks = {3, 4, 6, 3}, .channels = 256, .hidden = 1024, .rows = 800, .columns = 1344,
    .best = 1000, .proposals = 1000, .anchors_drawn = 256, .boxes_drawn = 512, .kept = 100, .truths = 100, .mask_side = 112};

const struct maskrcnn maskrcnn_mini = {
    .classes = 2, .pyramid = maskrcnn_retina, .levels = 3, .cut = 3, .stride = 8, .size = 32, .ratio = {1, 2, 3}, .side = 64,
    .width = {16, 32, 64, 96, 128}, .channels = 64, .hidden = 256, .rows = 192, .columns = 256, .best = 128, .proposals = 64,
    .anchors_drawn = 64, .boxes_drawn = 64, .kept = 20, .truths = 16};

const struct maskrcnn *maskrcnn_named(const char *model)
{
    return !strcmp(model, "maskrcnn") ? &maskrcnn_mini : !strcmp(model, "maskrcnn-r50-fpn") ? &maskrcnn_r50_fpn : NULL;
}

// ---- tables

int64_t maskrcnn_side(const struct maskrcnn *o, int64_t side, int level)
{
    return level < o->cut ? side / (o->stride << level) : (maskrcnn_side(o, side, level - 1) + 1) / 2;
}

static int64_t places_of(const struct maskrcnn *o, int level)
{
    return maskrcnn_side(o, o->rows, level) * maskrcnn_side(o, o->columns, level) * MASKRCNN_RATIOS;
}

static int64_t best_of(const struct maskrcnn *o, int level)
{
    return o->best < places_of(o, level) ? o->best : places_of(o, level);
}

int64_t maskrcnn_anchors(const struct maskrcnn *o, float *into)
{
    int64_t at = 0;
    for (int level = 0; level < o->levels; level++) {
        int64_t h = maskrcnn_side(o, o->rows, level), w = maskrcnn_side(o, o->columns, level);
        for (int64_t i = 0; i < h * w * MASKRCNN_RATIOS; i++, at++) {
            double root = sqrt(o->ratio[i % MASKRCNN_RATIOS]), size = o->size * (1 << level);
            float half_h = rintf((float)(size * root / 2)), half_w = rintf((float)(size / root / 2));
            float y = (float)(i / MASKRCNN_RATIOS / w * (o->rows / h)), x = (float)(i / MASKRCNN_RATIOS % w * (o->columns / w));
            if (into) memcpy(into + at * 4, (float[]){x - half_w, y - half_h, x + half_w, y + half_h}, 4 * sizeof *into);
        }
    }
    return at;
}

int64_t maskrcnn_levels(const struct maskrcnn *o, int32_t *into)
{
    int64_t at = 0;
    for (int level = 0; level < o->levels; level++)
        for (int64_t i = 0; i < best_of(o, level); i++, at++)
            if (into) into[at] = level;
    return at;
}

// ---- the pyramid

// A norm whose numbers do not train: x a + b. Gradients pass through. Random weights begin with this scale.
static int frozen_norm(struct net *n, const char *name, int x, float scale)
{
    static const struct {
        const char *part;
        float begin;
    } parts[] = {{"running_mean", 0}, {"running_var", 1}, {"weight", 1}, {"bias", 0}};
    struct graph *g = n->g;
    int in[5] = {x};
    for (int i = 0; i < 4; i++) {
        in[i + 1] = graph_state(g, net_join(n, name, parts[i].part), SHAPE(net_channels(n, x)), F32, MEMORY_STATE,
                                (struct init){INIT_CONSTANT, i == 2 ? scale : parts[i].begin});
        if (g->error) return NONE;
        g->value[in[i + 1]].slot->role = ROLE_STATISTIC;
    }
    if (!step_trains(n->step)) return graph_node(g, OP_NORM_INFER, in, 5, &(union attr){.norm = {.eps = NORM_EPS}}, NULL);
    int rstd = g_map(g, MAP_RECIPROCAL, g_map(g, MAP_SQRT, g_map(g, MAP_SHIFT, in[2], NORM_EPS, 0), 0, 0), 0, 0);
    int a = g_mul(g, rstd, in[3]), b = g_map_of(g, MAP_SUB, (int[]){in[4], g_mul(g, in[1], a), NONE});
    enum dtype to = g->value[x].dtype;
    return g_add(g, g_mul(g, x, g_cast(g, a, to)), g_cast(g, b, to));
}

static int conv_norm(struct net *n, const char *name, const char *conv, const char *norm, int x, struct net_conv how)
{
    return frozen_norm(n, net_join(n, name, norm), net_conv(n, net_join(n, name, conv), x, how), strcmp(norm, "bn3") ? 1 : LAST);
}

static int bottleneck(struct net *n, const char *name, int x, int64_t width, int stride)
{
    const struct net_conv one = {width, 1, 1, 0}, three = {width, 3, stride, 1}, wide = {4 * width, 1, 1, 0};
    int y = net_act(n, conv_norm(n, name, "conv1", "bn1", x, one));
    y = net_act(n, conv_norm(n, name, "conv2", "bn2", y, three));
    y = conv_norm(n, name, "conv3", "bn3", y, wide);
    if (net_channels(n, x) != 4 * width || stride > 1)
        x = conv_norm(n, name, "downsample.0", "downsample.1", x, (struct net_conv){4 * width, 1, stride, 0});
    return net_act(n, g_add(n->g, y, x));
}

// Weights of a layer before a rectifier keep the variance of its input (He et al. 2015); the last ones begin small.
static struct init he(int64_t inputs)
{
    return (struct init){INIT_NORMAL, (float)sqrt(2.0 / (double)inputs)};
}

static const struct init SMALL = {INIT_NORMAL, .01f}, ZEROS = {INIT_ZERO, 0};

// A convolution with a bias.
static int biased(struct net *n, const char *name, int x, struct net_conv how, bool last)
{
    int64_t channels = net_channels(n, x);
    int w = graph_param(n->g, net_join(n, name, "weight"), SHAPE(how.k, how.side, how.side, channels),
                        last ? SMALL : he(channels * how.side * how.side), ROLE_FILTER);
    int b = graph_param(n->g, net_join(n, name, "bias"), SHAPE(how.k), ZEROS, ROLE_BIAS);
    struct conv_attr a = {.stride = {how.stride, how.stride}, .before = {how.pad, how.pad}, .after = {how.pad, how.pad},
                          .groups = 1, .winograd = n->winograd};
    return g_conv_full(n->g, x, w, b, &a);
}

static int nearest_twice(struct graph *g, int x)
{
    if (g->error) return NONE;
    const int64_t *d = g->value[x].shape.dim;
    union attr a = {.move = {.shape = SHAPE(d[0] * d[1], 2, d[2], 2, d[3]), .axes = 1u << 1 | 1u << 3, .factor = 1}};
    struct shape to = SHAPE(d[0], 2 * d[1], 2 * d[2], d[3]);
    int flat = g_reshape(g, x, SHAPE(d[0] * d[1], 1, d[2], 1, d[3]));
    return g_reshape(g, graph_node(g, OP_BROADCAST, &flat, 1, &a, NULL), to);
}

void maskrcnn_resnet(struct net *n, const struct maskrcnn *o, int x, int level[MASKRCNN_LEVELS])
{
    struct graph *g = n->g;
    graph_group(g, MASKRCNN_STEM);
    graph_scope(g, "backbone.body");
    x = net_act(n, conv_norm(n, "backbone.body", "conv1", "bn1", x, (struct net_conv){o->width[0], 7, 2, 3}));
    x = g_maxpool_pad(g, x, 3, 2, 1);
    for (int s = 0; s < NET_STAGES; s++) {
        for (int64_t i = 0; i < o->blocks[s]; i++) {
            char *name = arena_text(&g->arena, "backbone.body.layer%d.%lld", s + 1, (long long)i);
            x = bottleneck(n, name, x, o->width[s], s && !i ? 2 : 1);
        }
        graph_group(g, 0);
        level[s] = x;
    }
    graph_scope(g, "backbone.fpn");
    const struct net_conv one = {o->channels, 1, 1, 0}, three = {o->channels, 3, 1, 1};
    int above = NONE;
    for (int s = NET_STAGES - 1; s >= 0; s--) {
        int inner = biased(n, arena_text(&g->arena, "backbone.fpn.inner_blocks.%d.0", s), level[s], one, false);
        above = above == NONE ? inner : g_add(g, inner, nearest_twice(g, above));
        level[s] = biased(n, arena_text(&g->arena, "backbone.fpn.layer_blocks.%d.0", s), above, three, false);
    }
    level[4] = g_maxpool(g, level[3], 1, 2);
}

void maskrcnn_retina(struct net *n, const struct maskrcnn *o, int x, int level[MASKRCNN_LEVELS])
{
    struct retina_widths w = {.pyramid = o->channels};
    for (int i = 0; i < RETINA_WIDTHS; i++) w.width[i] = o->width[i];
    retina_pyramid(n, x, &w, level);
}

static void pyramid(struct net *n, const struct maskrcnn *o, int x, int level[MASKRCNN_LEVELS])
{
    for (int i = 0; i < MASKRCNN_LEVELS; i++) level[i] = NONE;
    n->act = ACT_RELU;
    o->pyramid(n, o, x, level);
}

// ---- proposals

struct proposals {
    int logits, codes;  // f32[B,N], [B,N,4] of all anchors
    int boxes;          // f32[B,proposals,4]
};

static int64_t batch_of(const struct graph *g, int x) { return g->error ? 1 : g->value[x].shape.dim[0]; }

static struct proposals propose(struct net *n, const struct maskrcnn *o, const struct maskrcnn_batch *in, const int level[])
{
    struct graph *g = n->g;
    int logits[MASKRCNN_LEVELS], codes[MASKRCNN_LEVELS], scores[MASKRCNN_LEVELS], boxes[MASKRCNN_LEVELS];
    int64_t batch = batch_of(g, in->x), first = 0;
    const struct net_conv three = {o->channels, 3, 1, 1}, score = {MASKRCNN_RATIOS, 1, 1, 0}, code = {4 * score.k, 1, 1, 0};
    graph_scope(g, "rpn");
    for (int l = 0; l < o->levels; l++) {
        int64_t count = places_of(o, l), best = best_of(o, l);
        int x = g_act(g, biased(n, "rpn.head.conv.0.0", level[l], three, false), ACT_RELU), at;
        logits[l] = g_reshape(g, g_cast(g, biased(n, "rpn.head.cls_logits", x, score, true), F32), SHAPE(batch, count));
        codes[l] = g_reshape(g, g_cast(g, biased(n, "rpn.head.bbox_pred", x, code, true), F32),
                             SHAPE(batch, count, 4));
        int anchors = g_slice(g, in->anchors, 0, first, first + count);
        boxes[l] = g_boxes_decode(g, codes[l], anchors, in->sizes, PLAIN);
        scores[l] = g_top_flat(g, logits[l], best, &at);
        boxes[l] = g_gather(g, g_reshape(g, boxes[l], SHAPE(batch * count, 4)), at);
        first += count;
    }
    struct nms nms = {g_concat(g, boxes, o->levels, 1), g_concat(g, scores, o->levels, 1), in->levels, o->proposals, 0.7,
                      -INFINITY, 1e-3f};
    int64_t most = maskrcnn_levels(o, NULL);
    if (nms.k > most) nms.k = most;
    return (struct proposals){g_concat(g, logits, o->levels, 1), g_concat(g, codes, o->levels, 1), g_nms(g, &nms).boxes};
}

// ---- heads

// Boxes [B,R,4] cut from the levels: [B * R,bins,bins,C].
static int cut(struct net *n, const struct maskrcnn *o, const int level[], int boxes, int bins)
{
    struct roi_attr a = {.levels = o->cut, .bins = bins, .sampling = 2, .side = o->side};
    for (int i = 0; i < o->cut; i++) a.scale[i] = 1.0f / (float)(o->stride << i);
    int y = g_roi_align(n->g, boxes, NONE, level, &a);
    if (n->g->error) return NONE;
    const int64_t *d = n->g->value[y].shape.dim;
    return g_reshape(n->g, y, SHAPE(d[0] * d[1], bins, bins, o->channels));
}

// The first layer's weight is kept as filters, because PyTorch flattens [C,7,7].
static void box_head(struct net *n, const struct maskrcnn *o, int x, int *logits, int *codes)
{
    struct graph *g = n->g;
    graph_scope(g, "roi_heads.box_head");
    int64_t count = batch_of(g, x), flat = 49 * o->channels;
    int w = graph_param(g, "roi_heads.box_head.fc6.weight", SHAPE(o->hidden, 7, 7, o->channels), he(flat), ROLE_FILTER);
    int b = graph_param(g, "roi_heads.box_head.fc6.bias", SHAPE(o->hidden), ZEROS, ROLE_BIAS);
    enum dtype t = g->error ? F32 : g->value[x].dtype;
    x = g_act(g, g_linear(g, g_reshape(g, x, SHAPE(count, flat)), g_reshape(g, w, SHAPE(o->hidden, flat)), b, t), ACT_RELU);
    struct net_dense d = {o->hidden, t, he(o->hidden), ZEROS, false};
    x = g_act(g, net_dense(n, "roi_heads.box_head.fc7", x, &d), ACT_RELU);
    d.out = o->classes, d.to = F32, d.weight = SMALL;
    *logits = net_dense(n, "roi_heads.box_predictor.cls_score", x, &d);
    d.out = 4 * o->classes, d.weight.a = .001f;
    *codes = net_dense(n, "roi_heads.box_predictor.bbox_pred", x, &d);
}

// A transposed convolution 2x2 with stride 2 has no overlaps: a product per pixel. Its four results stay next to each other, so
// the pixels of the image are out of order.
static int deconvolve(struct net *n, const char *name, int x)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    const int64_t rows = g->value[x].shape.dim[0], side = g->value[x].shape.dim[1], c = net_channels(n, x);
    int w = graph_param(g, net_join(n, name, "weight"), SHAPE(c, 2, 2, c), he(c), ROLE_FILTER);
    int b = graph_param(g, net_join(n, name, "bias"), SHAPE(c), ZEROS, ROLE_BIAS);
    int y = g_matmul(g, g_reshape(g, x, SHAPE(rows * side * side, c)), false, g_reshape(g, w, SHAPE(c, 4 * c)), false,
                     g->value[x].dtype);
    return g_bias(g, g_reshape(g, y, SHAPE(rows, 2 * side, 2 * side, c)), b);
}

// Puts pixels that deconvolve left out of order in order.
static int put_in_order(struct graph *g, int x, int64_t rows, int64_t side)
{
    x = g_reshape(g, x, SHAPE(rows * side, side, 2, 2));
    return g_transpose(g, x, (const int[]){0, 2, 1, 3});
}

// Logits [B,R,28,28] of each box's class. They alone are put in order: they are fewer than what they are made of.
static int mask_head(struct net *n, const struct maskrcnn *o, int x, int classes)
{
    struct graph *g = n->g;
    const struct net_conv three = {o->channels, 3, 1, 1}, last = {o->classes, 1, 1, 0};
    graph_scope(g, "roi_heads.mask_head");
    for (int i = 0; i < 4; i++)
        x = g_act(g, biased(n, arena_text(&g->arena, "roi_heads.mask_head.%d.0", i), x, three, false), ACT_RELU);
    x = g_act(g, deconvolve(n, "roi_heads.mask_predictor.conv5_mask", x), ACT_RELU);
    x = g_cast(g, biased(n, "roi_heads.mask_predictor.mask_fcn_logits", x, last, true), F32);
    if (g->error) return NONE;
    const int64_t *d = g->value[classes].shape.dim, side = MASKRCNN_MASK;
    x = g_class_slice(g, g_reshape(g, x, SHAPE(d[0], d[1], side, side, o->classes)), classes, 4);
    return g_reshape(g, put_in_order(g, x, d[0] * d[1], side / 2), SHAPE(d[0], d[1], side, side));
}

// ---- losses

static int flat_gather(struct graph *g, int x, int at)  // rows of x[B,N,..] by numbers of [BN]
{
    if (g->error) return NONE;
    struct shape s = g->value[x].shape;
    s.dim[0] *= s.dim[1];
    for (int i = 1; i + 1 < s.rank; i++) s.dim[i] = s.dim[i + 1];
    s.rank--;
    return g_gather(g, g_reshape(g, x, s), at);
}

static int sum_all(struct graph *g, int x)
{
    if (g->error) return NONE;
    return g_reshape(g, g_reduce(g, x, (1u << g->value[x].shape.rank) - 1, false, F32), SHAPE(1));
}

// Smooth L1 of codes[B,k,4], of the positive ones.
static int code_loss(struct graph *g, int codes, int want, int positive)
{
    if (g->error) return NONE;
    struct shape rows = g->value[positive].shape;
    int size = g_map(g, MAP_ABS, g_map_of(g, MAP_SUB, (int[]){codes, want, NONE}), 0, 0);
    int least = g_map(g, MAP_CLAMP, size, 0, BETA);
    int each = g_mul(g, least, g_map_of(g, MAP_SUB, (int[]){size, g_scale(g, least, 0.5f), NONE}));
    int row = g_reshape(g, g_reduce(g, each, 1u << 2, false, F32), rows);
    return g_scale(g, sum_all(g, g_mul(g, row, positive)), 1.0f / BETA);
}

struct drawn {
    struct sampled by;
    int truth;  // rows of the truth, of the drawn boxes
    int boxes;  // those that masks are made for
};

struct draws {
    struct match_attr match;
    struct sample_attr sample;
};

static struct drawn draw(struct net *n, const struct maskrcnn_batch *in, int boxes, int classes, const struct draws *how)
{
    struct graph *g = n->g;
    int at, labels = g_match(g, boxes, in->truth, classes, &how->match, &at);
    if (g->error) return (struct drawn){{NONE, NONE, NONE}, NONE, NONE};
    struct random_attr random = {.shape = g->value[labels].shape, .to = F32, .b = 1, .site = step_site(n->step)};
    struct sampled by = g_sample(g, labels, g_random(g, &random, in->key, in->counter), &how->sample);
    return (struct drawn){by, flat_gather(g, at, by.at), NONE};
}

static void proposal_losses(struct net *n, const struct maskrcnn *o, const struct maskrcnn_batch *in, const struct proposals *p,
                            struct maskrcnn_loss loss[2])
{
    struct graph *g = n->g;
    if (g->error) return;
    int64_t batch = batch_of(g, in->x), count = maskrcnn_anchors(o, NULL);
    union attr spread = {.move = {.shape = SHAPE(batch, count, 4), .axes = 1, .factor = 1}};
    int one = g_reshape(g, in->anchors, SHAPE(1, count, 4)), anchors = graph_node(g, OP_BROADCAST, &one, 1, &spread, NULL);
    struct drawn d = draw(n, in, in->anchors, NONE,
                          &(struct draws){{0.3f, 0.7f, true}, {o->anchors_drawn, o->anchors_drawn / 2}});
    // The cross-entropy of logits 0 and z equals the sigmoid's of z.
    int z = g_reshape(g, flat_gather(g, p->logits, d.by.at), SHAPE(batch, o->anchors_drawn, 1)), out[3];
    g_xent_full(g, (int[]){g_concat(g, (int[]){g_scale(g, z, 0), z}, 2, 2), d.by.labels, NONE}, 0, false, out);
    loss[0].sum = out[0], loss[0].rows = loss[1].rows = out[2];
    int want = g_boxes_encode(g, flat_gather(g, in->truth, d.truth), flat_gather(g, anchors, d.by.at), PLAIN);
    loss[1].sum = code_loss(g, flat_gather(g, p->codes, d.by.at), want, d.by.positive);
}

// Boxes [B,k,4] in the pixels of masks that are of the truths' boxes alone.
static int inside_truth(struct graph *g, int boxes, int truth, int64_t side)
{
    int low = g_slice(g, truth, 2, 0, 2), high = g_slice(g, truth, 2, 2, 4);
    int size = g_map(g, MAP_CLAMP, g_map_of(g, MAP_SUB, (int[]){high, low, NONE}), 1, INFINITY);
    int from = g_map_of(g, MAP_SUB, (int[]){boxes, g_concat(g, (int[]){low, low}, 2, 2), NONE});
    return g_scale(g, g_map_of(g, MAP_DIV, (int[]){from, g_concat(g, (int[]){size, size}, 2, 2), NONE}), (float)side);
}

// The loss reads the first boxes that were drawn; the others are not positive.
static void mask_loss(struct graph *g, const struct maskrcnn *o, const struct maskrcnn_batch *in, const struct drawn *d,
                      int logits, struct maskrcnn_loss *loss)
{
    int boxes = d->boxes;
    if (g->error) return;
    const int64_t *m = g->value[in->masks].shape.dim, positive = g->value[boxes].shape.dim[1];
    int masks = g_reshape(g, in->masks, SHAPE(m[0] * m[1], m[2], m[3], 1)), rows = g_slice(g, d->truth, 1, 0, positive);
    if (o->mask_side > 0) boxes = inside_truth(g, boxes, flat_gather(g, in->truth, rows), o->mask_side);
    int want = g_roi_align(g, boxes, rows, &masks, &(struct roi_attr){.levels = 1, .bins = MASKRCNN_MASK, .scale = {1}});
    want = g_reshape(g, want, SHAPE(m[0], positive, MASKRCNN_MASK, MASKRCNN_MASK));
    int each = g_map_of(g, MAP_SUB, (int[]){g_map(g, MAP_SOFTPLUS, logits, 0, 0), g_mul(g, logits, want), NONE});
    int row = g_reshape(g, g_reduce(g, each, 1u << 2 | 1u << 3, true, F32), SHAPE(m[0], positive));
    int weight = g_slice(g, d->by.positive, 1, 0, positive);
    loss->sum = sum_all(g, g_mul(g, row, weight)), loss->rows = sum_all(g, weight);
}

void maskrcnn_losses(struct net *n, const struct maskrcnn *o, const struct maskrcnn_batch *in,
                     struct maskrcnn_loss loss[MASKRCNN_LOSSES])
{
    static const char *const names[MASKRCNN_LOSSES] = {"objectness", "proposal", "class", "box", "mask"};
    struct graph *g = n->g;
    int level[MASKRCNN_LEVELS], logits, codes, out[3];
    for (int i = 0; i < MASKRCNN_LOSSES; i++) loss[i] = (struct maskrcnn_loss){names[i], NONE, NONE};
    pyramid(n, o, in->x, level);
    struct proposals p = propose(n, o, in, level);
    proposal_losses(n, o, in, &p, loss);
    // The truth is a proposal, too.
    int boxes = g_concat(g, (int[]){p.boxes, in->truth}, 2, 1);
    int64_t batch = batch_of(g, in->x), positive = o->boxes_drawn / 4;
    struct drawn d = draw(n, in, boxes, in->classes,
                          &(struct draws){{0.5f, 0.5f, false}, {o->boxes_drawn, positive}});
    boxes = flat_gather(g, boxes, d.by.at);
    box_head(n, o, cut(n, o, level, boxes, 7), &logits, &codes);
    g_xent_full(g, (int[]){g_reshape(g, logits, SHAPE(batch, o->boxes_drawn, o->classes)), d.by.labels, NONE}, 0, false, out);
    if (g->error) return;
    loss[2].sum = out[0], loss[2].rows = loss[3].rows = out[2];
    codes = g_class_slice(g, g_reshape(g, codes, SHAPE(batch, o->boxes_drawn, o->classes, 4)), d.by.labels, 2);
    loss[3].sum = code_loss(g, codes, g_boxes_encode(g, flat_gather(g, in->truth, d.truth), boxes, FINE), d.by.positive);
    d.boxes = g_slice(g, boxes, 1, 0, positive);
    logits = mask_head(n, o, cut(n, o, level, d.boxes, 14), g_slice(g, d.by.labels, 1, 0, positive));
    mask_loss(g, o, in, &d, logits, &loss[4]);
}

// ---- the answers

struct maskrcnn_found maskrcnn_found(struct net *n, const struct maskrcnn *o, const struct maskrcnn_batch *in, int class_table)
{
    struct graph *g = n->g;
    int level[MASKRCNN_LEVELS], logits, codes;
    pyramid(n, o, in->x, level);
    struct proposals p = propose(n, o, in, level);
    box_head(n, o, cut(n, o, level, p.boxes, 7), &logits, &codes);
    if (g->error) return (struct maskrcnn_found){.boxes = NONE};
    const int64_t batch = batch_of(g, in->x), rows = g->value[p.boxes].shape.dim[1], k = o->classes - 1;
    int scores = g_slice(g, g_softmax(g, g_reshape(g, logits, SHAPE(batch, rows, o->classes))), 2, 1, o->classes);
    int boxes = g_boxes_decode(g, g_reshape(g, codes, SHAPE(batch, rows, 4 * o->classes)), p.boxes, in->sizes, FINE);
    boxes = g_reshape(g, g_slice(g, boxes, 2, 4, 4 * o->classes), SHAPE(batch, rows * k, 4));
    struct nms nms = {boxes, g_reshape(g, scores, SHAPE(batch, rows * k)), class_table, o->kept, 0.5, 0.05f, 1e-2f};
    struct nms_kept kept = g_nms(g, &nms);
    int classes = g_gather(g, class_table, kept.at);
    int masks = g_act(g, mask_head(n, o, cut(n, o, level, kept.boxes, 14), classes), ACT_SIGMOID);
    return (struct maskrcnn_found){kept.boxes, kept.scores, classes,  masks,  kept.count,
                                   p.logits,   p.codes,     p.boxes, logits, codes};
}

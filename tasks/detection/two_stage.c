// SPDX-License-Identifier: Apache-2.0
// The tables that maskrcnn.h reads are computed from constants in each step, 4,000 numbers, so that weights alone are a network.
#include "tasks/detection/two_stage.h"

#include "data/read/coco/coco_set.h"
#include "tasks/detection/detection_judge.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"
#include "tasks/detection/maskrcnn.h"
#include "tasks/detection/photos.h"
#include "tasks/detection/retina.h"

#include <math.h>

// Weights of a ResNet-50 lack all that is behind it, and the prefix of its names.
static const char *const fresh[] = {"backbone.fpn.", "rpn.", "roi_heads.", NULL};

// torchvision's names before its version 0.13, which its published weights still have.
#define PYRAMID_OLDER(kind, i) {"backbone.fpn." kind "_blocks." i ".0.", "backbone.fpn." kind "_blocks." i "."}
#define MASK_OLDER(i, number) {"roi_heads.mask_head." i ".0.", "roi_heads.mask_head.mask_fcn" number "."}
static const char *const older[][2] = {
    PYRAMID_OLDER("inner", "0"), PYRAMID_OLDER("inner", "1"), PYRAMID_OLDER("inner", "2"), PYRAMID_OLDER("inner", "3"),
    PYRAMID_OLDER("layer", "0"), PYRAMID_OLDER("layer", "1"), PYRAMID_OLDER("layer", "2"), PYRAMID_OLDER("layer", "3"),
    MASK_OLDER("0", "1"), MASK_OLDER("1", "2"), MASK_OLDER("2", "3"), MASK_OLDER("3", "4"),
    {"rpn.head.conv.0.0.", "rpn.head.conv."}, {NULL, NULL},
};

const struct model two_stage_models[] = {
    {.name = "maskrcnn",
     .about = "a small Mask R-CNN: a residual backbone, a pyramid of three levels, and heads for boxes and masks",
     .parts = PART_PYRAMID},
    {0},
};

const struct model two_stage_large[] = {
    {.name = "maskrcnn-r50-fpn",
     .about = "Mask R-CNN on ResNet-50 and a pyramid of five levels, as torchvision and MLPerf have it (He et al. 2017)",
     .parts = PART_PYRAMID, .fresh = fresh, .inside = "backbone.body.", .older = older},
    {0},
};

static struct maskrcnn shape_of(struct net *n)
{
    const struct setting *c = n->step->setting;
    struct maskrcnn o = *maskrcnn_named(c->model->name);
    bool resnet = o.pyramid == maskrcnn_resnet;
    net_take(n, "model.widths", &c->recipe->widths, o.width, resnet ? NET_STAGES : RETINA_WIDTHS);
    o.classes = coco_category(c->data, c->data->classes - 1) + 1, o.channels = detection_keys(c->recipe)->pyramid;
    o.rows = n->step->is.height, o.columns = n->step->is.width;
    return o;
}

// ---- tables

static int constant(struct graph *g, const char *name, struct shape shape, enum dtype type, struct init init)
{
    return graph_state(g, name, shape, type, MEMORY_DATA, init);
}

static int constants(struct graph *g, const char *name, int64_t count, float value)
{
    return constant(g, arena_text(&g->arena, "%s.%lld", name, (long long)count), SHAPE(count, 1), F32,
                    (struct init){INIT_CONSTANT, value});
}

static int anchors_of(struct graph *g, const struct maskrcnn *o, int level)
{
    const int64_t high = maskrcnn_side(o, o->rows, level), wide = maskrcnn_side(o, o->columns, level);
    char *cells = arena_text(&g->arena, "anchors.cell%d.%lld", level, (long long)(high * wide));
    char *rows = arena_text(&g->arena, "anchors.row%d.%lldx%lld", level, (long long)high, (long long)wide);
    int cell = constant(g, cells, SHAPE(high * wide, 1, 1), F32, (struct init){INIT_COUNT, 1});
    int row = constant(g, rows, SHAPE(high * wide, 1, 1), F32, (struct init){INIT_COUNT, (float)wide}), box[MASKRCNN_RATIOS];
    int column = g_map_of(g, MAP_SUB, (int[]){cell, g_scale(g, row, (float)wide), NONE});
    int x = g_scale(g, column, (float)(o->columns / wide)), y = g_scale(g, row, (float)(o->rows / high));
    for (int i = 0; i < MASKRCNN_RATIOS; i++) {
        double root = sqrt(o->ratio[i]), size = o->size * (1 << level);
        float across = rintf((float)(size / root / 2)), down = rintf((float)(size * root / 2));
        int side[4] = {g_map(g, MAP_SHIFT, x, -across, 0), g_map(g, MAP_SHIFT, y, -down, 0), g_map(g, MAP_SHIFT, x, across, 0),
                       g_map(g, MAP_SHIFT, y, down, 0)};
        box[i] = g_concat(g, side, 4, 2);
    }
    return g_reshape(g, g_concat(g, box, MASKRCNN_RATIOS, 1), SHAPE(high * wide * MASKRCNN_RATIOS, 4));
}

int two_stage_anchors(struct graph *g, const struct maskrcnn *o)
{
    int anchors[MASKRCNN_LEVELS];
    for (int level = 0; level < o->levels; level++) anchors[level] = anchors_of(g, o, level);
    return g_concat(g, anchors, o->levels, 0);
}

int two_stage_levels(struct graph *g, const struct maskrcnn *o)
{
    struct maskrcnn first = *o;  // levels
    int levels[MASKRCNN_LEVELS];
    int64_t before = 0;
    for (int level = 0; level < o->levels; level++) {
        first.levels = level + 1;
        int64_t all = maskrcnn_levels(&first, NULL);
        char *name = arena_text(&g->arena, "levels.%d.%lld", level, (long long)(all - before));
        levels[level] = constant(g, name, SHAPE(all - before), I32, (struct init){INIT_CONSTANT, (float)level});
        before = all;
    }
    return g_concat(g, levels, o->levels, 0);
}

static struct maskrcnn_batch batch_of(struct step *s, const struct maskrcnn *o)
{
    struct graph *g = s->g;
    graph_scope(g, "samples");
    struct maskrcnn_batch in = {.x = photos_images(s)};
    in.anchors = two_stage_anchors(g, o), in.levels = two_stage_levels(g, o);
    bool keeps = detection_keys(s->setting->recipe)->fit == FIT_KEEP;
    in.sizes = keeps ? step_input(s, "sizes")
                     : g_concat(g, (int[]){constants(g, "rows", s->is.batch, (float)o->rows),
                                           constants(g, "columns", s->is.batch, (float)o->columns)}, 2, 1);
    return in;
}

// ---- steps

void two_stage_train(struct step *s)
{
    struct net n = net_of(s);
    const struct maskrcnn o = shape_of(&n);
    struct maskrcnn_batch in = batch_of(s, &o);
    struct maskrcnn_loss loss[MASKRCNN_LOSSES];
    in.truth = step_input(s, "truth"), in.classes = step_input(s, "classes"), in.masks = step_input(s, "masks");
    in.key = step_key(s), in.counter = step_count(s);
    maskrcnn_losses(&n, &o, &in, loss);
    for (int i = 0; i < MASKRCNN_LOSSES; i++) step_mean_loss(s, loss[i].name, loss[i].sum, loss[i].rows, 1);
}

// 1 .. classes for each of the rows.
static int class_table(struct graph *g, int64_t rows, int64_t classes)
{
    const char *name = arena_text(&g->arena, "classes.%lld", (long long)rows);
    int all = constant(g, name, SHAPE(classes + 1, rows), I32, (struct init){INIT_COUNT, (float)rows});
    return g_reshape(g, g_transpose(g, g_slice(g, all, 0, 1, classes + 1), (const int[]){1, 0}), SHAPE(rows * classes));
}

void two_stage_evaluate(struct step *s)
{
    struct net n = net_of(s);
    const struct maskrcnn o = shape_of(&n);
    struct maskrcnn_batch in = batch_of(s, &o);
    int64_t most = maskrcnn_levels(&o, NULL), rows = s->is.batch * (o.proposals < most ? o.proposals : most);
    const struct maskrcnn_found f = maskrcnn_found(&n, &o, &in, class_table(s->g, rows, o.classes - 1));
    step_output(s, FOUND_BOXES, f.boxes), step_output(s, FOUND_SCORES, f.scores), step_output(s, FOUND_CLASSES, f.classes);
    step_output(s, FOUND_MASKS, f.masks), step_output(s, FOUND_COUNT, f.count);
}

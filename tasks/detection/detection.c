// SPDX-License-Identifier: Apache-2.0
// Detection: a one-stage network draws boxes around things and names them; a two-stage network (two_stage.c) finds people and
// their masks. The score is COCO's average precision. In this order: the step, the update rules, the tasks. photos.c makes the
// batches, detection_judge.c scores the answers.
#include "tasks/detection/detection.h"

#include "data/read/voc/voc_ask.h"
#include "tasks/common/step/rule.h"
#include "tasks/common/step/step.h"
#include "tasks/detection/detection_judge.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"
#include "tasks/detection/photos.h"
#include "tasks/detection/two_stage.h"

// ---- the step

static void forward_images(struct step *s, int answer[MODEL_VALUES])
{
    graph_scope(s->g, "samples");
    int in[MODEL_VALUES] = {photos_images(s)};
    s->setting->model->forward(s, in, answer);
}

static void train_forward(struct step *s)
{
    int answer[MODEL_VALUES];
    forward_images(s, answer);
    struct detector_targets targets = {step_input(s, "labels"), step_input(s, "deltas"), NONE};
    if (detector_style(s->setting->model)->none == 0) targets.negatives = step_input(s, "negatives");
    struct detector_losses loss = detector_losses(s, answer, &targets);
    step_mean_loss(s, "class", loss.class, loss.rows, 1);
    step_mean_loss(s, "box", loss.box, loss.rows, (float)detection_keys(s->setting->recipe)->box_factor);
}

// A row per photograph, with the anchors of its views one after the other.
static int join_views(struct step *s, int x)
{
    if (s->g->error) return NONE;
    const struct shape is = s->g->value[x].shape;
    const int64_t views = s->setting->recipe->views;
    return g_reshape(s->g, x, SHAPE(is.dim[0] / views, is.dim[1] * views, is.dim[2]));
}

static void evaluate_forward(struct step *s)
{
    int answer[MODEL_VALUES];
    forward_images(s, answer);
    step_output(s, DETECTION_LOGITS, join_views(s, answer[0]));
    step_output(s, DETECTION_DELTAS, join_views(s, answer[1]));
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    photos_sizes(c, v);
}

// ---- updates: filters decay, norms and biases only if optimiser.weight_decay says so

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER));
    rule[1] = rule_of_others(c, "bias", ANY, c->recipe->bias_lr);
    return 2;
}

// MLPerf's rules: all weights decay, biases learn faster and do not.
static int maskrcnn_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER) | ROLES(ROLE_MATRIX));
    rule[1] = rule_of_others(c, "bias", ANY, c->recipe->bias_lr);
    return 2;
}

// ---- the tasks

static const char *const sets[] = {"bccd", "cells", NULL}, *const recipes[] = {"bccd", "cells", NULL};
static const char *const mask_sets[] = {"pennfudan", "people", NULL}, *const mask_recipes[] = {"pennfudan", "people", NULL};
static const char *const coco_sets[] = {"coco", "cells", NULL};
static const char *const ssd_recipes[] = {"coco-ssd", "bccd-ssd", NULL};
static const char *const coco_mask_sets[] = {"coco", NULL};
static const char *const maskrcnn_recipes[] = {"coco-maskrcnn", NULL};
static const char *const efficientdet_recipes[] = {"coco-efficientdet", "bccd-efficientdet", NULL};

static void note_left_out(const struct setting *c, const struct dataset *data, struct text *into)
{
    (void)c;
    voc_left_out(data, into);
}

struct file {
    const char *name, *bytes;
    size_t count;
};

static int ask_as(const char *set, const struct dataset *like, const struct file *file, struct dataset **into)
{
    struct dataset *noise = NULL;  // has the facts of the published set
    if (!like) TRY(dataset_open_noise(set, &noise));
    int rc = voc_ask(dataset_facts(like ? like : noise), file->name, file->bytes, file->count, into);
    dataset_close(noise);
    return rc;
}

static int ask_cells(const struct dataset *like, const char *bytes, size_t count, const char *name, struct dataset **into)
{
    return ask_as(sets[0], like, &(struct file){name, bytes, count}, into);
}

static int ask_people(const struct dataset *like, const char *bytes, size_t count, const char *name, struct dataset **into)
{
    return ask_as(mask_sets[0], like, &(struct file){name, bytes, count}, into);
}

static int ask_coco(const struct dataset *like, const char *bytes, size_t count, const char *name, struct dataset **into)
{
    return ask_as(coco_sets[0], like, &(struct file){name, bytes, count}, into);
}

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_forward},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate_forward},
    {0},
};
static const struct metric metrics[] = {{"ap", "", METRIC_RATIO, false}, {"ap50", "", METRIC_RATIO, false}, {0}};
static const struct task_program mask_programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, two_stage_train},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, two_stage_evaluate},
    {0},
};
static const struct metric mask_metrics[] = {{"mask_ap50", "", METRIC_RATIO, false}, {"box_ap50", "", METRIC_RATIO, false},
                                             {"mask_ap", "", METRIC_RATIO, false}, {"box_ap", "", METRIC_RATIO, false}, {0}};

// The first layers do not train, and the first score is the less of two: see the judge.
static const struct task_program maskrcnn_programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, 1u, two_stage_train},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, two_stage_evaluate},
    {0},
};
static const struct metric maskrcnn_metrics[] = {{"ap", "", METRIC_RATIO, false}, {"box_ap50", "", METRIC_RATIO, false},
                                                 {"mask_ap", "", METRIC_RATIO, false}, {"box_ap", "", METRIC_RATIO, false}, {0}};

#define SHARED                                                                                                              \
    .samples = "images", .asks = ASKS_PICTURE, .feed = photos_feed, .buckets = photos_shapes, .variant = choose_variant,    \
    .evaluation = photos_sizes, .judge = &detection_judge
#define ONE_STAGE                                                                                                           \
    .rules = update_rules, .metrics = metrics, .models = detector_models, .note = note_left_out, .programs = programs

const struct task task_bccd = {
    SHARED, ONE_STAGE, .name = "bccd", .title = "Blood cells", .target = 0.59, .data_sets = sets, .recipes = recipes,
    .ask = ask_cells,
};
const struct task task_pennfudan = {
    SHARED, .rules = update_rules, .name = "pennfudan",
    .title = "People and their masks", .metrics = mask_metrics, .target = 0.71,
    .data_sets = mask_sets, .recipes = mask_recipes, .models = two_stage_models, .ask = ask_people, .programs = mask_programs,
};
// MLPerf Training's SSD from 2020 to 2022, and its target.
const struct task task_coco_ssd = {
    SHARED, ONE_STAGE, .name = "coco-ssd", .title = "COCO, SSD", .target = 0.23, .data_sets = coco_sets,
    .recipes = ssd_recipes, .ask = ask_coco, .takes = TAKES_WEIGHTS,
};
const struct task task_coco_efficientdet = {
    SHARED, ONE_STAGE, .name = "coco-efficientdet", .title = "COCO, EfficientDet-D0", .target = 0.33, .data_sets = coco_sets,
    .recipes = efficientdet_recipes, .ask = ask_coco,
};
// MLPerf Training's from 2018 to 2023; its targets are 0.377 of boxes and 0.339 of masks.
const struct task task_coco_maskrcnn = {
    SHARED, .rules = maskrcnn_rules, .name = "coco-maskrcnn", .title = "COCO, Mask R-CNN", .metrics = maskrcnn_metrics,
    .target = 0.377, .data_sets = coco_mask_sets, .recipes = maskrcnn_recipes, .models = two_stage_large, .ask = ask_coco,
    .programs = maskrcnn_programs, .takes = TAKES_WEIGHTS,
};

const struct task *const tasks_detection[] = {&task_bccd, &task_pennfudan, &task_coco_ssd, &task_coco_efficientdet,
                                              &task_coco_maskrcnn, NULL};

// SPDX-License-Identifier: Apache-2.0
// ImageNet: a thousand classes of photographs; the target is a top-5 accuracy of 93% on the 50,000 validation images.
// Imagenette: ten of its classes; the target is a top-1 accuracy of 90% on its 3,925 validation images. There are two tasks
// because each has its own board and metric; they share all functions. In this order: the step, an evaluation, the update
// rules, the tasks. samples.c makes the batches.
#include "tasks/imagenet/imagenet.h"

#include "tasks/common/step/rule.h"
#include "tasks/imagenet/imagenet_keys.h"
#include "tasks/imagenet/imagenet_networks.h"
#include "tasks/imagenet/samples.h"

#include <string.h>

// ---- the step

// Converts the pixels u8[N,H,W,3] to the network's input. The feed supplies bytes, which the device normalises.
static int normalised(struct step *s, int pixels, bool mirror)
{
    const struct dataset_facts *d = s->setting->data;
    struct augment_attr a = {.to = s->setting->dtype, .view_flip = mirror};
    for (int c = 0; c < SAMPLES_CHANNELS; c++) a.mean[c] = d->mean[c], a.std[c] = d->std[c];
    graph_scope(s->g, "samples");
    return g_augment(s->g, pixels, NONE, NONE, &a);
}

// top1 counts the best class, top5 the best five.
static void count_hits(struct step *s, int logits, int labels)
{
    const struct metric *metrics = s->setting->task->metrics;
    for (int m = 0; metrics[m].name; m++)
        g_correct(s->g, logits, labels, step_hits(s, m), strcmp(metrics[m].name, "top5") ? 1 : 5);
}

// A second head helps to train the layers below it: its loss is added with a factor, and its answers do not count.
static void train_forward(struct step *s)
{
    struct graph *g = s->g;
    const struct recipe *r = s->setting->recipe;
    int pixels = step_input(s, "images"), labels = step_input(s, "labels");
    int in[MODEL_VALUES] = {normalised(s, pixels, false)}, logits[MODEL_VALUES] = {NONE, NONE};
    s->setting->model->forward(s, in, logits);
    graph_scope(g, "loss");
    int loss = g_xent(g, logits[0], labels, (float)r->label_smoothing, true);
    if (logits[1] != NONE) {
        int second = g_xent(g, logits[1], labels, (float)r->label_smoothing, true);
        loss = g_add(g, loss, g_scale(g, second, (float)imagenet_keys(r)->second_head));
    }
    step_loss(s, loss, 1);
    count_hits(s, logits[0], labels);
}

// ---- evaluation and inference: one view, or the sum with the mirror image's

static void evaluate_forward(struct step *s)
{
    struct graph *g = s->g;
    int pixels = step_input(s, "images"), labels = step_input(s, "labels");
    int logits = step_forward(s, normalised(s, pixels, false));
    if (s->setting->recipe->views == 2) logits = g_add(g, logits, step_forward(s, normalised(s, pixels, true)));
    graph_scope(g, "metrics");
    count_hits(s, logits, labels);
    if (s->setting->single) step_output(s, 0, logits);  // the answer
}

// ---- updates: filters by the recipe's optimiser, the head by SGD (by Adam if the filters are), both with decay; norms and
// biases have decay only if optimiser.weight_decay says so

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER));
    rule[1] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[1].settings.decay = (float)(imagenet_keys(r)->head_decay + rule_decay(r, r->head_lr));
    rule[2] = rule_of_others(c, "bias", ANY, r->bias_lr);
    return 3;
}

// ---- the tasks

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_forward},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate_forward},
    {0},
};

static const struct metric imagenet_metrics[] = {
    {"top5", "%", METRIC_COUNT, false}, {"top1", "%", METRIC_COUNT, false}, {0},
};
static const struct metric imagenette_metrics[] = {{"top1", "%", METRIC_COUNT, false}, {0}};
static const char *const imagenet_sets[] = {"imagenet", "pictures", NULL};
static const char *const imagenet_recipes[] = {"imagenet", "pictures", NULL};
static const char *const imagenette_sets[] = {"imagenette", "pictures", NULL};
static const char *const imagenette_recipes[] = {"imagenette", "pictures", NULL};

#define SHARED                                                                                                         \
    .samples = "images", .takes = TAKES_WEIGHTS, .models = imagenet_models, .feed = samples_feed,                       \
    .buckets = samples_shapes, .variant = samples_variant, .evaluation = samples_evaluation, .programs = programs,      \
    .rules = update_rules

const struct task task_imagenet = {
    .name = "imagenet", .title = "ImageNet", .metrics = imagenet_metrics, .target = 0.93, .data_sets = imagenet_sets,
    .recipes = imagenet_recipes, SHARED,
};
const struct task task_imagenette = {
    .name = "imagenette", .title = "Imagenette", .metrics = imagenette_metrics, .target = 0.90, .data_sets = imagenette_sets,
    .recipes = imagenette_recipes, SHARED,
};

const struct task *const tasks_imagenet[] = {&task_imagenet, &task_imagenette, NULL};

// SPDX-License-Identifier: Apache-2.0
// CIFAR10: ten classes of 32 x 32 images; the target is a top-1 accuracy of 94% on the 10,000 test images. In this order: the
// variant of a step, a training step, an evaluation, an inference, the update rules.
#include "tasks/cifar10/cifar10.h"

#include "tasks/cifar10/cifar10_networks.h"
#include "tasks/common/step/rule.h"

static const struct metric metrics[] = {{"top1", "%", METRIC_COUNT, false}, {0}};
enum { TOP1 };

// ---- variants of the step

// Number of first steps in which the bias of the whitening layer trains.
static int64_t whitening_steps(const struct setting *c)
{
    return recipe_whole_steps(cifar10_keys(c->recipe)->whiten_bias_epochs, c->steps_per_epoch);
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)program;
    v->height = v->width = recipe_side(c->recipe, step, c->steps, c->data->height);
    v->trains = ROLES(GROUP_REST);
    if (c->model->begin && step < whitening_steps(c)) v->trains |= ROLES(GROUP_WHITENING), v->note = "first layer too";
}

static void choose_evaluation(const struct setting *c, struct variant *v)
{
    v->height = c->data->height, v->width = c->data->width;
}

// ---- the step

// What normalises an image.
static struct augment_attr augment_of(const struct step *s)
{
    const struct dataset_facts *d = s->setting->data;
    struct augment_attr a = {.to = s->setting->dtype};
    for (int c = 0; c < d->channels; c++) a.mean[c] = d->mean[c], a.std[c] = d->std[c];
    return a;
}

static void train_forward(struct step *s)
{
    struct graph *g = s->g;
    const struct recipe *r = s->setting->recipe;
    graph_scope(g, "samples");
    int labels = step_input(s, "labels");
    const struct cifar10_keys *own = cifar10_keys(r);
    struct augment_attr a = augment_of(s);
    a.flip = (enum flip)own->flip, a.pad = (int)own->crop;
    a.brightness = (float)own->brightness, a.contrast = (float)own->contrast;
    int images = g_augment(g, step_field(s, "images"), step_index(s), step_key(s), &a);
    int logits = step_forward(s, g_resize(g, images, s->is.height, s->is.width));
    graph_scope(g, "loss");
    step_loss(s, g_xent(g, logits, labels, (float)r->label_smoothing, false), s->is.batch);
    g_correct(g, logits, labels, step_hits(s, TOP1), 1);
}

// ---- evaluation: the logits are a weighted mean over views of an image

struct view {
    bool mirror;
    int dy, dx;
    float weight;
};
static const struct view views1[] = {{false, 0, 0, 1}};
static const struct view views2[] = {{false, 0, 0, .5f}, {true, 0, 0, .5f}};
// The image and its mirror image have half of the weight. Shifts by one pixel up-left and down-right, with their mirror
// images, have the other half (as in airbench).
static const struct view views6[] = {{false, 0, 0, .25f}, {true, 0, 0, .25f}, {false, -1, -1, .125f},
                                     {true, -1, 1, .125f}, {false, 1, 1, .125f}, {true, 1, -1, .125f}};

enum { VIEWS_MAX = 6 };
static int views_of(const struct setting *c, const struct view **view)
{
    int count = (int)c->recipe->views;
    *view = count == 6 ? views6 : count == 2 ? views2 : views1;
    return count;
}

static void evaluate_forward(struct step *s)
{
    struct graph *g = s->g;
    const struct view *view;
    int views = views_of(s->setting, &view), sum = NONE, labels = step_input(s, "labels");
    for (int i = 0; i < views; i++) {
        graph_scope(g, "view %d", i + 1);
        struct augment_attr a = augment_of(s);
        a.view_flip = view[i].mirror, a.view_dy = view[i].dy, a.view_dx = view[i].dx;
        int images = g_augment(g, step_field(s, "images"), step_index(s), NONE, &a);
        int logits = g_scale(g, step_forward(s, images), view[i].weight);
        sum = sum == NONE ? logits : g_add(g, sum, logits);
    }
    g_correct(g, sum, labels, step_hits(s, TOP1), 1);
}

// ---- inference: the views of an image are one batch

static void infer_forward(struct step *s)
{
    struct graph *g = s->g;
    const struct view *view;
    int views = views_of(s->setting, &view), of_view[VIEWS_MAX], logits = NONE, labels = step_input(s, "labels");
    int image = step_input(s, "images");
    for (int i = 0; i < views; i++) {
        struct augment_attr a = augment_of(s);
        a.view_flip = view[i].mirror, a.view_dy = view[i].dy, a.view_dx = view[i].dx;
        of_view[i] = g_augment(g, image, NONE, NONE, &a);
    }
    int all = step_forward(s, views == 1 ? of_view[0] : g_concat(g, of_view, views, 0));
    for (int i = 0; i < views && views > 1; i++) {
        int one = g_scale(g, g_slice(g, all, 0, i, i + 1), view[i].weight);
        logits = i == 0 ? one : g_add(g, logits, one);
    }
    if (views == 1) logits = all;
    g_correct(g, logits, labels, step_hits(s, TOP1), 1);
    step_output(s, 0, logits);
}

// ---- updates: filters by the recipe's optimiser, head and biases by SGD (by Adam if the filters are)

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    struct schedule first = {.least = 0};
    schedule_add(&first, (double)whitening_steps(c), 1, 0, CURVE_LINEAR);
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER));
    rule[1] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[2] = rule_of_others(c, "first", ANY, r->bias_lr);
    rule[2].groups = ROLES(GROUP_WHITENING);
    rule[2].share = first.pieces ? first : schedule_constant(0);
    rule[3] = rule_of_others(c, "bias", ANY, r->bias_lr);
    return 4;
}

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_forward},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate_forward},
    {"infer", PROGRAM_INFER, FEED_TEST, 0, infer_forward},
    {0},
};
static const char *const data_sets[] = {"cifar10", "synthetic", NULL};
static const char *const recipes[] = {"cifar10", "synthetic", NULL};

const struct task task_cifar10 = {
    .name = "cifar10", .title = "CIFAR10", .samples = "images", .metrics = metrics, .target = 0.94,
    .data_sets = data_sets, .recipes = recipes,
    .models = cifar10_models, .variant = choose_variant, .evaluation = choose_evaluation, .programs = programs,
    .rules = update_rules,
};

const struct task *const tasks_cifar10[] = {&task_cifar10, NULL};

// SPDX-License-Identifier: Apache-2.0
// Wasserstein GANs (Arjovsky et al. 2017, Gulrajani et al. 2017): a critic learns to give real pictures higher numbers than made
// ones, then the generator learns to make pictures with higher numbers. In this order: the batches, the critic's loss and its
// penalty, the generator's loss, an evaluation, the step, the update rules, the task. Batches are in wgan_feed.h, the networks in
// wgan_networks.h, the score in wgan_judge.c.
#include "tasks/wgan/wgan.h"

#include "runtime/grad.h"
#include "tasks/common/step/drive.h"
#include "tasks/common/step/rule.h"
#include "tasks/wgan/wgan_feed.h"
#include "tasks/wgan/wgan_keys.h"
#include "tasks/wgan/wgan_networks.h"

enum { CRITIC, GENERATOR, EVALUATE };

// ---- batches

// From -1 to 1; spread (pixel + u) / 128 - 1, u from 0 to 1.
static int real_pictures(struct step *s)
{
    const bool spread = wgan_keys(s->setting->recipe)->pixels == PIXELS_SPREAD;
    struct augment_attr a = {.to = spread ? F32 : s->setting->dtype};
    struct graph *g = s->g;
    graph_scope(g, "samples");
    for (int c = 0; c < 4; c++) a.mean[c] = a.std[c] = spread ? 128.0f / 255 : 0.5f;
    int x = g_augment(g, step_input(s, "pictures"), NONE, NONE, &a);
    if (!spread || g->error) return x;
    const struct random_attr noise = {.shape = g->value[x].shape, .to = F32, .b = 1.0f / 128, .site = step_site(s)};
    return g_cast(g, g_add(g, x, g_random(g, &noise, step_key(s), step_count(s))), s->setting->dtype);
}

static int made_pictures(struct step *s, int noise)
{
    graph_scope(s->g, "generator");
    return wgan_network(s)->generate(s, g_cast(s->g, noise, s->setting->dtype), s->setting->data->channels);
}

static int draw_noise(struct step *s, int64_t count)
{
    const struct random_attr a = {.shape = SHAPE(count, wgan_keys(s->setting->recipe)->noise), .to = s->setting->dtype,
                                  .normal = true, .b = 1, .site = step_site(s)};
    graph_scope(s->g, "noise");
    return g_random(s->g, &a, step_key(s), step_count(s));
}

static int count_of(struct step *s, int64_t count)
{
    char *name = arena_text(&s->g->arena, "count.%lld", (long long)count);
    return graph_state(s->g, name, SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, (float)count});
}

static int sum_of(struct graph *g, int x)  // of x[N,1], in f32
{
    return g_reshape(g, g_reduce(g, x, 3u, false, F32), SHAPE(1));
}

// ---- the critic

// A random position on the line between each real picture and a made one.
static int mix_pictures(struct step *s, int real, int made)
{
    struct graph *g = s->g;
    if (g->error) return NONE;
    const struct shape is = g->value[real].shape;
    const struct shape flat = SHAPE(is.dim[0], shape_count(&is) / is.dim[0]);
    const struct random_attr a = {.shape = SHAPE(is.dim[0], 1), .to = s->setting->dtype, .a = 0, .b = 1, .site = step_site(s)};
    const union attr spread = {.move = {.shape = flat, .axes = 2u, .factor = 1}};
    int share = g_random(g, &a, step_key(s), step_count(s));
    share = graph_node(g, OP_BROADCAST, &share, 1, &spread, NULL);
    int way = g_reshape(g, g_map_of(g, MAP_SUB, (int[]){made, real, NONE}), flat);
    return g_add(g, real, g_reshape(g, g_mul(g, way, share), is));
}

// The root's slope has no bound at 0.
int wgan_penalty(struct step *s, int pictures)
{
    const float least = 1e-12f;
    struct graph *g = s->g;
    grad_watch(g, pictures);
    int judged = wgan_network(s)->criticise(s, pictures);
    graph_scope(g, "penalty");
    int slope = g_cast(g, grad_watched(g, sum_of(g, judged), pictures), F32);
    if (g->error) return NONE;
    const int64_t count = g->value[slope].shape.dim[0], size = shape_count(&g->value[slope].shape) / count;
    slope = g_reshape(g, slope, SHAPE(count, size));
    int squares = g_reduce(g, g_map(g, MAP_SQUARE, slope, 0, 0), 2u, false, F32);
    int norm = g_map(g, MAP_SQRT, g_map(g, MAP_SHIFT, squares, least, 0), 0, 0);
    return sum_of(g, g_map(g, MAP_SQUARE, g_map(g, MAP_SHIFT, norm, -1, 0), 0, 0));
}

static void train_critic(struct step *s)
{
    struct graph *g = s->g;
    const int64_t count = s->is.batch;
    const double penalty = wgan_keys(s->setting->recipe)->penalty;
    int real = real_pictures(s), made = made_pictures(s, draw_noise(s, count)), rows = count_of(s, count);
    int judged = wgan_network(s)->criticise(s, g_concat(g, (int[]){real, made}, 2, 0));
    graph_scope(g, "loss");
    if (g->error) return;
    int high = sum_of(g, g_slice(g, judged, 0, 0, count)), low = sum_of(g, g_slice(g, judged, 0, count, 2 * count));
    step_mean_loss(s, "critic", g_map_of(g, MAP_SUB, (int[]){low, high, NONE}), rows, 1);
    if (penalty > 0) step_mean_loss(s, "penalty", wgan_penalty(s, mix_pictures(s, real, made)), rows, (float)penalty);
}

// ---- the generator, and what it is scored by

static void train_generator(struct step *s)
{
    struct graph *g = s->g;
    const int64_t count = s->is.batch * wgan_keys(s->setting->recipe)->samples;
    int judged = wgan_network(s)->criticise(s, made_pictures(s, draw_noise(s, count)));
    graph_scope(g, "loss");
    step_mean_loss(s, "generator", g_map(g, MAP_NEG, sum_of(g, judged), 0, 0), count_of(s, count), 1);
}

static void evaluate(struct step *s)
{
    const struct dataset_facts *d = s->setting->data;
    struct graph *g = s->g;
    int made = made_pictures(s, step_input(s, "noise"));
    const int64_t above = (WGAN_SIDE - d->height) / 2, left = (WGAN_SIDE - d->width) / 2;
    if (above > 0) made = g_slice(g, made, 1, above, above + d->height);
    if (left > 0) made = g_slice(g, made, 2, left, left + d->width);
    step_output(s, WGAN_PICTURES, made);
}

static int step(struct drive *d)
{
    for (int64_t i = 0; i < wgan_keys(d->setting->recipe)->steps; i++) {
        TRY(drive_next(d, FEED_TRAIN));
        TRY(drive_run(d, CRITIC));
    }
    return drive_run(d, GENERATOR);
}

// ---- updates: of both networks alike, but the critic's parameters may be clamped

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER));
    rule[1] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[2] = rule_of_others(c, "bias", ANY, r->bias_lr);
    for (int i = 0; i < 3; i++) {
        rule[3 + i] = rule[i];
        rule[i].groups = ROLES(GROUP_CRITIC), rule[i].settings.limit = (float)wgan_keys(r)->clip;
    }
    return 6;
}

// ---- the task

static const struct task_program programs[] = {
    [CRITIC] = {"critic", PROGRAM_TRAIN, FEED_TRAIN, 1u << GROUP_CRITIC, train_critic},
    [GENERATOR] = {"generator", PROGRAM_TRAIN, FEED_NONE, 1u << GROUP_GENERATOR, train_generator},
    [EVALUATE] = {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate},
    {0},
};
static const struct metric metrics[] = {
    [WGAN_DISTANCE] = {"fd-lenet84", "FD", METRIC_RATIO, true}, [WGAN_COPIES] = {"copies", "%", METRIC_RATIO, true}, {0}};
static const char *const data_sets[] = {"mnist", "mnist-drawn", NULL};
static const char *const recipes[] = {"wgan-mnist", "wgan-drawn", NULL};

const struct task task_wgan_mnist = {
    .name = "wgan-mnist", .title = "WGAN, MNIST", .samples = "images", .metrics = metrics, .target = 2.7, .data_sets = data_sets,
    .synthetic_metric = "fd-random84",  // drawn digits are scored by a LeNet of random weights
    .recipes = recipes, .models = wgan_models, .feed = wgan_feed, .programs = programs, .step = step, .judge = &wgan_judge,
    .rules = update_rules, .baselines = wgan_baselines,
};

// FID compares as many pictures as there are training images.
static const struct task_feed feeds_of_colours[] = {
    {"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TRAIN, ORDER_FILE}, {0}};
static const struct metric metrics_of_colours[] = {
    [WGAN_DISTANCE] = {"fid", "FD", METRIC_RATIO, true}, [WGAN_COPIES] = {"copies", "%", METRIC_RATIO, true}, {0}};
static const char *const data_sets_in_colours[] = {"cifar10", "synthetic", NULL};
static const char *const recipes_of_colours[] = {"wgan-cifar10", "wgan-drawn", NULL};

const struct task task_wgan_cifar10 = {
    .name = "wgan-cifar10", .title = "WGAN, CIFAR-10", .samples = "images", .metrics = metrics_of_colours, .target = 25,
    .data_sets = data_sets_in_colours, .synthetic_metric = "fd-random128", .recipes = recipes_of_colours, .models = wgan_models,
    .feeds = feeds_of_colours, .feed = wgan_feed, .programs = programs, .step = step, .judge = &wgan_judge_colours,
    .rules = update_rules, .baselines = wgan_baselines,
};

const struct task *const tasks_wgan[] = {&task_wgan_mnist, &task_wgan_cifar10, NULL};

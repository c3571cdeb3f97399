// SPDX-License-Identifier: Apache-2.0
// The second task has all that CIFAR10 lacks. A sample (second_data.c) has two sequences of words, `a` and `b`, and is streamed
// in buckets by the length of `a`. Two programs train on one batch: program A predicts which of three kinds of words is the most
// frequent in `a`, program B the same for `b`, also from A's features, which it leaves unchanged. The metric "answers" is a ratio
// of counts on the device; the host computes "answers b" from logits.
#include "test/second/second.h"

#include "tasks/common/recipe/recipe_keys.h"
#include "tasks/common/step/drive.h"

enum { WORDS = SECOND_WORDS, CLASSES = SECOND_CLASSES, LONGEST = SECOND_LONGEST, WIDE = 8 };
enum { PROGRAM_A, PROGRAM_B, PROGRAM_BOTH };
enum { GROUP_A, GROUP_B };
int32_t second_limit = LONGEST;

static int feed(const struct setting *c, int number, struct feed_choice *f)
{
    const int32_t limit[] = {8, 16, second_limit};
    f->order.buckets = 3;
    for (int b = 0; b < 3; b++) f->order.limit[b] = limit[b], f->order.batch[b] = number == FEED_TRAIN ? c->recipe->batch : 20;
    f->fields = 4;
    for (int i = 0; i < 4; i++) {
        f->field[i] = (struct feed_field){.name = c->data->field[i].name, .dtype = I32, .classes = c->data->field[i].classes};
        for (int b = 0; b < 3; b++) f->field[i].shape[b] = i < 2 ? SHAPE(i ? LONGEST : limit[b]) : (struct shape){.rank = 0};
    }
    return 0;
}

// A graph per bucket, in training and in evaluation.
static void variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    v->length = c->feed[FEED_TRAIN]->order.limit[v->bucket];
}

static void evaluation(const struct setting *c, struct variant *v) { v->length = c->feed[FEED_TEST]->order.limit[v->bucket]; }

// ---- programs

// The mean of the words' vectors, padding included.
static int features(struct step *s, const char *field, int group)
{
    struct graph *g = s->g;
    int words = step_input(s, field);
    if (g->error) return NONE;
    int64_t batch = s->is.batch, length = g->value[words].shape.dim[1];
    graph_group(g, group);
    char *name = arena_text(&g->arena, "%s.embedding", field);
    int table = graph_param(g, name, SHAPE(WORDS, WIDE), (struct init){INIT_NORMAL, 1}, ROLE_EMBEDDING);
    int x = g_gather(g, table, g_reshape(g, words, SHAPE(batch * length)));
    x = g_reduce(g, g_reshape(g, x, SHAPE(batch, length, WIDE)), 1u << 1, true, F32);
    return g_reshape(g, x, SHAPE(batch, WIDE));
}

// Predicts the answer for `field` from features x: loss, counters of the metric, and logits for the judge.
static void classify(struct step *s, int x, const char *field)
{
    struct graph *g = s->g;
    if (g->error) return;
    char *weight = arena_text(&g->arena, "%s.head", field), *label = arena_text(&g->arena, "label %s", field);
    int w = graph_param(g, weight, SHAPE(CLASSES, shape_last(&g->value[x].shape)), (struct init){INIT_NORMAL, 0.3f}, ROLE_MATRIX);
    int logits = g_linear(g, x, w, NONE, F32), labels = step_input(s, label);
    step_loss(s, g_xent(g, logits, labels, 0, true), 1);
    g_correct(g, logits, labels, step_hits(s, 0), 1);
    g_tick(g, step_tries(s, 0), (int32_t)s->is.batch);
    step_output(s, field[0] == 'b', logits);
}

static void forward_a(struct step *s) { classify(s, features(s, "a", GROUP_A), "a"); }

static void forward_b(struct step *s)
{
    int a = features(s, "a", GROUP_A), both[] = {features(s, "b", GROUP_B), a};
    classify(s, g_concat(s->g, both, 2, 1), "b");
}

static void forward_both(struct step *s)
{
    forward_a(s);
    forward_b(s);
}

static int step(struct drive *d)
{
    TRY(drive_next(d, FEED_TRAIN));
    TRY(drive_run(d, PROGRAM_A));
    return drive_run(d, PROGRAM_B);
}

static int rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    struct schedule share = {0};
    schedule_add(&share, (double)c->steps, 1, 0.1, CURVE_COSINE);
    struct optim_settings adam = {.beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f};
    rule[0] = (struct rule){"table", ANY, ROLES(ROLE_EMBEDDING), OPTIMISER_ADAMW, adam, 0.1, share, share};
    rule[1] = (struct rule){"head", ANY, ANY, OPTIMISER_ADAMW, adam, 0.05, share, share};
    return 2;
}

// ---- the judge: the answers for `b`, compared with the samples of the view by their numbers

struct judging {
    struct dataset *view;
    int64_t right, count;
};

static int judge_begin(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)c, (void)stored;
    struct judging *j = *state = zalloc(sizeof *j);
    j->view = view;
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    const float *logits = b->output[1];
    for (int64_t i = 0; i < b->count; i++, logits += CLASSES, j->count++) {
        int32_t label, best = 0;
        for (int32_t k = 1; k < CLASSES; k++) best = logits[k] > logits[best] ? k : best;
        TRY(dataset_item(j->view, SPLIT_TEST, "label b", b->sample[i], &label, sizeof label, NULL));
        j->right += best == label;
    }
    return 0;
}

static int judge_end(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    if (score) score[1] = j->right * 1000000 / j->count;
    free(j);
    return 0;
}

// ---- the tables that the training reads

static const struct judge judge = {.begin = judge_begin, .batch = judge_batch, .end = judge_end};
static const struct metric metrics[] = {{"answers", "%", METRIC_RATIO, false}, {"answers b", "%", METRIC_RATIO, false}, {0}};
static const struct model models[] = {{.name = "two-bags", .about = "bags of words"}, {0}};
static const struct recipe_key keys[] = {{.path = NULL}};
const struct recipe_table second_recipes = {.task = "second", .models = models, .keys = keys};
static const struct task_program programs[] = {
    [PROGRAM_A] = {"a", PROGRAM_TRAIN, FEED_TRAIN, 1u << GROUP_A, forward_a},
    [PROGRAM_B] = {"b", PROGRAM_TRAIN, FEED_TRAIN, 1u << GROUP_B, forward_b},
    [PROGRAM_BOTH] = {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, forward_both}, {0}};
const struct task task_second = {.name = "second", .title = "Second", .metrics = metrics, .target = 0.9, .models = models,
                                 .feed = feed, .length_field = "a", .variant = variant, .evaluation = evaluation,
                                 .programs = programs, .step = step, .judge = &judge, .rules = rules};

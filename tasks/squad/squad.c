// SPDX-License-Identifier: Apache-2.0
// SQuAD 1.1: questions about paragraphs of Wikipedia, whose answer is a piece of the paragraph. The target is an F1 of 0.75
// on the 10,570 questions of dev-v1.1. The second task uses dev-v1.1 alone, split by article: its target is 0.65 on the
// 1,674 questions of eight articles. There are two tasks because each has a board of its own; they share all functions. In
// this order: samples, the step, the update rules, the tasks. The samples depend on the model (reader.h).
#include "tasks/squad/squad.h"

#include "data/read/squad/squad_kind.h"
#include "tasks/common/step/rule.h"
#include "tasks/squad/judge.h"
#include "tasks/squad/network/squad_networks.h"
#include "tasks/squad/sample/reader.h"

// ---- samples

static int view_samples(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    return reader_of(c)->view(c, stored, into);
}

static int64_t question_of_sample(const struct setting *c, const struct dataset *view, int64_t sample)
{
    return reader_of(c)->question(view, sample);
}

static void note_samples(const struct setting *c, const struct dataset *view, struct text *into)
{
    reader_of(c)->note(c, view, into);
}

static int feed_samples(const struct setting *c, int feed, struct feed_choice *f)
{
    (void)feed;
    return reader_of(c)->feed(c, f);
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    v->length = c->feed[FEED_TRAIN]->order.limit[v->bucket];
}

static void choose_evaluation(const struct setting *c, struct variant *v)
{
    v->length = c->feed[FEED_TEST]->order.limit[v->bucket];
}

// ---- the step: two choices among the places of a sequence

static int loss_of(struct step *s, int scores, const char *label, int lengths)
{
    return g_xent(s->g, g_mask(s->g, scores, NONE, lengths), step_input(s, label), 0, true);
}

static void forward_batch(struct step *s)
{
    struct graph *g = s->g;
    int in[MODEL_VALUES] = {NONE}, scores[MODEL_VALUES] = {NONE, NONE};
    s->setting->model->forward(s, in, scores);
    for (int i = 0; i < 2; i++) step_output(s, i, scores[i]);
    if (!step_trains(s)) return;
    graph_scope(g, "loss");
    int lengths = step_input(s, "tokens.length");
    int sum = g_add(g, loss_of(s, scores[0], "start", lengths), loss_of(s, scores[1], "end", lengths));
    step_loss(s, g_scale(g, sum, 0.5f), 1);
}

// ---- updates: matrices and embeddings decay by optimiser.filters.decay, and without SGD the head does, too. Norms and
// biases decay only if the recipe says so

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[0].groups = ROLES(GROUP_HEAD);
    if (rule[0].optimiser != OPTIMISER_SGD) rule[0].settings.decay = (float)r->filter_decay;
    rule[1] = rule_of_filters(c, "matrix", ROLES(ROLE_MATRIX));
    rule[2] = rule_of_filters(c, "embedding", ROLES(ROLE_EMBEDDING));
    rule[2].optimiser = rule[0].optimiser;
    rule[3] = rule_of_others(c, "bias", ANY, r->bias_lr);
    return 4;
}

// ---- the tasks

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, forward_batch},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, forward_batch},
    {0},
};
static const struct metric metrics[] = {{"f1", "", METRIC_RATIO, false}, {"em", "", METRIC_RATIO, false}, {0}};
static const char *const squad_sets[] = {"squad", "stories", NULL};
static const char *const squad_recipes[] = {"bert-base", "stories", NULL};
static const char *const split_sets[] = {"squad-split", "stories", NULL};
static const char *const split_recipes[] = {"minilm", "stories", NULL};

#define SHARED                                                                                                         \
    .samples = "questions", .takes = TAKES_WEIGHTS | TAKES_VOCAB | TAKES_VECTORS, .metrics = metrics,                   \
    .models = squad_models, .view = view_samples, .note = note_samples, .request = question_of_sample, .ask = squad_ask, \
    .feed = feed_samples,                                                                                              \
    .length_field = "tokens", .variant = choose_variant, .evaluation = choose_evaluation, .programs = programs,         \
    .judge = &squad_judge, .rules = update_rules

const struct task task_squad = {
    .name = "squad", .title = "SQuAD", .target = 0.75, .data_sets = squad_sets, .recipes = squad_recipes, SHARED,
};
const struct task task_squad_split = {
    .name = "squad-split", .title = "SQuAD, split by article", .target = 0.65, .data_sets = split_sets,
    .recipes = split_recipes, SHARED,
};

const struct task *const tasks_squad[] = {&task_squad, &task_squad_split, NULL};

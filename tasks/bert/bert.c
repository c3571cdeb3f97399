// SPDX-License-Identifier: Apache-2.0
// BERT's pre-training (Devlin et al. 2019): masked pieces of two texts are predicted, and whether the second text follows the
// first. In this order: the step, the update rules, the tasks. Samples are in cloze.h, the network in bert_network.h.
#include "tasks/bert/bert.h"

#include "tasks/bert/bert_keys.h"
#include "tasks/bert/bert_network.h"
#include "tasks/bert/cloze.h"
#include "tasks/bert/cloze_judge.h"
#include "tasks/bert/neighbours.h"
#include "tasks/common/step/rule.h"
#include "tasks/common/step/step.h"

// ---- the step

static int64_t length_of(const struct setting *c, int feed, int bucket)
{
    return c->feed[feed]->field[0].shape[bucket].dim[0];
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    v->length = length_of(c, FEED_TRAIN, v->bucket);
}

static void choose_evaluation(const struct setting *c, struct variant *v)
{
    v->length = length_of(c, FEED_TEST, v->bucket);
}

// Learned pieces alone: a published vocabulary is the same for everybody.
static void mark_pieces(struct step *s)
{
    const char *digest = cloze_digest(s->setting->feed[s->program->feed]->data);
    if (*digest) step_mark(s, "pieces-of-training-text", digest);
}

// [B,P,V] or [B,2]. Rows without a label count for nothing (ops.def).
static int losses_of(struct step *s, const char *name, int logits, int labels, double factor)
{
    int out[3];
    graph_scope(s->g, "loss");
    g_xent_full(s->g, (int[]){logits, labels, NONE}, 0, false, out);
    if (step_trains(s)) step_mean_loss(s, name, out[0], out[2], (float)factor);
    return out[1];
}

// For the judge: the best words of each masked position [B,P*BEST], their probabilities, the losses of the places, the guesses.
static void show_answers(struct step *s, const struct bert_answers *a, int losses)
{
    struct graph *g = s->g;
    int best;
    if (g->error) return;
    const struct shape is = g->value[a->words].shape;
    int64_t numbers = is.dim[1] * CLOZE_BEST;
    int share = g_top(g, g_softmax(g, g_cast(g, a->words, F32)), CLOZE_BEST, &best);
    step_output(s, CLOZE_WORDS, g_reshape(g, best, SHAPE(is.dim[0], numbers)));
    step_output(s, CLOZE_SHARES, g_reshape(g, share, SHAPE(is.dim[0], numbers)));
    step_output(s, CLOZE_LOSSES, g_reshape(g, losses, SHAPE(is.dim[0], is.dim[1])));
    step_output(s, CLOZE_NEXT, a->next);
}

static void forward_batch(struct step *s)
{
    struct bert_answers a;
    mark_pieces(s);
    bert_network(s, &a);
    int losses = losses_of(s, "masked", a.words, step_input(s, "labels"), 1);
    (void)losses_of(s, "next", a.next, step_input(s, "next"), bert_keys(s->setting->recipe)->next_factor);
    if (!step_trains(s)) show_answers(s, &a, losses);
}

// ---- updates: matrices and embeddings decay by optimiser.filters.decay. Norms and biases decay only if the recipe says so

// Muon is for the matrices of the layers; AdamW updates the rest.
static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    const double beta2 = bert_keys(r)->modern.beta2;
    int count = 2;
    rule[0] = rule_of_filters(c, "matrix", ROLES(ROLE_MATRIX));
    rule[1] = rule_of_filters(c, "embedding", ROLES(ROLE_EMBEDDING));
    rule[1].optimiser = recipe_other_rule((enum recipe_optimiser)r->optimiser);
    if (r->optimiser == OPTIMISER_MUON) {
        rule[0].groups = ROLES(BERT_BODY);
        rule_in_batches(c, &rule[0]);
        rule[1] = rule_beside_muon(c, "embedding", ROLES(ROLE_EMBEDDING), r->head_lr, beta2);
        rule[count++] = rule_beside_muon(c, "head", ROLES(ROLE_MATRIX), r->head_lr, beta2);
    }
    rule[count] = rule_beside_muon(c, "bias", ANY, r->bias_lr, beta2);
    return count + 1;
}

// ---- the tasks

// Checkpoints put the encoder below "bert.". Those of an encoder alone lack the heads.
static const char *const prefixes[] = {"bert.", NULL};
static const char *const fresh[] = {"pooler.", "cls.", NULL};

const struct model bert_models[] = {
    {.name = "bert-mlm", .about = "BERT with the heads of its pre-training: masked pieces, next sentence", .prefixes = prefixes,
     .fresh = fresh},
    {.name = "bert-modern", .about = "layers of gpt-modern: RMS norms, rotary positions, no biases",
     .recipe = "wiki-modern", .parts = PART_ROTARY, .prefixes = prefixes, .fresh = fresh},
    {0},
};

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, forward_batch},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, forward_batch},
    {0},
};
static const struct metric metrics[] = {{"masked", "", METRIC_RATIO, false}, {"next", "", METRIC_RATIO, false},
                                        {"loss", "nat", METRIC_MEAN, true}, {0}};
static const char *const sample_sets[] = {"wiki-sample", "articles", NULL};
static const char *const sample_recipes[] = {"wiki-modern", "articles", NULL};
static const char *const whole_sets[] = {"wiki", "articles", NULL};
static const char *const whole_recipes[] = {"bert-large-512", "articles-512", NULL};

#define SHARED                                                                                                         \
    .samples = "sequences", .metrics = metrics, .models = bert_models, .view = cloze_view, .note = cloze_note,          \
    .scored_digest = cloze_scored_digest,                                                                              \
    .asks = ASKS_LINES, .ask = cloze_ask, .feed = cloze_feed, .variant = choose_variant, .evaluation = choose_evaluation, \
    .programs = programs, .judge = &cloze_judge, .rules = update_rules, .baselines = neighbours_baselines

const struct task task_wiki_mlm = {
    .name = CLOZE_SMALL, .title = "BERT on a sample of Wikipedia", .target = 0.29, .data_sets = sample_sets,
    .recipes = sample_recipes, SHARED,
};
const struct task task_bert_pretraining = {
    .name = "bert-pretraining", .title = "BERT pre-training", .target = 0.72, .takes = TAKES_WEIGHTS | TAKES_VOCAB,
    .data_sets = whole_sets, .recipes = whole_recipes, SHARED,
};

const struct task *const tasks_bert[] = {&task_wiki_mlm, &task_bert_pretraining, NULL};

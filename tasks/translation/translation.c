// SPDX-License-Identifier: Apache-2.0
// Translation of one language to another, scored by BLEU. In this order: the batch, the training step, decoding, the update
// rules, the models, the tasks. Samples are in pairs.h, networks behind translator.h.
#include "tasks/translation/translation.h"

#include "tasks/common/step/drive.h"
#include "tasks/common/step/rule.h"
#include "tasks/translation/bleu_judge.h"
#include "tasks/translation/keys.h"
#include "tasks/translation/pairs.h"
#include "tasks/translation/translator.h"

#include <stdlib.h>

enum { TRAIN, ENCODE, NEXT };
enum { GROUP_BODY, GROUP_HEAD };

// ---- the batch

static int64_t side_length(const struct setting *c, int feed, int field, int bucket)
{
    return c->feed[feed]->field[field].shape[bucket].dim[0];
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    v->length = side_length(c, FEED_TRAIN, 2, v->bucket);
}

// An answer has at most ten symbols more than 1.2 times its source.
static void choose_evaluation(const struct setting *c, struct variant *v)
{
    int64_t most = side_length(c, FEED_TEST, 0, v->bucket) * 6 / 5 + 10, positions = translation_keys(c->recipe)->positions;
    v->length = most < positions ? most : positions;
}

static int constant(struct step *s, const char *name, struct shape shape, enum dtype dtype, float value)
{
    char *slot = arena_text(&s->g->arena, "%s.%lld.%lld", name, (long long)shape.dim[0], (long long)shape.dim[1]);
    return graph_state(s->g, slot, shape, dtype, MEMORY_DATA, (struct init){INIT_CONSTANT, value});
}

// A slot without content has the digest of the merges in its name, so weights for other symbols are refused.
static void mark_symbols(struct step *s)
{
    const char *digest = pairs_digest(s->setting->feed[s->program->feed]->data);
    char *name = arena_text(&s->g->arena, "symbols.%.16s", digest);
    int v = graph_state(s->g, name, SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    if (v != NONE) s->g->value[v].slot->role = ROLE_STATISTIC;
}

// ---- the training step: every place of the target is predicted from those before it; padding does not count

static void train_batch(struct step *s)
{
    struct graph *g = s->g;
    const struct translator *t = translator_of(s->setting);
    int64_t batch = s->is.batch, length = s->is.length;
    int target = step_input(s, "target"), input[] = {constant(s, "begin", SHAPE(batch, 1), I32, BPE_BOS), NONE};
    mark_symbols(s);
    if (length > 1) input[1] = g_slice(g, target, 1, 0, length - 1);
    int read = length > 1 ? g_concat(g, input, 2, 1) : input[0];
    int states = t->states(s, step_input(s, "source"), step_input(s, "source.length"), read), out[3];
    int logits = t->logits(s, states);
    graph_scope(g, "loss");
    int mask[] = {constant(s, "ones", SHAPE(batch, length), F32, 1), NONE, step_input(s, "target.length")};
    int valid = graph_node(g, OP_MASK, mask, 3, &(union attr){.mask = {.axis = 1}}, NULL);
    g_xent_full(g, (int[]){logits, target, valid}, (float)s->setting->recipe->label_smoothing, false, out);
    step_mean_loss(s, "loss", out[0], out[2], 1);
}

// ---- decoding: the most probable word, again and again

static int begin_slot(struct step *s, const char *name, struct shape shape)
{
    return step_slot(s, name, shape, I32);
}

static void encode_batch(struct step *s)
{
    int64_t n = s->is.batch;
    mark_symbols(s);
    translator_of(s->setting)->encode(s, step_input(s, "source"), step_input(s, "source.length"), 1);
    step_keep(s, begin_slot(s, "word", SHAPE(n)), g_reshape(s->g, constant(s, "begin", SHAPE(n, 1), I32, BPE_BOS), SHAPE(n)));
    step_keep(s, begin_slot(s, "at", SHAPE(1)), g_reshape(s->g, constant(s, "zero", SHAPE(1, 1), I32, 0), SHAPE(1)));
}

static void next_word(struct step *s)
{
    struct graph *g = s->g;
    const struct translator *t = translator_of(s->setting);
    int64_t n = s->is.batch;
    int word = begin_slot(s, "word", SHAPE(n)), at = begin_slot(s, "at", SHAPE(1)), count = begin_slot(s, "count", SHAPE(1));
    int answers = begin_slot(s, "answers", SHAPE(n, s->is.length));
    step_keep(s, count, at);
    g_tick(g, count, 1);
    int first = g_reshape(g, constant(s, "zero", SHAPE(n, 1), I32, 0), SHAPE(n));
    struct translator_place p = {.token = word, .at = at, .count = g_gather(g, count, first), .beam = 1};
    int best = g_argmax(g, t->logits(s, t->next(s, &p)));
    g_append(g, answers, g_reshape(g, best, SHAPE(n, 1)), at);
    step_keep(s, word, best);
    g_tick(g, at, 1);
    step_output(s, 0, answers);
}

// Ends when every sample has an end.
static int answer_batch(struct drive *d)
{
    const struct order_batch *b = &d->batch[FEED_TEST];
    struct variant is = {.bucket = b->bucket};
    choose_evaluation(d->setting, &is);
    int32_t *word = zalloc((size_t)b->count * sizeof *word);
    bool *ended = zalloc((size_t)b->count * sizeof *ended);
    int64_t left = b->count;
    int rc = drive_run(d, ENCODE);
    for (int64_t t = 0; t < is.length && left > 0 && rc == 0; t++) {
        rc = drive_run(d, NEXT);
        if (rc == 0) rc = drive_read(d, "word", word, (size_t)b->count * sizeof *word);
        for (int64_t i = 0; i < b->count && rc == 0; i++)
            if (!ended[i] && word[i] == BPE_EOS) ended[i] = true, left--;
    }
    free(word);
    free(ended);
    return rc;
}

// ---- updates

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[0].groups = ROLES(GROUP_HEAD);
    rule[1] = rule_of_filters(c, "matrix", ROLES(ROLE_MATRIX));
    rule[2] = rule_of_filters(c, "embedding", ROLES(ROLE_EMBEDDING));
    rule[2].optimiser = rule[0].optimiser;
    rule[3] = rule_of_others(c, "bias", ANY, r->bias_lr);
    return 4;
}

// ---- the models

const struct model translation_models[] = {
    {.name = "transformer", .about = "encoder and decoder of attention, one table of symbols (Vaswani et al. 2017)",
     .parts = PART_TRANSFORMER, .begin = transformer_begin, .own = &transformer_translator},
    {0},
};

// ---- the tasks

static const struct task_program programs[] = {
    [TRAIN] = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_batch},
    [ENCODE] = {"encode", PROGRAM_EVALUATE, FEED_TEST, 0, encode_batch},
    [NEXT] = {"next", PROGRAM_EVALUATE, FEED_TEST, 0, next_word},
    {0},
};
static const struct metric metrics[] = {{"bleu", "BLEU", METRIC_RATIO, false}, {0}};
static const char *const multi30k_sets[] = {"multi30k", NULL};
static const char *const multi30k_recipes[] = {"transformer-tiny", NULL};

const struct task task_multi30k = {
    .name = "multi30k", .title = "Multi30k", .samples = "pairs of sentences", .metrics = metrics, .target = 35.0,
    .data_sets = multi30k_sets, .recipes = multi30k_recipes, .models = translation_models, .view = pairs_view,
    .note = pairs_note, .feed = pairs_feed, .buckets = pairs_buckets, .variant = choose_variant,
    .evaluation = choose_evaluation, .programs = programs, .answer = answer_batch, .judge = &bleu_judge,
    .rules = update_rules,
};

const struct task *const tasks_translation[] = {&task_multi30k, NULL};

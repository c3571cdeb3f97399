// SPDX-License-Identifier: Apache-2.0
// Translation of one language to another, scored by BLEU. In this order: the batch, the training step, decoding, the update
// rules, the models, the tasks. Samples are in pairs.h, networks behind decoding.h, whose search is shared.
#include "tasks/translation/translation.h"

#include "tasks/common/step/drive.h"
#include "tasks/common/step/rule.h"
#include "tasks/translation/keys.h"
#include "tasks/translation/pairs.h"

enum { TRAIN, GREEDY, BEAM = GREEDY + SEARCH_PROGRAMS, SINGLE = BEAM + SEARCH_PROGRAMS };
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

// The greedy search of every evaluation, and the recipe's. An evaluation has the outputs of both, in this order.
static struct search search_of_recipe(const struct setting *c, bool beam)
{
    struct search search = search_of_keys(&translation_keys(c->recipe)->search, beam);
    search.output = beam && !c->single ? SEARCH_OUTPUTS : 0;
    return search;
}

static void choose_evaluation(const struct setting *c, struct variant *v)
{
    struct search search = search_of_recipe(c, true);
    int64_t most = search_longest(&search, side_length(c, FEED_TEST, 0, v->bucket));
    int64_t positions = translation_keys(c->recipe)->positions;
    v->length = most < positions ? most : positions;
}

static int constant(struct step *s, const char *name, struct shape shape, enum dtype dtype, float value)
{
    char *slot = arena_text(&s->g->arena, "%s.%lld.%lld", name, (long long)shape.dim[0], (long long)shape.dim[1]);
    return graph_state(s->g, slot, shape, dtype, MEMORY_DATA, (struct init){INIT_CONSTANT, value});
}

static void mark_symbols(struct step *s)
{
    const struct bitext_symbols *symbols = pairs_symbols(s->setting->feed[s->program->feed]->data);
    step_mark(s, "merges-of-training-text", symbols ? bitext_symbols_digest(symbols) : "");
}

// ---- the training step: every position of the target is predicted from those before it; padding does not count

static void train_batch(struct step *s)
{
    struct graph *g = s->g;
    const struct decoding *t = decoding_of(s->setting);
    int64_t batch = s->is.batch, length = s->is.length;
    int target = step_input(s, "target"), out[3], input[] = {constant(s, "begin", SHAPE(batch, 1), I32, BPE_BOS), NONE};
    mark_symbols(s);
    if (length > 1) input[1] = g_slice(g, target, 1, 0, length - 1);
    int read = length > 1 ? g_concat(g, input, 2, 1) : input[0];
    struct linear_xent l = {.bias = NONE, .labels = target, .smoothing = (float)s->setting->recipe->label_smoothing};
    l.x = t->states(s, step_input(s, "source"), step_input(s, "source.length"), read);
    l.w = t->output(s, &l.bias);
    graph_scope(g, "loss");
    int mask[] = {constant(s, "ones", SHAPE(batch, length), F32, 1), NONE, step_input(s, "target.length")};
    l.weights = graph_node(g, OP_MASK, mask, 3, &(union attr){.mask = {.axis = 1}}, NULL);
    g_linear_xent(g, &l, out);
    step_mean_loss(s, "loss", out[0], out[2], 1);
}

// ---- decoding: greedily in every evaluation; with the recipe's beam in the last one and in an inference

static void search_part(struct step *s)
{
    int first = s->number >= SINGLE ? SINGLE : s->number >= BEAM ? BEAM : GREEDY;
    struct search search = search_of_recipe(s->setting, first != GREEDY);
    if (s->number == first) mark_symbols(s);
    search_program(s, &search, s->number - first);
}

static int answer_batch(struct drive *d)
{
    struct search greedy = search_of_recipe(d->setting, false), beam = search_of_recipe(d->setting, true);
    if (d->setting->single) return search_run(d, &beam, SINGLE);
    TRY(search_run(d, &greedy, GREEDY));
    return d->last ? search_run(d, &beam, BEAM) : 0;
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
     .parts = PART_TRANSFORMER, .begin = transformer_begin, .own = &transformer_decoder},
    {.name = "gnmt", .about = "LSTM layers, attention read by the first of the decoder (Wu et al. 2016, as MLPerf's GNMT)",
     .recipe = "gnmt-mini", .own = &recurrent_gnmt},
    {.name = "seq2seq", .about = "LSTM layers, attention read by the output layer (Luong et al. 2015, as TBD's without feeding)",
     .recipe = "seq2seq", .own = &recurrent_seq2seq},
    {0},
};

// ---- the tasks

static const struct task_program programs[] = {
    [TRAIN] = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_batch},
    [GREEDY + SEARCH_BEGIN] = {"greedy begin", PROGRAM_EVALUATE, FEED_TEST, 0, search_part},
    [GREEDY + SEARCH_NEXT] = {"greedy word", PROGRAM_GO_ON, FEED_TEST, 0, search_part},
    [GREEDY + SEARCH_SHRINK] = {"greedy shrink", PROGRAM_SHRINK, FEED_TEST, 0, search_part},
    [GREEDY + SEARCH_RETURN] = {"greedy return", PROGRAM_SHRINK, FEED_TEST, 0, search_part},
    [BEAM + SEARCH_BEGIN] = {"beam begin", PROGRAM_EVALUATE, FEED_TEST, 0, search_part},
    [BEAM + SEARCH_NEXT] = {"beam word", PROGRAM_GO_ON, FEED_TEST, 0, search_part},
    [BEAM + SEARCH_SHRINK] = {"beam shrink", PROGRAM_SHRINK, FEED_TEST, 0, search_part},
    [BEAM + SEARCH_RETURN] = {"beam return", PROGRAM_SHRINK, FEED_TEST, 0, search_part},
    [SINGLE + SEARCH_BEGIN] = {"answer begin", PROGRAM_INFER, FEED_TEST, 0, search_part},
    [SINGLE + SEARCH_NEXT] = {"answer word", PROGRAM_INFER, FEED_TEST, 0, search_part},
    {0},
};
static const struct metric metrics[] = {{"bleu", "BLEU", METRIC_RATIO, false}, {"greedy", "BLEU", METRIC_RATIO, false}, {0}};
static const char *const multi30k_sets[] = {"multi30k", "multi30k-val", "phrases", NULL};
static const char *const multi30k_recipes[] = {"transformer-tiny", "transformer-tiny", "phrases", NULL};
static const char *const wmt17_sets[] = {"wmt17", "phrases", NULL};
static const char *const wmt17_recipes[] = {"transformer-big", "phrases", NULL};
static const char *const wmt16_sets[] = {"wmt16", "phrases", NULL};
static const char *const wmt16_recipes[] = {"gnmt", "phrases", NULL};

#define SHARED                                                                                                         \
    .samples = "pairs", .metrics = metrics, .models = translation_models, .view = pairs_view, .note = pairs_note,       \
    .asks = ASKS_LINES, .feed = pairs_feed, .buckets = pairs_buckets, .variant = choose_variant,                        \
    .evaluation = choose_evaluation, .programs = programs, .answer = answer_batch, .rules = update_rules

const struct task task_multi30k = {
    .name = "multi30k", .title = "Multi30k", .target = 37.0, .data_sets = multi30k_sets, .recipes = multi30k_recipes,
    .ask = pairs_ask, .judge = &bleu_judge, SHARED,
};
const struct task task_wmt17_transformer = {
    .name = "wmt17-transformer", .title = "WMT17 Transformer", .target = 25.0, .data_sets = wmt17_sets, .recipes = wmt17_recipes,
    .ask = pairs_ask_plain, .judge = &bleu_judge_wmt17, SHARED,
};
const struct task task_wmt16_gnmt = {
    .name = "wmt16-gnmt", .title = "WMT16 GNMT", .target = 24.0, .data_sets = wmt16_sets, .recipes = wmt16_recipes,
    .ask = pairs_ask_cased, .judge = &bleu_judge_wmt16, SHARED,
};

const struct task *const tasks_translation[] = {&task_multi30k, &task_wmt17_transformer, &task_wmt16_gnmt, NULL};

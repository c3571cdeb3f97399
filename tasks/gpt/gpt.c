// SPDX-License-Identifier: Apache-2.0
// Language models that predict the next token, scored by the mean loss of a token in nats. In this order: the batch, the update
// rules, the models, the tasks. Batches are in blocks.h, networks in gpt_network.h, writing in gpt_author.h.
#include "tasks/gpt/gpt.h"

#include "tasks/common/step/rule.h"
#include "tasks/gpt/blocks.h"
#include "tasks/gpt/gpt_author.h"
#include "tasks/gpt/gpt_keys.h"
#include "tasks/gpt/gpt_network.h"

// ---- the batch

static void predict_batch(struct step *s)
{
    struct graph *g = s->g;
    int labels = step_input(s, "labels"), out[3];
    gpt_mark_symbols(s, s->setting->feed[s->program->feed]->data);
    gpt_loss(s, gpt_states(s, step_input(s, "tokens")), labels, out);
    step_mean_loss(s, "loss", out[0], out[2], 1);
    if (step_trains(s) || g->error) return;
    int rows = g_reshape(g, out[1], SHAPE(s->is.batch, gpt_block(s->setting)));
    step_output(s, 0, g_reshape(g, g_reduce(g, rows, 1u << 1, false, F32), SHAPE(s->is.batch)));
}

// ---- updates: with AdamW and LAMB matrices and tables decay by optimiser.filters.decay; norms and biases, and with Muon all but
// matrices, only if the recipe says so (optimiser.weight_decay)

static struct rule rule_beside(const struct setting *c, const char *name, int group, double rate)
{
    struct rule rule = rule_beside_muon(c, name, ANY, rate, gpt_keys(c->recipe)->modern.beta2);
    rule.groups = ROLES(group);
    return rule;
}

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_filters(c, "matrix", ROLES(ROLE_MATRIX));
    rule[0].groups = ROLES(GPT_BODY);
    rule_in_batches(c, &rule[0]);
    rule[1] = rule_beside(c, "head", GPT_HEAD, r->head_lr);
    rule[2] = rule_beside(c, "embedding", GPT_EMBEDDING, gpt_keys(r)->embedding_lr);
    for (int i = 1; i < 3; i++)
        if (r->optimiser == OPTIMISER_ADAMW || r->optimiser == OPTIMISER_LAMB) rule[i].settings.decay = (float)r->filter_decay;
    rule[3] = rule_beside(c, "bias", GPT_BODY, r->bias_lr);
    return 4;
}

// ---- the models

const struct model gpt_models[] = {
    {.name = "gpt", .about = "GPT-2: learned positions, layer norms before each part, GELU (Radford et al. 2019)"},
    {.name = "gpt-modern", .about = "a GPT of the speedruns: RMS norms, rotary positions, no biases, a head of its own",
     .recipe = "gpt-modern", .parts = PART_ROTARY},
    {0},
};

// ---- the tasks

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, predict_batch},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, predict_batch},
    {0},
};
// The shards are read as they are published, in the order of their numbers.
static const struct task_feed streams[] = {{"train", SPLIT_TRAIN, ORDER_FILE}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
static const struct metric metrics[] = {{"nats", "nat", METRIC_MEAN, true}, {0}};
static const char *const char_sets[] = {"shakespeare", "lines", NULL};
static const char *const char_recipes[] = {"gpt-char", "lines", NULL};
static const char *const fineweb_sets[] = {"fineweb", "lines", NULL};
static const char *const fineweb_recipes[] = {"gpt2", "lines", NULL};

#define SHARED                                                                                                              \
    .samples = "blocks", .metrics = metrics, .models = gpt_models, .feed = blocks_feed, .programs = programs,               \
    .judge = &blocks_judge, .author = &gpt_author, .rules = update_rules, .baselines = blocks_baselines

const struct task task_gpt_char = {
    .name = "gpt-char", .title = "Shakespeare by characters", .target = 1.55, .data_sets = char_sets, .recipes = char_recipes,
    SHARED,
};
const struct task task_fineweb_gpt = {
    .name = "fineweb-gpt", .title = "FineWeb GPT-2", .target = 3.28, .data_sets = fineweb_sets, .recipes = fineweb_recipes,
    .feeds = streams, SHARED,
};

const struct task *const tasks_gpt[] = {&task_gpt_char, &task_fineweb_gpt, NULL};

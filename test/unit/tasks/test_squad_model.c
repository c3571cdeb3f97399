// SPDX-License-Identifier: Apache-2.0
// The encoder: as many parameters as published and Hugging Face's names for them; rules that spare norms and biases; a narrow
// one whose loss falls, whose weights can begin another training, and whose batches hold no padding beyond their bucket.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

#include "tasks/squad/squad.h"

// A training of the recipe with `settings` (ended by NULL); on noise of the task's data set where `data` is NULL.
static void make(struct bench *b, const char *device, const char *recipe, const char *data, const char *const *settings)
{
    bench_choose(b, &task_squad, recipe, settings);
    OK(device_open(device, 1, &b->device));  // small work: a second thread would only wait
    OK(data ? dataset_open(data, NULL, &b->data) : dataset_open_noise("squad-split", &b->data));
    bench_new(b);
}

static const char *const none[] = {NULL};

TEST(test_published)
{
    static const struct {
        const char *recipe;
        int64_t parameters;
        int layers;
    } wanted[] = {
        // Devlin et al. 2019: 110 M with the pooler (590,592), which has no part here. The head has 1,538.
        {"bert-base", 108893186, 12},
        {"minilm", 22566146, 6},  // Wang et al. 2020: 22.7 M, likewise
    };
    static const char *const part[] = {"attention.self.query.weight", "attention.self.key.bias", "attention.self.value.weight",
                                       "attention.output.dense.weight", "attention.output.LayerNorm.weight",
                                       "intermediate.dense.bias", "output.dense.weight", "output.LayerNorm.bias"};
    static const char *const rest[] = {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
                                       "embeddings.token_type_embeddings.weight", "embeddings.LayerNorm.bias",
                                       "qa_outputs.weight"};
    for (int i = 0; i < 2; i++) {
        struct bench m;
        make(&m, "null", wanted[i].recipe, NULL, none);
        const struct slot_store *store = m.trainer->session->store;
        assert_int_equal(trainer_parameters(m.trainer), wanted[i].parameters);
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) assert_non_null(slot_find(store, rest[k]));
        for (int layer = 0; layer <= wanted[i].layers; layer++)
            for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
                char name[128];
                snprintf(name, sizeof name, "encoder.layer.%d.%s", layer, part[k]);
                assert_true(!!slot_find(store, name) == (layer < wanted[i].layers));
            }
        bench_close(&m);
    }
}

TEST(test_rules)
{
    struct recipe r;
    struct rule rule[RULES_MAX] = {0};
    OK(recipe_embedded("bert-base", &r));
    const struct setting c = {.task = &task_squad, .recipe = &r, .steps = 100, .steps_per_epoch = 50};
    int count = task_squad.rules(&c, rule);
    int decays = 0;
    for (int i = 0; i < count; i++) {
        assert_int_equal(rule[i].optimiser, OPTIMISER_ADAMW);
        bool spared = rule[i].roles == ANY;  // what no rule before it takes: norms and biases
        decays += rule[i].settings.decay > 0;
        if (spared) assert_float_equal(rule[i].settings.decay, 0, 0);
    }
    assert_int_equal(decays, 3);  // matrices, embeddings and the head
    // Warm-up over a tenth of the schedule, then to nothing.
    assert_true(schedule_at(&rule[0].share, 5) < schedule_at(&rule[0].share, 9));
    assert_true(schedule_at(&rule[0].share, 10) > 0.99 && schedule_at(&rule[0].share, 99) < 0.03);
}

TEST(test_loss_falls)
{
    static const char *const settings[] = {"model.dropout=0.1", "precision=f32", NULL};
    struct bench m;
    double loss[2];
    make(&m, "cpu", "stories", "stories", settings);
    const struct trainer *t = m.trainer;
    bench_losses(&m, loss);
    assert_true(isfinite(loss[1]) && loss[1] < loss[0] - 0.3);
    assert_true(fabs(loss[0] - log(60)) < 2);  // the first guesses are among some 60 places
    for (int v = 0; v < t->variants; v++) assert_int_equal(t->variant[v].is.length % 32, 0);
    bench_close(&m);
}

// ---- draws

static bool ticks(const struct graph *g, const struct slot *counter)
{
    for (int i = 0; i < g->nodes; i++)
        if (g->node[i].op == OP_TICK && g->value[g->node[i].in[0]].slot == counter) return true;
    return false;
}

static int site_of(const struct node *n)
{
    switch (n->op) {
    case OP_DROPOUT: return n->attr.dropout.site;
    case OP_ATTENTION: return n->attr.attention.site;
    case OP_LAYER_NORM: return n->attr.layer_norm.site;
    case OP_SRU: return n->attr.recurrent.site;
    default: fail_msg("op %d draws, and this test does not know its site", (int)n->op); return 0;
    }
}

// Nodes that draw read the key and, next, a counter. Returns how many there are in the forward pass.
static int check_program(const struct graph *g, const struct slot *key)
{
    bool seen[64] = {0};
    int draws = 0;
    for (int i = 0; i < g->nodes; i++) {
        const struct node *n = &g->node[i];
        for (int k = 0; k + 1 < MAX_IN; k++) {
            if (n->in[k] == NONE || n->in[k + 1] == NONE || g->value[n->in[k]].slot != key) continue;
            const struct slot *counter = g->value[n->in[k + 1]].slot;
            if (!counter || !ticks(g, counter)) fail_msg("%s draws by a counter that it does not advance", g->name);
            if (n->phase != PHASE_FORWARD) continue;  // the backward pass draws the mask again
            assert_in_range(site_of(n), 0, 63);
            if (seen[site_of(n)]) fail_msg("%s has two draws of site %d", g->name, site_of(n));
            seen[site_of(n)] = true, draws++;
        }
    }
    return draws;
}

// Each program that a step runs (for a batch, a part or a slice) has masks of its own: it advances the counter of its draws, and
// no two of its nodes have a site in common. Slices are numbered through all processes (trainer_begin).
TEST(test_draws_are_keyed)
{
    static const struct {
        const char *recipe, *settings[3];
    } wanted[] = {
        {"stories", {"model.dropout=0.1", NULL}},
        {"stories", {"model.dropout=0.1", "data.accumulate=4"}},
        {"stories", {"model.dropout=0.1", "data.slices=4"}},
        {"fastfusionnet", {"hidden=8", NULL}},
        {"fastfusionnet", {"hidden=8", "data.accumulate=2"}},
        {"drqa", {"hidden=8", "data.slices=2"}},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct bench m;
        make(&m, "null", wanted[i].recipe, "stories", wanted[i].settings);
        const struct trainer *t = m.trainer;
        assert_non_null(t->slots.feed[FEED_TRAIN].key);
        for (int v = 0; v < t->variants; v++)
            assert_true(check_program(t->session->graph[t->variant[v].program], t->slots.feed[FEED_TRAIN].key) > 5);
        bench_close(&m);
    }
}

// SPDX-License-Identifier: Apache-2.0
// GPTs: parameters as published, logits and gradients as PyTorch computes them, a text written token by token as it is read at
// once; blocks, their shift, and the score.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/kind.h"
#include "data/read/text/corpus.h"
#include "runtime/common/base/text.h"
#include "tasks/common/step/author.h"
#include "tasks/gpt/blocks.h"
#include "tasks/gpt/gpt.h"
#include "tasks/gpt/gpt_author.h"
#include "tasks/gpt/gpt_keys.h"
#include "tasks/gpt/gpt_network.h"
#include "tasks/gpt/ngrams.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_gpt, NULL};

enum { B = 3, T = 5, V = 11 };
static const int32_t TEXT[B][T + 1] = {{4, 9, 5, 10, 2, 7}, {7, 5, 2, 0, 0, 3}, {6, 2, 1, 8, 8, 6}}, VALID[B] = {5, 3, 5};
enum { GPT, SQUARED, GATED, MODELS };  // the last two: gpt-modern

struct setup {
    struct recipe recipe;
    struct dataset_facts facts;
    struct dataset *lines;
    struct feed_choice choice;
    struct setting setting;
    struct step_slots slots;
    struct session *s;
};

static struct gpt_keys *keys_of(struct setup *o) { return (void *)o->recipe.own; }

static void set_up_model(struct setup *o, const char *device, int model)
{
    memset(o, 0, sizeof *o);
    recipe_defaults(&recipe_table_gpt, &o->recipe);
    *keys_of(o) = (struct gpt_keys){.layers = 2, .width = 8, .heads = 2, .feed_forward = 12, .modern = {1e4, model == GATED, 0},
                                     .cap = model == GPT ? 0 : 4};
    o->facts = (struct dataset_facts){.name = "few", .field = {{"tokens", I32, SHAPE(T + 1), 0, V}}, .fields = 1};
    o->setting = (struct setting){.task = &task_gpt_char, .model = &gpt_models[model != GPT], .data = &o->facts,
                                  .recipe = &o->recipe, .feed = {&o->choice, &o->choice}, .dtype = F32};
    OK(dataset_open("lines", NULL, &o->lines));
    o->choice.data = o->lines;
    o->s = device ? session_on(device) : NULL;
}

static void set_down(struct setup *o)
{
    dataset_close(o->lines);
    if (o->s) session_done(o->s);
}

static const struct waves WAVES = {.norm = "norm", .scale = 0.6, .weight = 0.6, .rest = 0.3, .angle = 0.7};

struct read {
    int logits, loss;  // [B,T,V]; f32[1]: the sum over valid tokens
};

static struct read read_text(struct setup *o, struct graph *g, bool trains, bool shows)
{
    static const struct task_program program = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL},
                                     reader = {"read", PROGRAM_EVALUATE, FEED_TEST, 0, NULL};
    struct step step = {.g = g, .setting = &o->setting, .slots = &o->slots, .program = trains ? &program : &reader,
                        .is = {.batch = B}, .index = NONE};
    g->trains = trains ? ANY : 0;
    int tokens = graph_state(g, "in.tokens", SHAPE(B, T), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0}), out[3];
    int labels = graph_state(g, "in.labels", SHAPE(B, T), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int states = gpt_states(&step, tokens);
    struct read r = {.logits = shows ? gpt_logits(&step, states) : NONE, .loss = gpt_loss(&step, states, labels, out)};
    OK(graph_check(g));
    return r;
}

static void put_text(struct session *s)
{
    int32_t tokens[B][T], labels[B][T];
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) tokens[b][t] = TEXT[b][t], labels[b][t] = t < VALID[b] ? TEXT[b][t + 1] : -1;
    OK(session_put(s, "in.tokens", tokens, 0, sizeof tokens));
    OK(session_put(s, "in.labels", labels, 0, sizeof labels));
}

// ---- what PyTorch computes: test/bench/torch_gpt.py printed these
static const struct golden OF_GPT[] = {
    {"layers.0.", 9.68806544}, {"layers.1.", -9.38316211}, {"norm.weight", 5.38689555}, {"norm.bias", -5.74938653},
    {"embedding.weight", -1.17228613}, {"positions.weight", 48.80111453}, {NULL, 0},
};
static const struct golden OF_SQUARED[] = {
    {"layers.0.", -12.83396051}, {"layers.1.", -2.32628415}, {"embedding.weight", 2.49673304}, {"head.weight", 6.09520473},
    {NULL, 0},
};
static const struct golden OF_GATED[] = {
    {"layers.0.", 9.16569178}, {"layers.1.", -3.25887988}, {"embedding.weight", 0.91765526}, {"head.weight", 7.66189824},
    {NULL, 0},
};
static const struct {
    const struct golden *gradient;
    double loss, logit[4];
} GOLDEN[MODELS] = {
    {OF_GPT, 49.83137397, {3.08040129, -1.78702558, -3.34841925, 0.25962345}},
    {OF_SQUARED, 30.23810507, {-0.08377983, -0.17962946, 0.43324363, -0.13151929}},
    {OF_GATED, 29.39068403, {-0.42972532, 0.08579425, -0.82977879, -0.50772523}},
};

static void compare_with_pytorch(const char *device, int model)
{
    struct setup o;
    set_up_model(&o, device, model);
    struct graph *g = graph_new(o.s->store, "read");
    struct read r = read_text(&o, g, true, true);
    int parameters = keep_gradients(g, r.loss);
    keep(g, "loss", r.loss);
    keep(g, "logits", r.logits);
    OK(session_add(o.s, g));
    start(o.s);
    put_waves(o.s, &WAVES);
    put_text(o.s);
    OK(session_run(o.s, 0));
    assert_float_equal(read_one(o.s, "loss"), GOLDEN[model].loss, 2e-5);
    float *logits = read_slot(o.s, "logits");
    for (int t = 0; t < 4; t++) assert_float_equal(logits[(T + t) * V + 2 * t + 1], GOLDEN[model].logit[t], 5e-6);
    assert_int_equal(compare_gradients(o.s, GOLDEN[model].gradient, 6e-6, true), parameters);
    free(logits);
    set_down(&o);
}

TEST(equals_pytorch)
{
    for (int model = 0; model < MODELS; model++) compare_with_pytorch("ref", model), compare_with_pytorch("cpu", model);
}

// ---- token by token

static void write_texts(const char *device, int model)
{
    struct setup o;
    struct variant is = {.batch = 1};
    int fold = NONE;
    set_up_model(&o, device, model);
    struct task author = task_gpt_char;
    author.programs = gpt_author.programs;
    o.setting.task = &author;
    int program = step_evaluate(o.s, &o.setting, &o.slots, &is, 0, &fold);
    OK(program);
    struct graph *g = graph_new(o.s->store, "read");
    keep(g, "read", read_text(&o, g, false, true).logits);
    int reads = session_add(o.s, g);
    OK(reads);
    start(o.s);
    put_waves(o.s, &WAVES);
    put_text(o.s);
    OK(session_run(o.s, reads));
    float *want = read_slot(o.s, "read");
    for (int b = 0; b < B; b++)  // each begins where the caches are full of the text before
        for (int32_t t = 0; t < T; t++) {
            OK(session_put(o.s, AUTHOR_TOKEN, &TEXT[b][t], 0, sizeof(int32_t)));
            OK(session_put(o.s, AUTHOR_AT, &t, 0, sizeof t));
            OK(session_run(o.s, program));
            float *got = read_slot(o.s, AUTHOR_NEXT);
            for (int v = 0; v < V; v++) assert_float_equal(got[v], want[(b * T + t) * V + v], 1e-5);
            free(got);
        }
    free(want);
    set_down(&o);
}

TEST(writing_equals_reading)
{
    for (int model = 0; model < MODELS; model++) write_texts("ref", model), write_texts("cpu", model);
}

TEST(prompts_have_the_characters_of_the_text)
{
    struct setup o;
    int32_t *token;
    int64_t count;
    struct text text = {0};
    set_up_model(&o, NULL, GPT);
    OK(gpt_author.read(o.lines, "ANNA:\nThe", 9, &token, &count));
    for (int64_t i = 0; i < count; i++) gpt_author.tell(o.lines, token[i], &text);
    assert_string_equal(text.at, "ANNA:\nThe");
    free(token);
    OK(gpt_author.read(o.lines, "", 0, &token, &count));
    assert_int_equal(count, 1);
    assert_int_equal(corpus_symbols(o.lines)->symbol[token[0]], '\n');
    free(token);
    REFUSED(gpt_author.read(o.lines, "ANNA?", 5, &token, &count), "byte 5 (0x3f) is none of the 43 characters");
    struct dataset *noise;
    OK(dataset_open_noise("fineweb", &noise));
    REFUSED(gpt_author.read(noise, "A", 1, &token, &count), "no tokenizer of it is here");
    dataset_close(noise);
    text_free(&text);
    set_down(&o);
}

// ---- sizes

TEST(has_as_many_parameters_as_published)
{
    static const struct {
        int model;
        int64_t layers, width, heads, block, tokens, parameters;
    } rows[] = {
        // V C + T C + L (12 C^2 + 13 C) + 2 C
        {GPT, 6, 192, 6, 256, 65, 65 * 192 + 256 * 192 + 6 * (12 * 192 * 192 + 13 * 192) + 2 * 192},
        {GPT, 12, 768, 12, 1024, 50257, 124439808},  // GPT-2 as published (its 50,257 tokens are not padded)
        // 2 V C + 12 L C^2, and with a gate 4 L C^2 more
        {SQUARED, 6, 192, 6, 256, 65, 2 * 65 * 192 + 6 * 12 * 192 * 192},
        {GATED, 6, 192, 6, 256, 65, 2 * 65 * 192 + 6 * 16 * 192 * 192},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct setup o;
        set_up_model(&o, "null", rows[i].model);
        *keys_of(&o) = (struct gpt_keys){.layers = rows[i].layers, .width = rows[i].width, .heads = rows[i].heads,
                                         .feed_forward = 4 * rows[i].width, .modern = {1e4, rows[i].model == GATED, 0}};
        o.facts.field[0].shape = SHAPE(rows[i].block + 1), o.facts.field[0].classes = (int)rows[i].tokens;
        struct graph *g = graph_new(o.s->store, "sizes");
        read_text(&o, g, true, false);
        assert_int_equal(count_parameters(o.s->store), rows[i].parameters);
        OK(session_add(o.s, g));
        set_down(&o);
    }
}

// N(0, 0.02); what ends a part N(0, 0.02 / sqrt(2 L)); biases 0 (GPT-2).
TEST(begins_as_published)
{
    struct setup o;
    set_up_model(&o, "ref", GPT);
    keys_of(&o)->width = 64, keys_of(&o)->feed_forward = 256, o.facts.field[0].classes = 100;
    struct graph *g = graph_new(o.s->store, "read");
    read_text(&o, g, true, false);
    OK(session_add(o.s, g));
    start(o.s);
    for (int i = 0; i < o.s->store->count; i++) {
        const struct slot *slot = o.s->store->slot[i];
        if (!role_is_parameter(slot->role) || slot->role == ROLE_SCALE || strstr(slot->name, "positions")) continue;
        float *v = read_slot(o.s, slot->name);
        double squares = 0, n = (double)shape_count(&slot->shape);
        for (int64_t k = 0; k < shape_count(&slot->shape); k++) squares += (double)v[k] * (double)v[k];
        bool last = strstr(slot->name, "out_proj") || strstr(slot->name, "linear2");
        double deviation = slot->role == ROLE_BIAS ? 0 : last ? 0.01 : 0.02;
        assert_float_equal(sqrt(squares / n), deviation, deviation * 0.06);
        free(v);
    }
    set_down(&o);
}

// Parts and head begin as nothing: the network predicts all tokens alike.
TEST(a_modern_one_begins_with_nothing)
{
    struct setup o;
    set_up_model(&o, "ref", SQUARED);
    struct graph *g = graph_new(o.s->store, "read");
    keep(g, "loss", read_text(&o, g, true, false).loss);
    OK(session_add(o.s, g));
    start(o.s);
    put_text(o.s);
    OK(session_run(o.s, 0));
    assert_float_equal(read_one(o.s, "loss"), 13 * log(V), 1e-4);
    set_down(&o);
}

// No value is as large as the logits of all rows, or their gradient. The table of tokens and its gradient are smaller here.
TEST(whole_logits_stand_nowhere)
{
    enum { TOKENS = 50257 };
    for (int model = 0; model < MODELS; model++)
        for (int trains = 0; trains < 2; trains++) {
            struct setup o;
            set_up_model(&o, "null", model);
            o.facts.field[0].classes = TOKENS;
            struct graph *g = graph_new(o.s->store, "read");
            int loss = read_text(&o, g, trains, false).loss;
            int params[PARAMETERS_MOST], grads[PARAMETERS_MOST];
            if (trains) differentiate(g, loss, params, grads);
            for (int v = 0; v < g->values; v++) assert_true(shape_count(&g->value[v].shape) < B * T * TOKENS);
            OK(session_add(o.s, g));
            set_down(&o);
        }
}

// Muon updates the matrices of layers, AdamW all else.
TEST(muon_leaves_tables_and_heads_to_adamw)
{
    struct setup o;
    struct rule rule[RULES_MAX] = {0};
    set_up_model(&o, NULL, SQUARED);
    o.setting.steps = o.setting.steps_per_epoch = 10;
    o.recipe.optimiser = OPTIMISER_MUON, o.recipe.momentum = 0.8, o.recipe.filter_decay = 0.1, o.recipe.head_lr = 0.5;
    o.recipe.weight_decay = 0;
    keys_of(&o)->modern.beta2 = 0.9, keys_of(&o)->embedding_lr = 0.7;
    int count = task_gpt_char.rules(&o.setting, rule);
    assert_int_equal(rule[0].optimiser, OPTIMISER_MUON);
    assert_int_equal(rule[0].groups, 1 << GPT_BODY);
    static const enum dtype types[] = {F32, F16, BF16};
    for (int i = 0; i < 3; i++) {
        struct rule typed[RULES_MAX] = {0};
        o.setting.dtype = types[i];
        task_gpt_char.rules(&o.setting, typed);
        assert_true(typed[0].settings.together && typed[0].settings.ns_bf16 == (types[i] == BF16));
    }
    for (int i = 1; i < count; i++) {
        assert_int_equal(rule[i].optimiser, OPTIMISER_ADAMW);
        assert_float_equal(rule[i].settings.beta1, 0.8, 1e-6);
        assert_float_equal(rule[i].settings.beta2, 0.9, 1e-6);
        assert_true(rule[i].settings.decay == 0);
    }
    assert_true(rule[1].rate == 0.5 && rule[2].rate == 0.7);
    o.recipe.optimiser = OPTIMISER_ADAMW;
    task_gpt_char.rules(&o.setting, rule);
    assert_float_equal(rule[1].settings.decay, 0.1, 1e-6);
    set_down(&o);
}

// 24 squares are three batches of eight; the six tall and the six wide matrices are one each. Every parameter is updated once.
TEST(matrices_of_one_shape_are_multiplied_together)
{
    struct bench b;
    int count[2];
    bench_count_update(&b, &task_gpt_char, "gpt-modern", "shakespeare", count);
    assert_int_equal(count[0], 5 * 3 * 5);
    assert_int_equal(count[1], 6 * 6 + 2);
    bench_close(&b);
}

TEST(dropout_is_where_it_should_be)
{
    for (int trains = 0; trains < 2; trains++) {
        struct setup o;
        set_up_model(&o, "null", GPT);
        keys_of(&o)->dropout = 0.2;
        struct graph *g = graph_new(o.s->store, "dropout");
        read_text(&o, g, trains, false);
        assert_int_equal(count_op(g, OP_DROPOUT), trains ? 1 + 2 * 2 : 0);  // embeddings, and each part
        OK(session_add(o.s, g));
        set_down(&o);
    }
}

TEST(heads_share_the_width)
{
    struct setup o;
    set_up_model(&o, NULL, GPT);
    OK(recipe_table_gpt.check("a recipe", &o.recipe));
    keys_of(&o)->heads = 3;
    REFUSED(recipe_table_gpt.check("a recipe", &o.recipe), "a \"model.width\" of 8 cannot be shared by 3 heads");
    keys_of(&o)->heads = 8;
    OK(recipe_table_gpt.check("a recipe", &o.recipe));
    snprintf(o.recipe.model, sizeof o.recipe.model, "gpt-modern");
    REFUSED(recipe_table_gpt.check("a recipe", &o.recipe), "a head has 1 numbers");
    keys_of(&o)->width = 4096;
    REFUSED(recipe_table_gpt.check("a recipe", &o.recipe), "rotary positions need an even number up to 256");
    set_down(&o);
}

// ---- without a network

// Of 0 1 0 0 three are 0; two tokens follow a 0, one of each kind.
TEST(counts_are_interpolated)
{
    static const int32_t train[] = {0, 1, 0, 0}, test[] = {0, 1};
    double loss[NGRAMS_MOST + 1];
    ngrams_losses(train, 4, test, 2, 2, loss);
    assert_float_equal(loss[0], log(2), 1e-12);
    assert_float_equal(loss[1], -log((1 + 2 * 0.5) / (4 + 2)), 1e-12);
    for (int k = 2; k <= NGRAMS_MOST; k++) assert_float_equal(loss[k], -log((1 + 2 * (1.0 / 3)) / (2 + 2)), 1e-12);
}

// ---- blocks

enum { BLOCK = 64, LINES_BLOCKS = 938 };

static void fill_one(const struct feed_choice *f, const struct feed_item *item, int32_t tokens[BLOCK], int32_t labels[BLOCK])
{
    OK(f->fill(f->context, item, (void *[]){tokens, labels}));
}

TEST(an_epoch_is_shifted_as_one)
{
    struct setup o;
    set_up_model(&o, NULL, GPT);
    int64_t n = corpus_length(o.lines, SPLIT_TRAIN), first[4] = {0};
    int32_t *all = zalloc((size_t)n * sizeof *all), tokens[BLOCK], labels[BLOCK];
    OK(corpus_read(o.lines, SPLIT_TRAIN, 0, n, all));
    o.facts = *dataset_facts(o.lines);
    struct feed_choice f = {.data = o.lines, .split = SPLIT_TRAIN, .order = {.count = LINES_BLOCKS}};
    OK(blocks_feed(&o.setting, FEED_TRAIN, &f));
    assert_int_equal(f.fields, 2);
    for (uint32_t epoch = 0; epoch < 4; epoch++)
        for (int64_t i = 0; i < LINES_BLOCKS; i++) {
            struct feed_item item = {.split = SPLIT_TRAIN, .index = i, .seed = 5, .epoch = epoch};
            fill_one(&f, &item, tokens, labels);
            if (i == 0) while (memcmp(all + first[epoch], tokens, sizeof tokens) != 0) first[epoch]++;
            int64_t at = first[epoch] + i * BLOCK;
            if (at > n - BLOCK - 1) at = n - BLOCK - 1;  // those that would end behind the text
            assert_memory_equal(tokens, all + at, sizeof tokens);
            assert_memory_equal(labels, all + at + 1, sizeof labels);
        }
    assert_true(first[0] < BLOCK && first[0] != first[1] && first[1] != first[2] && first[2] != first[3]);
    free(all);
    set_down(&o);
}

TEST(an_evaluation_predicts_each_once)
{
    struct setup o;
    int32_t tokens[BLOCK], labels[BLOCK], *all;
    set_up_model(&o, NULL, GPT);
    int64_t n = corpus_length(o.lines, SPLIT_TEST), blocks = dataset_facts(o.lines)->count[SPLIT_TEST], at = 0;
    all = zalloc((size_t)n * sizeof *all);
    OK(corpus_read(o.lines, SPLIT_TEST, 0, n, all));
    o.facts = *dataset_facts(o.lines);
    for (int task = 0; task < 2; task++) {  // a training that reads streams is not shifted, either
        struct feed_choice f = {.data = o.lines, .split = SPLIT_TEST, .order = {.count = blocks}};
        o.setting.task = task ? &task_fineweb_gpt : &task_gpt_char;
        OK(blocks_feed(&o.setting, task ? FEED_TRAIN : FEED_TEST, &f));
        if (!task) assert_int_equal(f.order.batch[0], 94);  // at most 16,384 tokens
        at = 0;
        for (int64_t i = 0; i < blocks; i++) {
            struct feed_item item = {.split = SPLIT_TEST, .index = i, .seed = 5, .epoch = 3};
            fill_one(&f, &item, tokens, labels);
            for (int k = 0; k < BLOCK; k++) {
                bool there = at + 1 < n;
                assert_int_equal(tokens[k], there ? all[at] : 0);
                assert_int_equal(labels[k], there ? all[at + 1] : -1);
                at += there;
            }
        }
        assert_int_equal(at, n - 1);
    }
    free(all);
    set_down(&o);
}

TEST(the_score_is_the_mean_of_a_token)
{
    struct setup o;
    void *judging;
    int64_t score[METRICS_MAX] = {0};
    set_up_model(&o, NULL, GPT);
    int64_t blocks = dataset_facts(o.lines)->count[SPLIT_TEST];
    OK(blocks_judge.begin(&o.setting, o.lines, o.lines, &judging));
    for (int32_t i = (int32_t)blocks - 1; i >= 0; i--) {
        float loss = (float)(i < blocks - 1 ? 64 * (1 + 0.5 * (i % 2)) : 48);  // the last block predicts 48
        OK(blocks_judge.batch(judging, &(struct judged){.sample = &i, .count = 1, .output = {&loss}}));
    }
    OK(blocks_judge.write(judging, "/dev/null"));
    OK(blocks_judge.end(judging, score));
    // 47 blocks of 64 at 1, 46 at 1.5, 48 tokens at 1, of 6,000
    assert_int_equal(score[0], llround(1e6 * (47 * 64 + 46 * 96 + 48) / 6000));
    OK(blocks_judge.begin(&o.setting, o.lines, o.lines, &judging));
    int32_t first = 0;
    float loss = NAN;
    struct judged one = {.sample = &first, .count = 1, .output = {&loss}};
    REFUSED(blocks_judge.batch(judging, &one), "the loss is not a number");
    loss = 96;
    OK(blocks_judge.batch(judging, &one));
    OK(blocks_judge.end(judging, score));
    assert_int_equal(score[0], 1500000);  // of the measured items
    set_down(&o);
}

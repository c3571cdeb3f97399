// SPDX-License-Identifier: Apache-2.0
// BERT for pre-training: parameters as published, losses, logits and gradients as PyTorch computes them; how texts become
// samples; the scored set, which is the same for everybody; its rules of update and their share of a step.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/feed/feed.h"
#include "submit/format/score/contest.h"
#include "tasks/bert/bert.h"
#include "tasks/bert/bert_keys.h"
#include "tasks/bert/bert_network.h"
#include "tasks/bert/cloze.h"
#include "tasks/common/train/digests.h"
#include "tasks/common/words/sentence_pairs.h"

// ---- the network compared with PyTorch's: test/bench/torch_bert.py printed these

enum { B = 3, T = 8, P = 3, V = 13, WIDTH = 6, WIDE = 8, LAYERS = 2, INNER = 10, PLACES_ALL = 9 };
static const int32_t TOKENS[B][T] = {{2, 7, 4, 3, 9, 4, 12, 3}, {2, 4, 3, 11, 3}, {2, 5, 8, 6, 3, 4, 3}};
static const int32_t SEGMENTS[B][T] = {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 1}, {0, 0, 0, 0, 0, 1, 1}};
static const int32_t LENGTHS[B] = {8, 5, 7}, NEXT[B] = {1, 0, 1};
static const int32_t PLACES[B][P] = {{2, 5, 0}, {T + 1, T, T}, {2 * T + 1, 2 * T + 5, 2 * T}};  // in the batch
static const int32_t LABELS[B][P] = {{10, 6, -1}, {8, -1, -1}, {5, 12, -1}};

static const struct {
    const char *name;
    struct shape shape;
    const void *bytes;
} INPUTS[] = {{"tokens", SHAPE(T), TOKENS}, {"segments", SHAPE(T), SEGMENTS}, {"tokens.length", SHAPE(), LENGTHS},
              {"places", SHAPE(P), PLACES}, {"labels", SHAPE(P), LABELS}, {"next", SHAPE(), NEXT}};
enum { FIELDS = 6 };

static const struct golden OF_BERT[] = {
    {"embeddings.word_embeddings.weight", 0.59937379},
    {"embeddings.position_embeddings.weight", 0.16031060},
    {"embeddings.token_type_embeddings.weight", 0.23676503},
    {"embeddings.LayerNorm.weight", -0.23682966},
    {"embeddings.LayerNorm.bias", -0.17649738},
    {"encoder.layer.0.", 0.81907230},
    {"encoder.layer.1.", 1.59462954},
    {"pooler.dense.weight", 0.05977514},
    {"pooler.dense.bias", -0.00408884},
    {"cls.predictions.bias", -0.26880707},
    {"cls.predictions.transform.dense.weight", 0.23283389},
    {"cls.predictions.transform.dense.bias", 0.21651753},
    {"cls.predictions.transform.LayerNorm.weight", -0.09263623},
    {"cls.predictions.transform.LayerNorm.bias", 0.27758786},
    {"cls.seq_relationship.weight", 0.00644452},
    {"cls.seq_relationship.bias", -0.02164592},
    {NULL, 0},
};
static const struct golden OF_SQUARED[] = {
    {"embeddings.word_embeddings.weight", -0.68418920},
    {"embeddings.token_type_embeddings.weight", 0.35861469},
    {"layers.0.", 0.35665162},
    {"layers.1.", -0.32566649},
    {"pooler.dense.weight", -0.09381139},
    {"pooler.dense.bias", 0.09156969},
    {"cls.predictions.bias", -0.12366151},
    {"cls.predictions.transform.dense.weight", -0.17999129},
    {"cls.predictions.transform.dense.bias", -0.17307719},
    {"cls.predictions.transform.LayerNorm.weight", -0.13914517},
    {"cls.predictions.transform.LayerNorm.bias", -0.18408141},
    {"cls.seq_relationship.weight", 0.06694501},
    {"cls.seq_relationship.bias", 0.04902450},
    {NULL, 0},
};
static const struct golden OF_GATED[] = {
    {"embeddings.word_embeddings.weight", -0.67396502},
    {"embeddings.token_type_embeddings.weight", 0.54087597},
    {"layers.0.", 0.58797890},
    {"layers.1.", 1.30421437},
    {"pooler.dense.weight", -0.09162710},
    {"pooler.dense.bias", 0.03994792},
    {"cls.predictions.bias", -0.15038934},
    {"cls.predictions.transform.dense.weight", -1.24580130},
    {"cls.predictions.transform.dense.bias", -0.62394174},
    {"cls.predictions.transform.LayerNorm.weight", -0.00009203},
    {"cls.predictions.transform.LayerNorm.bias", -0.12165385},
    {"cls.seq_relationship.weight", 0.01759126},
    {"cls.seq_relationship.bias", -0.04996353},
    {NULL, 0},
};
enum { BERT, SQUARED, GATED, MODELS };  // the last two: bert-modern
static const struct {
    const struct golden *gradient;
    double loss[2], words[4], follows[2 * B];
} GOLDEN[MODELS] = {
    {OF_BERT, {2.59114091, 0.67033545}, {-0.90567027, 1.06353333, 0.03266442, 1.05006134},
     {-0.06368494, 0.72927011, -0.24731891, 0.75104777, -0.13533488, 0.81936342}},
    {OF_SQUARED, {2.71048905, 0.74585878}, {1.33408042, 1.09123291, 1.39195491, 1.06330476},
     {0.31796473, 0.55067927, 0.20980760, 0.69713896, 0.41842802, 0.42910692}},
    {OF_GATED, {2.41493773, 0.69315408}, {2.26512951, 0.81867115, 2.28437905, 0.53614798},
     {-0.31051945, 0.95249889, -0.37120806, 0.94454018, -0.20776714, 0.93422221}},
};

static const struct waves WAVES = {.norm = "LayerNorm", .scale = 0.5, .weight = 0.5, .rest = 0.3, .angle = 0.37, .square = true};

static void compare_with_pytorch(const char *device, int model)
{
    static const struct metric metrics[] = {{0}};
    static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
    static const struct task_program programs[] = {{"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL}, {0}};
    struct recipe recipe = {0};
    *(struct bert_keys *)(void *)recipe.own = (struct bert_keys){.layers = LAYERS, .width = model == BERT ? WIDTH : WIDE,
                                                                 .heads = 2, .feed_forward = INNER, .positions = PLACES_ALL,
                                                                 .modern = {1e4, model == GATED, 0}};
    struct dataset_facts facts = {.name = "few", .field = {{.name = "tokens", .classes = V}}, .fields = 1};
    struct feed_choice choice = {.order = {.buckets = 1, .batch = {B}}, .fields = FIELDS};
    for (int i = 0; i < FIELDS; i++)
        choice.field[i] = (struct feed_field){.name = INPUTS[i].name, .dtype = I32, .shape = {INPUTS[i].shape}};
    struct task task = {.name = "few", .metrics = metrics, .feeds = feeds, .programs = programs};
    struct setting setting = {.task = &task, .model = &bert_models[model != BERT], .data = &facts, .recipe = &recipe,
                              .feed = {&choice, &choice}, .dtype = F32};
    struct step_slots slots = {0};
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "forced");
    struct step step = {.g = g, .setting = &setting, .slots = &slots, .program = programs, .is = {.batch = B, .length = T},
                        .index = NONE};
    struct bert_answers a;
    int out[3];
    g->trains = ANY;
    bert_network(&step, &a);
    g_xent_full(g, (int[]){a.words, step_input(&step, "labels"), NONE}, 0, true, out);
    int masked = out[0], next = g_xent(g, a.next, step_input(&step, "next"), 0, true);
    OK(graph_check(g));
    int parameters = keep_gradients(g, g_add(g, masked, next));
    keep(g, "masked", masked), keep(g, "following", next), keep(g, "words", a.words), keep(g, "follows", a.next);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    for (int i = 0; i < FIELDS; i++) {
        struct slot *slot = slots.feed[FEED_TRAIN].input[i][0];
        OK(session_write(s, slot, INPUTS[i].bytes, 0, slot_bytes(slot)));
    }
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "masked"), GOLDEN[model].loss[0], 1e-5);
    assert_float_equal(read_one(s, "following"), GOLDEN[model].loss[1], 1e-5);
    float *words = read_slot(s, "words"), *follows = read_slot(s, "follows");
    static const int at[][2] = {{0, 0}, {0, 1}, {1, 0}, {2, 1}};
    for (int i = 0; i < 4; i++)
        assert_float_equal(words[(at[i][0] * P + at[i][1]) * V + 4 * at[i][1] + 1], GOLDEN[model].words[i], 1e-5);
    for (int i = 0; i < 2 * B; i++) assert_float_equal(follows[i], GOLDEN[model].follows[i], 1e-5);
    free(words), free(follows);
    assert_int_equal(compare_gradients(s, GOLDEN[model].gradient, 6e-6, true), parameters);
    session_done(s);
}

TEST(equals_pytorch)
{
    for (int model = 0; model < MODELS; model++) compare_with_pytorch("ref", model), compare_with_pytorch("cpu", model);
}

// ---- sizes and rules

// Devlin et al. 2019: 110 M and 340 M with the pooler. As Hugging Face's BertForPreTraining counts them, the tied table once.
TEST(has_as_many_parameters_as_published)
{
    static const struct {
        const struct task *task;
        const char *recipe;
        int64_t parameters;
        int layers;
    } rows[] = {{&task_bert_pretraining, "bert-base-128", 110106428, 12}, {&task_bert_pretraining, "bert-large-512", 336226108,
                                                                           24},
                {&task_wiki_mlm, "wiki-mlm", 5430786, 4}};  // bert-modern's are in the contest
    static const char *const names[] = {"embeddings.word_embeddings.weight", "pooler.dense.weight", "cls.predictions.bias",
                                        "cls.predictions.transform.dense.weight", "cls.predictions.transform.LayerNorm.bias",
                                        "cls.seq_relationship.weight", "encoder.layer.0.attention.self.query.weight"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        bench_choose(&b, rows[i].task, rows[i].recipe, (const char *const[]){NULL});
        OK(device_open("null", 1, &b.device));
        OK(dataset_open_noise(rows[i].task->data_sets[0], &b.data));
        bench_new(&b);
        const struct slot_store *store = b.trainer->session->store;
        assert_int_equal(trainer_parameters(b.trainer), rows[i].parameters);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) assert_non_null(slot_find(store, names[k]));
        for (int layer = 0; layer <= rows[i].layers; layer += rows[i].layers) {
            char name[64];
            snprintf(name, sizeof name, "encoder.layer.%d.output.LayerNorm.weight", layer);
            assert_int_equal(slot_find(store, name) != NULL, layer < rows[i].layers);
        }
        bench_close(&b);
    }
}

// lamb_optimizer_v1.py: norms and biases have no decay, and their step is not scaled. A matrix and its moments are one tensor.
TEST(lamb_spares_norms_and_biases)
{
    struct recipe r;
    struct rule rule[RULES_MAX] = {0};
    OK(recipe_embedded("bert-large-512", &r));
    const struct setting c = {.task = &task_bert_pretraining, .recipe = &r, .steps = 100, .steps_per_epoch = 50};
    int count = task_bert_pretraining.rules(&c, rule);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        assert_int_equal(rule[i].optimiser, OPTIMISER_LAMB);
        assert_float_equal(rule[i].settings.decay, i < 2 ? 0.01 : 0, 1e-9);
    }
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "update");
    const struct init init = {INIT_ZERO, 0};
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, init);
    g->trains = ANY;
    static const enum role roles[] = {ROLE_MATRIX, ROLE_EMBEDDING, ROLE_SCALE, ROLE_BIAS};
    for (int i = 0; i < 4; i++) {
        char name[8] = {(char)('a' + i), 0};
        int p = graph_param(g, name, SHAPE(4, 4), init, roles[i]), before = count_op(g, OP_TRUST);
        struct optim_settings how = rule[i < 2 ? i : 2].settings;
        how.clip = NONE;
        optim_lamb(g, p, graph_state(g, "grad", SHAPE(4, 4), F32, MEMORY_STATE, init), lr, &how);
        assert_int_equal(count_op(g, OP_TRUST) - before, i < 2);
    }
    OK(graph_check(g));
    graph_free(g);
    slot_store_free(store);
}

// 16 squares are two batches of eight; the four tall and the four wide matrices are one each. AdamW updates the rest.
TEST(muon_is_for_the_matrices_of_layers)
{
    struct bench b;
    int count[2];
    bench_count_update(&b, &task_wiki_mlm, "wiki-modern", "wiki-sample", count);
    assert_int_equal(count[0], 4 * 3 * 5);
    assert_int_equal(count[1], 4 * 6 + 2 + 3 + 4 + 2);  // layers; tables; pooler and the words' bias; transform; next
    struct rule rule[RULES_MAX] = {0};
    assert_int_equal(task_wiki_mlm.rules(&b.trainer->setting, rule), 4);
    for (int i = 0; i < 4; i++) assert_int_equal(rule[i].optimiser, i == 0 ? OPTIMISER_MUON : OPTIMISER_ADAMW);
    for (int i = 1; i < 4; i++) {
        assert_float_equal(rule[i].settings.beta1, 0.9, 1e-6);
        assert_float_equal(rule[i].settings.beta2, 0.95, 1e-6);
        assert_float_equal(rule[i].rate, 2e-3, 1e-9);
        assert_true(rule[i].settings.decay == 0);
    }
    bench_close(&b);
}

TEST(rotary_positions_need_even_heads)
{
    struct recipe r;
    OK(recipe_embedded("wiki-modern", &r));
    struct bert_keys *k = (void *)r.own;
    OK(recipe_table_bert.check("a recipe", &r));
    k->heads = 256;
    REFUSED(recipe_table_bert.check("a recipe", &r), "a head has 1 numbers");
    k->width = 2048, k->heads = 4;
    REFUSED(recipe_table_bert.check("a recipe", &r), "rotary positions need an even number up to 256");
    snprintf(r.model, sizeof r.model, "bert-mlm");
    OK(recipe_table_bert.check("a recipe", &r));
}

// ---- samples

struct made {
    struct recipe recipe;
    struct setting setting;
    struct dataset *stored, *view;
    struct feed_choice choice[2];
};

// The recipe of the real data without its epochs of short samples.
static void read_recipe(const char *name, struct recipe *r)
{
    OK(recipe_embedded(name, r));
    struct bert_keys *keys = (void *)r->own;
    if (!strcmp(name, "wiki-mlm")) keys->short_length = keys->short_epochs = 0;
}

static void make(struct made *m, const char *recipe)
{
    *m = (struct made){.setting = {.task = &task_wiki_mlm, .recipe = &m->recipe, .model = bert_models}};
    read_recipe(recipe, &m->recipe);
    OK(dataset_open("articles", NULL, &m->stored));
    m->setting.data = dataset_facts(m->stored);
    OK(cloze_view(&m->setting, m->stored, &m->view));
    m->setting.data = dataset_facts(m->view);
    for (int i = 0; i < 2; i++) {
        m->choice[i] = (struct feed_choice){.data = m->view, .split = (enum split)i, .order = {.buckets = 1, .batch = {8}}};
        OK(cloze_feed(&m->setting, i, &m->choice[i]));
    }
}

static void end(struct made *m)
{
    dataset_close(m->view);
    dataset_close(m->stored);
}

enum { LONG = 128, MASKS = 20, MANY = 51 };
struct filled {
    int32_t tokens[LONG], segments[LONG], length, places[MANY], labels[MANY], next;
};

static void fill_one(struct made *m, const struct feed_item *item, struct filled *f)
{
    void *const field[] = {f->tokens, f->segments, &f->length, f->places, f->labels, &f->next};
    memset(f, 0, sizeof *f);
    OK(m->choice[item->split].fill(m->view, item, field));
}

// What holds for every sample; returns the number of masked pieces.
static int check_masked(const struct filled *f, int64_t row, int64_t length, int most, double share)
{
    int second = 0, masked = 0;
    while (second < f->length && f->segments[second] == 0) second++;
    assert_in_range(f->length, 5, length);
    assert_in_range(second, 3, f->length - 2);
    assert_int_equal(f->tokens[0], 2);
    assert_int_equal(f->tokens[second - 1], 3);
    assert_int_equal(f->tokens[f->length - 1], 3);
    for (int i = second; i < f->length; i++) assert_int_equal(f->segments[i], 1);
    for (int i = f->length; i < length; i++) assert_int_equal(f->tokens[i] | f->segments[i], 0);
    while (masked < most && f->labels[masked] >= 0) masked++;
    int wanted = (int)rint(f->length * share);
    assert_int_equal(masked, wanted < 1 ? 1 : wanted > most ? most : wanted);
    for (int i = 0; i < most; i++) {
        int64_t piece = f->places[i] - row * length;
        if (i >= masked) {
            assert_int_equal(f->labels[i], -1);
            continue;
        }
        assert_in_range(piece, 1, f->length - 2);
        assert_int_not_equal(piece, second - 1);
        if (i > 0) assert_true(f->places[i] > f->places[i - 1]);
    }
    return masked;
}

static int check_sample(const struct filled *f, int64_t row, int64_t length, int most)
{
    return check_masked(f, row, length, most, 0.15);
}

TEST(samples_are_as_published)
{
    struct made m;
    make(&m, "wiki-mlm");
    int64_t samples = dataset_facts(m.view)->count[SPLIT_TRAIN], masked = 0, way[3] = {0}, random = 0, longest = 0;
    assert_int_equal(dataset_facts(m.view)->count[SPLIT_TEST], 1000);
    for (int64_t i = 0; i < samples; i++) {
        struct filled f;
        fill_one(&m, &(struct feed_item){.split = SPLIT_TRAIN, .index = i, .seed = 7, .epoch = 3, .row = i % 8}, &f);
        int count = check_sample(&f, i % 8, LONG, MASKS);
        masked += count, random += f.next, longest += f.length == LONG;
        for (int k = 0; k < count; k++) {
            int32_t now = f.tokens[f.places[k] - (i % 8) * LONG];
            way[now == 4 ? 0 : now == f.labels[k] ? 1 : 2]++;
        }
    }
    double all = (double)masked, off = 4 * sqrt(0.2 / all);
    assert_float_equal((double)way[0] / all, 0.8, off);
    assert_float_equal((double)way[1] / all, 0.1, off);
    assert_float_equal((double)way[2] / all, 0.1, off);
    // Half of them are random, and so are all whose sentences are one: more than half, here.
    assert_in_range(random, samples * 45 / 100, samples * 75 / 100);
    assert_in_range(longest, samples / 4, samples);
    end(&m);
}

static bool same(const struct filled *a, const struct filled *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(epochs_differ_and_repeat)
{
    struct made m, other;
    struct filled a, b;
    make(&m, "wiki-mlm"), make(&other, "wiki-mlm");
    int changed = 0, texts = 0;
    for (int64_t i = 0; i < 50; i++) {
        struct feed_item item = {.split = SPLIT_TRAIN, .index = i, .seed = 1, .epoch = 0};
        fill_one(&m, &item, &a);
        item.epoch = 1, fill_one(&m, &item, &b);
        changed += !same(&a, &b);
        item.epoch = 2, fill_one(&m, &item, &b);  // takes the place of epoch 0
        item.epoch = 0, item.seed = 2, fill_one(&m, &item, &b);
        changed += !same(&a, &b), texts += memcmp(a.segments, b.segments, sizeof a.segments) != 0;
        item.seed = 1, fill_one(&other, &item, &b);
        assert_true(same(&a, &b));
    }
    assert_in_range(changed, 95, 100);
    assert_in_range(texts, 25, 50);
    end(&m), end(&other);
}

TEST(a_recipe_masks_more)
{
    struct made m;
    make(&m, "wiki-modern");
    int64_t masked = 0, pieces = 0;
    for (int64_t i = 0; i < 500; i++) {
        struct filled f;
        fill_one(&m, &(struct feed_item){.split = SPLIT_TRAIN, .index = i, .seed = 1, .row = 1}, &f);
        masked += check_masked(&f, 1, LONG, MANY, 0.4), pieces += f.length;
    }
    assert_float_equal((double)masked / (double)pieces, 0.4, 0.005);
    end(&m);
}

// The first epochs have samples of their own form, in a bucket of their own.
TEST(first_epochs_are_brief)
{
    struct made m;
    make(&m, "articles");
    const struct feed_choice *c = &m.choice[SPLIT_TRAIN];
    assert_int_equal(c->order.buckets, 2);
    assert_int_equal(m.choice[SPLIT_TEST].order.buckets, 1);
    for (int b = 0; b < 2; b++) {
        assert_int_equal(c->field[0].shape[b].dim[0], b ? 32 : LONG);
        assert_int_equal(c->field[3].shape[b].dim[0], b ? 5 : MASKS);
    }
    for (uint32_t epoch = 8; epoch < 10; epoch++) {
        int brief = c->bucket_of_epoch(c->context, epoch);
        assert_int_equal(brief, epoch == 8);
        for (int64_t i = 0; i < 100; i++) {
            struct filled f;
            fill_one(&m, &(struct feed_item){.split = SPLIT_TRAIN, .index = i, .seed = 1, .epoch = epoch, .row = 3}, &f);
            check_sample(&f, 3, brief ? 32 : LONG, brief ? 5 : MASKS);
        }
    }
    end(&m);
}

// The recipe and the seed do not matter; the digest is of these 1,000 samples.
TEST(the_scored_set_is_fixed)
{
    static const char *const recipes[] = {"wiki-mlm", "wiki-modern", "articles"};
    char digest[3][DIGEST_HEX];
    for (int r = 0; r < 3; r++) {
        struct made m;
        make(&m, recipes[r]);
        for (int64_t i = 0; i < 1000; i++) {
            struct filled f, again;
            struct cloze_sample s;
            fill_one(&m, &(struct feed_item){.split = SPLIT_TEST, .index = i, .seed = 5, .epoch = 9}, &f);
            fill_one(&m, &(struct feed_item){.split = SPLIT_TEST, .index = i, .row = 2}, &again);
            check_sample(&f, 0, LONG, MASKS), check_sample(&again, 2, LONG, MASKS);
            assert_memory_equal(f.tokens, again.tokens, sizeof f.tokens);
            cloze_sample(m.view, i, &s);
            assert_memory_equal(f.tokens, s.tokens, sizeof f.tokens);
            assert_memory_equal(f.labels, s.labels, MASKS * sizeof *f.labels);
            assert_int_equal(f.segments[s.second], 1);
            assert_int_equal(f.next, s.random);
            cloze_sample_free(&s);
        }
        cloze_scored_digest(m.view, digest[r]);
        end(&m);
    }
    for (int r = 1; r < 3; r++) assert_string_equal(digest[0], digest[r]);
    assert_string_equal(digest[0], "d321fe67231bf9def1db23c1b695a81f763dc7a3545290c17a7d75c74646d595");
}

// Other published data, another way of making samples or other pieces: a score on them is another score.
TEST(another_scored_set_is_refused)
{
    const char *contest = contest_find("wiki-mlm")->scored_set;
    struct dataset_facts published = {.official = true}, own = {.official = false};
    struct made m;
    char hex[DIGEST_HEX];
    make(&m, "wiki-mlm");
    task_wiki_mlm.scored_digest(m.view, hex);
    REFUSED(digests_check_scored(&task_wiki_mlm, &published, hex), "differ from the contest's: their digest is d321fe67231bf9de");
    OK(digests_check_scored(&task_wiki_mlm, &own, hex));
    OK(digests_check_scored(&task_wiki_mlm, &published, contest));
    OK(digests_check_scored(&task_bert_pretraining, &published, hex));  // nobody has published its samples
    end(&m);
}

TEST(noise_has_the_shape_of_samples)
{
    struct made m = {.setting = {.task = &task_wiki_mlm, .recipe = &m.recipe, .model = bert_models}};
    struct filled f;
    read_recipe("wiki-mlm", &m.recipe);
    OK(dataset_open_noise("wiki-sample", &m.stored));
    m.setting.data = dataset_facts(m.stored);
    OK(cloze_view(&m.setting, m.stored, &m.view));
    m.setting.data = dataset_facts(m.view);
    m.choice[0] = (struct feed_choice){.data = m.view, .split = SPLIT_TRAIN, .order = {.buckets = 1, .batch = {8}}};
    OK(cloze_feed(&m.setting, 0, &m.choice[0]));
    fill_one(&m, &(struct feed_item){.split = SPLIT_TRAIN, .index = 77}, &f);
    assert_int_equal(f.length, LONG);
    for (int i = 0; i < MASKS; i++) assert_in_range(f.places[i], 1, LONG - 1);
    end(&m);
}

// ---- wrong inputs

static int view_of(const struct task *task, const char *text, struct made *m)
{
    *m = (struct made){.setting = {.task = task, .recipe = &m->recipe, .model = bert_models}};
    OK(recipe_embedded(task->recipes[0], &m->recipe));
    struct dataset *like;
    OK(dataset_open("articles", NULL, &like));
    OK(cloze_ask(like, NULL, 0, text, &m->stored));
    m->setting.data = dataset_facts(m->stored);
    int rc = cloze_view(&m->setting, m->stored, &m->view);
    if (rc == 0) {
        assert_int_equal(dataset_facts(m->view)->count[SPLIT_TEST], 1);
        dataset_close(m->view);
    }
    dataset_close(m->stored);
    dataset_close(like);
    return rc;
}

TEST(lines_need_masks)
{
    struct made m;
    struct text many = {0};
    OK(view_of(&task_wiki_mlm, "Alba is a [MASK] on the river [MASK].", &m));
    REFUSED(view_of(&task_wiki_mlm, "Alba is a town.", &m), "sentence 1 has no [MASK] to fill in");
    for (int i = 0; i < 21; i++) text_add(&many, "[MASK] ");
    REFUSED(view_of(&task_wiki_mlm, many.at, &m), "sentence 1 has 21 pieces, 21 of them [MASK]; at most 126 and 20 are read");
    many.length = 0;
    for (int i = 0; i < 130; i++) text_add(&many, "the ");
    text_add(&many, "[MASK]");
    REFUSED(view_of(&task_wiki_mlm, many.at, &m), "sentence 1 has 131 pieces, 1 of them [MASK]");
    REFUSED(cloze_ask(NULL, NULL, 0, "a\nb", &m.stored), "--ask takes one line");
    text_free(&many);
}

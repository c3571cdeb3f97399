// SPDX-License-Identifier: Apache-2.0
// Deep Speech 2: parameters as published, logits and gradients as PyTorch computes them; buckets of utterances; the search for a
// text against all ways to place letters.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/audio/letters.h"
#include "data/audio/spectrum.h"
#include "runtime/common/base/rng.h"
#include "tasks/speech/deepspeech.h"
#include "tasks/speech/letter_search.h"
#include "tasks/speech/speech_keys.h"
#include "tasks/speech/utterances.h"

const struct recipe_table *const recipe_tables[] = {NULL};

// ---- the network as it is published

static const struct model *model(const char *name)
{
    const struct model *m = deepspeech_models;
    while (m->name && strcmp(m->name, name) != 0) m++;
    assert_non_null(m->name);
    return m;
}

TEST(parameters_are_as_published)
{
    static const struct {
        const char *name;
        int64_t parameters, steps;  // of 100 frames
    } rows[] = {{"deepspeech2-mini", 3058320, 25}, {"deepspeech2", 41187968, 50}, {"deepspeech2-tbd", 217193248, 50}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe recipe = {0};
        struct setting setting = {.model = model(rows[i].name), .recipe = &recipe, .dtype = F32};
        static const struct task_program program = {.kind = PROGRAM_TRAIN};
        struct slot_store *store = slot_store_new();
        struct graph *g = graph_new(store, "network");
        struct step step = {.g = g, .setting = &setting, .program = &program};
        const struct init upload = {INIT_UPLOAD, 0};
        int in[MODEL_VALUES] = {graph_state(g, "x", SHAPE(2, 100, SPECTRUM_BINS), F32, MEMORY_DATA, upload),
                                graph_state(g, "half", SHAPE(2), I32, MEMORY_DATA, upload),
                                graph_state(g, "steps", SHAPE(2), I32, MEMORY_DATA, upload)}, out[MODEL_VALUES];
        g->trains = ANY;
        setting.model->forward(&step, in, out);
        OK(graph_check(g));
        assert_int_equal(count_parameters(store), rows[i].parameters);
        struct shape want = SHAPE(2, rows[i].steps, LETTERS);
        assert_true(shape_equal(&g->value[out[0]].shape, &want));
        assert_int_equal(deepspeech_steps(&setting, 100), rows[i].steps);
        assert_non_null(slot_find(store, "rnns.1.batch_norm.module.running_var"));
        assert_non_null(slot_find(store, "rnns.0.rnn.weight_hh_l0_reverse"));
        assert_non_null(slot_find(store, "fc.0.module.1.weight"));
        graph_free(g);
        slot_store_free(store);
    }
}

// ---- compared with PyTorch's: test/bench/torch_speech.py printed the figures

enum { B = 3, T = 13, F = 21, L = 3 };
static const int32_t FRAMES[B] = {13, 9, 6}, TEXTS[B][L] = {{5, 5, 2}, {7, 1}, {9}}, COUNTS[B] = {3, 2, 1};
static const struct waves WAVES = {.norm = "batch_norm", .also = "fc.0.module.0", .scale = 0.5, .weight = 0.4, .rest = 0.3,
                                   .angle = 0.37, .square = true};

static const struct golden OF_FOUR[] = {
    {"conv.seq_module.0.weight", 3.89991364},
    {"conv.seq_module.0.bias", 0},
    {"conv.seq_module.1.weight", -3.35581033},
    {"conv.seq_module.1.bias", 0.44420074},
    {"conv.seq_module.3.weight", 0.98909926},
    {"conv.seq_module.3.bias", 0},
    {"conv.seq_module.4.weight", -7.34018320},
    {"conv.seq_module.4.bias", 2.02786424},
    {"rnns.0.rnn.", -0.78554622},
    {"rnns.1.rnn.", 0.04790129},
    {"rnns.1.batch_norm.module.weight", 0.21094858},
    {"rnns.1.batch_norm.module.bias", 0.58889262},
    {"fc.0.module.0.weight", -0.27129689},
    {"fc.0.module.0.bias", 1.29158756},
    {"fc.0.module.1.weight", -3.12499360},
    {NULL, 0},
};
static const struct golden OF_TWO[] = {
    {"conv.seq_module.0.weight", -3.66609919},
    {"conv.seq_module.0.bias", 0},
    {"conv.seq_module.1.weight", -2.68552309},
    {"conv.seq_module.1.bias", -1.41143567},
    {"conv.seq_module.3.weight", 1.41104171},
    {"conv.seq_module.3.bias", 0},
    {"conv.seq_module.4.weight", -4.85038851},
    {"conv.seq_module.4.bias", -0.23210907},
    {"rnns.0.rnn.", 2.90391541},
    {"rnns.1.rnn.", 0.78318813},
    {"rnns.1.batch_norm.module.weight", 0.23642969},
    {"rnns.1.batch_norm.module.bias", 0.09850883},
    {"fc.0.module.0.weight", 0.43749705},
    {"fc.0.module.0.bias", 3.55856639},
    {"fc.0.module.1.weight", -0.18276281},
    {NULL, 0},
};
static const struct {
    int64_t stride;
    const struct golden *gradient;
    double loss, logit[B];
} GOLDEN[] = {
    {4, OF_FOUR, 28.64927886, {-0.37152885, 0.78267853, 0.11830069}},
    {2, OF_TWO, 41.05848967, {0.72065807, -0.48083770, -0.18201108}},
};

static void put_utterances(struct session *s, const struct feed_slots *slots, const struct setting *c)
{
    float x[B][T][F] = {0};
    int32_t half[B], steps[B];
    for (int b = 0; b < B; b++) {
        half[b] = (int32_t)deepspeech_half(FRAMES[b]), steps[b] = (int32_t)deepspeech_steps(c, FRAMES[b]);
        for (int t = 0; t < FRAMES[b]; t++)
            for (int f = 0; f < F; f++)
                x[b][t][f] = (float)sin(0.9 * (b + 1) * (t + 1) + 0.35 * (f + 1) * (f + 1));
    }
    const void *bytes[] = {x, half, steps, TEXTS, COUNTS};
    for (int i = 0; i < 5; i++) OK(session_write(s, slots->input[i][0], bytes[i], 0, slot_bytes(slots->input[i][0])));
}

static void compare_with_pytorch(const char *device, size_t row)
{
    static const struct metric metrics[] = {{0}};
    static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
    static const struct task_program programs[] = {{"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL}, {0}};
    static const char *const names[] = {"frames", "half", "steps", "letters", "letters.length"};
    const struct shape shapes[] = {SHAPE(T, F), {0}, {0}, SHAPE(L), {0}};
    struct recipe recipe = {0};
    *(struct speech_keys *)(void *)recipe.own = (struct speech_keys){.channels = 2, .stride = GOLDEN[row].stride, .layers = 2,
                                                                     .width = 3};
    struct dataset_facts facts = {.name = "few"};
    struct feed_choice choice = {.order = {.buckets = 1, .batch = {B}}, .fields = 5};
    for (int i = 0; i < 5; i++)
        choice.field[i] = (struct feed_field){.name = names[i], .dtype = i ? I32 : F32, .shape = {shapes[i]}};
    struct task task = {.name = "few", .metrics = metrics, .feeds = feeds, .programs = programs};
    struct setting setting = {.task = &task, .model = deepspeech_models, .data = &facts, .recipe = &recipe,
                              .feed = {&choice, &choice}, .dtype = F32};
    struct step_slots slots = {0};
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "forced");
    struct step step = {.g = g, .setting = &setting, .slots = &slots, .program = programs, .is = {.batch = B, .length = T},
                        .index = NONE};
    int in[5], answer[MODEL_VALUES], out[3];
    g->trains = ANY;
    for (int i = 0; i < 5; i++) in[i] = step_input(&step, names[i]);
    setting.model->forward(&step, in, answer);
    g_ctc(g, (int[]){answer[0], in[2], in[3], in[4]}, out);
    OK(graph_check(g));
    int parameters = keep_gradients(g, out[0]);
    keep(g, "loss", out[0]), keep(g, "logits", answer[0]), keep(g, "skipped", out[2]);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    put_utterances(s, &slots.feed[FEED_TRAIN], &setting);
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "loss"), GOLDEN[row].loss, 1e-5 * GOLDEN[row].loss);
    float *logits = read_slot(s, "logits"), *skipped = read_slot(s, "skipped");
    for (int b = 0; b < B; b++) {
        int64_t at = (b * deepspeech_steps(&setting, T) + 1) * LETTERS + 7 * b + 3;
        assert_float_equal(logits[at], GOLDEN[row].logit[b], 1e-5);
        assert_float_equal(skipped[b], 0, 0);
    }
    free(logits), free(skipped);
    assert_int_equal(compare_gradients(s, GOLDEN[row].gradient, 1e-5, true), parameters);
    session_done(s);
}

TEST(equals_pytorch)
{
    for (size_t row = 0; row < sizeof GOLDEN / sizeof *GOLDEN; row++)
        compare_with_pytorch("ref", row), compare_with_pytorch("cpu", row);
}

// ---- buckets

TEST(buckets_are_full_and_leave_out_little)
{
    enum { N = 948, BATCH = 16, MOST = 6 };
    int32_t length[N], limit[ORDER_BUCKETS], longest = 0;
    for (uint32_t i = 0; i < N; i++) {  // about AN4's
        struct rng4 r = rng_draw(1, RNG_SYNTHETIC, 0, i, 0);
        length[i] = 70 + (int32_t)(rng_below(r.v[0], 300) + rng_below(r.v[1], 270));
        longest = length[i] > longest ? length[i] : longest;
    }
    int buckets = utterances_cut(&(struct lengths_cut){length, N, BATCH, MOST}, limit);
    assert_int_equal(buckets, MOST);
    assert_int_equal(limit[buckets - 1], longest);
    int64_t out = 0;
    for (int b = 0; b < buckets; b++) {
        int64_t inside = 0;
        for (int i = 0; i < N; i++) inside += length[i] <= limit[b] && (b == 0 || length[i] > limit[b - 1]);
        assert_true(inside >= 2 * BATCH && inside < 2 * N / MOST);
        out += inside % BATCH;
    }
    assert_true(out <= 24);  // cuts of equal numbers leave out 48 on average
}

TEST(buckets_of_few_or_equal_lengths)
{
    int32_t limit[ORDER_BUCKETS], equal[40], few[3] = {9, 5, 7};
    for (int i = 0; i < 40; i++) equal[i] = 12;
    assert_int_equal(utterances_cut(&(struct lengths_cut){equal, 40, 4, 8}, limit), 1);
    assert_int_equal(limit[0], 12);
    assert_int_equal(utterances_cut(&(struct lengths_cut){few, 3, 16, 8}, limit), 1);
    assert_int_equal(limit[0], 9);
    assert_int_equal(utterances_cut(&(struct lengths_cut){few, 0, 16, 8}, limit), 1);
}

// ---- texts of logits

static void put_logits(float *logits, int steps, uint32_t seed, const int *some, int count)
{
    for (int i = 0; i < steps * LETTERS; i++) logits[i] = -60;
    for (int t = 0; t < steps; t++)
        for (int k = 0; k < count; k++)
            logits[t * LETTERS + some[k]] = 3 * rng_unit(rng_draw(seed, RNG_SYNTHETIC, 0, (uint32_t)t, (uint32_t)k).v[0]);
}

// The most likely text of all ways to take one of `count` labels in each step.
static void find_text(const float *logits, int steps, const int *some, int count, char *best)
{
    enum { TEXTS_MOST = 512, LONGEST = 16 };
    static char text[TEXTS_MOST][LONGEST];
    static double share[TEXTS_MOST];
    int texts = 0, all = 1, most = 0;
    for (int t = 0; t < steps; t++) all *= count;
    for (int way = 0; way < all; way++) {
        int32_t label[LONGEST];
        char written[LONGEST];
        double sum = 0;
        for (int t = 0, left = way; t < steps; t++, left /= count) {
            label[t] = some[left % count];
            sum += (double)logits[t * LETTERS + label[t]];
        }
        letters_join(label, steps, written);
        int at = 0;
        while (at < texts && strcmp(text[at], written) != 0) at++;
        if (at == texts) {
            assert_in_range(texts, 0, TEXTS_MOST - 1);
            strcpy(text[texts], written), share[texts++] = 0;
        }
        share[at] += exp(sum);
    }
    for (int i = 1; i < texts; i++)
        if (share[i] > share[most]) most = i;
    strcpy(best, text[most]);
}

TEST(search_finds_the_most_likely_text)
{
    enum { STEPS = 6 };
    static const int some[] = {LETTERS_BLANK, 2, 3};
    float logits[STEPS * LETTERS];
    char found[STEPS + 1], best[STEPS + 1], greedy[STEPS + 1];
    int differ = 0;
    for (uint32_t seed = 0; seed < 60; seed++) {
        put_logits(logits, STEPS, seed, some, 3);
        find_text(logits, STEPS, some, 3, best);
        assert_int_equal(letter_search(logits, STEPS, LETTER_BEAM, found), (int64_t)strlen(best));
        assert_string_equal(found, best);
        letter_search(logits, STEPS, 1, greedy);
        differ += strcmp(greedy, best) != 0;
    }
    assert_true(differ > 5);  // the best letters of the steps are often another text
}

TEST(search_joins_as_ctc_does)
{
    static const int label[] = {9, 9, 0, 10, 28, 28, 0, 28, 9, 0, 9};  // H H _ I space .. H _ H
    enum { STEPS = sizeof label / sizeof *label };
    float logits[STEPS * LETTERS] = {0};
    char text[STEPS + 1], want[STEPS + 1];
    for (int t = 0; t < STEPS; t++) logits[t * LETTERS + label[t]] = 20;
    snprintf(want, sizeof want, "%c%c %c%c", letters_char(9), letters_char(10), letters_char(9), letters_char(9));
    for (int beam = 1; beam <= 10; beam += 9) {
        assert_int_equal(letter_search(logits, STEPS, beam, text), 5);
        assert_string_equal(text, want);
    }
    for (int i = 0; i < LETTERS; i++) logits[i] = NAN;  // of a network that has diverged: any text, and no crash
    for (int beam = 1; beam <= 2; beam++) assert_true(letter_search(logits, 3, beam, text) <= 4);
    for (int beam = 1; beam <= 2; beam++) assert_int_equal(letter_search(logits, 0, beam, text), 0);
    assert_string_equal(text, "");
}

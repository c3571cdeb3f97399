// SPDX-License-Identifier: Apache-2.0
// The translators: parameters as published, logits and gradients as PyTorch computes them, a decoding that equals teacher
// forcing, and the recurrent ones' beam search with coverage against all sequences.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

#include "runtime/optim.h"
#include "tasks/common/decode/search_graph.h"
#include "tasks/common/step/drive.h"
#include "tasks/translation/keys.h"
#include "tasks/translation/translation.h"

const struct recipe_table *const recipe_tables[] = {NULL};

enum { B = 3, S = 5, T = 4, V = 11, WIDTH = 6, LAYERS = 3, FEW = 5, LIMIT = 9 };
static const int32_t SOURCE[B][S] = {{4, 9, 5, 10, 2}, {7, 5, 2}, {6, 2}}, SOURCE_LENGTH[B] = {5, 3, 2};
static const int32_t TARGET[B][T] = {{8, 4, 2}, {3, 10, 7, 2}, {9, 2}}, TARGET_LENGTH[B] = {3, 4, 2};
static const struct model models[] = {{.name = "gnmt", .own = &recurrent_gnmt}, {.name = "seq2seq", .own = &recurrent_seq2seq},
                                      {.name = "post-norm", .own = &transformer_decoder},
                                      {.name = "pre-norm", .own = &transformer_decoder}};
enum { POST_NORM = 2, PRE_NORM, MODELS, RECURRENT = POST_NORM };

// ---- everything that a step needs; the caller names its programs
struct setup {
    struct recipe recipe;
    struct dataset_facts facts;
    struct feed_choice choice;
    struct task task;
    struct setting setting;
    struct step_slots slots;
    struct session *s;
};

static void set_up(struct setup *o, const char *device, int model, const struct task_program *programs)
{
    static const struct metric metrics[] = {{0}};
    static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
    memset(o, 0, sizeof *o);
    *(struct translation_keys *)(void *)o->recipe.own = (struct translation_keys){
        .layers = LAYERS, .width = WIDTH, .heads = 2, .feed_forward = 10, .positions = LIMIT, .norm = model == PRE_NORM};
    o->facts = (struct dataset_facts){.name = "few", .field = {{.name = "source", .classes = V}}, .fields = 1};
    o->choice = (struct feed_choice){.order = {.buckets = 1, .batch = {B}}, .fields = 3,
                                     .field = {{.name = "source", .dtype = I32, .shape = {SHAPE(S)}},
                                               {.name = "source.length", .dtype = I32}, {.name = "target.length", .dtype = I32}}};
    o->task = (struct task){.name = "few", .metrics = metrics, .feeds = feeds, .programs = programs};
    o->setting = (struct setting){.task = &o->task, .model = &models[model], .data = &o->facts, .recipe = &o->recipe,
                                  .feed = {&o->choice, &o->choice}, .dtype = F32};
    o->setting.shows = true;
    o->s = device ? session_on(device) : NULL;
}

static struct translation_keys *keys_of(struct setup *o) { return (void *)o->recipe.own; }

// As the script of the golden figures. Another shift gives other networks.
static const struct waves WAVES = {.norm = "norm", .scale = 0.5, .weight = 1, .rest = 2, .angle = 0.7};

// A Transformer's table of positions and, where it reads them, the lengths of the targets.
static void put_rest(struct setup *o)
{
    if (slot_find(o->s->store, "positions")) OK(transformer_begin(&o->setting, o->s, NULL));
    for (int feed = 0; feed < 2; feed++) {
        struct slot *lengths = o->slots.feed[feed].input[2][0];
        if (lengths) OK(session_write(o->s, lengths, TARGET_LENGTH, 0, sizeof TARGET_LENGTH));
    }
}

// ---- teacher forcing

struct forced {
    int logits, loss;  // [B,T,V]; f32[1]: the sum over valid words
};

static struct forced force(struct setup *o, struct graph *g, bool trains)
{
    static const struct task_program program = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL},
                                     reader = {"read", PROGRAM_EVALUATE, FEED_TEST, 0, NULL};
    struct step step = {.g = g, .setting = &o->setting, .slots = &o->slots, .program = trains ? &program : &reader,
                        .is = {.batch = B, .length = T}, .index = NONE};
    static const char *const names[] = {"in.source", "in.lengths", "in.read", "in.target", "in.counts"};
    const struct shape shapes[] = {SHAPE(B, S), SHAPE(B), SHAPE(B, T), SHAPE(B, T), SHAPE(B)};
    int in[5], out[3];
    g->trains = trains ? ANY : 0;
    for (int i = 0; i < 5; i++)
        in[i] = graph_state(g, names[i], shapes[i], I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    const struct decoding *t = decoding_of(&o->setting);
    struct linear_xent l = {.x = t->states(&step, in[0], in[1], in[2]), .bias = NONE, .labels = in[3]};
    struct forced f = {.logits = decoding_logits(&step, l.x)};
    int ones = graph_state(g, "ones", SHAPE(B, T), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    l.weights = graph_node(g, OP_MASK, (int[]){ones, NONE, in[4]}, 3, &(union attr){.mask = {.axis = 1}}, NULL);
    l.w = t->output(&step, &l.bias);
    f.loss = g_linear_xent(g, &l, out);
    OK(graph_check(g));
    return f;
}

static void put_batch(struct session *s)
{
    int32_t read[B][T];
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) read[b][t] = t ? TARGET[b][t - 1] : BPE_BOS;
    OK(session_put(s, "in.source", SOURCE, 0, sizeof SOURCE));
    OK(session_put(s, "in.lengths", SOURCE_LENGTH, 0, sizeof SOURCE_LENGTH));
    OK(session_put(s, "in.read", read, 0, sizeof read));
    OK(session_put(s, "in.target", TARGET, 0, sizeof TARGET));
    OK(session_put(s, "in.counts", TARGET_LENGTH, 0, sizeof TARGET_LENGTH));
}

// ---- what PyTorch computes: test/bench/torch_translators.py printed these
static const struct golden GNMT[] = {
    {"encoder.rnn_layers.0.weight_ih_l0", -0.18163173}, {"encoder.rnn_layers.0.weight_hh_l0", 0.03450848},
    {"encoder.rnn_layers.0.bias_ih_l0", 0.06884311}, {"encoder.rnn_layers.0.weight_ih_l0_reverse", -0.03496669},
    {"encoder.rnn_layers.0.weight_hh_l0_reverse", 0.00594851}, {"encoder.rnn_layers.0.bias_ih_l0_reverse", -0.00657835},
    {"encoder.rnn_layers.1.weight_ih_l0", -0.92287715}, {"encoder.rnn_layers.1.weight_hh_l0", 0.27546243},
    {"encoder.rnn_layers.1.bias_ih_l0", -0.11770706}, {"encoder.rnn_layers.2.weight_ih_l0", 0.35095959},
    {"encoder.rnn_layers.2.weight_hh_l0", 0.20525637}, {"encoder.rnn_layers.2.bias_ih_l0", 0.01104259},
    {"encoder.embedder.weight", -0.34882494}, {"decoder.att_rnn.rnn.weight_ih_l0", 0.66855625},
    {"decoder.att_rnn.rnn.weight_hh_l0", 0.06507923}, {"decoder.att_rnn.rnn.bias_ih_l0", -0.22462788},
    {"decoder.att_rnn.attn.linear_att", 0.00293689}, {"decoder.att_rnn.attn.normalize_scalar", -0.01753828},
    {"decoder.att_rnn.attn.normalize_bias", 0.00246626}, {"decoder.att_rnn.attn.linear_q.weight", -0.00356603},
    {"decoder.att_rnn.attn.linear_k.weight", 0.00176494}, {"decoder.rnn_layers.0.weight_ih_l0", 2.22402476},
    {"decoder.rnn_layers.0.weight_hh_l0", -0.76068341}, {"decoder.rnn_layers.0.bias_ih_l0", -0.59318628},
    {"decoder.rnn_layers.1.weight_ih_l0", 1.13560295}, {"decoder.rnn_layers.1.weight_hh_l0", -0.62158291},
    {"decoder.rnn_layers.1.bias_ih_l0", 0.16458890}, {"decoder.classifier.classifier.weight", 7.48417581},
    {"decoder.classifier.classifier.bias", 3.58917751},
    {NULL, 0},
};
static const struct golden SEQ2SEQ[] = {
    {"encoder.embedder.weight", -0.08058325}, {"encoder.rnn_layers.0.weight_ih_l0", 0.51748590},
    {"encoder.rnn_layers.0.weight_hh_l0", -0.14399345}, {"encoder.rnn_layers.0.bias_ih_l0", -0.15354051},
    {"encoder.rnn_layers.1.weight_ih_l0", 1.13495903}, {"encoder.rnn_layers.1.weight_hh_l0", 1.08482350},
    {"encoder.rnn_layers.1.bias_ih_l0", -0.06148190}, {"encoder.rnn_layers.2.weight_ih_l0", 0.11226060},
    {"encoder.rnn_layers.2.weight_hh_l0", -0.05620563}, {"encoder.rnn_layers.2.bias_ih_l0", -0.27902785},
    {"decoder.rnn_layers.0.weight_ih_l0", 0.06408494}, {"decoder.rnn_layers.0.weight_hh_l0", 0.03661688},
    {"decoder.rnn_layers.0.bias_ih_l0", 0.02585724}, {"decoder.rnn_layers.1.weight_ih_l0", -0.11860041},
    {"decoder.rnn_layers.1.weight_hh_l0", -0.01426792}, {"decoder.rnn_layers.1.bias_ih_l0", 0.13952359},
    {"decoder.rnn_layers.2.weight_ih_l0", -0.32736265}, {"decoder.rnn_layers.2.weight_hh_l0", 0.56622074},
    {"decoder.rnn_layers.2.bias_ih_l0", -0.90167707}, {"decoder.attn.linear_att", -0.00059742},
    {"decoder.attn.linear_q.weight", 0.00504617}, {"decoder.attn.linear_k.weight", 0.11338625},
    {"decoder.attention_layer.weight", 19.58088559}, {"decoder.classifier.classifier.weight", -0.01275894},
    {NULL, 0},
};
static const struct golden POST[] = {
    {"encoder.layers.0.", -0.00624109}, {"encoder.layers.1.", -0.13191810}, {"encoder.layers.2.", -2.02706839},
    {"decoder.layers.0.", -0.15487602}, {"decoder.layers.1.", 6.29444059}, {"decoder.layers.2.", 95.76135315},
    {"embedding.weight", -3.98906040}, {NULL, 0},
};
static const struct golden PRE[] = {
    {"encoder.layers.0.", 0.17352925}, {"encoder.layers.1.", 0.02702209}, {"encoder.layers.2.", -0.00196293},
    {"encoder.norm.weight", 0.22324668}, {"encoder.norm.bias", -0.36296079}, {"decoder.layers.0.", 5.43396484},
    {"decoder.layers.1.", 6.05402535}, {"decoder.layers.2.", -0.60707763}, {"decoder.norm.weight", 14.42485022},
    {"decoder.norm.bias", 2.15020865}, {"embedding.weight", 0.05654965}, {NULL, 0},
};
static const struct {
    const struct golden *gradient;
    double loss, logit[T], seen[T];  // of sample 1; seen: a Transformer's attention to position 1
} GOLDEN[MODELS] = {
    {GNMT, 35.35599891, {-1.21596914, -2.56122391, 1.20245839, 0.51358316}, {0}},
    {SEQ2SEQ, 28.62446557, {-1.56840795, 1.33949361, 0.64308316, -2.15560704}, {0}},
    {POST, 80.46539510, {-8.10627679, 6.88296478, 0.95799627, -7.87771761}, {0.32254600, 0.32254870, 0.32254601, 0.32254603}},
    {PRE, 54.46519265, {-0.92722063, 4.25569615, -2.86629138, -0.73380707}, {0.19478964, 0.26718576, 0.20185254, 0.20061396}},
};

static void compare_with_pytorch(const char *device, int model)
{
    struct setup o;
    set_up(&o, device, model, NULL);
    struct graph *g = graph_new(o.s->store, "forced");
    struct forced f = force(&o, g, true);
    int parameters = keep_gradients(g, f.loss);
    keep(g, "loss", f.loss);
    keep(g, "logits", f.logits);
    OK(session_add(o.s, g));
    start(o.s);
    put_waves(o.s, &WAVES);
    put_batch(o.s);
    put_rest(&o);
    OK(session_run(o.s, 0));
    assert_float_equal(read_one(o.s, "loss"), GOLDEN[model].loss, 2e-5);
    float *logits = read_slot(o.s, "logits");
    for (int t = 0; t < T; t++) assert_float_equal(logits[(1 * T + t) * V + 2 * t + 1], GOLDEN[model].logit[t], 5e-6);
    bool recurrent = model < RECURRENT;
    int rows = compare_gradients(o.s, GOLDEN[model].gradient, recurrent ? 2e-6 : 6e-6, !recurrent);
    for (int i = 0; i < o.s->store->count; i++) {  // the gradient of bias_hh is that of bias_ih
        const struct slot *slot = o.s->store->slot[i];
        rows += role_is_parameter(slot->role) && strstr(slot->name, "bias_hh");
    }
    assert_int_equal(rows, parameters);
    free(logits);
    session_done(o.s);
}

TEST(equals_pytorch)
{
    for (int model = 0; model < MODELS; model++) compare_with_pytorch("ref", model), compare_with_pytorch("cpu", model);
}

// ---- word by word

enum { BEAM = 8, ALL = B * BEAM };
static const struct search *searched;
static int found_words;
static void begin_words(struct step *s)
{
    step_keep(s, decoding_lengths(s), step_input(s, "source.length"));
    decoding_of(s->setting)->encode(s, step_input(s, "source"), decoding_lengths(s), BEAM);
}
static void next_word(struct step *s)
{
    const struct decoding *t = decoding_of(s->setting);
    struct decoder_prefix p = {.token = step_slot(s, "token", SHAPE(ALL), I32), .at = step_slot(s, "at", SHAPE(1), I32),
                                 .count = step_slot(s, "count", SHAPE(ALL), I32), .beam = BEAM,
                              .seen = true};
    step_keep(s, step_slot(s, "logits", SHAPE(ALL, decoding_symbols(s->setting)), F32), decoding_logits(s, t->next(s, &p)));
}
enum { BEGIN, NEXT, SEARCH, PROGRAMS = SEARCH + 2 };
static void search_next(struct step *s) { search_program(s, searched, s->number - SEARCH); }
static const struct task_program programs[] = {{"begin", PROGRAM_EVALUATE, FEED_TEST, 0, begin_words},
                                               {"next", PROGRAM_EVALUATE, FEED_TEST, 0, next_word},
                                               {"search", PROGRAM_EVALUATE, FEED_TEST, 0, search_next},
                                               {"word", PROGRAM_EVALUATE, FEED_TEST, 0, search_next}, {0}};

static void add_programs(struct setup *o, int count, struct variant *is, int number[])
{
    int fold = NONE;
    *is = (struct variant){.batch = B, .length = LIMIT};
    for (int i = 0; i < count; i++) OK(number[i] = step_evaluate(o->s, &o->setting, &o->slots, is, i, &fold));
}

static void begin(struct setup *o, int program)
{
    int32_t source[B][S];
    for (int i = 0; i < B * S; i++) source[i / S][i % S] = SOURCE[i / S][i % S] % (int32_t)o->facts.field[0].classes;
    OK(session_write(o->s, o->slots.feed[FEED_TEST].input[0][0], source, 0, sizeof source));
    OK(session_write(o->s, o->slots.feed[FEED_TEST].input[1][0], SOURCE_LENGTH, 0, sizeof SOURCE_LENGTH));
    OK(session_run(o->s, program));
}

// The next word of each hypothesis -> logits[ALL,V] and attention[ALL,S] after it.
struct word {
    int program, at;
};
static void step_on(struct setup *o, struct word word, const int32_t token[ALL], float **logits, float **attention)
{
    int32_t position[1] = {word.at}, count[ALL];
    for (int n = 0; n < ALL; n++) count[n] = word.at + 1;
    OK(session_put(o->s, "token.0.3", token, 0, ALL * sizeof *token));
    if (slot_find(o->s->store, "at.0.3")) OK(session_put(o->s, "at.0.3", position, 0, sizeof position));
    if (slot_find(o->s->store, "count.0.3")) OK(session_put(o->s, "count.0.3", count, 0, sizeof count));
    OK(session_run(o->s, word.program));
    *logits = read_slot(o->s, "logits.0.3");
    char name[32];
    snprintf(name, sizeof name, "attention.%d.0.3", BEAM);
    *attention = read_slot(o->s, name);
}

static void is_attention(const float *weights, int length)
{
    double sum = 0;
    for (int i = 0; i < length; i++) sum += (double)weights[i];
    assert_float_equal(sum, 1, 1e-6);
    for (int i = length; i < S; i++) assert_true(weights[i] < 1e-30f);
}

// Every second hypothesis of a sample has its words, the others have other ones. The second batch starts from the beginning.
static void decode_targets(const char *device, int model)
{
    struct setup o;
    struct variant is;
    int program[PROGRAMS];
    set_up(&o, device, model, programs);
    add_programs(&o, 2, &is, program);
    struct graph *g = graph_new(o.s->store, "forced");
    keep(g, "forced", force(&o, g, false).logits);
    int forced = session_add(o.s, g);
    OK(forced);
    start(o.s);
    put_waves(o.s, &WAVES);
    put_batch(o.s);
    put_rest(&o);
    OK(session_run(o.s, forced));
    float *want = read_slot(o.s, "forced"), *got, *attention;
    for (int twice = 0; twice < 2; twice++) {
        begin(&o, program[BEGIN]);
        for (int t = 0; t < T; t++) {
            int32_t token[ALL];
            for (int n = 0; n < ALL; n++) {
                int32_t word = t ? TARGET[n / BEAM][t - 1] : BPE_BOS;
                token[n] = n % 2 ? (word + n) % V : word;
            }
            step_on(&o, (struct word){program[NEXT], t}, token, &got, &attention);
            for (int n = 0; n < ALL; n++) is_attention(attention + n * S, SOURCE_LENGTH[n / BEAM]);
            if (model >= RECURRENT) assert_float_equal(attention[BEAM * S + 1], GOLDEN[model].seen[t], 1e-6);
            for (int n = 0; n < ALL; n += 2)
                for (int v = 0; v < V && t < TARGET_LENGTH[n / BEAM]; v++)
                    assert_float_equal(got[n * V + v], want[((n / BEAM) * T + t) * V + v], 1e-5);
            free(got), free(attention);
        }
    }
    free(want);
    session_done(o.s);
}

TEST(decoding_equals_teacher_forcing)
{
    for (int model = 0; model < MODELS; model++) decode_targets("ref", model), decode_targets("cpu", model);
}

// ---- the beam against all sequences of at most three words: with two words to choose from, the beam of 8 holds them all
enum { WORDS = 3, USUAL = 2 };
struct best {
    double score;
    int words[WORDS], count;
};

static double probability(const float *z, int word)  // its logarithm, among the words that may be chosen
{
    double sum = 0;
    for (int v = BPE_EOS; v < FEW; v++) sum += exp((double)z[v]);
    return (double)z[word] - log(sum);
}

// Hypothesis k of a sample has bit t of k as its word t. Those that differ behind their end are compared twice.
static void search_all(struct setup *o, const int program[], struct best best[B])
{
    double score[ALL] = {0}, seen[ALL][S] = {{0}};
    for (int b = 0; b < B; b++) best[b].score = -1e30;
    begin(o, program[BEGIN]);
    for (int t = 0; t <= WORDS; t++) {
        int32_t token[ALL];
        float *logits, *attention;
        for (int n = 0; n < ALL; n++) token[n] = t ? BPE_UNKNOWN + (n >> (t - 1)) % USUAL : BPE_BOS;
        step_on(o, (struct word){program[NEXT], t}, token, &logits, &attention);
        for (int n = 0; n < ALL; n++) {
            struct best h = {.count = t};
            double covered = 0, length = t + 1;
            for (int i = 0; i < t; i++) h.words[i] = BPE_UNKNOWN + (n >> i) % USUAL;
            for (int i = 0; i < SOURCE_LENGTH[n / BEAM]; i++) covered += log(fmin(1, seen[n][i] += (double)attention[n * S + i]));
            h.score = (score[n] + probability(logits + n * FEW, BPE_EOS)) / pow((5 + length) / 6, searched->alpha);
            h.score += searched->coverage * covered;
            if (h.score > best[n / BEAM].score + 1e-12) best[n / BEAM] = h;
            if (t < WORDS) score[n] += probability(logits + n * FEW, BPE_UNKNOWN + (n >> t) % USUAL);
        }
        free(logits), free(attention);
    }
}

// Rows [first, end) of a parameter, if there is one, times a factor.
static void scale_rows(struct session *s, const char *name, int first, int end, float factor)
{
    const struct slot *slot = slot_find(s->store, name);
    if (!slot) return;
    float *v = read_slot(s, name);
    int64_t row = shape_count(&slot->shape) / slot->shape.dim[0];
    for (int64_t i = first * row; i < end * row; i++) v[i] *= factor;
    OK(session_put(s, name, v, 0, slot_bytes(slot)));
    free(v);
}

// Attention that looks at some words more than at others, and ends that are not likely at once.
static void sharpen(struct session *s)
{
    scale_rows(s, "decoder.att_rnn.attn.normalize_scalar", 0, 1, 20);
    scale_rows(s, "decoder.attn.linear_att", 0, WIDTH, 5);
    scale_rows(s, "decoder.classifier.classifier.weight", BPE_EOS, BPE_UNKNOWN, -2);
    scale_rows(s, "decoder.classifier.classifier.bias", 0, FEW, 0);
}

static int run_program(struct drive *d, int program) { return session_run(d->session, ((const int *)d->owner)[program]); }

static double search_on(const char *device, int model, const struct search *search, double shift)
{
    struct setup o;
    struct variant is;
    int program[PROGRAMS];
    searched = search;
    set_up(&o, device, model, programs);
    o.facts.field[0].classes = FEW;
    add_programs(&o, PROGRAMS, &is, program);
    start(o.s);
    struct waves waves = WAVES;
    waves.shift = shift;
    put_waves(o.s, &waves);
    sharpen(o.s);
    struct best best[B] = {{0}};
    int32_t words[B][LIMIT], count[B];
    float score[B];
    double sum = 0;
    search_all(&o, program, best);
    struct drive d = {.setting = &o.setting, .session = o.s, .run = run_program, .owner = program};
    drive_resize(&d, B);
    OK(search_run(&d, search, SEARCH));
    OK(session_read(o.s, is.output[SEARCH_WORDS], words, sizeof words));
    OK(session_read(o.s, is.output[SEARCH_COUNT], count, sizeof count));
    OK(session_read(o.s, is.output[SEARCH_SCORE], score, sizeof score));
    for (int b = 0; b < B; b++) {
        assert_float_equal(score[b], best[b].score, 1e-4);
        assert_int_equal(count[b], best[b].count);
        for (int i = 0; i < count[b]; i++) assert_int_equal(words[b][i], best[b].words[i]);
        sum += best[b].score, found_words += count[b];
    }
    session_done(o.s);
    return sum;
}

TEST(the_beam_finds_the_best_with_coverage)
{
    found_words = 0;
    for (int n = 0; n < RECURRENT * 6; n++) {
        double score[2], shift = n / RECURRENT;
        for (int covers = 0; covers < 2; covers++) {
            struct search search = {.beam = BEAM, .norm = SEARCH_GNMT, .alpha = 2, .coverage = covers * 0.1, .extra = WORDS};
            score[covers] = search_on("ref", n % RECURRENT, &search, shift);
            assert_float_equal(search_on("cpu", n % RECURRENT, &search, shift), score[covers], 1e-3);
        }
        assert_true(score[1] < score[0] - 0.01);  // the attention counts
    }
    print_message("%d words\n", found_words);
    assert_true(found_words > RECURRENT * 6 * 2 * 2 * B);  // more than one in an answer
}

// ---- sizes, names, dropout

struct sizes {
    int model;
    int64_t layers, width, feed_forward, symbols, parameters;
};
static struct slot_store *store_of(const struct sizes *is)
{
    struct setup o;
    set_up(&o, NULL, is->model, NULL);
    keys_of(&o)->layers = is->layers, keys_of(&o)->width = is->width, keys_of(&o)->feed_forward = is->feed_forward;
    o.facts.field[0].classes = (int32_t)is->symbols;
    struct slot_store *s = slot_store_new();
    struct graph *g = graph_new(s, "sizes");
    force(&o, g, true);
    graph_free(g);
    return s;
}

TEST(has_as_many_parameters_as_published)
{
    static const struct sizes rows[] = {
        // MLPerf's GNMT: 32,320 symbols; its own classes have as many (torch_translators.py counts them).
        {0, 4, 1024, 0, 32320, 160671297},
        {0, 2, 256, 0, 4050, 5365203},
        // TBD's Seq2Seq without the rows for input feeding (4 x 512 x 512), with one table of symbols instead of two, and with
        // PyTorch's second bias of each layer (4 x 4 x 512): 4 x (2 x 4 x 512^2 + 2 x 4 x 512) + 4 x 512^2 + 512 + 2 x 512 V
        {1, 2, 512, 0, 4050, 4 * (2097152 + 4096) + 1048576 + 512 + 2 * 512 * 4050},
        // Vaswani et al. 2017: fairseq's tiny; base (44,140,544 are torch.nn.Transformer's; published: 65 M with 37,000 symbols)
        // and big with MLPerf's vocabulary and two symbols more.
        {POST_NORM, 4, 128, 256, 4050, 1843456},
        {PRE_NORM, 6, 512, 2048, 33710, 44140544 + 33710 * 512},
        {POST_NORM, 6, 512, 2048, 37000, 44140544 - 4 * 512 + 37000 * 512},
        {PRE_NORM, 6, 1024, 4096, 33710, 210880512},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slot_store *s = store_of(&rows[i]);
        assert_int_equal(count_parameters(s), rows[i].parameters);
        slot_store_free(s);
    }
}

// Uniform in +-0.1, but the recurrent biases and the attention's are 0, and its length is 1 / sqrt(width), as in MLPerf's GNMT.
TEST(begins_as_published)
{
    struct setup o;
    set_up(&o, "ref", 0, NULL);
    struct graph *g = graph_new(o.s->store, "forced");
    force(&o, g, true);
    OK(session_add(o.s, g));
    start(o.s);
    for (int i = 0; i < o.s->store->count; i++) {
        const struct slot *slot = o.s->store->slot[i];
        if (!role_is_parameter(slot->role)) continue;
        float *v = read_slot(o.s, slot->name), most = 0;
        for (int64_t k = 0; k < shape_count(&slot->shape); k++) most = fmaxf(most, fabsf(v[k]));
        if (strstr(slot->name, "normalize_scalar")) assert_float_equal(most, 1 / sqrt(WIDTH), 1e-6);
        else if (strstr(slot->name, "bias_hh") || strstr(slot->name, "normalize_bias")) assert_true(most == 0);
        else if (!(most > 0.07f && most <= 0.1f)) fail_msg("%s begins with up to %g", slot->name, (double)most);
        free(v);
    }
    session_done(o.s);
}

TEST(inputs_of_layers_have_dropout)
{
    for (int trains = 0; trains < 2; trains++) {
        struct setup o;
        set_up(&o, NULL, 0, NULL);
        keys_of(&o)->dropout = 0.2;
        struct slot_store *s = slot_store_new();
        struct graph *g = graph_new(s, "dropout");
        force(&o, g, trains);
        assert_int_equal(count_op(g, OP_DROPOUT), trains ? 2 * LAYERS : 0);
        graph_free(g);
        slot_store_free(s);
    }
}

TEST(recipes_have_enough_layers)
{
    struct setup o;
    set_up(&o, NULL, 0, NULL);
    snprintf(o.recipe.model, sizeof o.recipe.model, "gnmt");
    OK(recipe_table_translation.check("a recipe", &o.recipe));
    keys_of(&o)->layers = 1;
    REFUSED(recipe_table_translation.check("a recipe", &o.recipe), "a recipe: \"model.layers\" is 1, and a recurrent encoder");
}

TEST(loss_falls)
{
    for (int model = 0; model < MODELS; model++) {
        struct setup o;
        set_up(&o, "cpu", model, NULL);
        struct graph *g = graph_new(o.s->store, "train");
        struct forced f = force(&o, g, true);
        int params[PARAMETERS_MOST], grads[PARAMETERS_MOST], count = differentiate(g, f.loss, params, grads);
        keep(g, "loss", f.loss);
        g->phase = PHASE_UPDATE;
        struct init rate = {INIT_CONSTANT, model < RECURRENT ? 0.03f : 0.001f};
        int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, rate);
        struct optim_settings how = {.momentum = 0.9f, .clip = NONE};
        for (int i = 0; i < count; i++) optim_sgd(g, params[i], grads[i], lr, &how);
        OK(session_add(o.s, g));
        start(o.s);
        put_batch(o.s);
        put_rest(&o);
        OK(session_run(o.s, 0));
        if (model < RECURRENT) assert_float_equal(read_one(o.s, "loss"), 9 * log(V), 0.5);
        for (int step = 0; step < 500; step++) OK(session_run(o.s, 0));
        float last = read_one(o.s, "loss");
        if (!(last < 4)) fail_msg("%s: the loss of nine words is still %g", models[model].name, (double)last);
        session_done(o.s);
    }
}

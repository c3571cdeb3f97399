// SPDX-License-Identifier: Apache-2.0
// Beam search of a tiny network, whose logits depend on all words so far, against plain searches on the host: the same network in
// double, all sequences enumerated, and the beam search of the specification sentence by sentence.
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#include "runtime/fuse.h"
#include "tasks/common/step/drive.h"
#include "tasks/common/decode/search_graph.h"

const struct recipe_table *const recipe_tables[] = {NULL};

enum { B = 20, S = 6, L = 9, C = 5, V = 5, WORDS_MOST = L };

// ---- the network: h' = tanh(W h + E[word] + M[first source word]), logits = U (h' + mean of F[words so far])
static int table(struct graph *g, const char *name, int64_t rows) { return input(g, name, SHAPE(rows, C)); }

static int memory_of(struct step *s, int number)
{
    if (number == 0) return step_slot(s, "memory", SHAPE(s->is.batch, C), F32);
    return number == 1 ? step_slot(s, "looks", SHAPE(s->is.batch, S), F32) : NONE;
}

static int cache_of(struct step *s, int64_t all, int number)
{
    if (number == 0) return step_slot(s, arena_text(&s->g->arena, "state.%d", (int)all), SHAPE(all, C), F32);
    return number == 1 ? step_slot(s, arena_text(&s->g->arena, "past.%d", (int)all), SHAPE(all, s->is.length, 2 * C), F32) : NONE;
}

static void encode(struct step *s, int source, int lengths, int64_t beam)
{
    struct graph *g = s->g;
    (void)lengths;
    int64_t all = s->is.batch * beam;
    int first = g_reshape(g, g_slice(g, source, 1, 0, 1), SHAPE(s->is.batch));
    step_keep(s, memory_of(s, 0), g_gather(g, table(g, "M", V), first));
    step_keep(s, memory_of(s, 1), input(g, "A", SHAPE(B, S)));
    int state = cache_of(s, all, 0);
    step_keep(s, state, g_scale(g, state, 0));
}

// The sample of each hypothesis.
static int owner_of(struct step *s, int64_t all, int64_t beam)
{
    char *name = arena_text(&s->g->arena, "owner.%d.%d", (int)all, (int)beam);
    return graph_state(s->g, name, SHAPE(all), I32, MEMORY_DATA, (struct init){INIT_COUNT, (float)beam});
}

static int next(struct step *s, const struct decoder_prefix *p)
{
    struct graph *g = s->g;
    int64_t all = s->is.batch * p->beam;
    int state = cache_of(s, all, 0), past = cache_of(s, all, 1);
    int owner = owner_of(s, all, p->beam);
    int sum = g_add(g, g_linear(g, state, table(g, "W", C), NONE, F32), g_gather(g, table(g, "E", V), p->token));
    step_keep(s, state, g_act(g, g_add(g, sum, g_gather(g, memory_of(s, 0), owner)), ACT_TANH));
    int word = g_gather(g, table(g, "F", V), p->token), zero = g_scale(g, word, 0);
    g_append(g, past, g_reshape(g, g_concat(g, (int[]){zero, word}, 2, 1), SHAPE(all, 1, 2 * C)), p->at);
    struct attention a = {.q = g_reshape(g, zero, SHAPE(all, 1, C)), .kv = past, .lengths = p->count, .q_lengths = NONE,
                          .key = NONE, .step = NONE, .attr = {.heads = 1}};
    int states = g_add(g, state, g_reshape(g, g_attention(g, &a), SHAPE(all, C)));
    // The source shifts what the attention says: it looks at its word number (h0 > 0).
    int look = g_gather(g, memory_of(s, 1), owner), by = g_slice(g, states, 1, 0, 1);
    union attr spread = {.move = {.axes = 1u << 1, .shape = SHAPE(all, S), .factor = 1}};
    int scaled = g_mul(g, look, graph_node(g, OP_BROADCAST, &by, 1, &spread, NULL));
    step_keep(s, decoding_attention(s, p->beam), g_scale(g, g_act(g, scaled, ACT_SIGMOID), 0.2f));
    return states;
}

static int output(struct step *s, int *bias)
{
    (void)bias;
    return table(s->g, "U", V);
}

static const struct decoding tiny = {.encode = encode, .next = next, .output = output, .memory = memory_of,
                                     .cache = cache_of};

// ---- the same on the host, from the slots' values
struct plain {
    float *W, *E, *M, *F, *U, *A;
    const struct search *search;
    int sample, first, length;
};

// Logarithms of the probabilities of the word after `words`, and what each source word was looked at with so far.
static void host_next(const struct plain *o, const int *words, int count, double p[V], double seen[S])
{
    double h[C] = {0}, mean[C] = {0}, z[V], sum = 0;
    memset(seen, 0, S * sizeof *seen);
    for (int t = 0; t <= count; t++) {
        int word = t ? words[t - 1] : BPE_BOS;
        double to[C];
        for (int i = 0; i < C; i++) {
            to[i] = (double)o->E[word * C + i] + (double)o->M[o->first * C + i];
            for (int j = 0; j < C; j++) to[i] += (double)o->W[i * C + j] * h[j];
        }
        for (int i = 0; i < C; i++) h[i] = tanh(to[i]), mean[i] += (double)o->F[word * C + i];
        double by = h[0] + mean[0] / (t + 1);
        for (int i = 0; i < S; i++) seen[i] += 0.2 / (1 + exp(-by * (double)o->A[o->sample * S + i]));
    }
    for (int v = 0; v < V; v++) {
        z[v] = 0;
        for (int i = 0; i < C; i++) z[v] += (double)o->U[v * C + i] * (h[i] + mean[i] / (count + 1));
        if (v > BPE_BOS) sum += exp(z[v]);
    }
    for (int v = 0; v < V; v++) p[v] = v > BPE_BOS ? z[v] - log(sum) : -1e30;
}

static double host_norm(const struct plain *o, double score, int count, const double seen[S])
{
    const struct search *k = o->search;
    double n = count + 1, covered = 0;
    for (int i = 0; i < o->length; i++) covered += log(fmin(1, seen[i]));
    return score / pow(k->norm == SEARCH_GNMT ? (5 + n) / 6 : n, k->alpha) + k->coverage * covered;
}

static int host_limit(const struct plain *o)
{
    int limit = (int)floor(o->search->ratio * o->length + o->search->extra + 1e-9);
    return limit < L - 1 ? limit : L - 1;
}

struct found {
    int words[L], count;
    double score;
};

static void keep_better(const struct plain *o, const struct found *h, double end, const double seen[S], struct found *best)
{
    double score = host_norm(o, end, h->count, seen);
    if (score > best->score) *best = *h, best->score = score;
}

// All sequences.
static void host_all(const struct plain *o, struct found *h, struct found *best)
{
    double p[V], seen[S], score = h->score;
    host_next(o, h->words, h->count, p, seen);
    keep_better(o, h, score + p[BPE_EOS], seen, best);
    if (h->count == host_limit(o)) return;
    for (int v = BPE_UNKNOWN; v < V; v++) {
        h->words[h->count++] = v, h->score = score + p[v];
        host_all(o, h, best);
        h->count--;
    }
    h->score = score;
}

struct candidate {
    double score;
    int from, word;
};
static int by_score(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->score, y = ((const struct candidate *)b)->score;
    return (x < y) - (x > y);
}

static void host_beam(const struct plain *o, struct found *best)
{
    struct found live[REORDER_MOST] = {{.count = 0}}, after[REORDER_MOST];
    int beam = o->search->beam, alive = 1, ended = 0;
    for (int t = 0, limit = host_limit(o); ended < beam && t <= limit; t++) {
        struct candidate c[REORDER_MOST * V];
        double p[V], seen[REORDER_MOST][S];
        int count = 0, going = 0;
        for (int k = 0; k < alive; k++) {
            host_next(o, live[k].words, t, p, seen[k]);
            for (int v = BPE_EOS; v < V; v++)
                if (v == BPE_EOS || t < limit) c[count++] = (struct candidate){live[k].score + p[v], k, v};
        }
        qsort(c, (size_t)count, sizeof *c, by_score);
        for (int r = 0; r < count && r < 2 * beam; r++) {
            struct found *h = &live[c[r].from];
            if (c[r].word == BPE_EOS && r < beam) keep_better(o, h, c[r].score, seen[c[r].from], best), ended++;
            if (c[r].word == BPE_EOS || going == beam) continue;
            after[going] = *h;
            after[going].words[after[going].count++] = c[r].word, after[going++].score = c[r].score;
        }
        memcpy(live, after, (size_t)going * sizeof *live);
        alive = going;
    }
}

// ---- both
enum { SIZES = 3 };
static const int64_t SIZE[SIZES] = {B, 16, 8};
static const struct search *searched;
static int found_words, shrunk, program[SIZES][SEARCH_PROGRAMS];
static void forward(struct step *s) { search_program(s, searched, s->number); }

static int run_program(struct drive *d, int number)
{
    int size = 0;
    while (SIZE[size] != d->batch[FEED_TEST].count) size++;
    shrunk += number == SEARCH_SHRINK;
    return session_run(d->session, program[size][number]);
}

// The smaller batches begin with rows of larger ones.
static void build_programs(struct session *s, const struct setting *c, struct step_slots *slots, struct variant *is)
{
    int fold = NONE;
    for (int size = 0; size < SIZES; size++) {
        struct variant fewer = {.batch = SIZE[size], .length = L};
        for (int i = size ? SEARCH_NEXT : SEARCH_BEGIN; i < (SIZE[size] == 8 ? SEARCH_SHRINK : SEARCH_PROGRAMS); i++)
            OK(program[size][i] = step_evaluate(s, c, slots, &fewer, i, &fold));
        if (size == 0) *is = fewer;
    }
    assert_int_equal(drive_shrunk(B), 16);
    assert_int_equal(drive_shrunk(16), 8);
    assert_int_equal(drive_shrunk(8), 0);
}

static void compare_on(const char *device, const struct search *search, bool all)
{
    static const struct task_program programs[] = {{"begin", PROGRAM_EVALUATE, FEED_TEST, 0, forward},
                                                   {"word", PROGRAM_EVALUATE, FEED_TEST, 0, forward},
                                                   {"shrink", PROGRAM_EVALUATE, FEED_TEST, 0, forward},
                                                   {"return", PROGRAM_EVALUATE, FEED_TEST, 0, forward}, {0}};
    static const struct metric metrics[] = {{0}};
    static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
    const struct task task = {.name = "tiny", .metrics = metrics, .feeds = feeds, .programs = programs};
    const struct model model = {.name = "tiny", .own = &tiny};
    const struct dataset_facts facts = {.name = "tiny", .field = {{.name = "source", .classes = V}}, .fields = 1};
    const struct feed_choice choice = {.order = {.buckets = 1, .batch = {B}}, .fields = 2,
                                       .field = {{.name = "source", .dtype = I32, .shape = {SHAPE(S)}},
                                                 {.name = "source.length", .dtype = I32}}};
    const struct setting setting = {.task = &task, .model = &model, .data = &facts, .feed = {NULL, &choice}, .fuse = FUSE_ALL};
    struct session *s = session_on(device);
    struct step_slots slots = {0};
    struct variant is = {.batch = B};
    searched = search;
    build_programs(s, &setting, &slots, &is);
    start(s);
    int32_t source[B][S] = {{0}}, length[B];
    for (int b = 0; b < B; b++) {
        length[b] = 2 + b * 3 % 5;
        for (int i = 0; i < length[b] - 1; i++) source[b][i] = BPE_UNKNOWN + (b + i) % 2;
        source[b][length[b] - 1] = BPE_EOS;
    }
    OK(session_write(s, slots.feed[FEED_TEST].input[0][0], source, 0, sizeof source));
    OK(session_write(s, slots.feed[FEED_TEST].input[1][0], length, 0, sizeof length));
    struct plain o = {.search = search};
    float **to[] = {&o.W, &o.E, &o.M, &o.F, &o.U, &o.A};
    static const char *const names[] = {"W", "E", "M", "F", "U", "A"};
    for (int i = 0; i < 6; i++) *to[i] = slot_find(s->store, names[i]) ? read_slot(s, names[i]) : zalloc(B * S * sizeof(float));
    for (int i = 0; i < V * C; i++) o.E[i] *= 3, o.F[i] *= 3, o.M[i] *= 3, o.U[i] *= i / C == BPE_EOS ? 1 : 2;
    for (int i = 0; i < 6; i++)
        if (slot_find(s->store, names[i])) OK(session_put(s, names[i], *to[i], 0, slot_bytes(slot_find(s->store, names[i]))));
    for (int twice = 0; twice < 2; twice++) {  // the second batch starts from the beginning
        struct drive d = {.setting = &setting, .session = s, .run = run_program};
        drive_resize(&d, B);
        OK(search_run(&d, search, SEARCH_BEGIN));
        int32_t words[B][L], count[B];
        float score[B];
        OK(session_read(s, is.output[SEARCH_WORDS], words, sizeof words));
        OK(session_read(s, is.output[SEARCH_COUNT], count, sizeof count));
        OK(session_read(s, is.output[SEARCH_SCORE], score, sizeof score));
        for (int b = 0; b < B; b++) {
            struct found h = {.count = 0}, best = {.score = -1e30};
            o.sample = b, o.first = source[b][0], o.length = length[b];
            if (all) host_all(&o, &h, &best);
            else host_beam(&o, &best);
            found_words += best.count;
            assert_float_equal(score[b], best.score, 1e-4);
            assert_int_equal(count[b], best.count);
            for (int i = 0; i < best.count; i++) assert_int_equal(words[b][i], best.words[i]);
        }
    }
    for (int i = 0; i < 6; i++) free(*to[i]);
    session_done(s);
}

static void compare(const struct search *search, bool all)
{
    compare_on("ref", search, all);
    compare_on("cpu", search, all);
}

TEST(equals_the_specification)
{
    found_words = shrunk = 0;
    for (int beam = 1; beam <= 5; beam++)
        for (int norm = SEARCH_LENGTH; norm <= SEARCH_GNMT; norm++)
            compare(&(struct search){beam, (enum search_norm)norm, 0.6 + 0.4 * (beam % 2), beam % 3 ? 0 : 0.1, 1.2, 2, 0}, false);
    print_message("%d words, %d times fewer samples\n", found_words, shrunk);
    assert_true(found_words > 5 * 2 * 2 * 2 * B);  // more than one in an answer
    assert_true(shrunk > 5 * 2 * 2 * 2);           // of each batch, some went on alone
}

// 16 hypotheses hold all sequences of at most three words.
TEST(a_wide_beam_finds_the_best)
{
    for (int norm = SEARCH_LENGTH; norm <= SEARCH_GNMT; norm++)
        for (int covers = 0; covers < 2; covers++)
            compare(&(struct search){16, (enum search_norm)norm, 1, covers * 0.1, 0, 3, 0}, true);
}

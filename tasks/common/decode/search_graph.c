// SPDX-License-Identifier: Apache-2.0
// Everything is arithmetic on f32 tensors with a number per hypothesis or per candidate, so each device has it. Indices are exact
// in f32 below 2^24. Candidates are the beam + 1 best words of each hypothesis, because one may be the end. A step passes three
// times over the logits: the mask, the softmax's sum, the best words.
#include "tasks/common/decode/search_graph.h"

#include "tasks/common/step/drive.h"

// Scores: of candidates that are never chosen; of hypotheses that do not exist at the start; above every one of the latter.
#define NEVER -1e30f
#define ABSENT -1e9f
#define PRESENT -1e8f

struct searching {
    struct step *s;
    struct graph *g;
    const struct search *search;
    const struct decoding *decoder;
    int64_t samples, beam, all, words, symbols, each;  // all: hypotheses; each: candidates of one
    int token, at, score, history;                     // of the hypotheses: i32[N], i32[1], f32[N], i32[N,L]
    int coverage;                                      // f32[N,S], or NONE
    int seen, shown;                                   // f32[N,L,S] of the hypotheses, f32[B,L,S] of the answers; or NONE
    int64_t source;                                    // S
    int length;                                        // i32[B]
    int best, answer, count, ended;                    // of the samples: f32[B,1], i32[B,L], f32[B,1], f32[B,1]
};

static char *name_of(const struct searching *o, const char *what)
{
    return arena_text(&o->g->arena, "search%lld.%s", (long long)o->beam, what);
}

static struct searching search_of(struct step *s, const struct search *search)
{
    struct searching o = {.s = s, .g = s->g, .search = search, .decoder = decoding_of(s->setting),
                          .samples = s->is.batch, .beam = search->beam, .words = s->is.length,
                          .symbols = decoding_symbols(s->setting), .coverage = NONE, .seen = NONE, .shown = NONE,
                          .source = decoding_source(s), .length = decoding_lengths(s)};
    o.all = o.samples * o.beam;
    o.each = o.beam + 1 < o.symbols ? o.beam + 1 : o.symbols;
    o.token = step_slot(s, name_of(&o, "token"), SHAPE(o.all), I32);
    o.at = step_slot(s, name_of(&o, "at"), SHAPE(1), I32);
    o.score = step_slot(s, name_of(&o, "score"), SHAPE(o.all), F32);
    o.history = step_slot(s, name_of(&o, "history"), SHAPE(o.all, o.words), I32);
    o.best = step_slot(s, name_of(&o, "best"), SHAPE(o.samples, 1), F32);
    o.answer = step_slot(s, name_of(&o, "answer"), SHAPE(o.samples, o.words), I32);
    o.count = step_slot(s, name_of(&o, "count"), SHAPE(o.samples, 1), F32);
    o.ended = step_slot(s, name_of(&o, "ended"), SHAPE(o.samples, 1), F32);
    if (search->coverage != 0) o.coverage = step_slot(s, name_of(&o, "coverage"), SHAPE(o.all, o.source), F32);
    if (!s->setting->shows) return o;
    o.seen = step_slot(s, name_of(&o, "seen"), SHAPE(o.all, o.words, o.source), F32);
    o.shown = step_slot(s, name_of(&o, "shown"), SHAPE(o.samples, o.words, o.source), F32);
    return o;
}

// A slot that nothing writes.
static int constant(const struct searching *o, const char *what, struct shape shape, enum dtype dtype, struct init init)
{
    char *name = arena_text(&o->g->arena, "%s.%d.%lld", name_of(o, what), o->s->is.bucket, (long long)o->samples);
    return graph_state(o->g, name, shape, dtype, MEMORY_DATA, init);
}

static int fixed(const struct searching *o, const char *what, struct shape shape, enum dtype dtype, float value)
{
    return constant(o, what, shape, dtype, (struct init){INIT_CONSTANT, value});
}

static int map2(const struct searching *o, enum map formula, int a, int b)
{
    return g_map_of(o->g, formula, (int[]){a, b, NONE});
}

static int choose_by(const struct searching *o, int condition, int yes, int no)  // elements of yes where the condition is not 0
{
    return g_map_of(o->g, MAP_SELECT, (int[]){condition, yes, no});
}

// x[R,1] or x[R] -> [R,n], times a factor.
static int repeat(const struct searching *o, int x, int64_t n, float factor)
{
    struct graph *g = o->g;
    if (g->error) return NONE;
    int64_t rows = shape_count(&g->value[x].shape);
    union attr a = {.move = {.axes = 1u << 1, .shape = SHAPE(rows, n), .factor = factor}};
    int column = g_reshape(g, x, SHAPE(rows, 1));
    return graph_node(g, OP_BROADCAST, &column, 1, &a, NULL);
}

static void begin_batch(struct step *s, const struct search *search)
{
    struct searching o = search_of(s, search);
    struct graph *g = s->g;
    step_keep(s, o.length, step_input(s, "source.length"));
    o.decoder->encode(s, step_input(s, "source"), o.length, o.beam);
    graph_scope(g, "search");
    int number = constant(&o, "number", SHAPE(o.all), F32, (struct init){INIT_COUNT, 1});
    int first = g_scale(g, constant(&o, "sample", SHAPE(o.all), F32, (struct init){INIT_COUNT, (float)o.beam}), (float)o.beam);
    int others = g_map(g, MAP_CLAMP, map2(&o, MAP_SUB, number, first), 0, 1);  // 0 for the first hypothesis of a sample
    step_keep(s, o.score, g_scale(g, others, ABSENT));
    step_keep(s, o.token, fixed(&o, "bos", SHAPE(o.all), I32, BPE_BOS));
    step_keep(s, o.at, fixed(&o, "begin", SHAPE(1), I32, 0));
    step_keep(s, o.best, fixed(&o, "worst", SHAPE(o.samples, 1), F32, NEVER));
    step_keep(s, o.ended, fixed(&o, "none", SHAPE(o.samples, 1), F32, 0));
    if (o.coverage != NONE) step_keep(s, o.coverage, g_scale(g, o.coverage, 0));
}

// ---- one word

struct word {
    int now;             // f32[1]: words of each hypothesis so far
    int over;            // f32[B,1]: 1 at a sample's limit
    int candidate;       // f32[N,each]: scores with one word more
    int index;           // i32[N,each]: these words
    int end;             // f32[N]: scores with the end
    int kept, chosen;    // f32[B,K], i32[B,K]: the candidates that go on, and their indices among the sample's
    int invalid;         // f32[B,K]: not 0 where the end of a hypothesis does not count
};

static int logits_of(const struct searching *o, const struct word *w)
{
    struct graph *g = o->g;
    int count = map2(o, MAP_ADD, fixed(o, "one", SHAPE(o->all, 1), F32, 1), w->now);
    struct decoder_prefix prefix = {.token = o->token, .at = o->at, .count = g_cast(g, g_reshape(g, count, SHAPE(o->all)), I32),
                                     .beam = o->beam, .seen = o->coverage != NONE || o->seen != NONE};
    int z = g_cast(g, decoding_logits(o->s, o->decoder->next(o->s, &prefix)), F32);
    graph_scope(g, "search");
    int in[] = {z, fixed(o, "first", SHAPE(o->all), I32, BPE_EOS), fixed(o, "last", SHAPE(o->all), I32, (float)o->symbols)};
    return graph_node(g, OP_MASK, in, 3, &(union attr){.mask = {.fill = NEVER}}, NULL);
}

static void score_words(const struct searching *o, struct word *w)
{
    struct graph *g = o->g;
    int z = logits_of(o, w), loss[3];
    int ends = fixed(o, "end", SHAPE(o->all), I32, BPE_EOS);
    g_xent_full(g, (int[]){z, ends, NONE}, 0, false, loss);  // loss[1] = log(sum exp z) - z[end]
    int sum = g_add(g, loss[1], g_reshape(g, g_slice(g, z, 1, BPE_EOS, BPE_EOS + 1), SHAPE(o->all)));
    w->end = map2(o, MAP_SUB, o->score, loss[1]);
    int best = g_top(g, z, o->each, &w->index);
    int scored = g_add(g, best, repeat(o, map2(o, MAP_SUB, o->score, sum), o->each, 1));
    int ended = g_map(g, MAP_SHIFT, g_cast(g, w->index, F32), -(float)BPE_EOS, 0);
    w->candidate = choose_by(o, ended, scored, fixed(o, "never", SHAPE(o->each), F32, NEVER));
}

// Limits have at most three decimals.
static void find_limit(const struct searching *o, struct word *w)
{
    struct graph *g = o->g;
    int words = g_cast(g, g_reshape(g, o->length, SHAPE(o->samples, 1)), F32);
    int limit = g_map(g, MAP_SHIFT, g_scale(g, words, (float)o->search->ratio), (float)(o->search->extra - 0.9995), 0);
    w->over = map2(o, MAP_LESS, g_map(g, MAP_CLAMP, limit, -1, (float)o->words - 1.5f), w->now);
}

static void choose_candidates(const struct searching *o, struct word *w)
{
    struct graph *g = o->g;
    int64_t each = o->beam * o->each;
    int open = g_add(g, g_reshape(g, w->candidate, SHAPE(o->samples, each)), repeat(o, w->over, each, NEVER));
    w->kept = g_top(g, open, o->beam, &w->chosen);
    int end = g_reshape(g, w->end, SHAPE(o->samples, o->beam));
    int all = g_top(g, g_concat(g, (int[]){w->kept, end}, 2, 1), o->beam, NULL);
    int least = g_map(g, MAP_CLAMP, g_slice(g, all, 1, o->beam - 1, o->beam), PRESENT, 1e30f);
    int done = g_map(g, MAP_CLAMP, g_map(g, MAP_SHIFT, o->ended, 1 - (float)o->beam, 0), 0, 1);
    w->invalid = g_add(g, map2(o, MAP_LESS, end, repeat(o, least, o->beam, 1)), repeat(o, done, o->beam, 1));
}

static int normalise(const struct searching *o, const struct word *w)
{
    struct graph *g = o->g;
    int length = g_map(g, MAP_SHIFT, w->now, 1, 0);
    if (o->search->norm == SEARCH_GNMT) length = g_scale(g, g_map(g, MAP_SHIFT, length, 5, 0), 1.0f / 6);
    int by = g_map(g, MAP_POW, length, (float)o->search->alpha, 0);
    int score = map2(o, MAP_DIV, g_reshape(g, w->end, SHAPE(o->all, 1)), by);
    if (o->coverage == NONE || g->error) return g_reshape(g, score, SHAPE(o->samples, o->beam));
    step_keep(o->s, o->coverage, g_add(g, o->coverage, decoding_attention(o->s, o->beam)));
    int in[] = {g_reshape(g, o->coverage, SHAPE(o->samples, o->beam, o->source)), NONE, o->length};
    int seen = graph_node(g, OP_MASK, in, 3, &(union attr){.mask = {.fill = 1}}, NULL);
    int logs = g_reduce(g, g_map(g, MAP_LOG, g_map(g, MAP_CLAMP, seen, 1e-30f, 1), 0, 0), 1u << 2, false, F32);
    score = g_add(g, score, g_scale(g, g_reshape(g, logs, SHAPE(o->all, 1)), (float)o->search->coverage));
    return g_reshape(g, score, SHAPE(o->samples, o->beam));
}

// The attention of this word, and of the answers so far; `from` as in finish_hypotheses.
static void keep_seen(const struct searching *o, int from)
{
    struct graph *g = o->g;
    int now = decoding_attention(o->s, o->beam);
    g_append(g, o->seen, g_reshape(g, now, SHAPE(o->all, 1, o->source)), o->at);
    step_keep(o->s, o->shown, g_gather(g, g_concat(g, (int[]){o->shown, o->seen}, 2, 0), from));
}

static void output_answers(const struct searching *o)
{
    struct graph *g = o->g;
    int output = o->search->output;
    step_output(o->s, output + SEARCH_WORDS, o->answer);
    step_output(o->s, output + SEARCH_COUNT, g_cast(g, g_reshape(g, o->count, SHAPE(o->samples)), I32));
    step_output(o->s, output + SEARCH_SCORE, g_reshape(g, o->best, SHAPE(o->samples)));
    step_output(o->s, output + SEARCH_SEEN, o->shown);
}

// Keeps the best finished hypothesis of each sample, and counts.
static void finish_hypotheses(const struct searching *o, const struct word *w)
{
    struct graph *g = o->g;
    int which, score = choose_by(o, w->invalid, fixed(o, "refused", SHAPE(o->beam), F32, NEVER), normalise(o, w));
    int best = g_top(g, score, 1, &which);
    int better = map2(o, MAP_LESS, o->best, best);
    int sample = constant(o, "row", SHAPE(o->samples, 1), F32, (struct init){INIT_COUNT, 1});
    int row = g_add(g, g_map(g, MAP_SHIFT, g_scale(g, sample, (float)o->beam), (float)o->samples, 0), g_cast(g, which, F32));
    int from = g_reshape(g, g_cast(g, choose_by(o, better, row, sample), I32), SHAPE(o->samples));
    int answer = g_gather(g, g_concat(g, (int[]){o->answer, o->history}, 2, 0), from);
    int valid = g_map(g, MAP_CLAMP, g_map(g, MAP_SHIFT, g_map(g, MAP_NEG, w->invalid, 0, 0), 1, 0), 0, 1);
    int ended = g_add(g, g_reduce(g, valid, 1u << 1, false, F32), g_scale(g, w->over, (float)o->beam));
    int count = choose_by(o, better, w->now, o->count);
    if (o->seen != NONE) keep_seen(o, from);
    step_keep(o->s, o->answer, answer);
    step_keep(o->s, o->count, count);
    step_keep(o->s, o->best, map2(o, MAP_MAX, o->best, best));
    step_keep(o->s, o->ended, g_add(g, o->ended, ended));
    output_answers(o);
}

static void follow_beam(const struct searching *o, int from)
{
    struct graph *g = o->g;
    int cache, beam = (int)o->beam;
    g_reorder(g, o->history, from, o->at, beam);
    if (o->coverage != NONE) g_reorder(g, o->coverage, from, NONE, beam);
    if (o->seen != NONE) g_reorder(g, o->seen, from, o->at, beam);
    for (int i = 0; !g->error && (cache = o->decoder->cache(o->s, o->all, i)) != NONE; i++) {
        bool grows = g->value[cache].shape.rank > 2;  // [N,T,..]
        g_reorder(g, cache, from, grows ? o->at : NONE, beam);
    }
}

static void add_word(struct step *s, const struct search *search)
{
    struct searching o = search_of(s, search);
    struct graph *g = s->g;
    struct word w = {.now = g_cast(g, o.at, F32)};
    score_words(&o, &w);
    find_limit(&o, &w);
    choose_candidates(&o, &w);
    finish_hypotheses(&o, &w);
    int64_t each = o.beam * o.each;
    int sample = constant(&o, "sample", SHAPE(o.all), F32, (struct init){INIT_COUNT, (float)o.beam});
    int index = g_add(g, g_cast(g, g_reshape(g, w.chosen, SHAPE(o.all)), F32), g_scale(g, sample, (float)each));
    int flat = g_cast(g, index, I32);
    int owner = constant(&o, "owner", SHAPE(o.all * o.each), I32, (struct init){INIT_COUNT, (float)o.each});
    int token = g_gather(g, g_reshape(g, w.index, SHAPE(o.all * o.each)), flat);
    if (o.beam > 1) follow_beam(&o, g_gather(g, owner, flat));
    step_keep(s, o.token, token);
    step_keep(s, o.score, g_reshape(g, w.kept, SHAPE(o.all)));
    g_append(g, o.history, g_reshape(g, o.token, SHAPE(o.all, 1)), o.at);
    g_tick(g, o.at, 1);
}

// ---- a smaller batch

// Values of the host: the samples that go on and their hypotheses, by number; and, to join the answers again, the row of each
// sample in [all samples; those that went on].
static int rows_slot(struct step *s, const struct searching *o, const char *what, int64_t count)
{
    return step_slot(s, name_of(o, what), SHAPE(count), I32);
}

static void take_rows(struct step *s, int to, int from, int rows)
{
    if (to != NONE) step_keep(s, to, g_gather(s->g, from, rows));
}

static void shrink_batch(struct step *s, const struct search *search)
{
    struct step fewer = *s;
    fewer.is.batch = drive_shrunk(s->is.batch);
    struct searching o = search_of(s, search), to = search_of(&fewer, search);
    const struct decoding *t = o.decoder;
    int samples = rows_slot(s, &o, "samples", to.samples), hypotheses = rows_slot(s, &o, "hypotheses", to.all);
    const int from_sample[] = {o.length, o.best, o.answer, o.count, o.ended, o.shown};
    const int to_sample[] = {to.length, to.best, to.answer, to.count, to.ended, to.shown};
    const int from_hypothesis[] = {o.token, o.score, o.history, o.coverage, o.seen};
    const int to_hypothesis[] = {to.token, to.score, to.history, to.coverage, to.seen};
    for (size_t i = 0; i < sizeof to_sample / sizeof *to_sample; i++) take_rows(s, to_sample[i], from_sample[i], samples);
    for (size_t i = 0; i < sizeof to_hypothesis / sizeof *to_hypothesis; i++)
        take_rows(s, to_hypothesis[i], from_hypothesis[i], hypotheses);
    for (int i = 0, from; !s->g->error && (from = t->memory(s, i)) != NONE; i++)
        take_rows(s, t->memory(&fewer, i), from, samples);
    for (int i = 0, from; !s->g->error && (from = t->cache(s, o.all, i)) != NONE; i++)
        take_rows(s, t->cache(&fewer, to.all, i), from, hypotheses);
    step_keep(s, to.at, o.at);
}

static void return_answers(struct step *s, const struct search *search)
{
    struct step fewer = *s;
    fewer.is.batch = drive_shrunk(s->is.batch);
    struct searching o = search_of(s, search), of = search_of(&fewer, search);
    int rows = rows_slot(s, &o, "back", o.samples);
    const int to[] = {o.best, o.answer, o.count, o.shown}, from[] = {of.best, of.answer, of.count, of.shown};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i] != NONE) take_rows(s, to[i], g_concat(s->g, (int[]){to[i], from[i]}, 2, 0), rows);
    output_answers(&o);
}

void search_program(struct step *s, const struct search *search, int program)
{
    static void (*const programs[])(struct step *, const struct search *) = {
        [SEARCH_BEGIN] = begin_batch, [SEARCH_NEXT] = add_word, [SEARCH_SHRINK] = shrink_batch, [SEARCH_RETURN] = return_answers};
    programs[program](s, search);
}

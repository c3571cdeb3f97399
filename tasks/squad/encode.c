// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/encode.h"

#include "data/kind.h"
#include "data/text/wordpiece.h"
#include "runtime/base/rng.h"
#include "runtime/base/threads.h"
#include "tasks/squad/buckets.h"
#include "tasks/squad/config.h"
#include "tasks/squad/decode.h"
#include "tasks/squad/keys.h"
#include "tasks/squad/lexicon.h"

#include <stdlib.h>
#include <string.h>

enum { EVALUATE_BATCH = 64, SEGMENTS = 2 };
enum { FIELD_TOKENS, FIELD_SEGMENTS, FIELD_START, FIELD_END, FIELDS };

struct sample {
    int32_t question, window;
};

struct encoded {  // one split
    const struct squad *squad;  // borrowed; NULL: noise
    struct pieces *context, *question;
    int64_t contexts, questions;
    struct sample *sample;
    int64_t samples;
};

struct encoding {  // of a view
    struct windows_rule rule;
    struct wordpiece *wordpiece;
    struct wordpiece_special special;
    struct encoded split[SPLIT_COUNT];
};

static struct encoding *encoding_of(const struct dataset *view)
{
    return view->own;
}

// ---- texts into pieces

struct encoding_texts {
    const struct wordpiece *wordpiece;
    struct encoded *e;
};

static void encode_contexts(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct encoding_texts *t = context;
    for (int64_t i = begin; i < end; i++) {
        const char *text = t->e->squad->context[i];
        wordpiece_encode(t->wordpiece, text, strlen(text), &t->e->context[i]);
    }
}

static void encode_questions(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct encoding_texts *t = context;
    for (int64_t i = begin; i < end; i++) {
        const char *text = t->e->squad->question[i].text;
        wordpiece_encode(t->wordpiece, text, strlen(text), &t->e->question[i]);
    }
}

static void make_room(struct encoded *e, int64_t contexts, int64_t questions)
{
    e->contexts = contexts, e->questions = questions;
    e->context = zalloc((size_t)(contexts + 1) * sizeof *e->context);
    e->question = zalloc((size_t)(questions + 1) * sizeof *e->question);
}

static void encode_texts(const struct wordpiece *w, struct encoded *e)
{
    struct encoding_texts t = {w, e};
    make_room(e, e->squad->paragraphs, e->squad->questions);
    threads_for(e->contexts, 1, encode_contexts, &t);
    threads_for(e->questions, 1, encode_questions, &t);
}

// Where there is no data (dawn plan, dawn bench), pieces without meaning, about as many as English questions and paragraphs
// of SQuAD have: 8 to 20, and 60 to 260.
enum { NOISE_QUESTIONS = 5, NOISE_SEED = 0x7175 };
static void draw_pieces(struct pieces *p, enum split split, int64_t i, int64_t low, int64_t high, int32_t kinds)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)split, (uint32_t)i, (uint32_t)low);
    p->count = p->room = low + rng_below(r.v[0], (uint32_t)(high - low + 1));
    p->id = zalloc((size_t)p->count * sizeof *p->id);
    p->begin = zalloc((size_t)p->count * sizeof *p->begin);
    p->end = zalloc((size_t)p->count * sizeof *p->end);
    for (int64_t k = 0; k < p->count; k++) p->id[k] = (int32_t)((r.v[1] + (uint32_t)k * 7919u) % (uint32_t)kinds);
}

static void encode_noise(struct encoded *e, enum split split, int64_t questions, int32_t kinds)
{
    make_room(e, (questions + NOISE_QUESTIONS - 1) / NOISE_QUESTIONS, questions);
    for (int64_t i = 0; i < e->contexts; i++) draw_pieces(&e->context[i], split, i, 60, 260, kinds);
    for (int64_t i = 0; i < e->questions; i++) draw_pieces(&e->question[i], split, i, 8, 20, kinds);
}

// ---- samples

static const struct pieces *context_of(const struct encoded *e, int64_t question)
{
    return &e->context[e->squad ? e->squad->question[question].paragraph : question / NOISE_QUESTIONS];
}

static struct windows windows_for(const struct encoding *n, const struct encoded *e, int64_t question)
{
    return windows_of(&n->rule, e->question[question].count, context_of(e, question)->count);
}

static void list_samples(const struct encoding *n, struct encoded *e)
{
    int64_t count = 0;
    for (int64_t q = 0; q < e->questions; q++) count += windows_for(n, e, q).count;
    e->sample = zalloc((size_t)(count + 1) * sizeof *e->sample);
    for (int64_t q = 0; q < e->questions; q++) {
        int64_t windows = windows_for(n, e, q).count;
        for (int64_t w = 0; w < windows; w++) e->sample[e->samples++] = (struct sample){(int32_t)q, (int32_t)w};
    }
}

// The pieces that bytes [begin, end) of a context touch.
static void pieces_between(const struct pieces *p, int64_t begin, int64_t end, int64_t *first, int64_t *behind)
{
    *first = 0;
    while (*first < p->count && p->end[*first] <= begin) ++*first;
    *behind = *first;
    while (*behind < p->count && p->begin[*behind] < end) ++*behind;
}

// Both 0 where the window does not hold the answer.
static void find_answer(const struct encoded *e, const struct windows *w, const struct sample *s, int32_t place[2])
{
    place[0] = place[1] = 0;
    if (!e->squad) return;
    const struct squad_answer *a = &e->squad->question[s->question].answer[0];
    if (a->start == SQUAD_NOWHERE) return;
    int64_t first, behind;
    pieces_between(context_of(e, s->question), a->start, a->start + (int64_t)strlen(a->text), &first, &behind);
    (void)windows_place(w, s->window, first, behind, &place[0], &place[1]);
}

// Into as many places as the window is long.
static void write_tokens(const struct encoding *n, const struct pieces *question, const struct pieces *context,
                         const struct windows *w, int64_t number, int32_t *into)
{
    struct window at = windows_at(w, number);
    *into++ = n->special.first;
    if (w->question > 0) memcpy(into, question->id, (size_t)w->question * sizeof *into);
    into += w->question;
    *into++ = n->special.separator;
    if (at.count > 0) memcpy(into, context->id + at.first, (size_t)at.count * sizeof *into);
    into[at.count] = n->special.separator;
}

static void write_segments(const struct windows *w, int64_t number, int32_t *into)
{
    for (int64_t i = windows_begin(w); i < windows_length(w, number); i++) into[i] = 1;
}

static int encode_item(struct dataset *d, enum split split, const struct field *f, int64_t index, void *into, size_t room,
                       int64_t *length)
{
    const struct encoding *n = encoding_of(d);
    const struct encoded *e = &n->split[split];
    const struct sample *s = &e->sample[index];
    struct windows w = windows_for(n, e, s->question);
    int32_t place[2], *to = into;
    *length = f->ragged == FIELD_FIXED ? 1 : windows_length(&w, s->window);
    size_t bytes = (size_t)*length * sizeof *to;
    if (bytes > room) return kind_no_room(d, split, f, index, (int64_t)bytes, room);
    memset(to, 0, bytes);
    switch (f - d->facts.field) {
    case FIELD_TOKENS:
        write_tokens(n, &e->question[s->question], context_of(e, s->question), &w, s->window, to);
        break;
    case FIELD_SEGMENTS: write_segments(&w, s->window, to); break;
    default: find_answer(e, &w, s, place); *to = place[f - d->facts.field - FIELD_START];
    }
    return 0;
}

static int encode_read(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count, void *into)
{
    int64_t one;
    for (int64_t i = 0; i < count; i++)
        TRY(encode_item(d, split, f, first + i, (int32_t *)into + i, sizeof(int32_t), &one));
    return 0;
}

static int encode_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    (void)f;
    const struct encoding *n = encoding_of(d);
    const struct encoded *e = &n->split[split];
    for (int64_t i = 0; i < e->samples; i++) {
        struct windows w = windows_for(n, e, e->sample[i].question);
        lengths[i] = (int32_t)windows_length(&w, e->sample[i].window);
    }
    return 0;
}

// ---- the view

static void free_texts(struct pieces *p, int64_t count)
{
    for (int64_t i = 0; i < count; i++) pieces_free(&p[i]);
    free(p);
}

static void encode_close(struct dataset *d)
{
    struct encoding *n = encoding_of(d);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        free_texts(n->split[s].context, n->split[s].contexts);
        free_texts(n->split[s].question, n->split[s].questions);
        free(n->split[s].sample);
    }
    wordpiece_free(n->wordpiece);
    free(n);
}

static const struct kind encode_kind = {.name = "windows", .close = encode_close, .read = encode_read, .item = encode_item,
                                        .lengths = encode_lengths};

// Whatever a pretrained encoder learned is in its weights and in the numbers of its pieces. Drawn texts and noise do without.
static int check_files(const struct setting *c)
{
    if (strcmp(c->model->name, "bert") || c->data->synthetic || (c->files.weights && c->files.vocab)) return 0;
    return fail(ERR_USAGE, "model bert begins with trained weights and their vocabulary: give --weights model.safetensors and "
                           "--vocab vocab.txt (docs/squad.md says where to get them), or train from the beginning: "
                           "--model encoder");
}

// The pieces of a file, else those of the training texts.
static int open_pieces(const struct setting *c, const struct squad *train, struct wordpiece **into)
{
    const struct recipe *r = c->recipe;
    bool lower = r->own[OWN_LOWER_CASE].choice == 1;
    if (c->files.vocab) return wordpiece_open(c->files.vocab, lower, into);
    if (train && train->questions == 0)
        return fail(ERR_MISSING, "the vocabulary is made of the training texts, which are not here: name them with --data");
    struct text list = {0};
    lexicon_make(train, r->own[OWN_VOCABULARY].whole, &list);
    int rc = wordpiece_parse("the words of the training texts", list.at, list.length, lower, into);
    text_free(&list);
    return rc;
}

static void state_facts_of_view(const struct setting *c, struct dataset *d)
{
    const struct encoding *n = encoding_of(d);
    struct field sequence = {.dtype = I32, .shape = SHAPE(n->rule.length), .ragged = 0};
    struct field place = {.dtype = I32, .ragged = FIELD_FIXED, .classes = (int)n->rule.length};
    d->facts = *c->data;
    d->facts.fields = FIELDS;
    for (int i = 0; i < FIELDS; i++) d->facts.field[i] = i < FIELD_START ? sequence : place;
    d->facts.field[FIELD_TOKENS].name = "tokens", d->facts.field[FIELD_TOKENS].classes = wordpiece_count(n->wordpiece);
    d->facts.field[FIELD_SEGMENTS].name = "segments", d->facts.field[FIELD_SEGMENTS].classes = SEGMENTS;
    d->facts.field[FIELD_START].name = "start", d->facts.field[FIELD_END].name = "end";
    for (int s = 0; s < SPLIT_COUNT; s++) d->facts.count[s] = n->split[s].samples;
}

static int encode_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    const struct recipe *r = c->recipe;
    struct wordpiece *w;
    TRY(check_files(c));
    TRY(open_pieces(c, squad_of(stored, SPLIT_TRAIN), &w));
    int rc = c->files.weights && c->files.vocab ? config_check(c->files.weights, r, wordpiece_count(w)) : 0;
    if (rc < 0) {
        wordpiece_free(w);
        return rc;
    }
    struct dataset *d = zalloc(sizeof *d);
    struct encoding *n = d->own = zalloc(sizeof *n);
    d->kind = &encode_kind;
    n->wordpiece = w, n->special = wordpiece_special(w);
    n->rule = (struct windows_rule){r->own[OWN_LENGTH].whole, r->own[OWN_STRIDE].whole, r->own[OWN_QUESTION].whole};
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        n->split[s].squad = squad_of(stored, s);
        if (n->split[s].squad) encode_texts(w, &n->split[s]);
        else encode_noise(&n->split[s], s, c->data->count[s], wordpiece_count(w));
        list_samples(n, &n->split[s]);
    }
    state_facts_of_view(c, d);
    *into = d;
    return 0;
}

// ---- batches

// A request of an inference: the texts are cut into pieces anew, because that is part of its time.
struct encode_worker {
    struct pieces question, context;
};

static void *encode_worker_new(void *view)
{
    (void)view;
    return zalloc(sizeof(struct encode_worker));
}

static void encode_worker_free(void *worker)
{
    struct encode_worker *k = worker;
    pieces_free(&k->question);
    pieces_free(&k->context);
    free(k);
}

static int encode_request(void *view, const struct feed_item *item, void *const field[])
{
    const struct encoding *n = encoding_of(view);
    const struct squad *squad = n->split[item->split].squad;
    const struct sample *s = &n->split[item->split].sample[item->index];
    struct encode_worker *k = item->worker;
    const char *question = squad->question[s->question].text;
    const char *context = squad->context[squad->question[s->question].paragraph];
    pieces_clear(&k->question);
    pieces_clear(&k->context);
    wordpiece_encode(n->wordpiece, question, strlen(question), &k->question);
    wordpiece_encode(n->wordpiece, context, strlen(context), &k->context);
    struct windows w = windows_of(&n->rule, k->question.count, k->context.count);
    write_tokens(n, &k->question, &k->context, &w, s->window, field[FIELD_TOKENS]);
    write_segments(&w, s->window, field[FIELD_SEGMENTS]);
    *(int32_t *)field[FIELDS] = (int32_t)windows_length(&w, s->window);
    return 0;
}

static void encode_feed(const struct setting *c, enum split split, struct feed_choice *f)
{
    const struct field *field = c->data->field;
    bool trains = split == SPLIT_TRAIN;
    int64_t count = c->data->count[split], batch = trains ? c->recipe->batch : EVALUATE_BATCH, longest = field->shape.dim[0];
    int32_t *lengths = zalloc((size_t)(count + 1) * sizeof *lengths);
    BUG_IF(encode_lengths(f->data, split, field, lengths) < 0);
    buckets_choose(lengths, count, longest, batch, trains ? batch : 1, &f->order);
    free(lengths);
    const struct feed_field length = {.name = "tokens.length", .dtype = I32};
    for (int i = 0; i < FIELDS; i++) {
        f->field[i] = (struct feed_field){.name = field[i].name, .dtype = I32, .classes = field[i].classes};
        for (int b = 0; b < f->order.buckets && i < FIELD_START; b++) f->field[i].shape[b] = SHAPE(f->order.limit[b]);
    }
    f->field[FIELDS] = length;
    f->fields = FIELDS + 1;
    if (!c->single || !encoding_of(f->data)->split[split].squad) return;
    f->fill = encode_request, f->context = f->data;
    f->worker_new = encode_worker_new, f->worker_free = encode_worker_free;
}

// ---- answers

static int64_t encode_question(const struct dataset *view, int64_t sample)
{
    return encoding_of(view)->split[SPLIT_TEST].sample[sample].question;
}

static bool encode_answer(const struct dataset *view, int64_t sample, const float *start, const float *end, struct answer *into)
{
    const struct encoding *n = encoding_of(view);
    const struct encoded *e = &n->split[SPLIT_TEST];
    const struct sample *s = &e->sample[sample];
    const struct pieces *context = context_of(e, s->question);
    struct windows w = windows_for(n, e, s->question);
    struct decoded d;
    into->question = s->question;
    if (!decode_window(&w, s->window, start, end, &d)) return false;
    into->begin = context->begin[d.first], into->end = context->end[d.last];
    into->score = d.score;
    return true;
}

const struct reader encode_reader = {encode_view, encode_feed, encode_question, encode_answer};

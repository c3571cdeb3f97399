// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/encode.h"

#include "data/kind.h"
#include "runtime/common/base/text.h"
#include "tasks/squad/squad_keys.h"
#include "tasks/squad/sample/buckets.h"
#include "tasks/squad/sample/config.h"
#include "tasks/squad/sample/decode.h"
#include "tasks/squad/text/lexicon.h"
#include "tasks/squad/text/texts.h"

#include <stdlib.h>
#include <string.h>

enum { EVALUATE_BATCH = 64, SEGMENTS = 2 };
enum { FIELD_TOKENS, FIELD_SEGMENTS, FIELD_START, FIELD_END, FIELDS };

struct encoding {  // context of a view
    struct windows_rule rule;
    struct wordpiece *wordpiece;
    struct wordpiece_special special;
    struct texts split[SPLIT_COUNT];
};

static struct encoding *encoding_of(const struct dataset *view)
{
    return view->own;
}

static void cut_text(const void *wordpiece, const char *text, size_t n, struct pieces *into)
{
    wordpiece_encode(wordpiece, text, n, into);
}

// ---- samples

// Writes as many numbers as the window is long.
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

static int encode_item(struct dataset *d, enum split split, const struct field *f, int64_t index, void *into, size_t capacity,
                       int64_t *length)
{
    const struct encoding *n = encoding_of(d);
    const struct texts *e = &n->split[split];
    const struct sample *s = &e->sample[index];
    struct windows w = texts_windows(e, s->question);
    int32_t span[2], *to = into;
    *length = f->ragged == FIELD_FIXED ? 1 : windows_length(&w, s->window);
    size_t bytes = (size_t)*length * sizeof *to;
    if (bytes > capacity) return kind_too_small(d, split, f, index, (int64_t)bytes, capacity);
    memset(to, 0, bytes);
    switch (f - d->facts.field) {
    case FIELD_TOKENS:
        write_tokens(n, &e->question[s->question], texts_context(e, s->question), &w, s->window, to);
        break;
    case FIELD_SEGMENTS: write_segments(&w, s->window, to); break;
    default: (void)texts_answer(e, s, span); *to = span[f - d->facts.field - FIELD_START];
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
    const struct texts *e = &n->split[split];
    for (int64_t i = 0; i < e->samples; i++) {
        struct windows w = texts_windows(e, e->sample[i].question);
        lengths[i] = (int32_t)windows_length(&w, e->sample[i].window);
    }
    return 0;
}

// ---- the view

static void encode_close(struct dataset *d)
{
    struct encoding *n = encoding_of(d);
    for (int s = 0; s < SPLIT_COUNT; s++) texts_free(&n->split[s]);
    wordpiece_free(n->wordpiece);
    free(n);
}

static const struct kind encode_kind = {.name = "windows", .close = encode_close, .read = encode_read, .item = encode_item,
                                        .lengths = encode_lengths};

// A pretrained encoder needs its weights and its own numbering of pieces. Synthetic texts and noise mean nothing to it, so they
// need neither.
static int check_encoder_files(const struct setting *c)
{
    if (c->files.vectors)
        return fail(ERR_USAGE, "model %s reads pieces, which have no --vectors; fastfusionnet and drqa read words",
                    c->model->name);
    if (strcmp(c->model->name, "bert") || c->data->synthetic || (c->files.weights && c->files.vocab)) return 0;
    return fail(ERR_USAGE, "model bert begins with trained weights and their vocabulary: give --weights model.safetensors and "
                           "--vocab vocab.txt (docs/squad.md says where to get them), or train from the beginning: "
                           "--model encoder");
}

// Pieces from a file, or else from the training texts.
static int open_pieces(const struct setting *c, const struct squad *train, struct wordpiece **into)
{
    const struct recipe *r = c->recipe;
    bool lower = squad_keys(r)->lower_case == 1;
    if (c->files.vocab) return wordpiece_open(c->files.vocab, lower, into);
    if (train && train->questions == 0)
        return fail(ERR_MISSING, "the vocabulary is made of the training texts, which are not here: name them with --data");
    struct text list = {0};
    lexicon_make(train, squad_keys(r)->vocabulary, &list);
    int rc = wordpiece_parse("the words of the training texts", list.at, list.length, lower, into);
    text_free(&list);
    return rc;
}

static void state_facts_of_view(const struct setting *c, struct dataset *d)
{
    const struct encoding *n = encoding_of(d);
    struct field sequence = {.dtype = I32, .shape = SHAPE(n->rule.length), .ragged = 0};
    struct field span = {.dtype = I32, .ragged = FIELD_FIXED, .classes = (int)n->rule.length};
    d->facts = *c->data;
    d->facts.fields = FIELDS;
    for (int i = 0; i < FIELDS; i++) d->facts.field[i] = i < FIELD_START ? sequence : span;
    d->facts.field[FIELD_TOKENS].name = "tokens", d->facts.field[FIELD_TOKENS].classes = wordpiece_count(n->wordpiece);
    d->facts.field[FIELD_SEGMENTS].name = "segments", d->facts.field[FIELD_SEGMENTS].classes = SEGMENTS;
    d->facts.field[FIELD_START].name = "start", d->facts.field[FIELD_END].name = "end";
    for (int s = 0; s < SPLIT_COUNT; s++) d->facts.count[s] = n->split[s].samples;
}

static int encode_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    const struct recipe *r = c->recipe;
    struct wordpiece *w;
    TRY(check_encoder_files(c));
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
    n->rule = (struct windows_rule){squad_keys(r)->length, squad_keys(r)->stride, squad_keys(r)->question, false};
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        const struct squad *squad = squad_of(stored, s);
        if (squad) texts_make(&n->split[s], squad, &n->rule, cut_text, w);
        else texts_draw(&n->split[s], s, c->data->count[s], &n->rule, wordpiece_count(w));
        texts_list(&n->split[s], false);
    }
    state_facts_of_view(c, d);
    *into = d;
    return 0;
}

static void encode_note(const struct setting *c, const struct dataset *view, struct text *into)
{
    char count[TEXT_FIGURE];
    (void)c;
    int64_t n = texts_unanswered(&encoding_of(view)->split[SPLIT_TRAIN]);
    if (n > 0)
        text_add(into, "%s of training have no window that holds the whole answer; they are trained with [CLS], which means none",
                 text_count(count, n));
}

// ---- batches

static int encode_request(void *view, const struct feed_item *item, void *const field[])
{
    const struct encoding *n = encoding_of(view);
    const struct texts *e = &n->split[item->split];
    const struct sample *s = &e->sample[item->index];
    struct texts_request *r = item->worker;
    texts_request_cut(r, e, s, cut_text, n->wordpiece);
    struct windows w = windows_of(&n->rule, r->question.count, r->context.count);
    write_tokens(n, &r->question, &r->context, &w, s->window, field[FIELD_TOKENS]);
    write_segments(&w, s->window, field[FIELD_SEGMENTS]);
    *(int32_t *)field[FIELDS] = (int32_t)windows_length(&w, s->window);
    return 0;
}

static int encode_feed(const struct setting *c, struct feed_choice *f)
{
    enum split split = f->split;
    const struct field *field = c->data->field;
    bool trains = split == SPLIT_TRAIN;
    int64_t count = c->data->count[split], batch = trains ? c->recipe->batch : EVALUATE_BATCH, longest = field->shape.dim[0];
    int32_t *lengths = zalloc((size_t)(count + 1) * sizeof *lengths);
    int rc = encode_lengths(f->data, split, field, lengths);
    if (rc == 0) buckets_choose(lengths, count, longest, batch, trains ? batch : 1, &f->order);
    free(lengths);
    TRY(rc);
    const struct feed_field length = {.name = "tokens.length", .dtype = I32};
    for (int i = 0; i < FIELDS; i++) {
        f->field[i] = (struct feed_field){.name = field[i].name, .dtype = I32, .classes = field[i].classes};
        for (int b = 0; b < f->order.buckets && i < FIELD_START; b++) f->field[i].shape[b] = SHAPE(f->order.limit[b]);
    }
    f->field[FIELDS] = length;
    f->fields = FIELDS + 1;
    if (!c->single || !encoding_of(f->data)->split[split].squad) return 0;
    f->fill = encode_request, f->context = f->data;
    f->worker_new = texts_request_new, f->worker_free = texts_request_free;
    return 0;
}

// ---- answers

static int64_t encode_question(const struct dataset *view, int64_t sample)
{
    return encoding_of(view)->split[SPLIT_TEST].sample[sample].question;
}

static bool encode_answer(const struct dataset *view, int64_t sample, const float *start, const float *end, struct answer *into)
{
    const struct encoding *n = encoding_of(view);
    const struct texts *e = &n->split[SPLIT_TEST];
    const struct sample *s = &e->sample[sample];
    const struct pieces *context = texts_context(e, s->question);
    struct windows w = texts_windows(e, s->question);
    struct decoded d;
    into->question = s->question;
    if (!decode_window(&w, s->window, start, end, &d)) return false;
    into->begin = context->begin[d.first], into->end = context->end[d.last];
    into->score = d.score;
    return true;
}

const struct reader encode_reader = {encode_view, encode_feed, encode_note, encode_question, encode_answer};

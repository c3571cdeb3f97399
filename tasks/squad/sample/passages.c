// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/passages.h"

#include "data/kind.h"
#include "data/text/words.h"
#include "runtime/common/base/text.h"
#include "tasks/squad/squad_keys.h"
#include "tasks/squad/sample/buckets.h"
#include "tasks/squad/sample/decode.h"
#include "tasks/squad/text/features.h"

#include <stdlib.h>
#include <string.h>

// The attention of a context to itself takes memory proportional to the square of its length, so batches are as small as in
// training.
enum { EVALUATE_BATCH = 32 };
enum { FIELD_TOKENS, FIELD_QUESTION, FIELD_FEATURES, FIELD_START, FIELD_END, FIELDS };
enum { FED_LENGTH = FIELDS, FED_QUESTION_LENGTH, FED };

struct passages {  // context of a view
    struct windows_rule rule;
    struct wordlist *words;
    struct texts split[SPLIT_COUNT];
};

static struct passages *passages_of(const struct dataset *view)
{
    return view->own;
}

const struct wordlist *passages_words(const struct dataset *view)
{
    return passages_of(view)->words;
}

// ---- texts into words

// `list` NULL: the words are still being counted and have no rows yet.
static void cut_text(const void *list, const char *text, size_t n, struct pieces *into)
{
    struct words words = {0};
    words_split(text, n, &words);
    if (into->count + words.count > into->capacity) {
        into->capacity = into->count + words.count;
        into->id = grow(into->id, (size_t)into->capacity * sizeof *into->id);
        into->begin = grow(into->begin, (size_t)into->capacity * sizeof *into->begin);
        into->end = grow(into->end, (size_t)into->capacity * sizeof *into->end);
    }
    for (int64_t i = 0; i < words.count; i++) {
        int64_t at = into->count++;
        into->begin[at] = words.begin[i], into->end[at] = words.end[i];
        into->id[at] = list ? wordlist_row(list, text + words.begin[i], (size_t)(words.end[i] - words.begin[i])) : 0;
    }
    words_free(&words);
}

// ---- samples

// The texts of one sample: stored ones, or a request's.
struct passage {
    const struct pieces *context, *question;
    struct windows windows;
    struct window at;
};

static struct passage passage_of(const struct passages *p, const struct sample *s, const struct pieces *context,
                                 const struct pieces *question)
{
    struct passage is = {context, question, windows_of(&p->rule, question->count, context->count), {0}};
    is.at = windows_at(&is.windows, s->window);
    return is;
}

static struct passage stored_passage(const struct passages *p, const struct texts *t, const struct sample *s)
{
    return passage_of(p, s, texts_context(t, s->question), &t->question[s->question]);
}

static void write_rows(const struct pieces *from, int64_t first, int64_t count, int32_t *into)
{
    if (count > 0) memcpy(into, from->id + first, (size_t)count * sizeof *into);
}

// Writes zeros for noise.
static void write_features(const struct texts *t, const struct sample *s, const struct passage *is, float *into)
{
    if (!t->squad) return;
    const struct squad_question *q = &t->squad->question[s->question];
    const struct features_words context = {t->squad->context[q->paragraph], is->context, is->at.first, is->at.count};
    features_make(&context, &(struct features_words){q->text, is->question, 0, is->windows.question}, into);
}

static int64_t field_length(const struct passage *is, int field)
{
    return field >= FIELD_START ? 1 : field == FIELD_QUESTION ? is->windows.question : is->at.count;
}

static int passages_item(struct dataset *d, enum split split, const struct field *f, int64_t index, void *into, size_t capacity,
                         int64_t *length)
{
    const struct texts *t = &passages_of(d)->split[split];
    const struct sample *s = &t->sample[index];
    struct passage is = stored_passage(passages_of(d), t, s);
    int number = (int)(f - d->facts.field);
    int32_t span[2];
    *length = field_length(&is, number);
    size_t bytes = (size_t)*length * (number == FIELD_FEATURES ? FEATURES * sizeof(float) : sizeof(int32_t));
    if (bytes > capacity) return kind_too_small(d, split, f, index, (int64_t)bytes, capacity);
    memset(into, 0, bytes);
    switch (number) {
    case FIELD_TOKENS: write_rows(is.context, is.at.first, is.at.count, into); break;
    case FIELD_QUESTION: write_rows(is.question, 0, is.windows.question, into); break;
    case FIELD_FEATURES: write_features(t, s, &is, into); break;
    default: (void)texts_answer(t, s, span); memcpy(into, &span[number - FIELD_START], sizeof *span);
    }
    return 0;
}

static int passages_read(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count, void *into)
{
    int64_t one;
    for (int64_t i = 0; i < count; i++)
        TRY(passages_item(d, split, f, first + i, (int32_t *)into + i, sizeof(int32_t), &one));
    return 0;
}

static int passages_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    const struct texts *t = &passages_of(d)->split[split];
    for (int64_t i = 0; i < t->samples; i++) {
        struct passage is = stored_passage(passages_of(d), t, &t->sample[i]);
        lengths[i] = (int32_t)field_length(&is, (int)(f - d->facts.field));
    }
    return 0;
}

// ---- the view

static void passages_close(struct dataset *d)
{
    struct passages *p = passages_of(d);
    for (int s = 0; s < SPLIT_COUNT; s++) texts_free(&p->split[s]);
    wordlist_free(p->words);
    free(p);
}

static const struct kind passages_kind = {.name = "passages", .close = passages_close, .read = passages_read,
                                          .item = passages_item, .lengths = passages_lengths};

static int check_word_files(const struct setting *c, const struct squad *train)
{
    if (c->files.vocab)
        return fail(ERR_USAGE, "model %s takes its words from the training texts: --vocab does not apply", c->model->name);
    if (train && train->questions == 0)
        return fail(ERR_MISSING, "the model takes its words from the training texts, which are missing: name them with --data");
    return 0;
}

static int open_words(const struct setting *c, struct passages *p, const struct squad *train)
{
    const struct recipe *r = c->recipe;
    struct texts texts = {0};
    const char *vectors = train ? c->files.vectors : NULL;
    if (train) texts_make(&texts, train, &p->rule, cut_text, NULL);
    int rc = wordlist_open(train ? &texts : NULL, squad_keys(r)->vocabulary, vectors, squad_keys(r)->vectors, &p->words);
    texts_free(&texts);
    return rc;
}

static void state_facts_of_view(const struct setting *c, struct dataset *d)
{
    const struct passages *p = passages_of(d);
    struct field *f = d->facts.field;
    int64_t length = p->rule.length;
    d->facts = *c->data;
    d->facts.fields = FIELDS;
    f[FIELD_TOKENS] = (struct field){.name = "tokens", .dtype = I32, .shape = SHAPE(length), .classes = p->words->rows};
    f[FIELD_QUESTION] = (struct field){.name = "question", .dtype = I32, .shape = SHAPE(p->rule.question),
                                       .classes = p->words->rows};
    f[FIELD_FEATURES] = (struct field){.name = "features", .dtype = F32, .shape = SHAPE(length, FEATURES)};
    f[FIELD_START] = (struct field){.name = "start", .dtype = I32, .ragged = FIELD_FIXED, .classes = (int)length};
    f[FIELD_END] = f[FIELD_START], f[FIELD_END].name = "end";
    for (int s = 0; s < SPLIT_COUNT; s++) d->facts.count[s] = p->split[s].samples;
}

static int passages_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    const struct recipe *r = c->recipe;
    const struct squad *train = squad_of(stored, SPLIT_TRAIN);
    TRY(check_word_files(c, train));
    struct dataset *d = zalloc(sizeof *d);
    struct passages *p = d->own = zalloc(sizeof *p);
    d->kind = &passages_kind;
    p->rule = (struct windows_rule){squad_keys(r)->length, squad_keys(r)->stride, squad_keys(r)->question, true};
    int rc = open_words(c, p, train);
    if (rc < 0) {
        dataset_close(d);
        return rc;
    }
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        const struct squad *squad = squad_of(stored, s);
        if (squad) texts_make(&p->split[s], squad, &p->rule, cut_text, p->words);
        else texts_draw(&p->split[s], s, c->data->count[s], &p->rule, p->words->rows);
        texts_list(&p->split[s], s == SPLIT_TRAIN);
    }
    state_facts_of_view(c, d);
    *into = d;
    return 0;
}

// Published vectors are the usual choice; a run without them says that it learns its own.
static void passages_note(const struct setting *c, const struct dataset *view, struct text *into)
{
    const struct passages *p = passages_of(view);
    char count[TEXT_FIGURE];
    int64_t n = texts_unanswered(&p->split[SPLIT_TRAIN]);
    if (c->files.vectors)
        text_add(into, "%s words of the training texts have a vector in %s", text_count(count, p->words->rows - WORDLIST_FIRST),
                 c->files.vectors);
    else
        text_add(into, "vectors of words are learned from the training texts; --vectors takes published ones");
    if (n > 0)
        text_add(into, "; %s of training are left out, because no window holds the whole answer", text_count(count, n));
}

// ---- batches

static int fill_request(void *view, const struct feed_item *item, void *const field[])
{
    const struct passages *p = passages_of(view);
    const struct texts *t = &p->split[item->split];
    const struct sample *s = &t->sample[item->index];
    struct texts_request *r = item->worker;
    texts_request_cut(r, t, s, cut_text, p->words);
    struct passage is = passage_of(p, s, &r->context, &r->question);
    write_rows(is.context, is.at.first, is.at.count, field[FIELD_TOKENS]);
    write_rows(is.question, 0, is.windows.question, field[FIELD_QUESTION]);
    write_features(t, s, &is, field[FIELD_FEATURES]);
    *(int32_t *)field[FED_LENGTH] = (int32_t)is.at.count;
    *(int32_t *)field[FED_QUESTION_LENGTH] = (int32_t)is.windows.question;
    return 0;
}

// The longest question of each bucket, rounded up to a multiple of four.
static int longest_questions(struct dataset *d, enum split split, const int32_t *lengths, const struct order_choice *order,
                             int64_t longest[ORDER_BUCKETS])
{
    int64_t count = d->facts.count[split];
    int32_t *asked = zalloc((size_t)(count + 1) * sizeof *asked);
    int rc = passages_lengths(d, split, &d->facts.field[FIELD_QUESTION], asked);
    for (int b = 0; b < order->buckets; b++) longest[b] = 4;
    for (int64_t i = 0; i < count && rc == 0; i++) {
        int b = 0;
        while (lengths[i] > order->limit[b]) b++;
        if (asked[i] > longest[b]) longest[b] = (asked[i] + 3) / 4 * 4;
    }
    free(asked);
    return rc;
}

static int passages_feed(const struct setting *c, struct feed_choice *f)
{
    enum split split = f->split;
    const struct field *field = c->data->field;
    bool trains = split == SPLIT_TRAIN;
    int64_t count = c->data->count[split], batch = trains ? c->recipe->batch : EVALUATE_BATCH, asked[ORDER_BUCKETS];
    int32_t *lengths = zalloc((size_t)(count + 1) * sizeof *lengths);
    int rc = passages_lengths(f->data, split, field, lengths);
    if (rc == 0) {
        buckets_choose(lengths, count, field->shape.dim[0], batch, trains ? batch : 1, &f->order);
        rc = longest_questions(f->data, split, lengths, &f->order, asked);
    }
    free(lengths);
    TRY(rc);
    for (int i = 0; i < FIELDS; i++) {
        f->field[i] = (struct feed_field){.name = field[i].name, .dtype = field[i].dtype, .classes = field[i].classes};
        for (int b = 0; b < f->order.buckets; b++) {
            int64_t length = f->order.limit[b];
            if (i == FIELD_TOKENS) f->field[i].shape[b] = SHAPE(length);
            if (i == FIELD_QUESTION) f->field[i].shape[b] = SHAPE(asked[b]);
            if (i == FIELD_FEATURES) f->field[i].shape[b] = SHAPE(length, FEATURES);
        }
    }
    f->field[FED_LENGTH] = (struct feed_field){.name = "tokens.length", .dtype = I32};
    f->field[FED_QUESTION_LENGTH] = (struct feed_field){.name = "question.length", .dtype = I32};
    f->fields = FED;
    if (!c->single || !passages_of(f->data)->split[split].squad) return 0;
    f->fill = fill_request, f->context = f->data;
    f->worker_new = texts_request_new, f->worker_free = texts_request_free;
    return 0;
}

// ---- answers

static int64_t passages_question(const struct dataset *view, int64_t sample)
{
    return passages_of(view)->split[SPLIT_TEST].sample[sample].question;
}

static bool passages_answer(const struct dataset *view, int64_t sample, const float *start, const float *end,
                            struct answer *into)
{
    const struct texts *t = &passages_of(view)->split[SPLIT_TEST];
    const struct sample *s = &t->sample[sample];
    const struct pieces *context = texts_context(t, s->question);
    struct windows w = texts_windows(t, s->question);
    struct decoded d;
    into->question = s->question;
    if (!decode_words(&w, s->window, start, end, &d)) return false;
    into->begin = context->begin[d.first], into->end = context->end[d.last];
    into->score = d.score;
    return true;
}

const struct reader passages_reader = {passages_view, passages_feed, passages_note, passages_question, passages_answer};

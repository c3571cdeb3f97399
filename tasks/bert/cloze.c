// SPDX-License-Identifier: Apache-2.0
#include "tasks/bert/cloze.h"

#include "data/kind.h"
#include "data/read/wiki/wiki.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/bert/bert_keys.h"
#include "tasks/common/words/sentence_pairs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EVALUATE_BATCH = 50, WALKS = 10, SCORED_SEED = 12345, NOISE_SEED = 20181224, PIECE_BYTES = 4, NO_LABEL = -1 };
static const double MASKED = 0.15;  // of the pieces of a scored sample
static const char MASK[] = "[MASK]";

// What a task scores. Other lengths, numbers or pieces would be another score, so no recipe has a key for them.
static const struct rule_of_task {
    const char *task;
    int64_t length, predictions, samples;
    int32_t pieces;  // to learn, without --vocab
} rules[] = {{CLOZE_SMALL, 128, 20, 1000, 8192}, {"bert-pretraining", 512, 76, 10000, 30522}};

struct epoch {  // its samples
    uint64_t seed;
    uint32_t number;
    bool made;
    struct sentence_list list;
};

struct cloze {
    const struct rule_of_task *rule;
    struct form {              // of the samples
        int64_t length, predictions;
        double masked;         // share of the pieces
    } form[SPLIT_COUNT], brief;  // brief: of the first epochs of the training
    int64_t brief_epochs, samples[SPLIT_COUNT];
    struct wordpiece *pieces;  // NULL: noise
    struct wordpiece_special special;
    int32_t symbols;
    char digest[DIGEST_HEX];
    bool asked;                // the test texts are lines with [MASK]
    struct sentence_text text[SPLIT_COUNT];
    struct sentence_list scored;
    pthread_mutex_t lock;
    struct epoch epoch[2];     // of the training: this one and the next, by epoch % 2
};

static struct cloze *cloze_of(const struct dataset *view)
{
    return view->own;
}

const char *cloze_digest(const struct dataset *view)
{
    return cloze_of(view)->digest;
}

const char *cloze_piece(const struct dataset *view, int32_t id)
{
    return wordpiece_name(cloze_of(view)->pieces, id);
}

bool cloze_is_noise(const struct dataset *view)
{
    return !cloze_of(view)->pieces;
}

const struct sentence_text *cloze_text(const struct dataset *view, enum split split)
{
    return &cloze_of(view)->text[split];
}

const struct wordpiece_special *cloze_special(const struct dataset *view)
{
    return &cloze_of(view)->special;
}

// ---- forms: bucket 0 has the split's form, bucket 1 the brief one

static int bucket_of_epoch(void *view, uint32_t epoch)
{
    return epoch < cloze_of(view)->brief_epochs;
}

static const struct form *form_of(const struct cloze *c, const struct sentence_draws *of)
{
    return of->split == SPLIT_TRAIN && of->epoch < c->brief_epochs ? &c->brief : &c->form[of->split];
}

// ---- text

// Calls `take` for each article of a split.
static int read_articles(struct dataset *stored, enum split split, int (*take)(void *, const char *, size_t), void *context)
{
    const struct field *f = dataset_field(stored, "text");
    if (!f || f->ragged == FIELD_FIXED || f->dtype != U8)
        return fail(ERR_INPUT, "%s has no articles", dataset_facts(stored)->name);
    size_t capacity = (size_t)f->shape.dim[0];
    char *text = zalloc(capacity + 1);
    int rc = 0;
    for (int64_t i = 0, length; i < dataset_facts(stored)->count[split] && rc == 0; i++) {
        rc = dataset_item_of(stored, split, f, i, text, capacity, &length);
        if (rc == 0) rc = take(context, text, (size_t)length);
    }
    free(text);
    return rc;
}

static int count_words(void *words, const char *text, size_t n)
{
    return wordpiece_count_words(text, n, true, words);
}

static int learn_pieces(struct cloze *c, struct dataset *stored)
{
    if (dataset_facts(stored)->count[SPLIT_TRAIN] == 0)
        return fail(ERR_MISSING, "pieces are learned from the training text, which is not here: name it with --data");
    struct vocabulary *words = vocabulary_new();
    struct text list = {0};
    int rc = read_articles(stored, SPLIT_TRAIN, count_words, words);
    if (rc == 0) rc = wordpiece_learn(words, c->rule->pieces, &list);
    if (rc == 0) rc = wordpiece_parse("the pieces of the training text", list.at, list.length, true, &c->pieces);
    if (rc == 0) digest_bytes(list.at, list.length, c->digest);
    text_free(&list);
    vocabulary_free(words);
    return rc;
}

// A published vocabulary is part of the large task's rules.
static int open_pieces(struct cloze *c, const struct setting *s, struct dataset *stored)
{
    const char *vocab = s->files.vocab;
    if (vocab) TRY(wordpiece_open(vocab, true, &c->pieces));
    else if (!(s->task->takes & TAKES_VOCAB) || s->data->synthetic) TRY(learn_pieces(c, stored));
    else return fail(ERR_USAGE, "%s reads the published pieces of BERT: give --vocab vocab.txt (docs/language.md)",
                     s->task->name);
    c->special = wordpiece_special(c->pieces);
    c->symbols = wordpiece_count(c->pieces);
    if (c->special.mask == VOCABULARY_NONE) return fail(ERR_INPUT, "%s has no line %s", vocab, MASK);
    if (c->symbols > SENTENCE_PIECES)
        return fail(ERR_INPUT, "%s has %d pieces, and at most %d are read", vocab, c->symbols, SENTENCE_PIECES);
    return 0;
}

struct encoding {
    struct cloze *cloze;
    enum split split;
    struct pieces spare;
};

static int encode_article(void *context, const char *text, size_t n)
{
    struct encoding *e = context;
    sentence_text_add(&e->cloze->text[e->split], e->cloze->pieces, text, n, &e->spare);
    return 0;
}

// ---- lines with masks from people: each is an article of one sentence

static int encode_line(void *context, const char *text, size_t n)
{
    struct encoding *e = context;
    struct cloze *c = e->cloze;
    int64_t masks = 0, number = c->text[SPLIT_TEST].articles + 1;
    pieces_clear(&e->spare);
    for (size_t at = 0; at < n; masks++) {
        const char *mask = memmem(text + at, n - at, MASK, strlen(MASK));
        wordpiece_encode(c->pieces, text + at, mask ? (size_t)(mask - text) - at : n - at, &e->spare);
        if (!mask) break;
        pieces_add(&e->spare, c->special.mask);
        at = (size_t)(mask - text) + strlen(MASK);
    }
    if (masks < 1) return fail(ERR_INPUT, "sentence %lld has no %s to fill in", (long long)number, MASK);
    if (masks > c->form[SPLIT_TEST].predictions || e->spare.count + 2 > c->form[SPLIT_TEST].length)
        return fail(ERR_INPUT, "sentence %lld has %lld pieces, %lld of them %s; at most %lld and %lld are read",
                    (long long)number, (long long)e->spare.count, (long long)masks, MASK,
                    (long long)c->form[SPLIT_TEST].length - 2, (long long)c->form[SPLIT_TEST].predictions);
    sentence_text_add_pieces(&c->text[SPLIT_TEST], &e->spare);
    return 0;
}

int cloze_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **into)
{
    if (sentence && strchr(sentence, '\n')) return fail(ERR_USAGE, "--ask takes one line; --text takes many");
    return sentence ? wiki_ask(like, sentence, strlen(sentence), into) : wiki_ask(like, text, n, into);
}

// ---- samples

static struct sentence_draws scored_draws(uint32_t walk)
{
    return (struct sentence_draws){SCORED_SEED, SPLIT_TEST, walk};
}

static void list_scored(struct cloze *c)
{
    struct sentence_draws last = scored_draws(WALKS);
    for (uint32_t walk = 0; walk < WALKS; walk++) {
        struct sentence_draws of = scored_draws(walk);
        sentence_pairs_add(&c->text[SPLIT_TEST], &of, 0, c->form[SPLIT_TEST].length, &c->scored);
    }
    sentence_pairs_shuffle(&last, &c->scored);
    c->samples[SPLIT_TEST] = c->scored.count < c->rule->samples ? c->scored.count : c->rule->samples;
}

static void count_training(struct cloze *c)
{
    struct sentence_list walk = {0};
    struct sentence_draws of = {SCORED_SEED, SPLIT_TRAIN, 0};
    sentence_pairs_add(&c->text[SPLIT_TRAIN], &of, 0, c->form[SPLIT_TRAIN].length, &walk);
    c->samples[SPLIT_TRAIN] = walk.count;
    free(walk.pair);
}

static struct sentence_pair pair_of_epoch(struct cloze *c, const struct sentence_draws *of, int64_t index)
{
    struct epoch *e = &c->epoch[of->epoch % 2];
    pthread_mutex_lock(&c->lock);
    if (!e->made || e->seed != of->seed || e->number != of->epoch) {
        e->list.count = 0;
        for (uint32_t walk = 0; e->list.count < c->samples[SPLIT_TRAIN]; walk++)
            sentence_pairs_add(&c->text[SPLIT_TRAIN], of, walk, form_of(c, of)->length, &e->list);
        e->seed = of->seed, e->number = of->epoch, e->made = true;
    }
    struct sentence_pair pair = e->list.pair[index];
    pthread_mutex_unlock(&c->lock);
    return pair;
}

static void write_pair(const struct cloze *c, const struct sentence_text *t, const struct sentence_pair *p,
                       struct cloze_sample *s)
{
    int32_t *at = s->tokens;
    *at++ = c->special.first;
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < p->count[side]; i++) *at++ = t->id[p->begin[side] + i];
        *at++ = c->special.separator;
        if (side == 0) s->second = at - s->tokens;
    }
    s->length = at - s->tokens;
    s->random = p->random;
    for (int64_t i = s->second; i < s->length; i++) s->segments[i] = 1;
}

static void write_line(const struct cloze *c, int64_t index, struct cloze_sample *s)
{
    const struct sentence_text *t = &c->text[SPLIT_TEST];
    int32_t *at = s->tokens;
    *at++ = c->special.first;
    for (int64_t i = t->sentence[index]; i < t->sentence[index + 1]; i++) {
        if (t->id[i] == c->special.mask) s->places[s->masked++] = (int32_t)(at - s->tokens);
        *at++ = t->id[i];
    }
    *at++ = c->special.separator;
    s->second = s->length = at - s->tokens;
}

// As long as they can be, with the pieces in turn.
static void write_noise(const struct cloze *c, const struct sentence_draws *of, int64_t index, struct cloze_sample *s)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, of->split, (uint32_t)index, 0);
    s->length = form_of(c, of)->length, s->second = s->length / 2, s->masked = form_of(c, of)->predictions;
    s->random = r.v[0] % 2;
    for (int64_t i = 0; i < s->length; i++) {
        s->tokens[i] = (int32_t)((r.v[1] + (uint32_t)i) % (uint32_t)c->symbols);
        s->segments[i] = i >= s->second;
    }
    for (int64_t i = 0; i < s->masked; i++) {
        s->places[i] = (int32_t)(1 + i * (s->length - 1) / s->masked);
        s->labels[i] = s->tokens[s->places[i]];
    }
}

// Requires zeroed arrays. The scored set always has the masks of epoch 0.
static void write_sample(struct cloze *c, const struct sentence_draws *of, int64_t index, struct cloze_sample *s)
{
    bool trains = of->split == SPLIT_TRAIN;
    const struct form *form = form_of(c, of);
    for (int64_t i = 0; i < form->predictions; i++) s->labels[i] = NO_LABEL;
    if (!c->pieces) {
        write_noise(c, of, index, s);
    } else if (c->asked && !trains) {
        write_line(c, index, s);
    } else {
        struct sentence_pair pair = trains ? pair_of_epoch(c, of, index) : c->scored.pair[index];
        struct sentence_masks masks = {form->predictions, form->masked, c->special.mask, c->symbols, s->places, s->labels};
        const int64_t count[] = {pair.count[0], pair.count[1]};
        write_pair(c, &c->text[of->split], &pair, s);
        s->masked = sentence_mask(of, index, s->tokens, count, &masks);
    }
    for (int64_t i = s->length; i < form->length; i++) s->tokens[i] = c->special.pad;
}

void cloze_sample(const struct dataset *view, int64_t number, struct cloze_sample *s)
{
    struct cloze *c = cloze_of(view);
    size_t length = (size_t)c->form[SPLIT_TEST].length, masks = (size_t)c->form[SPLIT_TEST].predictions;
    *s = (struct cloze_sample){.tokens = zalloc(2 * (length + masks) * sizeof(int32_t))};
    s->segments = s->tokens + length, s->places = s->segments + length, s->labels = s->places + masks;
    struct sentence_draws of = scored_draws(0);
    write_sample(c, &of, number, s);
}

void cloze_sample_free(struct cloze_sample *s)
{
    free(s->tokens);
}

// ---- the data set

static void cloze_close(struct dataset *d)
{
    struct cloze *c = cloze_of(d);
    for (int s = 0; s < SPLIT_COUNT; s++) sentence_text_free(&c->text[s]);
    for (int i = 0; i < 2; i++) free(c->epoch[i].list.pair);
    free(c->scored.pair);
    wordpiece_free(c->pieces);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static const struct kind cloze_kind = {.name = "cloze", .close = cloze_close};

static int take_texts(struct cloze *c, struct dataset *stored)
{
    struct encoding train = {c, SPLIT_TRAIN, {0}}, test = {c, SPLIT_TEST, {0}};
    int rc = c->asked ? 0 : read_articles(stored, SPLIT_TRAIN, encode_article, &train);
    if (rc == 0) rc = read_articles(stored, SPLIT_TEST, c->asked ? encode_line : encode_article, &test);
    pieces_free(&train.spare);
    pieces_free(&test.spare);
    TRY(rc);
    for (int s = 0; s < SPLIT_COUNT && !c->asked; s++)
        if (c->text[s].articles < 2)
            return fail(ERR_INPUT, "%s: the %s text has fewer than two articles with a piece", dataset_facts(stored)->name,
                        split_name(s));
    if (c->asked) c->samples[SPLIT_TEST] = c->text[SPLIT_TEST].articles;
    else list_scored(c), count_training(c);
    return 0;
}

static void shape_noise(struct cloze *c, const struct dataset_facts *facts)
{
    const int64_t bytes = facts->count[SPLIT_TRAIN] * facts->field[0].shape.dim[0];
    c->samples[SPLIT_TRAIN] = bytes / (PIECE_BYTES * c->form[SPLIT_TRAIN].length) + 1, c->samples[SPLIT_TEST] = c->rule->samples;
    c->symbols = c->rule->pieces;
}

static int open_view(struct cloze *c, const struct setting *s, struct dataset *stored)
{
    const struct bert_keys *k = bert_keys(s->recipe);
    for (c->rule = rules; strcmp(c->rule->task, s->task->name);) c->rule++;
    c->form[SPLIT_TRAIN] = (struct form){k->length, k->predictions, k->masked};
    c->form[SPLIT_TEST] = (struct form){c->rule->length, c->rule->predictions, MASKED};
    c->brief = (struct form){k->short_length, (int64_t)ceil((double)k->short_length * k->masked), k->masked};
    c->brief_epochs = k->short_epochs;
    if (c->brief.predictions > k->predictions) c->brief.predictions = k->predictions;
    bool noise = !strcmp(stored->kind->name, "noise");
    if (noise && c->rule->length > k->positions) c->form[SPLIT_TEST].length = k->positions;  // nothing is scored
    else if (c->rule->length > k->positions)
        return fail(ERR_USAGE, "%s is scored on samples of %lld pieces, and there are %lld positions (\"model.positions\")",
                    s->task->name, (long long)c->rule->length, (long long)k->positions);
    if (noise) {
        shape_noise(c, s->data);
        return 0;
    }
    c->asked = wiki_is_asked(stored);
    TRY(open_pieces(c, s, stored));
    return take_texts(c, stored);
}

int cloze_view(const struct setting *s, struct dataset *stored, struct dataset **into)
{
    struct dataset *d = zalloc(sizeof *d);
    struct cloze *c = d->own = zalloc(sizeof *c);
    d->kind = &cloze_kind;
    pthread_mutex_init(&c->lock, NULL);
    int rc = open_view(c, s, stored);
    if (rc < 0) {
        cloze_close(d);
        free(d);
        return rc;
    }
    d->facts = *s->data;
    d->facts.fields = 1;
    d->facts.field[0] = (struct field){.name = "tokens", .dtype = I32, .shape = SHAPE(CLOZE_LONGEST), .classes = c->symbols};
    for (int i = 0; i < SPLIT_COUNT; i++) d->facts.count[i] = c->samples[i];
    *into = d;
    return 0;
}

// ---- batches

enum { TOKENS, SEGMENTS, LENGTH, PLACES, LABELS, NEXT, FIELDS };

static int fill_sample(void *view, const struct feed_item *item, void *const field[])
{
    struct cloze *c = cloze_of(view);
    bool trains = item->split == SPLIT_TRAIN;
    const struct sentence_draws of = trains ? (struct sentence_draws){item->seed, item->split, item->epoch} : scored_draws(0);
    const struct form *form = form_of(c, &of);
    struct cloze_sample s = {.tokens = field[TOKENS], .segments = field[SEGMENTS], .places = field[PLACES],
                             .labels = field[LABELS]};
    write_sample(c, &of, item->index, &s);
    for (int64_t i = 0; i < form->predictions; i++) s.places[i] += (int32_t)(item->row * form->length);
    *(int32_t *)field[LENGTH] = (int32_t)s.length;
    *(int32_t *)field[NEXT] = s.random;
    return 0;
}

int cloze_feed(const struct setting *s, int feed, struct feed_choice *f)
{
    static const char *const names[FIELDS] = {"tokens", "segments", "tokens.length", "places", "labels", "next"};
    const struct cloze *c = cloze_of(f->data);
    const struct form *form[] = {&c->form[f->split], &c->brief};
    (void)feed;
    if (f->split == SPLIT_TRAIN && c->brief_epochs > 0)
        f->order.buckets = 2, f->order.batch[1] = f->order.batch[0], f->bucket_of_epoch = bucket_of_epoch;
    if (f->split == SPLIT_TEST) f->order.batch[0] = EVALUATE_BATCH;
    for (int i = 0; i < FIELDS; i++) {
        f->field[i] = (struct feed_field){.name = names[i], .dtype = I32};
        for (int b = 0; b < f->order.buckets; b++) {
            if (i == TOKENS || i == SEGMENTS) f->field[i].shape[b] = SHAPE(form[b]->length);
            if (i == PLACES || i == LABELS) f->field[i].shape[b] = SHAPE(form[b]->predictions);
        }
    }
    f->field[TOKENS].classes = s->data->field[0].classes;
    f->field[SEGMENTS].classes = f->field[NEXT].classes = 2;
    f->fields = FIELDS;
    f->fill = fill_sample, f->context = f->data;
    return 0;
}

// ---- notes for people before a training

static void add_numbers(struct text *into, const int32_t *number, int64_t count)
{
    for (int64_t i = 0; i < count; i++) text_add(into, "%d ", number[i]);
    text_add(into, "| ");
}

void cloze_scored_digest(const struct dataset *view, char hex[DIGEST_HEX])
{
    struct text lines = {0};
    for (int64_t i = 0; i < cloze_of(view)->samples[SPLIT_TEST]; i++) {
        struct cloze_sample s;
        cloze_sample(view, i, &s);
        add_numbers(&lines, s.tokens, s.length);
        text_add(&lines, "%lld | ", (long long)s.second);
        add_numbers(&lines, s.places, s.masked);
        add_numbers(&lines, s.labels, s.masked);
        text_add(&lines, "%d\n", s.random);
        cloze_sample_free(&s);
    }
    digest_bytes(lines.at ? lines.at : "", lines.length, hex);
    text_free(&lines);
}

struct cloze_floors cloze_floors_of(const struct dataset *view)
{
    const struct cloze *c = cloze_of(view);
    const struct sentence_text *t = &c->text[SPLIT_TRAIN];
    int64_t *times = zalloc((size_t)c->symbols * sizeof *times), hits = 0, random = 0, all = c->samples[SPLIT_TEST];
    struct cloze_floors f = {0};
    for (int64_t i = 0; i < t->ids; i++) times[t->id[i]]++;
    for (int32_t i = 0; i < c->symbols; i++) f.piece = times[i] > times[f.piece] ? i : f.piece;
    for (int64_t i = 0; i < all; i++) {
        struct cloze_sample s;
        cloze_sample(view, i, &s);
        for (int64_t k = 0; k < s.masked; k++) hits += s.labels[k] == f.piece;
        f.places += s.masked, random += s.random;
        cloze_sample_free(&s);
    }
    f.masked = (double)hits / (double)f.places;
    f.next = (double)(random > all - random ? random : all - random) / (double)all;
    free(times);
    return f;
}

void cloze_note(const struct setting *s, const struct dataset *view, struct text *into)
{
    char digest[DIGEST_HEX];
    (void)s;
    if (cloze_is_noise(view) || cloze_of(view)->asked) return;
    struct cloze_floors f = cloze_floors_of(view);
    cloze_scored_digest(view, digest);
    text_add(into,
             "%d pieces; without learning, \"%s\" for each of the %lld masked pieces scores %.4f, and one answer to each next "
             "sentence %.3f; the scored set is %.16s", cloze_of(view)->symbols, cloze_piece(view, f.piece), (long long)f.places,
             f.masked, f.next, digest);
}

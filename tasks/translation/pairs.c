// SPDX-License-Identifier: Apache-2.0
#include "tasks/translation/pairs.h"

#include "data/feed/pair_buckets.h"
#include "data/kind.h"
#include "data/read/bitext/bitext.h"
#include "data/text/subtokens.h"
#include "runtime/common/base/rng.h"
#include "tasks/translation/keys.h"

#include <stdlib.h>
#include <string.h>

enum { EVALUATE_BUCKETS = 8, NOISE_BYTES = 16, NOISE_CHARACTERS = 46, NOISE_SEED = 20170612 };

struct sentences {  // of a split
    int64_t samples, left_out;
    int32_t *stored;         // number of each sample in the stored split
    int32_t *id;
    int64_t *at, used, room; // the sentences of sample i begin at at[2i] and at[2i+1], and end there
};

struct pairs {
    struct dataset *stored;  // borrowed
    struct bpe *bpe;
    struct subtokens *subtokens;  // one of both, or none: noise
    int32_t symbols;
    char digest[DIGEST_HEX];
    int64_t longest[SPLIT_COUNT];
    struct sentences split[SPLIT_COUNT];
    struct pair_buckets buckets[SPLIT_COUNT];
};

static const char *const sides[] = {"source", "target"};

static struct pairs *pairs_of(const struct dataset *view)
{
    return view->own;
}

bool pairs_is_noise(const struct dataset *view)
{
    return !pairs_of(view)->bpe && !pairs_of(view)->subtokens;
}

void pairs_decode(const struct dataset *view, const int32_t *id, int64_t count, struct text *into)
{
    const struct pairs *p = pairs_of(view);
    if (p->bpe) bpe_decode(p->bpe, id, count, into);
    else subtokens_decode(p->subtokens, id, count, into);
}

const char *pairs_digest(const struct dataset *view)
{
    return pairs_of(view)->digest;
}

// ---- text

static int read_line(struct dataset *stored, enum split split, int64_t sample, int side, struct text *into)
{
    const struct field *f = dataset_field(stored, sides[side]);
    if (!f || f->ragged == FIELD_FIXED || f->dtype != U8)
        return fail(ERR_INPUT, "%s has no pairs of lines", dataset_facts(stored)->name);
    size_t room = (size_t)f->shape.dim[f->ragged];
    int64_t length;
    if (into->room <= room) into->at = grow(into->at, into->room = room + 1);
    TRY(dataset_item_of(stored, split, f, sample, into->at, room, &length));
    into->at[into->length = (size_t)length] = 0;
    return 0;
}

int pairs_line(struct dataset *view, enum split split, int64_t sample, int side, struct text *into)
{
    const struct pairs *p = pairs_of(view);
    return read_line(p->stored, split, p->split[split].stored[sample], side, into);
}

static int count_words(struct pairs *p, struct vocabulary *words)
{
    struct text line = {0};
    int rc = 0;
    for (int64_t i = 0; i < dataset_facts(p->stored)->count[SPLIT_TRAIN] && rc == 0; i++)
        for (int side = 0; side < PAIRS_SIDES && rc == 0; side++) {
            rc = read_line(p->stored, SPLIT_TRAIN, i, side, &line);
            if (rc == 0) rc = bpe_count_words(line.at, line.length, words);
        }
    text_free(&line);
    return rc;
}

static int learn_merges(struct pairs *p, int64_t merges)
{
    if (dataset_facts(p->stored)->count[SPLIT_TRAIN] == 0)
        return fail(ERR_MISSING, "symbols are learned from the training text, which is not here: name it with --data");
    struct vocabulary *words = vocabulary_new();
    struct text code = {0};
    int rc = count_words(p, words);
    if (rc == 0) rc = bpe_learn(words, merges, &code);
    if (rc == 0) rc = bpe_parse("the merges of the training text", code.at, code.length, &p->bpe);
    if (rc == 0) {
        bpe_number(p->bpe, words);
        digest_bytes(code.at, code.length, p->digest);
    }
    text_free(&code);
    vocabulary_free(words);
    return rc;
}

static int choose_symbols(struct pairs *p, int64_t merges)
{
    const char *path = bitext_subtokens(p->stored);
    if (path) {
        TRY(digest_file(path, p->digest));
        TRY(subtokens_open(path, &p->subtokens));
        p->symbols = subtokens_count(p->subtokens);
    } else if (!strcmp(p->stored->kind->name, "noise")) {
        p->symbols = BPE_FIRST + (int32_t)merges + NOISE_CHARACTERS;
    } else {
        TRY(learn_merges(p, merges));
        p->symbols = bpe_count(p->bpe);
    }
    return 0;
}

// ---- ids

static int32_t *room_for(struct sentences *s, int64_t count)
{
    if (s->used + count > s->room) {
        s->room = 2 * (s->used + count);
        s->id = grow(s->id, (size_t)s->room * sizeof *s->id);
    }
    return s->id + s->used;
}

// The ids of a line, with BPE_EOS.
static int64_t encode_text(const struct pairs *p, const struct text *line, int32_t *into)
{
    int64_t count = p->bpe ? bpe_encode(p->bpe, line->at, line->length, into)
                           : subtokens_encode(p->subtokens, line->at, line->length, into);
    into[count] = BPE_EOS;
    return count + 1;
}

// Of noise: a symbol stands for NOISE_BYTES of the data set's longest line.
static int64_t draw_line(const struct pairs *p, struct sentences *s, const struct feed_item *of, int side)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)of->split, (uint32_t)of->index, (uint32_t)side);
    int64_t longest = dataset_facts(p->stored)->field[side].shape.dim[0] / NOISE_BYTES;
    int64_t count = 1 + rng_below(r.v[0], (uint32_t)longest);
    int32_t *into = room_for(s, count);
    for (int64_t i = 0; i < count - 1; i++) into[i] = BPE_FIRST + (int32_t)((r.v[1] + i) % (p->symbols - BPE_FIRST));
    into[count - 1] = BPE_EOS;
    return count;
}

static int add_sentence(struct pairs *p, const struct feed_item *of, int side, struct text *line)
{
    struct sentences *s = &p->split[of->split];
    if (!p->bpe && !p->subtokens) {
        s->used += draw_line(p, s, of, side);
        return 0;
    }
    TRY(read_line(p->stored, of->split, of->index, side, line));
    int64_t most = (int64_t)line->length * (p->bpe ? 1 : SUBTOKENS_PER_BYTE);
    s->used += encode_text(p, line, room_for(s, most + 1));
    return 0;
}

// Keeps the sample of which both sentences were added, if they are short enough.
static int end_sample(struct pairs *p, enum split split, int64_t number, int64_t middle)
{
    struct sentences *s = &p->split[split];
    int64_t first = s->at[2 * s->samples], source = middle - first, target = s->used - middle;
    if (source > p->longest[split] || target > p->longest[split]) {
        enum bitext_side side = source > p->longest[split] ? BITEXT_SOURCE : BITEXT_TARGET;
        if (split == SPLIT_TEST)
            return fail(ERR_INPUT, "%s:%lld: the line has %lld symbols, and there are %lld positions",
                        bitext_file_name(p->stored, split, side), (long long)number + 1,
                        (long long)(side == BITEXT_SOURCE ? source : target), (long long)p->longest[split]);
        s->used = first, s->left_out++;
        return 0;
    }
    s->stored[s->samples++] = (int32_t)number;
    s->at[2 * s->samples - 1] = middle, s->at[2 * s->samples] = s->used;
    return 0;
}

static int encode_split(struct pairs *p, enum split split)
{
    struct sentences *s = &p->split[split];
    int64_t count = dataset_facts(p->stored)->count[split], middle = 0;
    struct text line = {0};
    int rc = 0;
    s->stored = zalloc((size_t)(count + 1) * sizeof *s->stored);
    s->at = zalloc((size_t)(2 * count + 1) * sizeof *s->at);
    for (int64_t i = 0; i < count && rc == 0; i++) {
        for (int side = 0; side < PAIRS_SIDES && rc == 0; side++) {
            middle = s->used;
            rc = add_sentence(p, &(struct feed_item){.split = split, .index = i}, side, &line);
        }
        if (rc == 0) rc = end_sample(p, split, i, middle);
    }
    text_free(&line);
    return rc;
}

// ---- the data set

int64_t pairs_symbols(const struct dataset *view, enum split split, int64_t sample, int side, const int32_t **id)
{
    const struct sentences *s = &pairs_of(view)->split[split];
    const int64_t *at = s->at + 2 * sample + side;
    *id = s->id + at[0];
    return at[1] - at[0];
}

static int pairs_item(struct dataset *d, enum split split, const struct field *f, int64_t index, void *into, size_t room,
                      int64_t *length)
{
    const int32_t *id;
    *length = pairs_symbols(d, split, index, (int)(f - d->facts.field), &id);
    size_t bytes = (size_t)*length * sizeof *id;
    if (bytes > room) return kind_no_room(d, split, f, index, (int64_t)bytes, room);
    memcpy(into, id, bytes);
    return 0;
}

// In an evaluation the lengths of the source alone count, and it alone is read.
static struct pair_lengths lengths_of(const struct dataset *view, enum split split)
{
    const struct sentences *s = &pairs_of(view)->split[split];
    return (struct pair_lengths){s->at, s->samples, split == SPLIT_TEST};
}

static int pairs_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    struct pair_lengths l = lengths_of(d, split);
    l.source_alone = false;
    for (int64_t i = 0; i < l.count; i++) lengths[i] = pair_length(&l, i, (int)(f - d->facts.field));
    return 0;
}

static void pairs_close(struct dataset *d)
{
    struct pairs *p = pairs_of(d);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        free(p->split[s].stored);
        free(p->split[s].id);
        free(p->split[s].at);
    }
    bpe_free(p->bpe);
    subtokens_free(p->subtokens);
    free(p);
}

static const struct kind pairs_kind = {.name = "pairs", .close = pairs_close, .item = pairs_item, .lengths = pairs_lengths};

static void state_facts(const struct setting *c, struct dataset *d)
{
    const struct pairs *p = pairs_of(d);
    d->facts = *c->data;
    d->facts.fields = PAIRS_SIDES;
    for (int side = 0; side < PAIRS_SIDES; side++)
        d->facts.field[side] = (struct field){.name = sides[side], .dtype = I32, .shape = SHAPE(PAIRS_LONGEST), .ragged = 0,
                                              .classes = p->symbols};
    for (int s = 0; s < SPLIT_COUNT; s++) d->facts.count[s] = p->split[s].samples;
}

int pairs_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    const struct translation_keys *k = translation_keys(c->recipe);
    struct dataset *d = zalloc(sizeof *d);
    struct pairs *p = d->own = zalloc(sizeof *p);
    d->kind = &pairs_kind, p->stored = stored;
    p->longest[SPLIT_TRAIN] = k->length, p->longest[SPLIT_TEST] = k->positions;
    int rc = choose_symbols(p, k->merges);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT && rc == 0; s++) rc = encode_split(p, s);
    if (rc < 0) {
        pairs_close(d);
        free(d);
        return rc;
    }
    state_facts(c, d);
    *into = d;
    return 0;
}

void pairs_name(const struct dataset *view, int32_t id, struct text *into)
{
    const struct pairs *p = pairs_of(view);
    if (id == BPE_EOS) text_add(into, "(end)");
    else if (p->bpe) bpe_name(p->bpe, id, into);
    else subtokens_decode(p->subtokens, &id, 1, into);
}

// ---- batches

// Fills a request from its text.
static int encode_request(void *view, const struct feed_item *item, void *const field[])
{
    struct text line = {0};
    int rc = pairs_line(view, item->split, item->index, PAIRS_SOURCE, &line);
    if (rc == 0) *(int32_t *)field[1] = (int32_t)encode_text(pairs_of(view), &line, field[0]);
    text_free(&line);
    return rc;
}

int pairs_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    const struct translation_keys *k = translation_keys(c->recipe);
    struct pairs *p = pairs_of(f->data);
    bool trains = f->split == SPLIT_TRAIN;
    struct pair_buckets *b = &p->buckets[f->split];
    struct pair_lengths lengths = lengths_of(f->data, f->split);
    (void)feed;
    b->tokens = trains ? k->tokens : 0, b->batch = trains ? c->recipe->batch : k->search.batch;
    b->most = trains ? ORDER_BUCKETS : EVALUATE_BUCKETS;
    pair_buckets_choose(&lengths, b);
    f->order.buckets = b->count;
    for (int i = 0; i < b->count; i++)
        f->order.limit[i] = i, f->order.batch[i] = pair_buckets_batch(b, b->limit[i][PAIRS_TARGET]);
    for (int side = 0; side < (trains ? PAIRS_SIDES : 1); side++) {
        struct feed_field *ids = &f->field[f->fields++], *length = &f->field[f->fields++];
        *ids = (struct feed_field){.name = sides[side], .dtype = I32, .classes = c->data->field[side].classes};
        *length = (struct feed_field){.name = side ? "target.length" : "source.length", .dtype = I32};
        for (int i = 0; i < b->count; i++) ids->shape[i] = SHAPE(b->limit[i][side]);
    }
    if (!c->single || pairs_is_noise(f->data)) return 0;
    f->fill = encode_request, f->context = f->data;
    return 0;
}

int pairs_buckets(const struct setting *c, struct dataset *view, enum split split, int32_t *bucket)
{
    struct pair_lengths l = lengths_of(view, split);
    const struct pair_buckets *b = &pairs_of(view)->buckets[split];
    (void)c;
    for (int64_t i = 0; i < l.count; i++)
        bucket[i] = pair_buckets_of(b, pair_length(&l, i, PAIRS_SOURCE), pair_length(&l, i, PAIRS_TARGET));
    return 0;
}

void pairs_note(const struct setting *c, const struct dataset *view, struct text *into)
{
    char count[TEXT_FIGURE];
    (void)c;
    int64_t n = pairs_of(view)->split[SPLIT_TRAIN].left_out;
    if (n > 0) text_add(into, "%s of training are longer than data.length and left out", text_count(count, n));
}

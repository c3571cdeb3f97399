// SPDX-License-Identifier: Apache-2.0
#include "tasks/translation/pairs.h"

#include "data/feed/pair_buckets.h"
#include "data/kind.h"
#include "runtime/common/base/rng.h"
#include "tasks/translation/keys.h"

#include <stdlib.h>
#include <string.h>

enum { EVALUATE_BUCKETS = 8, NOISE_BYTES = 16, NOISE_CHARACTERS = 46, NOISE_SEED = 20170612 };

struct sentences {  // of a split
    int64_t samples, left_out;
    int32_t *stored;         // number of each sample in the stored split
    int32_t *id;             // NULL: noise, whose symbols are drawn when they are read
    int64_t *at, used, capacity; // the sentences of sample i begin at at[2i] and at[2i+1], and end there
};

struct pairs {
    struct dataset *stored;  // borrowed
    struct bitext_symbols *symbols;  // NULL: noise
    int32_t classes;                 // their number
    int64_t longest[SPLIT_COUNT];
    struct sentences split[SPLIT_COUNT];
    struct pair_buckets buckets[SPLIT_COUNT];
};

static const char *const sides[] = {"source", "target"};

static struct pairs *pairs_of(const struct dataset *view)
{
    return view->own;
}

const struct bitext_symbols *pairs_symbols(const struct dataset *view)
{
    return pairs_of(view)->symbols;
}

int pairs_line(struct dataset *view, enum split split, int64_t sample, enum bitext_side side, struct text *into)
{
    const struct pairs *p = pairs_of(view);
    return bitext_read(p->stored, split, p->split[split].stored[sample], side, into);
}

static int choose_symbols(struct pairs *p, int64_t merges)
{
    bool noise = !strcmp(p->stored->kind->name, "noise");
    if (!noise) TRY(bitext_symbols_new(p->stored, merges, &p->symbols));
    p->classes = noise ? BPE_FIRST + (int32_t)merges + NOISE_CHARACTERS : bitext_symbols_count(p->symbols);
    return 0;
}

// ---- ids

static int32_t *reserve_ids(struct sentences *s, int64_t count)
{
    if (s->used + count > s->capacity) {
        s->capacity = 2 * (s->used + count);
        s->id = grow(s->id, (size_t)s->capacity * sizeof *s->id);
    }
    return s->id + s->used;
}

// A line of noise: its length with BPE_EOS and its first symbol; the others ascend. A symbol stands for NOISE_BYTES of the data
// set's longest line.
static int64_t draw_line(const struct pairs *p, const struct feed_item *of, int side, int64_t *first)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)of->split, (uint32_t)of->index, (uint32_t)side);
    int64_t longest = dataset_facts(p->stored)->field[side].shape.dim[0] / NOISE_BYTES;
    *first = r.v[1];
    return 1 + rng_below(r.v[0], (uint32_t)longest);
}

static void fill_noise(const struct pairs *p, const struct feed_item *of, int side, int32_t *into)
{
    int64_t first, count = draw_line(p, of, side, &first);
    for (int64_t i = 0; i < count - 1; i++) into[i] = BPE_FIRST + (int32_t)((first + i) % (p->classes - BPE_FIRST));
    into[count - 1] = BPE_EOS;
}

static int add_sentence(struct pairs *p, const struct feed_item *of, int side, struct text *line)
{
    struct sentences *s = &p->split[of->split];
    if (!p->symbols) {
        int64_t first;
        s->used += draw_line(p, of, side, &first);
        return 0;
    }
    TRY(bitext_read(p->stored, of->split, of->index, side, line));
    s->used += bitext_symbols_encode(p->symbols, line, reserve_ids(s, bitext_symbols_most(p->symbols, line->length)));
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
        for (int side = 0; side < BITEXT_SIDES && rc == 0; side++) {
            middle = s->used;
            rc = add_sentence(p, &(struct feed_item){.split = split, .index = i}, side, &line);
        }
        if (rc == 0) rc = end_sample(p, split, i, middle);
    }
    text_free(&line);
    return rc;
}

// ---- the data set

int64_t pairs_ids(const struct dataset *view, enum split split, int64_t sample, int side, const int32_t **id)
{
    const struct sentences *s = &pairs_of(view)->split[split];
    const int64_t *at = s->at + 2 * sample + side;
    *id = s->id ? s->id + at[0] : NULL;
    return at[1] - at[0];
}

static int pairs_item(struct dataset *d, enum split split, const struct field *f, int64_t index, void *into, size_t capacity,
                      int64_t *length)
{
    const struct pairs *p = pairs_of(d);
    const int32_t *id;
    int side = (int)(f - d->facts.field);
    *length = pairs_ids(d, split, index, side, &id);
    size_t bytes = (size_t)*length * sizeof *id;
    if (bytes > capacity) return kind_too_small(d, split, f, index, (int64_t)bytes, capacity);
    if (!p->symbols)
        fill_noise(p, &(struct feed_item){.split = split, .index = p->split[split].stored[index]}, side, into);
    else
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
    bitext_symbols_free(p->symbols);
    free(p);
}

static const struct kind pairs_kind = {.name = "pairs", .close = pairs_close, .item = pairs_item, .lengths = pairs_lengths};

static void state_facts(const struct setting *c, struct dataset *d)
{
    const struct pairs *p = pairs_of(d);
    d->facts = *c->data;
    d->facts.fields = BITEXT_SIDES;
    for (int side = 0; side < BITEXT_SIDES; side++)
        d->facts.field[side] = (struct field){.name = sides[side], .dtype = I32, .shape = SHAPE(PAIRS_LONGEST), .ragged = 0,
                                              .classes = p->classes};
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

// ---- batches

// Fills a request from its text.
static int encode_request(void *view, const struct feed_item *item, void *const field[])
{
    struct text line = {0};
    int rc = pairs_line(view, item->split, item->index, BITEXT_SOURCE, &line);
    if (rc == 0) *(int32_t *)field[1] = (int32_t)bitext_symbols_encode(pairs_symbols(view), &line, field[0]);
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
        f->order.limit[i] = i, f->order.batch[i] = pair_buckets_batch(b, b->limit[i][BITEXT_TARGET]);
    for (int side = 0; side < (trains ? BITEXT_SIDES : 1); side++) {
        struct feed_field *ids = &f->field[f->fields++], *length = &f->field[f->fields++];
        *ids = (struct feed_field){.name = sides[side], .dtype = I32, .classes = c->data->field[side].classes};
        *length = (struct feed_field){.name = side ? "target.length" : "source.length", .dtype = I32};
        for (int i = 0; i < b->count; i++) ids->shape[i] = SHAPE(b->limit[i][side]);
    }
    if (!c->single || !pairs_symbols(f->data)) return 0;
    f->fill = encode_request, f->context = f->data;
    return 0;
}

int pairs_buckets(const struct setting *c, struct dataset *view, enum split split, int32_t *bucket)
{
    struct pair_lengths l = lengths_of(view, split);
    const struct pair_buckets *b = &pairs_of(view)->buckets[split];
    (void)c;
    for (int64_t i = 0; i < l.count; i++)
        bucket[i] = pair_buckets_of(b, pair_length(&l, i, BITEXT_SOURCE), pair_length(&l, i, BITEXT_TARGET));
    return 0;
}

void pairs_note(const struct setting *c, const struct dataset *view, struct text *into)
{
    char count[TEXT_FIGURE];
    (void)c;
    int64_t n = pairs_of(view)->split[SPLIT_TRAIN].left_out;
    if (n > 0) text_add(into, "%s of training are longer than data.length and left out", text_count(count, n));
}

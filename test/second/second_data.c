// SPDX-License-Identifier: Apache-2.0
// The data set of the second task: each sample is drawn from its index, two sequences of words and the answer for each. And a
// view of it, which has the samples from the last to the first, and only half of those that train.
#include "test/second/second.h"

#include "data/kind.h"
#include "runtime/common/base/rng.h"

enum { WORDS = SECOND_WORDS, CLASSES = SECOND_CLASSES, LONGEST = SECOND_LONGEST };

static int32_t length_of(enum split split, int64_t i, int which)
{
    uint32_t draw = rng_draw(11, RNG_TEST, split, (uint32_t)i, (uint32_t)which).v[0];
    return 4 + (int32_t)rng_below(draw, LONGEST - 3);
}

// The sequence of a sample. Two of three words have the same kind (word % 3), which is the answer.
static int32_t sequence(enum split split, int64_t i, int which, int32_t words[LONGEST])
{
    int32_t length = length_of(split, i, which), answer = 0;
    for (int32_t t = 0; t < length; t++) {
        struct rng4 r = rng_draw(12, RNG_TEST, split, (uint32_t)i, (uint32_t)(which * LONGEST + t));
        if (t == 0) answer = (int32_t)rng_below(r.v[2], CLASSES);
        int32_t kind = t % 3 < 2 ? answer : (int32_t)rng_below(r.v[0], CLASSES);
        words[t] = 1 + kind + CLASSES * (int32_t)rng_below(r.v[1], CLASSES);
    }
    return answer;
}

static int second_item(struct dataset *d, enum split split, const struct field *f, int64_t i, void *into, size_t capacity,
                       int64_t *length)
{
    int32_t words[LONGEST];
    (void)sequence(split, i, f->name[0] == 'b', words);
    *length = length_of(split, i, f->name[0] == 'b');
    size_t bytes = (size_t)*length * sizeof *words;
    if (bytes > capacity) return kind_too_small(d, split, f, i, (int64_t)bytes, capacity);
    memcpy(into, words, bytes);
    return 0;
}

static int second_read(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count, void *into)
{
    (void)d;
    int32_t words[LONGEST];
    for (int64_t i = 0; i < count; i++)
        ((int32_t *)into)[i] = sequence(split, first + i, strcmp(f->name, "label a") != 0, words);
    return 0;
}

static int second_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    for (int64_t i = 0; i < d->facts.count[split]; i++) lengths[i] = length_of(split, i, f->name[0] == 'b');
    return 0;
}

static void second_close(struct dataset *d) { (void)d; }
static const struct kind second_kind = {.name = "second", .close = second_close, .read = second_read, .item = second_item,
                                        .lengths = second_lengths};

struct dataset *second_data(int64_t train, int64_t test)
{
    struct dataset *d = zalloc(sizeof *d);
    struct field ragged = {.dtype = I32, .shape = SHAPE(LONGEST), .ragged = 0, .classes = WORDS};
    struct field label = {.dtype = I32, .ragged = FIELD_FIXED, .classes = CLASSES};
    d->kind = &second_kind;
    d->facts = (struct dataset_facts){.name = "second", .title = "Second", .synthetic = true, .split_name = {"train", "test"},
                                      .count = {train, test}, .field = {ragged, ragged, label, label}, .fields = 4};
    static const char *const names[] = {"a", "b", "label a", "label b"};
    for (int i = 0; i < 4; i++) d->facts.field[i].name = names[i];
    return d;
}

// ---- the view

static int64_t stored_index(const struct dataset *d, enum split split, int64_t i)
{
    return dataset_facts(d->own)->count[split] - 1 - i;
}

static int view_item(struct dataset *d, enum split split, const struct field *f, int64_t i, void *into, size_t capacity,
                     int64_t *length)
{
    return dataset_item(d->own, split, f->name, stored_index(d, split, i), into, capacity, length);
}

static int view_read(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count, void *into)
{
    for (int64_t i = 0; i < count; i++)
        TRY(dataset_item(d->own, split, f->name, stored_index(d, split, first + i), (int32_t *)into + i, sizeof(int32_t), NULL));
    return 0;
}

static int view_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    for (int64_t i = 0; i < d->facts.count[split]; i++)
        lengths[i] = length_of(split, stored_index(d, split, i), f->name[0] == 'b');
    return 0;
}

static const struct kind view_kind = {.name = "view", .close = second_close, .read = view_read, .item = view_item,
                                      .lengths = view_lengths};

int second_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    struct dataset *d = zalloc(sizeof *d);
    d->kind = &view_kind;
    d->facts = *c->data;
    d->facts.count[SPLIT_TRAIN] /= 2;
    d->own = stored;
    *into = d;
    return 0;
}

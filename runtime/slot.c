// SPDX-License-Identifier: Apache-2.0
#include "runtime/slot.h"

#include "runtime/common/base/hash.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/threads.h"

#include <math.h>
#include <stdlib.h>

const char *memory_class_name(enum memory_class c)
{
    static const char *const names[MEMORY_CLASSES] = {
#define MEMORY(id, text) [MEMORY_##id] = text,
        MEMORY_LIST
#undef MEMORY
    };
    return names[c];
}

struct slot_store *slot_store_new(void)
{
    return zalloc(sizeof(struct slot_store));
}

void slot_store_free(struct slot_store *s)
{
    if (!s) return;
    arena_free(&s->arena);
    free(s->slot);
    free(s->bucket);
    free(s);
}

// The entry of the name in the table, or the free entry where it would go.
static int bucket_of(const struct slot_store *s, const char *name)
{
    unsigned last = (unsigned)s->buckets - 1, at = hash_text32(name) & last;
    while (s->bucket[at] >= 0 && strcmp(s->slot[s->bucket[at]]->name, name) != 0) at = (at + 1) & last;
    return (int)at;
}

static void grow_buckets(struct slot_store *s)
{
    s->buckets = s->buckets ? 2 * s->buckets : 128;
    s->bucket = grow(s->bucket, (size_t)s->buckets * sizeof *s->bucket);
    for (int i = 0; i < s->buckets; i++) s->bucket[i] = -1;
    for (int i = 0; i < s->count; i++) s->bucket[bucket_of(s, s->slot[i]->name)] = i;
}

struct slot *slot_find(const struct slot_store *s, const char *name)
{
    int number = s->buckets ? s->bucket[bucket_of(s, name)] : -1;
    return number < 0 ? NULL : s->slot[number];
}

size_t slot_bytes(const struct slot *slot)
{
    return (size_t)shape_count(&slot->shape) * dtype_size(slot->dtype);
}

int slot_make(struct slot_store *s, const char *name, struct shape shape, enum dtype dtype, enum memory_class memory,
               struct init init, struct slot **into)
{
    struct slot *slot = slot_find(s, name);
    if (slot) {
        char was[SHAPE_TEXT], now[SHAPE_TEXT];
        if (!shape_equal(&slot->shape, &shape) || slot->dtype != dtype)
            return fail(ERR_SHAPE, "\"%s\" is %s %s in one graph and %s %s in another", name, shape_text(was, &slot->shape),
                        dtype_name(slot->dtype), shape_text(now, &shape), dtype_name(dtype));
        *into = slot;
        return 0;
    }
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 64;
        s->slot = grow(s->slot, (size_t)s->capacity * sizeof *s->slot);
    }
    slot = arena_alloc(&s->arena, sizeof *slot);
    *slot = (struct slot){.name = arena_text(&s->arena, "%s", name), .shape = shape, .dtype = dtype, .memory = memory,
                          .init = init, .number = s->count};
    if (2 * (s->count + 1) > s->buckets) grow_buckets(s);
    s->bucket[bucket_of(s, name)] = s->count;
    s->slot[s->count++] = slot;
    *into = slot;
    return 0;
}

// ---- initial values

enum { DRAWN_TOGETHER = 4096 };

// What all numbers of a slot have in common. Each is drawn by its own index, so threads may draw any of them.
struct drawing {
    const struct slot *slot;
    uint64_t seed;
    uint32_t name;
    float *into;
};

static float uniform(const struct drawing *d, int64_t i)
{
    struct rng4 r = rng_draw(d->seed, RNG_INIT, d->name, (uint32_t)(i >> 2), 0);
    return d->slot->init.a * (2.0f * rng_unit(r.v[i & 3]) - 1.0f);
}

static float normal(const struct drawing *d, int64_t i)
{
    struct rng4 r = rng_draw(d->seed, RNG_INIT, d->name, (uint32_t)i, 1);
    return d->slot->init.a * (float)rng_normal(r);
}

static bool dirac_row(const struct slot *slot, int64_t i, float *x)
{
    const int64_t *d = slot->shape.dim;
    int64_t c = i % d[3], s = i / d[3] % d[2], r = i / (d[3] * d[2]) % d[1], k = i / (d[3] * d[2] * d[1]);
    if (k >= d[3]) return false;
    *x = k == c && r == d[1] / 2 && s == d[2] / 2 ? 1.0f : 0.0f;
    return true;
}

static void draw_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct drawing *d = context;
    enum init_kind kind = d->slot->init.kind;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        if (kind != INIT_DIRAC || !dirac_row(d->slot, i, &d->into[i]))
            d->into[i] = kind == INIT_NORMAL ? normal(d, i) : uniform(d, i);
}

static void divide_by_deviation(float *x, int64_t n)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    for (int64_t i = 0; i < n; i++) squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    double deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 1;
    for (int64_t i = 0; i < n; i++) x[i] = (float)(x[i] / deviation);
}

void slot_initial(const struct slot *slot, uint64_t seed, void *into)
{
    int64_t n = shape_count(&slot->shape);
    memset(into, 0, slot_bytes(slot));
    if (slot->init.kind == INIT_ZERO || slot->init.kind == INIT_UPLOAD) return;
    if (slot->init.kind == INIT_CONSTANT || slot->init.kind == INIT_COUNT) {
        bool counts = slot->init.kind == INIT_COUNT;
        int64_t each = counts ? (int64_t)slot->init.a : 1;
        for (int64_t i = 0; i < n; i++) element_set(slot->dtype, into, i, counts ? (double)(i / each) : (double)slot->init.a);
        return;
    }
    BUG_IF(slot->dtype != F32);
    BUG_IF(slot->init.kind == INIT_DIRAC && slot->shape.rank != 4);
    struct drawing d = {slot, seed, hash_text32(slot->name), into};
    threads_for(n, DRAWN_TOGETHER, draw_piece, &d);
    if (slot->init.kind == INIT_UNIT_UNIFORM) divide_by_deviation(into, n);
}

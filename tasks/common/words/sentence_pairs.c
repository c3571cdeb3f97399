// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/words/sentence_pairs.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- texts

#define RESERVE_MORE(array, used, more, capacity)                                                                             \
    do {                                                                                                               \
        if ((used) + (more) <= (capacity)) break;                                                                          \
        (capacity) = 2 * ((used) + (more));                                                                                \
        (array) = grow(array, (size_t)(capacity) * sizeof *(array));                                                       \
    } while (0)

static void add_sentence(struct sentence_text *t, const struct pieces *p)
{
    RESERVE_MORE(t->id, t->ids, p->count, t->id_capacity);
    RESERVE_MORE(t->sentence, t->sentences, 2, t->sentence_capacity);
    for (int64_t i = 0; i < p->count; i++) t->id[t->ids++] = (uint16_t)p->id[i];
    t->sentence[0] = 0;
    t->sentence[++t->sentences] = t->ids;
}

static void end_article(struct sentence_text *t)
{
    RESERVE_MORE(t->article, t->articles, 2, t->article_capacity);
    t->article[0] = 0;
    t->article[++t->articles] = t->sentences;
}

void sentence_text_add_pieces(struct sentence_text *t, const struct pieces *p)
{
    add_sentence(t, p);
    end_article(t);
}

void sentence_text_add(struct sentence_text *t, const struct wordpiece *w, const char *text, size_t n, struct pieces *spare)
{
    int64_t before = t->sentences;
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        pieces_clear(spare);
        wordpiece_encode(w, text + at, length, spare);
        if (spare->count > 0) add_sentence(t, spare);
        at += length + 1;
    }
    if (t->sentences > before) end_article(t);
}

void sentence_text_free(struct sentence_text *t)
{
    free(t->id);
    free(t->sentence);
    free(t->article);
}

// ---- draws

enum kind { PAIRS, ORDERS, MASKS, KINDS };
struct drawing {
    const struct sentence_draws *of;
    enum kind kind;
    uint32_t number, block;  // number: of the article or the sample
    int used;
    struct rng4 four;
};

static struct drawing begin_draws(const struct sentence_draws *of, enum kind kind, int64_t number)
{
    return (struct drawing){.of = of, .kind = kind, .number = (uint32_t)number, .used = 4};
}

static int64_t draw_below(struct drawing *d, int64_t n)
{
    uint32_t site = (d->of->split * KINDS + (uint32_t)d->kind) << 8;
    if (d->used == 4) {
        d->four = rng_draw(d->of->seed, RNG_SENTENCES | site, d->of->epoch, d->number, d->block++);
        d->used = 0;
    }
    return rng_below(d->four.v[d->used++], (uint32_t)n);
}

// ---- pairs

enum { SHORT_IN = 10, WALK_SHIFT = 22, SHUFFLE = INT32_MAX };  // a walk makes at most 2^22 blocks of draws for an article

struct walking {
    const struct sentence_text *text;
    struct drawing draw;
    int64_t article, capacity, goal;  // capacity, goal: pieces that both texts of a sample may have, and that they aim at
    struct sentence_list *list;
};

struct range {  // of ids
    int64_t begin, count;
};

static struct range range_of(const struct sentence_text *t, int64_t first, int64_t end)
{
    return (struct range){t->sentence[first], t->sentence[end] - t->sentence[first]};
}

// Takes sentences of another article, from one of them on, until the goal is met.
static struct range draw_other(struct walking *w, int64_t wanted)
{
    const struct sentence_text *t = w->text;
    int64_t other = draw_below(&w->draw, t->articles - 1);
    other += other >= w->article;
    int64_t last = t->article[other + 1], first = t->article[other] + draw_below(&w->draw, last - t->article[other]), end = first;
    do end++;
    while (end < last && t->sentence[end] - t->sentence[first] < wanted);
    return range_of(t, first, end);
}

static void cut_longer(struct walking *w, struct range text[2])
{
    while (text[0].count + text[1].count > w->capacity) {
        struct range *longer = &text[text[0].count <= text[1].count];
        longer->begin += draw_below(&w->draw, 2);
        longer->count--;
    }
}

// Adds a sample made of the sentences [first, end). Returns the first sentence that the sample did not use.
static int64_t add_pair(struct walking *w, int64_t first, int64_t end)
{
    const struct sentence_text *t = w->text;
    struct sentence_list *l = w->list;
    int64_t middle = first + 1 + (end - first > 2 ? draw_below(&w->draw, end - first - 1) : 0);
    bool random = end - first == 1 || draw_below(&w->draw, 2) == 0;
    struct range text[2] = {range_of(t, first, middle), {0, 0}};
    text[1] = random ? draw_other(w, w->goal - text[0].count) : range_of(t, middle, end);
    cut_longer(w, text);
    RESERVE_MORE(l->pair, l->count, 1, l->capacity);
    l->pair[l->count++] = (struct sentence_pair){{text[0].begin, text[1].begin}, {(int16_t)text[0].count, (int16_t)text[1].count},
                                                 random};
    return random ? middle : end;
}

static void walk_article(struct walking *w)
{
    const struct sentence_text *t = w->text;
    int64_t first = t->article[w->article], end = t->article[w->article + 1];
    w->goal = draw_below(&w->draw, SHORT_IN) == 0 ? 2 + draw_below(&w->draw, w->capacity - 1) : w->capacity;
    for (int64_t at = first; at < end;) {
        bool full = ++at == end || t->sentence[at] - t->sentence[first] >= w->goal;
        if (full) first = at = add_pair(w, first, at);
    }
}

static void shuffle(struct drawing *d, void *items, int64_t count, size_t size)
{
    char *at = items, *spare = zalloc(size);
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t k = draw_below(d, i + 1);
        memcpy(spare, at + (size_t)i * size, size);
        memcpy(at + (size_t)i * size, at + (size_t)k * size, size);
        memcpy(at + (size_t)k * size, spare, size);
    }
    free(spare);
}

void sentence_pairs_add(const struct sentence_text *t, const struct sentence_draws *of, uint32_t walk, int64_t length,
                        struct sentence_list *into)
{
    struct drawing orders = begin_draws(of, ORDERS, walk);
    int64_t *order = zalloc((size_t)(t->articles + 1) * sizeof *order);
    BUG_IF(t->articles < 2);
    for (int64_t i = 0; i < t->articles; i++) order[i] = i;
    shuffle(&orders, order, t->articles, sizeof *order);
    for (int64_t i = 0; i < t->articles; i++) {
        struct walking w = {.text = t, .draw = begin_draws(of, PAIRS, order[i]), .article = order[i],
                            .capacity = length - SENTENCE_SPECIAL, .list = into};
        w.draw.block = walk << WALK_SHIFT;
        walk_article(&w);
    }
    free(order);
}

void sentence_pairs_shuffle(const struct sentence_draws *of, struct sentence_list *list)
{
    struct drawing d = begin_draws(of, ORDERS, SHUFFLE);
    shuffle(&d, list->pair, list->count, sizeof *list->pair);
}

// ---- masks

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int64_t sentence_mask(const struct sentence_draws *of, int64_t number, int32_t *id, const int64_t count[2],
                      const struct sentence_masks *m)
{
    struct drawing d = begin_draws(of, MASKS, number);
    int64_t pieces = count[0] + count[1], masked = (int64_t)rint((double)(pieces + SENTENCE_SPECIAL) * m->share);
    int32_t *position = zalloc((size_t)(pieces + 1) * sizeof *position);
    masked = masked < 1 ? 1 : masked > m->most ? m->most : masked;
    masked = masked < pieces ? masked : pieces;
    for (int64_t i = 0; i < pieces; i++) position[i] = (int32_t)(1 + i + (i >= count[0]));
    for (int64_t i = 0; i < masked; i++) {
        int64_t k = i + draw_below(&d, pieces - i);
        int32_t one = position[k];
        position[k] = position[i], position[i] = one;
    }
    qsort(position, (size_t)masked, sizeof *position, ascending);
    for (int64_t i = 0; i < masked; i++) {
        int64_t way = draw_below(&d, 10);
        m->position[i] = position[i], m->label[i] = id[position[i]];
        if (way < 8) id[position[i]] = m->mask;
        else if (way == 8) id[position[i]] = (int32_t)draw_below(&d, m->symbols);
    }
    free(position);
    return masked;
}

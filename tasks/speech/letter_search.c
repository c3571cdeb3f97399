// SPDX-License-Identifier: Apache-2.0
// Texts so far are the nodes of a tree, so that two ways to one text meet in one node. Node 0 is the empty text.
#include "tasks/speech/letter_search.h"

#include "data/audio/letters.h"
#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdlib.h>

struct ways {  // logarithms of the shares of ways that end with a blank, and with the text's last letter
    double blank, last;
};
struct prefix {
    int32_t parent, child, sibling, letter;  // child and sibling: 0: none
    int64_t step;                            // of `next`
    struct ways ways, next;                  // before and after a step
};
struct ranked {
    double share;
    int32_t node;
};
struct beam {
    struct prefix *node;
    int32_t count, capacity;
    int64_t step;
    int most, kept, touched;
    struct ranked *rank;  // of those touched in this step
    int32_t *keeps;
};

static double log_add(double a, double b)
{
    double most = a > b ? a : b, least = a > b ? b : a;
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

static void make_shares(const float *logits, double share[LETTERS])
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < LETTERS; i++) most = fmax(most, (double)logits[i]);
    for (int i = 0; i < LETTERS; i++) sum += exp((double)logits[i] - most);
    for (int i = 0; i < LETTERS; i++) share[i] = isfinite(sum) ? (double)logits[i] - most - log(sum) : -INFINITY;
}

static int32_t child_of(struct beam *b, int32_t parent, int32_t letter)
{
    int32_t at = b->node[parent].child;
    while (at > 0 && b->node[at].letter != letter) at = b->node[at].sibling;
    if (at > 0) return at;
    if (b->count == b->capacity) b->node = grow(b->node, (size_t)(b->capacity *= 2) * sizeof *b->node);
    b->node[b->count] = (struct prefix){.parent = parent, .sibling = b->node[parent].child, .letter = letter, .step = -1};
    return b->node[parent].child = b->count++;
}

static struct ways *next_of(struct beam *b, int32_t at)
{
    struct prefix *p = &b->node[at];
    if (p->step != b->step) {
        p->step = b->step, p->next = (struct ways){-INFINITY, -INFINITY};
        b->rank[b->touched++].node = at;
    }
    return &p->next;
}

static void extend(struct beam *b, int32_t at, const double share[LETTERS])
{
    const struct ways is = b->node[at].ways;
    const int32_t letter = b->node[at].letter;
    const double all = log_add(is.blank, is.last);
    struct ways *next = next_of(b, at);
    next->blank = log_add(next->blank, all + share[LETTERS_BLANK]);
    if (at > 0) next->last = log_add(next->last, is.last + share[letter]);
    for (int32_t c = 0; c < LETTERS; c++) {
        if (c == LETTERS_BLANK) continue;
        next = next_of(b, child_of(b, at, c));
        next->last = log_add(next->last, (at > 0 && c == letter ? is.blank : all) + share[c]);
    }
}

static int by_share(const void *a, const void *b)  // the most likely first; of equal ones the older
{
    const struct ranked *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

static void take_step(struct beam *b, const float *logits)
{
    double share[LETTERS];
    make_shares(logits, share);
    b->touched = 0;
    for (int i = 0; i < b->kept; i++) extend(b, b->keeps[i], share);
    for (int i = 0; i < b->touched; i++) {
        struct prefix *p = &b->node[b->rank[i].node];
        b->rank[i].share = log_add(p->next.blank, p->next.last);
        p->ways = p->next;
    }
    qsort(b->rank, (size_t)b->touched, sizeof *b->rank, by_share);
    b->kept = b->touched < b->most ? b->touched : b->most;
    for (int i = 0; i < b->kept; i++) b->keeps[i] = b->rank[i].node;
    b->step++;
}

// Blanks keep equal letters apart.
static int64_t write_text(const struct beam *b, int64_t steps, char *into)
{
    int32_t *labels = zalloc((size_t)(2 * steps + 1) * sizeof *labels);
    int64_t begin = 2 * steps;
    for (int32_t at = b->keeps[0]; at > 0; at = b->node[at].parent) labels[begin -= 2] = b->node[at].letter;
    int64_t count = letters_join(labels + begin, 2 * steps - begin, into);
    free(labels);
    return count;
}

static int64_t search_beam(const float *logits, int64_t steps, int most, char *into)
{
    struct beam b = {.count = 1, .capacity = 1024, .most = most, .kept = 1};
    b.node = zalloc((size_t)b.capacity * sizeof *b.node);
    b.rank = zalloc((size_t)(most * LETTERS) * sizeof *b.rank);
    b.keeps = zalloc((size_t)most * sizeof *b.keeps);
    b.node[0] = (struct prefix){.step = -1, .ways = {0, -INFINITY}};
    for (int64_t t = 0; t < steps; t++) take_step(&b, logits + t * LETTERS);
    int64_t count = write_text(&b, steps, into);
    free(b.node);
    free(b.rank);
    free(b.keeps);
    return count;
}

static int64_t take_best(const float *logits, int64_t steps, char *into)
{
    int32_t *labels = zalloc((size_t)(steps + 1) * sizeof *labels);
    for (int64_t t = 0; t < steps; t++)
        for (int32_t c = 1; c < LETTERS; c++)
            if (logits[t * LETTERS + c] > logits[t * LETTERS + labels[t]]) labels[t] = c;
    int64_t count = letters_join(labels, steps, into);
    free(labels);
    return count;
}

int64_t letter_search(const float *logits, int64_t steps, int beam, char *into)
{
    return beam > 1 ? search_beam(logits, steps, beam, into) : take_best(logits, steps, into);
}

// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/slices.h"

#include "tasks/common/step/losses.h"

#include <stdlib.h>

_Static_assert((int)BUCKET_VALUES <= (int)MAX_OUT, "a bucket is one node");

// ---- which slices, and what each one does

int slices_share(int64_t all, int ranks, int rank, struct slices *s)
{
    int64_t each = all / ranks;
    if (all % ranks)
        return fail(ERR_USAGE, "data.slices: %lld slices of a batch cannot be shared by %d processes equally", (long long)all,
                    ranks);
    // A process has a whole subtree: 1, 2, 4, .. slices.
    if (ranks > 1 && (each & (each - 1)))
        return fail(ERR_USAGE, "data.slices: %lld slices are %lld for each of %d processes, and only 1, 2, 4, 8 and so on for "
                    "each are added in the same order by any number of processes", (long long)all, (long long)each, ranks);
    *s = (struct slices){(int)all, (int)(rank * each), (int)each};
    return 0;
}

bool slices_whole(const struct slices *s)
{
    return s->all <= 1;
}

static int trailing_ones(int slice)
{
    int n = 0;
    while (slice >> n & 1) n++;
    return n;
}

int slices_kinds(const struct slices *s)
{
    int levels = 0;
    for (int i = 0; i + 1 < s->count; i++)
        if (trailing_ones(i) >= levels) levels = trailing_ones(i) + 1;
    return levels + 1;
}

int slices_kind(const struct slices *s, int slice)
{
    return slice == s->count - 1 ? slices_kinds(s) - 1 : trailing_ones(slice);
}

unsigned slices_joins(const struct slices *s, int kind)
{
    return kind == slices_kinds(s) - 1 ? (unsigned)(s->count - 1) : (1u << kind) - 1;
}

int slices_bucket(const int64_t *bytes, int count, int at)
{
    int64_t sum = 0;
    int end = at;
    while (end < count && end - at < BUCKET_VALUES && (end == at || sum + bytes[end] <= BUCKET_BYTES)) sum += bytes[end++];
    return end;
}

// ---- the graph

// What is added over the slices.
struct term {
    int value;
    const char *name;  // of its sums
    struct tally *tally;  // NULL: a statistic
    struct slot *statistic;
};

static int by_value(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

// In the order in which they are made.
static int collect(struct step *s, struct tally *tally, int tallies, struct term *term)
{
    struct graph *g = s->g;
    int terms = 0;
    for (int i = 0; i < tallies; i++) term[terms++] = (struct term){tally[i].value, tally[i].name, &tally[i], NULL};
    for (int v = 0; v < g->values; v++) {
        struct slot *statistic = g->value[v].slot;
        int copy = statistic && statistic->role == ROLE_STATISTIC ? graph_slice_copy(g, statistic) : NONE;
        if (copy != NONE) term[terms++] = (struct term){copy, statistic->name, NULL, statistic};
    }
    qsort(term, (size_t)terms, sizeof *term, by_value);
    return terms;
}

static int sum_slot(struct step *s, const struct term *t, int level)
{
    struct graph *g = s->g;
    char *name = arena_text(&g->arena, "slices%d.%s", 1 << level, t->name);
    int v = graph_state(g, name, g->value[t->value].shape, F32, MEMORY_OPTIMISER, (struct init){INIT_ZERO, 0});
    if (v != NONE) g->value[v].slot->role = ROLE_DERIVED;  // nothing between two steps: no state has it
    return v;
}

static void join_earlier(struct step *s, struct term *t, unsigned joins)
{
    for (int level = 0; joins >> level && !s->g->error; level++)
        if (joins >> level & 1) t->value = g_add(s->g, sum_slot(s, t, level), t->value);
}

static void keep(struct step *s, const struct term *t, int level)
{
    int sum = sum_slot(s, t, level);
    if (sum != NONE) graph_node_over(s->g, OP_ASSIGN, (int[]){sum, t->value}, 2, NULL, &sum, NULL);
}

static void reduce_buckets(struct step *s, struct term *term, int terms)
{
    struct graph *g = s->g;
    int64_t *bytes = arena_alloc(&g->arena, (size_t)terms * sizeof *bytes);
    for (int i = 0; i < terms; i++) bytes[i] = shape_count(&g->value[term[i].value].shape) * (int64_t)sizeof(float);
    for (int at = 0, end; at < terms && !g->error; at = end) {
        int in[MAX_IN], out[MAX_OUT];
        end = slices_bucket(bytes, terms, at);
        for (int i = at; i < end; i++) in[i - at] = term[i].value;
        graph_node(g, OP_ALL_REDUCE, in, end - at, NULL, out);
        for (int i = at; i < end; i++) term[i].value = out[i - at];
    }
}

// The sums become the figures of one whole batch: statistics cover all slices.
static void finish(struct step *s, const struct term *t)
{
    struct graph *g = s->g;
    float share = 1 / (float)s->setting->slices.all;
    if (t->tally) {
        t->tally->value = t->value;
    } else {
        int to = graph_slot(g, t->statistic);
        graph_node_over(g, OP_ASSIGN, (int[]){to, g_scale(g, t->value, share)}, 2, NULL, &to, NULL);
    }
}

int slices_join(struct step *s, struct tally *tally, int tallies)
{
    struct graph *g = s->g;
    const struct slices *slices = &s->setting->slices;
    struct term *term = arena_alloc(&g->arena, (size_t)(tallies + g->values + 1) * sizeof *term);
    int terms = collect(s, tally, tallies, term);
    bool last = s->is.slice == slices_kinds(slices) - 1;
    graph_scope(g, "slices");
    for (int i = 0; i < terms; i++) {
        join_earlier(s, &term[i], slices_joins(slices, s->is.slice));
        if (!last) keep(s, &term[i], s->is.slice);
    }
    if (last && slices->count < slices->all) reduce_buckets(s, term, terms);
    for (int i = 0; i < terms && last; i++) finish(s, &term[i]);
    return g->error;
}

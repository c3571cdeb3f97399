// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/losses.h"

#include "runtime/grad.h"
#include "tasks/common/step/update.h"

static bool is_cut(const struct step *s)
{
    return s->is.part || step_is_sliced(s);
}

// 1 / rows, and 1 for no rows, whose sum is 0. The square root of a square is exact.
static int inverse_of(struct graph *g, int rows)
{
    int squares = g_mul(g, rows, rows);
    return graph_node(g, OP_CLIP_FACTOR, &squares, 1, &(union attr){.optim = {.target = 1}}, NULL);
}

static int add_value(struct graph *g, int sum, int v)
{
    return sum == NONE ? v : g_add(g, sum, v);
}

static int add_tally(struct losses *l, int value, const char *name)
{
    l->tally[l->tallies] = (struct tally){value, name};
    return l->tallies++;
}

// ---- groups

// The whole objective, if the batch is whole.
static int whole_objective(struct step *s)
{
    struct graph *g = s->g;
    int all = s->loss;
    if (s->means) graph_scope(g, "loss");
    for (int j = 0; j < s->means; j++) {
        int mean = g_mul(g, s->mean[j].sum, inverse_of(g, s->mean[j].rows));
        all = add_value(g, all, g_scale(g, mean, s->mean[j].factor));
    }
    return all;
}

// The objective of a group of a batch that is cut: sums with the same count.
static int sum_of_group(struct step *s, int rows)
{
    int all = NONE;
    for (int j = 0; j < s->means; j++)
        if (s->mean[j].rows == rows) all = add_value(s->g, all, g_scale(s->g, s->mean[j].sum, s->mean[j].factor));
    return all;
}

// The first loss with the same count.
static int leader_of(const struct step *s, int loss)
{
    int j = 0;
    while (s->mean[j].rows != s->mean[loss].rows) j++;
    return j;
}

static int differentiate_group(struct step *s, int objective, const int *params, int count, struct losses *l)
{
    struct graph *g = s->g;
    int *grads = arena_alloc(&g->arena, (size_t)(count + 1) * sizeof *grads), *at = l->at + l->groups * count;
    TRY(grad_of_times(g, objective, update_scale(s), params, count, grads));
    for (int i = 0; i < count; i++) {
        const char *name = g->value[params[i]].slot->name;
        if (l->groups) name = arena_text(&g->arena, "%d.%s", l->groups, name);
        at[i] = grads[i] == NONE ? NONE : add_tally(l, grads[i], name);
    }
    l->rows[l->groups++] = NONE;
    return 0;
}

int losses_differentiate(struct step *s, const int *params, int count, struct losses *l)
{
    struct graph *g = s->g;
    size_t groups = (size_t)s->means + 1;
    *l = (struct losses){.loss = NONE};
    l->tally = arena_alloc(&g->arena, (groups * (size_t)(count + 1) + 2 * groups) * sizeof *l->tally);
    l->at = arena_alloc(&g->arena, groups * (size_t)(count + 1) * sizeof *l->at);
    if (!is_cut(s)) return differentiate_group(s, whole_objective(s), params, count, l);
    if (s->loss != NONE) TRY(differentiate_group(s, s->loss, params, count, l));
    for (int j = 0; j < s->means; j++) {
        int first = leader_of(s, j);
        l->count[j] = l->count[first];
        if (first < j) continue;
        TRY(differentiate_group(s, sum_of_group(s, s->mean[j].rows), params, count, l));
        l->count[j] = add_tally(l, s->mean[j].rows, arena_text(&g->arena, "rows of %s", s->mean[j].name));
        l->rows[l->groups - 1] = l->count[j];
    }
    if (!step_is_sliced(s)) return g->error;
    if (s->loss != NONE) l->loss = add_tally(l, s->loss, "loss");
    for (int j = 0; j < s->means; j++)
        l->sum[j] = add_tally(l, s->mean[j].sum, arena_text(&g->arena, "sum of %s", s->mean[j].name));
    return g->error;
}

// ---- the end of a batch

static int times(struct graph *g, int x, int factor)
{
    if (g->error) return NONE;
    const struct shape shape = g->value[x].shape;
    return g_reshape(g, g_mul(g, g_reshape(g, x, SHAPE(shape_count(&shape), 1)), factor), shape);
}

// A mean stays a mean, and a sum stays a sum.
static int weigh(struct step *s, const struct losses *l, int group, int grad)
{
    struct graph *g = s->g;
    int64_t parts = s->is.part ? s->setting->recipe->accumulate : s->setting->slices.all;
    if (l->rows[group] != NONE) return times(g, grad, inverse_of(g, l->tally[l->rows[group]].value));
    return is_cut(s) && s->is.terms == 1 ? g_scale(g, grad, 1 / (float)parts) : grad;
}

int losses_finish(struct step *s, const struct losses *l, int *grads, int count)
{
    struct graph *g = s->g;
    if (is_cut(s)) graph_scope(g, s->is.part ? "parts" : "slices");
    for (int i = 0; i < count; i++) {
        grads[i] = NONE;
        for (int k = 0; k < l->groups; k++) {
            int at = l->at[k * count + i];
            if (at != NONE) grads[i] = add_value(g, grads[i], weigh(s, l, k, l->tally[at].value));
        }
    }
    return g->error;
}

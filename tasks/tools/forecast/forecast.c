// SPDX-License-Identifier: Apache-2.0
// Cost: one pass over the nodes of each program and one over the steps.
#include "tasks/tools/forecast/forecast.h"

#include <math.h>
#include <stdio.h>

#include "submit/format/score/contest.h"

static void sum_program_cost(const struct trainer *t, int program, double *flops, double *bytes)
{
    const struct graph *g = t->session->graph[program];
    *flops = *bytes = 0;
    for (int i = 0; i < g->nodes; i++) {
        struct cost c = node_cost(g, &g->node[i]);
        *flops += c.flops;
        *bytes += c.read + c.written;
    }
}

// A training whose steps are walked without running anything.
struct walking {
    const struct trainer *t;
    struct forecast *into;
    int64_t taken[FEEDS_MAX];  // batches or parts of them
    int bucket[FEEDS_MAX];
    int64_t step;
};

// Each bucket comes equally often in every epoch, but in another order.
static void take_batch(struct walking *w, int feed)
{
    const struct supply *s = &w->t->supply[feed];
    const struct feed_choice *c = &s->choice;
    int64_t number = w->taken[feed]++ % supply_batches(s);
    uint32_t epoch = (uint32_t)((w->taken[feed] - 1) / supply_batches(s));
    int *bucket = &w->bucket[feed];
    if (c->order.lengths && c->order.buckets > 1) {
        if (number == 0) order_draw_batches(s->order, 0, epoch);
        *bucket = order_batch(s->order, number).bucket;
    } else if (c->bucket_of_epoch) {
        *bucket = c->bucket_of_epoch(c->context, epoch);
    }
    if (feed == FEED_TRAIN) w->into->samples += c->order.batch[*bucket];
}

static int walk_batch(struct drive *d, int feed)
{
    struct walking *w = d->owner;
    if (w->t->parts == 1) take_batch(w, feed);
    return 0;
}

static int walk_run(struct drive *d, int program)
{
    struct walking *w = d->owner;
    const struct trainer *t = w->t;
    int feed = task_program(&t->setting, program)->feed, position = 0;
    while (position < t->programs && t->of[position] != program) position++;
    BUG_IF(position == t->programs);  // only programs that train are walked
    for (int part = 0; part < t->parts; part++) {
        if (t->parts > 1 && feed != FEED_NONE) take_batch(w, feed);
        int bucket = feed == FEED_NONE ? 0 : w->bucket[feed];
        w->into->variant[trainer_variant(t, w->step, bucket, position, part) - t->variant].steps++;
    }
    return 0;
}

static void count_runs(const struct trainer *t, struct forecast *into)
{
    struct walking w = {.t = t, .into = into};
    struct drive d = {.next = walk_batch, .run = walk_run, .owner = &w};
    for (; w.step < t->steps; w.step++) {
        int64_t epoch = w.step / t->steps_per_epoch, at = w.step % t->steps_per_epoch * t->parts;
        if (!t->choice.task->step) w.taken[FEED_TRAIN] = epoch * supply_batches(&t->supply[FEED_TRAIN]) + at;
        BUG_IF(trainer_walk(t, w.step, &d) < 0);  // it was walked when the trainer was built
    }
}

static void name_size(const struct variant *is, struct forecast_variant *into)
{
    long long batch = (long long)is->batch, height = (long long)is->height, width = (long long)is->width;
    if (height) {
        snprintf(into->size, sizeof into->size, "%lld x %lld", height, width);
        snprintf(into->samples, sizeof into->samples, "batch %lld at %lld x %lld", batch, height, width);
    } else if (is->length) {
        snprintf(into->size, sizeof into->size, "%lld of %lld long", batch, (long long)is->length);
        snprintf(into->samples, sizeof into->samples, "batch %lld of length %lld", batch, (long long)is->length);
    } else {
        snprintf(into->size, sizeof into->size, "batch %lld", batch);
        snprintf(into->samples, sizeof into->samples, "batch %lld", batch);
    }
}

static void forecast_variants(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    into->variants = t->variants;
    for (int v = 0; v < t->variants; v++) {
        int program = t->variant[v].program;
        const struct variant *is = &t->variant[v].is;
        into->variant[v] = (struct forecast_variant){
            .program = program,
            .name = t->session->graph[program]->name,
            .side = is->height ? is->height : is->length,
            .batch = is->batch,
            .seconds = roofline_seconds(t->session->plan[program], f),
        };
        name_size(is, &into->variant[v]);
        sum_program_cost(t, program, &into->variant[v].flops, &into->variant[v].bytes);
    }
    count_runs(t, into);
}

// The variant with the largest images; among equals, the one with the most steps.
static int find_full_variant(const struct forecast *f)
{
    int best = 0;
    for (int v = 1; v < f->variants; v++) {
        const struct forecast_variant *a = &f->variant[v], *b = &f->variant[best];
        if (a->side > b->side || (a->side == b->side && a->steps > b->steps)) best = v;
    }
    return best;
}

static void add_evaluation(const struct trainer *t, const struct device_facts *f, int program, struct forecast *into)
{
    double flops, bytes;
    sum_program_cost(t, program, &flops, &bytes);
    into->evaluation_flops += flops;
    into->evaluation_bytes += bytes;
    into->evaluation_seconds += roofline_seconds(t->session->plan[program], f);
}

static void forecast_evaluations(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    const struct evaluation *e = &t->evaluation;
    if (e->fold != NONE) add_evaluation(t, f, e->fold, into);
    const struct supply *s = &t->supply[FEED_TEST];
    for (int64_t i = 0; i < supply_batches(s); i++) {
        struct order_batch batch = order_batch(s->order, i);
        const struct evaluation_program *p = evaluation_find(e, &batch);
        add_evaluation(t, f, p->program[p->first], into);
    }
    for (int64_t at = 1; at <= t->steps; at++) into->evaluations += trainer_evaluates_after(t, at);
    const struct contest *contest = contest_find(t->choice.task->name);
    const double passes = contest ? (double)contest->passes_per_item : 1;  // a game's searches, at most
    into->evaluation_flops *= passes, into->evaluation_bytes *= passes, into->evaluation_seconds *= passes;
}

int forecast_own(const struct trainer *t, const struct device_facts *f, struct forecast_variant own[PROGRAMS_MAX])
{
    int count = 0;
    for (int i = 0; task_program(&t->setting, i); i++) {
        const int64_t runs = trainer_own_runs(t, i);
        const int program = t->own[i];
        if (runs == 0) continue;
        struct variant is = {.batch = t->choice.recipe.batch};
        if (t->choice.task->variant) t->choice.task->variant(&t->setting, 0, i, &is);
        struct forecast_variant *v = &own[count++];
        *v = (struct forecast_variant){.program = program, .name = t->session->graph[program]->name, .batch = is.batch,
                                       .steps = runs,
                                       .seconds = roofline_seconds(t->session->plan[program], f)};
        name_size(&is, v);
        sum_program_cost(t, program, &v->flops, &v->bytes);
    }
    return count;
}

static void sum_seconds(struct forecast *f)
{
    f->training_seconds = 0;
    for (int v = 0; v < f->owns; v++) f->training_seconds += (double)f->own[v].steps * f->own[v].seconds;
    for (int v = 0; v < f->variants; v++) f->training_seconds += (double)f->variant[v].steps * f->variant[v].seconds;
    f->seconds = f->training_seconds + (double)f->evaluations * f->evaluation_seconds;
}

void forecast_of(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    *into = (struct forecast){0};
    forecast_variants(t, f, into);
    into->owns = forecast_own(t, f, into->own);
    forecast_evaluations(t, f, into);
    into->full = find_full_variant(into);
    for (int v = 0; v < into->variants; v++) into->flops += (double)into->variant[v].steps * into->variant[v].flops;
    for (int v = 0; v < into->owns; v++) into->flops += (double)into->own[v].steps * into->own[v].flops;
    into->flops += (double)into->evaluations * into->evaluation_flops;
    sum_seconds(into);
}

void forecast_feed(struct forecast *f, double samples_per_second, int64_t tests)
{
    if (!(f->seconds > 0)) return;
    for (int v = 0; v < f->variants; v++)
        f->variant[v].seconds = fmax(f->variant[v].seconds, (double)f->variant[v].batch / samples_per_second);
    f->evaluation_seconds = fmax(f->evaluation_seconds, (double)tests / samples_per_second);
    sum_seconds(f);
}

double forecast_appetite(const struct forecast *f)
{
    double most = 0;
    for (int v = 0; v < f->variants; v++)
        if (f->variant[v].seconds > 0) most = fmax(most, (double)f->variant[v].batch / f->variant[v].seconds);
    return most;
}

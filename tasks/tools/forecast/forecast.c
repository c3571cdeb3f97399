// SPDX-License-Identifier: Apache-2.0
// Cost: one pass over the nodes of each program and one over the steps.
#include "tasks/tools/forecast/forecast.h"

#include <math.h>
#include <stdio.h>

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

// The bucket of a step's batch or of a part of it. Each bucket comes equally often in every epoch, but in another order.
static int bucket_in(const struct trainer *t, int64_t step, int part)
{
    const struct supply *s = &t->supply[SPLIT_TRAIN];
    if (s->choice.order.buckets == 1) return 0;
    uint32_t epoch = (uint32_t)(step / t->steps_per_epoch);
    if (!s->choice.order.lengths) return s->choice.bucket_of_epoch ? s->choice.bucket_of_epoch(s->choice.context, epoch) : 0;
    if (step % t->steps_per_epoch == 0 && part == 0) order_draw(s->order, 0, epoch, 0);
    return order_batch(s->order, step % t->steps_per_epoch * t->parts + part).bucket;
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
        char *size = into->variant[v].size;
        size_t room = sizeof into->variant[v].size;
        if (is->height) snprintf(size, room, "%lld x %lld", (long long)is->height, (long long)is->width);
        else if (is->length) snprintf(size, room, "%lld of %lld long", (long long)is->batch, (long long)is->length);
        else snprintf(size, room, "batch %lld", (long long)is->batch);
        sum_program_cost(t, program, &into->variant[v].flops, &into->variant[v].bytes);
    }
    for (int64_t step = 0; step < t->steps; step++)
        for (int part = 0; part < t->parts; part++) {
            int bucket = bucket_in(t, step, part);
            into->samples += t->supply[SPLIT_TRAIN].choice.order.batch[bucket];
            for (int turn = 0; turn < t->turns; turn++)
                into->variant[trainer_variant(t, step, bucket, turn, part) - t->variant].steps++;
        }
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
    const struct supply *s = &t->supply[SPLIT_TEST];
    for (int64_t i = 0; i < supply_batches(s); i++) {
        struct order_batch batch = order_batch(s->order, i);
        add_evaluation(t, f, evaluation_find(e, &batch)->program, into);
    }
    for (int64_t at = 1; at <= t->steps; at++) into->evaluations += trainer_evaluates_after(t, at);
}

static void sum_seconds(struct forecast *f)
{
    f->training_seconds = 0;
    for (int v = 0; v < f->variants; v++) f->training_seconds += (double)f->variant[v].steps * f->variant[v].seconds;
    f->seconds = f->training_seconds + (double)f->evaluations * f->evaluation_seconds;
}

void forecast_of(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    *into = (struct forecast){0};
    forecast_variants(t, f, into);
    forecast_evaluations(t, f, into);
    into->full = find_full_variant(into);
    for (int v = 0; v < into->variants; v++) into->flops += (double)into->variant[v].steps * into->variant[v].flops;
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

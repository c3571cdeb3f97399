// SPDX-License-Identifier: Apache-2.0
// The arithmetic work of a schedule. Cost: one pass over the nodes of each program, one over the steps and their buckets.
#include "tasks/common/train/trainer.h"

#include <math.h>
#include <stdlib.h>

static double program_flops(const struct trainer *t, int program)
{
    const struct graph *g = t->session->graph[program];
    double flops = 0;
    for (int i = 0; i < g->nodes; i++) flops += node_cost(g, &g->node[i]).flops;
    return flops;
}

// Counts the batches of each bucket in an epoch. Every epoch draws its own order.
static void count_buckets(const struct trainer *t, int64_t step, double weight[ORDER_BUCKETS])
{
    const struct supply *s = &t->supply[FEED_TRAIN];
    const struct feed_choice *c = &s->choice;
    uint32_t epoch = (uint32_t)(step / t->steps_per_epoch);
    memset(weight, 0, ORDER_BUCKETS * sizeof *weight);
    if (!c->order.lengths) {
        weight[c->bucket_of_epoch ? c->bucket_of_epoch(c->context, epoch) : 0] = 1;
        return;
    }
    for (int64_t i = 0; i < order_batches(s->order); i++) weight[order_batch(s->order, i).bucket]++;
}

// Batches of a step; a step without any counts as one.
static int64_t train_batches(const struct trainer_calls *calls)
{
    return calls->batches[FEED_TRAIN] > 1 ? calls->batches[FEED_TRAIN] : 1;
}

// Samples of a whole batch for training.
static double batch_samples(const struct trainer *t, int bucket)
{
    return (double)(t->cuts * t->supply[FEED_TRAIN].choice.order.batch[bucket]);
}

static double mean_samples(const struct trainer *t, const double *weight)
{
    double samples = 0, batches = 0;
    for (int b = 0; b < t->buckets; b++) {
        if (weight[b] > 0) samples += weight[b] * batch_samples(t, b), batches += weight[b];
    }
    return samples / batches;
}

// FLOPs of training on one sample in a step. A program with another feed counts with its first bucket.
static double sample_cost(const struct trainer *t, int64_t step, const double *weight, const double *flops,
                          const struct trainer_calls *calls)
{
    double cost = 0, samples = 0;
    for (int b = 0; b < t->buckets; b++) {
        if (weight[b] <= 0) continue;
        samples += weight[b] * (double)t->parts * (double)t->supply[FEED_TRAIN].choice.order.batch[b];
        for (int p = 0; p < t->programs; p++) {
            int bucket = task_program(&t->setting, t->of[p])->feed == FEED_TRAIN ? b : 0;
            for (int part = 0; part < t->parts; part++)
                cost += weight[b] * (double)calls->runs[p] * flops[trainer_variant(t, step, bucket, p, part) - t->variant];
        }
    }
    return cost / samples / (double)train_batches(calls);
}

int64_t trainer_own_runs(const struct trainer *t, int program)
{
    const struct host *host = t->choice.task->host;
    const struct task_program *p = task_program(&t->setting, program);
    return host && host->runs && p->kind != PROGRAM_TRAIN && p->feed == FEED_NONE ? host->runs(&t->setting, program) : 0;
}

// FLOPs of the programs that host code runs, spread evenly over the steps.
static double own_flops(const struct trainer *t)
{
    double flops = 0;
    for (int i = 0; task_program(&t->setting, i); i++)
        if (trainer_own_runs(t, i) > 0) flops += (double)trainer_own_runs(t, i) * program_flops(t, t->own[i]);
    return flops / (double)t->steps;
}

// A bucket costs as much as its first program, the one for full batches if it has any.
static double evaluation_flops(const struct trainer *t)
{
    const struct evaluation *e = &t->evaluation;
    double flops[ORDER_BUCKETS] = {0}, sum = 0, samples = 0;
    for (int p = e->programs - 1; p >= 0; p--) {
        const struct evaluation_program *one = &e->program[p];
        flops[one->is.bucket] = program_flops(t, one->program[one->first]) / (double)one->is.batch;
    }
    for (int64_t i = 0; i < order_all_batches(e->supply->order); i++) {
        struct order_batch batch = order_all_batch(e->supply->order, i);
        sum += flops[batch.bucket] * (double)batch.count;
        samples += (double)batch.count;
    }
    return sum / samples / (double)trainer_views(t);
}

// The forward part of the first training program, if an answer is a loop of unknown length.
static double training_flops(const struct trainer *t)
{
    double weight[ORDER_BUCKETS], flops = 0, samples = 0;
    count_buckets(t, 0, weight);
    for (int b = 0; b < t->buckets; b++)
        for (int part = 0; part < t->parts; part++) {
            const struct graph *g = t->session->graph[trainer_variant(t, 0, b, 0, part)->program];
            for (int i = 0; i < g->nodes; i++)
                if (g->node[i].phase == PHASE_FORWARD) flops += weight[b] * node_forward_flops(g, &g->node[i]);
            samples += weight[b] * (double)t->supply[FEED_TRAIN].choice.order.batch[b];
        }
    return flops / samples;
}

double trainer_forward_flops(const struct trainer *t)
{
    return t->setting.task->answer && t->supply[FEED_TRAIN].choice.fields ? training_flops(t) : evaluation_flops(t);
}

// Adds adjacent steps of equal cost to one part. Once all parts are used, the rest is averaged into the last part.
static int add_steps(struct run_part *part, int count, int most, int64_t samples, double cost)
{
    int64_t flops = llround(cost);
    struct run_part *last = count ? &part[count - 1] : NULL;
    if (last && (last->flops_per_sample == flops || count == most)) {
        double all = (double)(last->samples + samples);
        last->flops_per_sample = llround((double)last->flops_per_sample * ((double)last->samples / all) +
                                         cost * ((double)samples / all));
        last->samples += samples;
        return count;
    }
    part[count] = (struct run_part){samples, flops > 0 ? flops : 1};
    return count + 1;
}

int trainer_work(const struct trainer *t, struct run_part *part, int most)
{
    const struct supply *s = &t->supply[FEED_TRAIN];
    double flops[TRAINER_VARIANTS], weight[ORDER_BUCKETS];
    const double own = own_flops(t);
    double samples = 0;
    int count = 0;
    if (!s->choice.fields) return 0;
    for (int v = 0; v < t->variants; v++) flops[v] = program_flops(t, t->variant[v].program);
    for (int64_t step = 0; step < t->steps; step++) {
        if (step % t->steps_per_epoch == 0) count_buckets(t, step, weight);
        struct trainer_calls calls = {0};
        if (trainer_count_calls(t, step, &calls) < 0) return count;
        double cost = sample_cost(t, step, weight, flops, &calls);
        double before = samples, of_step = mean_samples(t, weight) * (double)train_batches(&calls);
        cost += own / of_step;
        samples += of_step;
        count = add_steps(part, count, most, llround(samples) - llround(before), cost);
    }
    return count;
}

void trainer_step_samples(const struct trainer *t, int64_t *least, int64_t *most)
{
    double weight[ORDER_BUCKETS], low = INFINITY, high = 0;
    for (int64_t step = 0; step < t->steps; step++) {
        struct trainer_calls calls = {0};
        if (step % t->steps_per_epoch == 0) count_buckets(t, step, weight);
        if (trainer_count_calls(t, step, &calls) < 0) continue;  // the step itself will say why
        for (int b = 0; b < t->buckets; b++) {
            double samples = (double)calls.batches[FEED_TRAIN] * batch_samples(t, b);
            if (weight[b] > 0) low = fmin(low, samples), high = fmax(high, samples);
        }
    }
    *least = llround(low), *most = llround(high);
}

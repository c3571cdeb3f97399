// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/trial.h"

#include "runtime/common/base/clock.h"
#include "runtime/ranks/ranks.h"
#include "submit/results/machine/machine.h"

#include <stdlib.h>

static int choose_variant(struct trial *t)
{
    const struct forecast *f = &t->forecast;
    int64_t side = t->choice.side;
    t->variant = &f->variant[f->full];
    if (!side || t->variant->side == side) return 0;
    const struct forecast_variant *best = NULL;
    for (int i = 0; i < f->variants; i++) {
        const struct forecast_variant *v = &f->variant[i];
        if (v->side == side && (!best || v->steps > best->steps)) best = v;
    }
    if (!best)
        return fail(ERR_USAGE, "--side: the schedule of recipe %s has no step of side or length %lld",
                    t->choice.recipe->name, (long long)side);
    t->variant = best;
    return 0;
}

int trial_open(struct trial *t, const struct trial_choice *choice, const struct device_facts *facts)
{
    *t = (struct trial){.choice = *choice, .facts = *facts};
    if (choice->recipe->accumulate > 1)
        return fail(ERR_USAGE, "bench times one program, and data.accumulate splits a step into several: set it to 1");
    if (choice->recipe->slices > ranks_size())
        return fail(ERR_USAGE, "bench times one program, and data.slices splits a step into several: set it to 1");
    struct trainer_choice how = {choice->task, *choice->recipe, choice->data, choice->device, choice->fuse, choice->files};
    TRY(trainer_new(&how, &t->trainer));
    forecast_of(t->trainer, &t->facts, &t->forecast);
    return choose_variant(t);
}

void trial_close(struct trial *t)
{
    trainer_free(t->trainer);
    free(t->ns);
    *t = (struct trial){0};
}

const struct plan *trial_plan(const struct trial *t)
{
    return t->trainer->session->plan[t->variant->program];
}

void trial_better_peaks(struct trial *t, const struct device_facts *now)
{
    for (enum dtype d = F32; d <= F16; d++)
        if (now->peak_flops[d] > t->facts.peak_flops[d]) t->facts.peak_flops[d] = now->peak_flops[d];
    if (now->peak_bytes > t->facts.peak_bytes) t->facts.peak_bytes = now->peak_bytes;
    forecast_of(t->trainer, &t->facts, &t->forecast);  // the same variants with the higher peaks
}

// ---- the batch

// The first step of the schedule that can have the variant.
static int64_t step_of_variant(const struct trial *t, int *bucket)
{
    const struct trainer *r = t->trainer;
    for (int64_t step = 0; step < r->steps; step++)
        for (int b = 0; b < r->buckets; b++)
            for (int p = 0; p < r->programs; p++) {
                const struct trainer_variant *v = trainer_variant(r, step, b, p, 0);
                if (v->program != t->variant->program || v->is.bucket != b) continue;
                *bucket = b;
                return step;
            }
    BUG("a variant that no step of the schedule has");
}

static int begin_epoch(struct trial *t)
{
    struct trainer *r = t->trainer;
    t->taken = 0;
    return supply_begin(&r->supply[FEED_TRAIN], r->seed, t->at / r->steps_per_epoch, 0);
}

int trial_next(struct trial *t, int64_t *samples)
{
    struct order_batch batch;
    if (t->taken == t->trainer->steps_per_epoch) TRY(begin_epoch(t));
    TRY(supply_next(&t->trainer->supply[FEED_TRAIN], &batch));
    t->taken++;
    t->bucket = batch.bucket;
    *samples = batch.count;
    return 0;
}

// The samples determine the bucket: batches of an epoch are taken until one has the variant's bucket.
int trial_begin(struct trial *t)
{
    int bucket = 0;
    int64_t samples;
    t->at = step_of_variant(t, &bucket);
    TRY(begin_epoch(t));
    do TRY(trial_next(t, &samples));
    while (t->bucket != bucket && t->taken < t->trainer->steps_per_epoch);
    if (t->bucket == bucket) return 0;
    return fail(ERR_USAGE, "no batch of an epoch has a step of %s; try another --side", t->variant->size);
}

int trial_step(struct trial *t)
{
    const struct trainer *r = t->trainer;
    struct trainer_calls calls = {0};
    TRY(trainer_count_calls(r, t->at, &calls));
    for (int p = 0; p < r->programs; p++) {
        int bucket = task_program(&r->setting, r->of[p])->feed == FEED_TRAIN ? t->bucket : 0;
        for (int64_t i = 0; i < calls.runs[p]; i++)
            TRY(session_run(r->session, trainer_variant(r, t->at, bucket, p, 0)->program));
    }
    return 0;
}

int trial_ready(struct trial *t)
{
    TRY(trainer_ready(t->trainer));
    TRY(trainer_load(t->trainer));
    TRY(trainer_begin(t->trainer, 1));
    return trial_begin(t);
}

// ---- time

static int run_steps(void *context, int64_t steps, double *seconds)
{
    const struct trial *t = context;
    struct session *s = t->trainer->session;
    int64_t began = clock_ns();
    for (int64_t i = 0; i < steps; i++) TRY(session_run(s, t->variant->program));
    TRY(session_sync(s));
    *seconds = (double)(clock_ns() - began) * 1e-9;
    return ranks_broadcast(seconds, sizeof *seconds, 0);  // the next steps follow from it, on all processes alike
}

int trial_time(struct trial *t, double seconds, int64_t repeats, void (*each_repeat)(void *, const struct timing *),
               void *listener)
{
    const struct timing_choice choice = {seconds, repeats, run_steps, t, each_repeat, listener};
    struct device *d = t->choice.device;
    struct machine_meter meter;
    int64_t before = 0, after = 0, packages = 0;
    bool metered = machine_meter_start(&meter), device = d->type->energy_uj && d->type->energy_uj(d, &before);
    int rc = timing_run(&choice, &t->timing);
    metered = metered && machine_energy_uj(&meter, &packages);
    machine_meter_stop(&meter);
    device = device && d->type->energy_uj(d, &after);
    TRY(rc);
    t->energy_uj = ((metered ? packages : 0) + (device ? after - before : 0)) / t->timing.steps;
    return 0;
}

int trial_profile(struct trial *t)
{
    const struct plan *plan = trial_plan(t);
    size_t bytes = (size_t)(plan->count + 1) * sizeof(int64_t);
    int64_t *ns = zalloc(bytes), all = 0;
    int rc = 0, runs = t->timing.step.median < 1 ? 5 : 1;
    free(t->ns);
    t->ns = zalloc(bytes);
    for (int i = 0; i < runs && rc == 0; i++) {
        rc = session_profile(t->trainer->session, t->variant->program, ns);
        for (int at = 0; at < plan->count; at++) t->ns[at] += ns[at];
    }
    for (int at = 0; at < plan->count; at++) all += t->ns[at] /= runs;
    t->profiled = (double)all * 1e-9;
    free(ns);
    return rc;
}

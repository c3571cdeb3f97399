// SPDX-License-Identifier: Apache-2.0
// The programs of a schedule: one for each variant that a step can meet, and the table that selects it.
#include "tasks/common/train/trainer.h"

#include "tasks/common/step/update.h"

static bool same_variant(const struct variant *a, const struct variant *b)
{
    return a->batch == b->batch && a->part == b->part && a->slice == b->slice && a->bucket == b->bucket &&
           a->height == b->height && a->width == b->width &&
           a->length == b->length && a->trains == b->trains && a->renormalises == b->renormalises;
}

// The number of a variant. Builds the variant at its first use.
static int variant_number(struct trainer *t, struct variant *is, int of)
{
    for (int v = 0; v < t->variants; v++)
        if (t->variant[v].of == of && same_variant(&t->variant[v].is, is)) return v;
    if (t->variants == TRAINER_VARIANTS)
        return fail(ERR_USAGE, "the schedule needs more than %d variants of the step", TRAINER_VARIANTS);
    int program = step_train(t->session, &t->setting, &t->slots, is, of);
    TRY(program);
    t->variant[t->variants] = (struct trainer_variant){*is, of, program};
    return t->variants++;
}

// True if a batch of this bucket can come in a step: any bucket if they go by length, else that of the epoch. The epoch of a step
// is known only where each step takes one batch.
static bool bucket_comes(const struct trainer *t, int64_t step, int number, int bucket)
{
    if (number == FEED_NONE) return bucket == 0;
    const struct feed_choice *feed = &t->supply[number].choice;
    if (bucket >= feed->order.buckets) return false;
    if (feed->order.lengths || (t->choice.task->step && feed->bucket_of_epoch)) return true;
    uint32_t epoch = (uint32_t)(step / t->steps_per_epoch);
    return bucket == (feed->bucket_of_epoch ? feed->bucket_of_epoch(feed->context, epoch) : 0);
}

static bool is_sliced(const struct trainer *t)
{
    return !slices_whole(&t->setting.slices);
}

// One kind for a whole batch, or three: first, middle and last part. Slices have kinds of their own.
static int part_kinds(const struct trainer *t)
{
    if (is_sliced(t)) return slices_kinds(&t->setting.slices);
    return t->parts > 1 ? PART_LAST - PART_FIRST + 1 : 1;
}

static int part_kind(const struct trainer *t, int part)
{
    if (is_sliced(t)) return slices_kind(&t->setting.slices, part);
    return part == 0 ? 0 : part == t->parts - 1 ? PART_LAST - PART_FIRST : PART_MIDDLE - PART_FIRST;
}

static int64_t batch_of(const struct trainer *t, int feed, int bucket)
{
    return feed == FEED_NONE ? t->choice.recipe.batch / t->cuts : t->supply[feed].choice.order.batch[bucket];
}

static int build_variant(struct trainer *t, int64_t step, int bucket, int of, int kind, bool renormalises, uint8_t *into)
{
    const struct task_program *program = task_program(&t->setting, of);
    enum step_part part = t->parts > 1 && !is_sliced(t) ? (enum step_part)(PART_FIRST + kind) : PART_WHOLE;
    if (part == PART_MIDDLE && t->parts == 2) return 0;
    bool updates = kind == part_kinds(t) - 1;
    struct variant is = {.batch = batch_of(t, program->feed, bucket), .part = part, .slice = is_sliced(t) ? kind : 0,
                         .bucket = bucket, .trains = program->trains, .renormalises = renormalises && updates};
    if (t->choice.task->variant) t->choice.task->variant(&t->setting, step, of, &is);
    int number = variant_number(t, &is, of);
    TRY(number);
    *into = (uint8_t)number;
    return 0;
}

// One program for each variant that the schedule can meet.
int trainer_build_steps(struct trainer *t)
{
    int64_t renormalised = 0;
    bool muon = update_uses_muon(&t->setting);
    uint8_t *into = t->of_step = zalloc((size_t)(t->steps * t->buckets * t->programs * part_kinds(t)));
    for (int64_t step = 0; step < t->steps; step++) {
        bool renormalises = muon && update_renormalises(&t->setting, step, &renormalised);
        for (int bucket = 0; bucket < t->buckets; bucket++)
            for (int p = 0; p < t->programs; p++)
                for (int kind = 0; kind < part_kinds(t); kind++, into++)
                    if (bucket_comes(t, step, task_program(&t->setting, t->of[p])->feed, bucket))
                        TRY(build_variant(t, step, bucket, t->of[p], kind, renormalises, into));
    }
    return 0;
}

const struct trainer_variant *trainer_variant(const struct trainer *t, int64_t step, int bucket, int program, int part)
{
    return &t->variant[t->of_step[((step * t->buckets + bucket) * t->programs + program) * part_kinds(t) + part_kind(t, part)]];
}

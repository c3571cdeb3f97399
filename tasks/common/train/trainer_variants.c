// SPDX-License-Identifier: Apache-2.0
// The programs of a schedule: one for each variant that a step can meet, and the table that selects it.
#include "tasks/common/train/trainer.h"

#include "tasks/common/step/update.h"

#include <stdlib.h>

static bool same_variant(const struct variant *a, const struct variant *b)
{
    return a->batch == b->batch && a->part == b->part && a->slice == b->slice && a->bucket == b->bucket &&
           a->height == b->height && a->width == b->width &&
           a->length == b->length && a->trains == b->trains && a->renormalises == b->renormalises;
}

static bool has_variant(const struct trainer *t, int number, const struct variant *is, int of)
{
    return t->variant[number].of == of && same_variant(&t->variant[number].is, is);
}

// The number of a variant; `likely` is tried first. Builds the variant at its first use.
static int variant_number(struct trainer *t, struct variant *is, int of, int likely)
{
    if (likely < t->variants && has_variant(t, likely, is, of)) return likely;
    for (int v = 0; v < t->variants; v++)
        if (has_variant(t, v, is, of)) return v;
    if (t->variants == TRAINER_VARIANTS)
        return fail(ERR_USAGE, "the schedule needs more than %d variants of the step", TRAINER_VARIANTS);
    int program = step_train(t->session, &t->setting, &t->slots, is, of);
    TRY(program);
    t->variant[t->variants] = (struct trainer_variant){*is, of, program};
    return t->variants++;
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

// An index into a step's row of of_step: axes that are the same in every step.
struct row_entry {
    int64_t at;
    int of, feed;
    bool used, updates;
    struct variant is;
};

static struct row_entry entry_at(const struct trainer *t, int bucket, int number, int kind)
{
    const struct task_program *program = task_program(&t->setting, t->of[number]);
    int row = bucket * t->programs + number;
    struct row_entry p = {.at = row * part_kinds(t) + kind, .of = t->of[number], .feed = program->feed};
    enum step_part part = t->parts > 1 && !is_sliced(t) ? (enum step_part)(PART_FIRST + kind) : PART_WHOLE;
    int buckets = p.feed == FEED_NONE ? 1 : t->supply[p.feed].choice.order.buckets;
    p.used = bucket < buckets && !(part == PART_MIDDLE && t->parts == 2);
    p.updates = kind == part_kinds(t) - 1;
    if (p.used)
        p.is = (struct variant){.batch = batch_of(t, p.feed, bucket), .part = part, .slice = is_sliced(t) ? kind : 0,
                                .bucket = bucket, .trains = program->trains};
    return p;
}

// True if a batch of this bucket can come in a step: any bucket if they go by length, else the epoch's. The epoch of a step
// is known only where each step takes one batch.
static bool entry_comes(const struct trainer *t, const struct row_entry *p, int64_t step)
{
    if (!p->used || p->feed == FEED_NONE) return p->used;
    const struct feed_choice *feed = &t->supply[p->feed].choice;
    if (feed->order.lengths || (t->choice.task->step && feed->bucket_of_epoch)) return true;
    uint32_t epoch = (uint32_t)(step / t->steps_per_epoch);
    return p->is.bucket == (feed->bucket_of_epoch ? feed->bucket_of_epoch(feed->context, epoch) : 0);
}

static int build_variant(struct trainer *t, const struct row_entry *p, int64_t step, bool renormalises, int64_t row)
{
    struct variant is = p->is;
    uint8_t *into = t->of_step + step * row + p->at;
    is.renormalises = renormalises && p->updates;
    if (t->choice.task->variant) t->choice.task->variant(&t->setting, step, p->of, &is);
    int number = variant_number(t, &is, p->of, step > 0 ? into[-row] : 0);
    TRY(number);
    *into = (uint8_t)number;
    return 0;
}

static int build_places(struct trainer *t, const struct row_entry *entry, int64_t row)
{
    int64_t renormalised = 0;
    bool muon = update_uses_muon(&t->setting);
    for (int64_t step = 0; step < t->steps; step++) {
        bool renormalises = muon && update_renormalises(&t->setting, step, &renormalised);
        for (int64_t i = 0; i < row; i++)
            if (entry_comes(t, &entry[i], step)) TRY(build_variant(t, &entry[i], step, renormalises, row));
    }
    return 0;
}

// One program for each variant that the schedule can meet. A schedule can have a million steps of 32 buckets, and nearly every
// step has the variants of the step before it.
int trainer_build_steps(struct trainer *t)
{
    int64_t row = t->buckets * t->programs * part_kinds(t);
    struct row_entry *entry = zalloc((size_t)row * sizeof *entry), *into = entry;
    t->of_step = zalloc((size_t)(t->steps * row));
    for (int bucket = 0; bucket < t->buckets; bucket++)
        for (int p = 0; p < t->programs; p++)
            for (int kind = 0; kind < part_kinds(t); kind++) *into++ = entry_at(t, bucket, p, kind);
    int rc = build_places(t, entry, row);
    free(entry);
    return rc;
}

const struct trainer_variant *trainer_variant(const struct trainer *t, int64_t step, int bucket, int program, int part)
{
    return &t->variant[t->of_step[((step * t->buckets + bucket) * t->programs + program) * part_kinds(t) + part_kind(t, part)]];
}

// SPDX-License-Identifier: Apache-2.0
// One step of a training: the batches and programs of the task's step, or by default one batch and the first program.
#include "tasks/common/train/trainer.h"

#include "runtime/ranks/ranks.h"

#include <stdio.h>

static bool is_cut(const struct trainer *t)
{
    return t->cuts > 1;
}

// The place of a program in trainer.of; NONE: it does not train.
static int position_of(const struct trainer *t, int program)
{
    for (int p = 0; p < t->programs; p++)
        if (t->of[p] == program) return p;
    return NONE;
}

// ---- batches

// A feed of a task with a step of its own begins an epoch when the last one is used up.
static int take_batch(struct trainer *t, int feed)
{
    struct supply *s = &t->supply[feed];
    struct order_batch *batch = &t->drive.batch[feed];
    int64_t batches = supply_batches(s);
    if (t->choice.task->step && t->taken[feed] % batches == 0)
        TRY(supply_begin(s, t->seed, t->taken[feed] / batches, 0));
    TRY(supply_next(s, batch));
    t->taken[feed]++;
    if (feed == FEED_TRAIN) t->samples += batch->count * ranks_size();
    return 0;
}

static int next_batch(struct drive *d, int feed)
{
    struct trainer *t = d->owner;
    BUG_IF(feed == FEED_TEST || feed >= t->feeds);
    t->fresh[feed] = true;
    return is_cut(t) ? 0 : take_batch(t, feed);
}

// ---- programs

static int run_part(struct trainer *t, int program, int feed, int part)
{
    if (is_cut(t) && feed != FEED_NONE) TRY(take_batch(t, feed));
    int bucket = feed == FEED_NONE ? 0 : t->drive.batch[feed].bucket;
    const struct trainer_variant *v = trainer_variant(t, t->at, bucket, program, part);
    TRY(session_run(t->session, v->program));
    t->folded = false;
    t->terms += v->is.terms * ranks_size();
    return 0;
}

// A batch that is cut is on the device part by part, for one program.
static int use_batch(const struct trainer *t, const struct task_program *p, bool fresh[FEEDS_MAX])
{
    if (!is_cut(t) || p->feed == FEED_NONE) return 0;
    if (!fresh[p->feed])
        return fail(ERR_UNSUPPORTED, "data.%s: %s trains \"%s\" on a batch that another program has used, so it must be whole",
                    t->choice.recipe.slices > 1 ? "slices" : "accumulate", t->choice.task->title, p->name);
    fresh[p->feed] = false;
    return 0;
}

// A program that does not train.
static int run_own(struct trainer *t, int program)
{
    if (!t->folded && t->fold != NONE) TRY(session_run(t->session, t->fold));
    t->folded = true;
    return session_run(t->session, t->own[program]);
}

static int run_program(struct drive *d, int program)
{
    struct trainer *t = d->owner;
    const struct task_program *p = task_program(&t->setting, program);
    int position = position_of(t, program);
    BUG_IF(!p || (position == NONE && p->feed != FEED_NONE));
    if (position == NONE) return run_own(t, program);
    TRY(use_batch(t, p, t->fresh));
    for (int part = 0; part < t->parts; part++) TRY(run_part(t, position, p->feed, part));
    return 0;
}

static int usual_step(struct trainer *t)
{
    if (t->at % t->steps_per_epoch == 0) TRY(supply_begin(&t->supply[FEED_TRAIN], t->seed, t->at / t->steps_per_epoch, 0));
    TRY(trainer_walk(t, t->at, &t->drive));
    if ((t->at + 1) % t->steps_per_epoch == 0 && t->at + 1 < t->steps)
        supply_draw_ahead(&t->supply[FEED_TRAIN], t->seed, (t->at + 1) / t->steps_per_epoch);
    return 0;
}

static int own_step(struct trainer *t)
{
    TRY(trainer_walk(t, t->at, &t->drive));
    return session_run(t->session, t->advance);
}

int trainer_step(struct trainer *t)
{
    const struct task *task = t->choice.task;
    BUG_IF(t->at >= t->steps);
    TRY(task->step ? own_step(t) : usual_step(t));
    t->drive.step = ++t->at;
    TRY(lookahead_after(&t->lookahead, t->session, t->at));
    TRY(average_after(&t->average, t->session, t->at));
    t->folded = false;
    return task->host && task->host->between ? task->host->between(&t->drive) : 0;
}

// ---- what a step does, without doing it

struct counting {
    const struct trainer *t;
    struct trainer_calls *calls;
    bool fresh[FEEDS_MAX];
};

static int count_batch(struct drive *d, int feed)
{
    struct counting *c = d->owner;
    c->calls->batches[feed]++;
    c->fresh[feed] = true;
    return 0;
}

static int count_run(struct drive *d, int program)
{
    struct counting *c = d->owner;
    const struct task_program *p = task_program(&c->t->setting, program);
    int position = position_of(c->t, program);
    BUG_IF(!p || (position == NONE && p->feed != FEED_NONE));
    if (position == NONE) return 0;  // it neither trains nor takes a batch
    c->calls->runs[position]++;
    return use_batch(c->t, p, c->fresh);
}

int trainer_walk(const struct trainer *t, int64_t step, struct drive *d)
{
    const struct task *task = t->choice.task;
    d->setting = &t->setting, d->seed = t->seed, d->step = step;
    if (task->step) return task->step(d);
    TRY(drive_next(d, FEED_TRAIN));
    return drive_run(d, t->of[0]);
}

int trainer_count_calls(const struct trainer *t, int64_t step, struct trainer_calls *into)
{
    struct counting counting = {.t = t, .calls = into};
    struct drive d = {.next = count_batch, .run = count_run, .owner = &counting};
    return trainer_walk(t, step, &d);
}

// ---- the position after `at` steps

// Parts of a batch are numbered through the whole training, so that each slice has draws of its own, on any process.
static int number_runs(struct trainer *t, const char *name, int64_t runs)
{
    struct slot *slot = slot_find(t->session->store, name);
    int32_t number = (int32_t)(runs * t->cuts + t->setting.slices.first);
    return slot ? session_write(t->session, slot, &number, 0, sizeof number) : 0;
}

static int seek_programs(struct trainer *t, const struct trainer_calls *done)
{
    const int32_t key[4] = {(int32_t)(uint32_t)t->seed, (int32_t)(uint32_t)(t->seed >> 32), 0, 0};
    if (t->slots.key) TRY(session_write(t->session, t->slots.key, key, 0, sizeof key));
    for (int p = 0; p < t->programs; p++) {
        char name[128];
        snprintf(name, sizeof name, "runs.%s", task_program(&t->setting, t->of[p])->name);
        TRY(number_runs(t, name, done->runs[p]));
    }
    return number_runs(t, "slices", t->at);
}

static int seek_feed(struct trainer *t, int feed, int64_t taken)
{
    int64_t batches = supply_batches(&t->supply[feed]);
    t->taken[feed] = taken;
    return taken % batches ? supply_begin(&t->supply[feed], t->seed, taken / batches, taken % batches) : 0;
}

int trainer_seek(struct trainer *t)
{
    struct trainer_calls done = {0};
    t->folded = false;
    t->drive = (struct drive){.setting = &t->setting, .session = t->session, .seed = t->seed, .step = t->at,
                              .supply = t->supply, .next = next_batch, .run = run_program, .owner = t,
                              .between = t->drive.between, .context = t->drive.context};
    for (int64_t step = 0; step < t->at; step++) TRY(trainer_count_calls(t, step, &done));
    TRY(seek_programs(t, &done));
    if (!t->choice.task->step) {
        int64_t batch = t->at % t->steps_per_epoch * t->parts;
        return batch ? supply_begin(&t->supply[FEED_TRAIN], t->seed, t->at / t->steps_per_epoch, batch) : 0;
    }
    for (int feed = 0; feed < t->feeds; feed++)
        if (feed != FEED_TEST) TRY(seek_feed(t, feed, done.batches[feed] * t->parts));
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Shared by tests of a training: a trainer for synthetic images, ready on a device, and all its persistent bytes after
// some steps.
#pragma once

#include "runtime/fuse.h"
#include "tasks/common/train/trainer.h"
#include "tasks/tasks.h"

#include "test/unit/must.h"

struct bench {
    struct device *device;
    struct dataset *data;
    struct trainer *trainer;
    struct trainer_choice choice;
};

// A task's embedded recipe with `settings` (ended by NULL); the caller opens the device and the data.
static inline void bench_choose(struct bench *b, const struct task *task, const char *recipe, const char *const *settings)
{
    *b = (struct bench){.choice = {.task = task, .fuse = FUSE_ALL}};
    int count = 0;
    while (settings[count]) count++;
    OK(recipe_embedded(recipe, &b->choice.recipe));
    OK(recipe_set_all(&b->choice.recipe, settings, count));
}

// So many synthetic images.
static inline void bench_open(struct bench *b, const char *device, int threads, int64_t train, int64_t test,
                              const char *recipe, const char *const *settings)
{
    const struct task *task;
    OK(task_find("cifar10", &task));
    bench_choose(b, task, recipe, settings);
    OK(device_open(device, threads, &b->device));
    OK(dataset_open_synthetic(train, test, &b->data));
    b->choice.data = b->data, b->choice.device = b->device;
}

static inline void bench_new(struct bench *b)
{
    b->choice.data = b->data, b->choice.device = b->device;
    OK(trainer_new(&b->choice, &b->trainer));
}

// The training step of a recipe on noise: products of the update, and descents.
static inline void bench_count_update(struct bench *b, const struct task *task, const char *recipe, const char *data,
                                      int count[2])
{
    bench_choose(b, task, recipe, (const char *const[]){NULL});
    OK(device_open("null", 1, &b->device));
    OK(dataset_open_noise(data, &b->data));
    bench_new(b);
    const struct graph *g = b->trainer->session->graph[0];
    count[0] = count[1] = 0;
    for (int i = 0; i < g->nodes; i++) {
        count[0] += g->node[i].phase == PHASE_UPDATE && g->node[i].op == OP_MATMUL;
        count[1] += g->node[i].op == OP_DESCEND;
    }
}

static inline void bench_ready(struct bench *b)
{
    bench_new(b);
    OK(trainer_ready(b->trainer));
    OK(trainer_load(b->trainer));
}

// The mean losses of the first 30 steps and of the next 30. The trainer is new.
static inline void bench_losses(struct bench *b, double loss[2])
{
    struct trainer_sums sums;
    OK(trainer_ready(b->trainer));
    OK(trainer_load(b->trainer));
    OK(trainer_begin(b->trainer, 1));
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < 30; i++) OK(trainer_step(b->trainer));
        OK(trainer_sums(b->trainer, true, &sums));
        loss[part] = sums.loss / 30;
    }
}

static inline void bench_close(struct bench *b)
{
    trainer_free(b->trainer);
    dataset_close(b->data);
    device_close(b->device);
}

// All persistent bytes: weights, optimiser state, statistics, counters.
static inline uint8_t *bench_bytes(struct bench *b, size_t *count)
{
    struct trainer *t = b->trainer;
    const struct slot_store *s = t->session->store;
    *count = 0;
    for (int i = 0; i < s->count; i++) *count += slot_bytes(s->slot[i]);
    uint8_t *bytes = zalloc(*count), *at = bytes;
    for (int i = 0; i < s->count; i++) {
        assert_int_equal(session_get(t->session, s->slot[i]->name, at, slot_bytes(s->slot[i])), 0);
        at += slot_bytes(s->slot[i]);
    }
    return bytes;
}

// The same after some steps from the beginning.
static inline uint8_t *bench_train(struct bench *b, uint64_t seed, int steps, size_t *count)
{
    assert_int_equal(trainer_begin(b->trainer, seed), 0);
    for (int i = 0; i < steps; i++)
        if (trainer_step(b->trainer) < 0) fail_msg("%s", error_text());
    return bench_bytes(b, count);
}

// The same seed gives the same bytes, in a second run and on `fresh`, which has its own memory, plan and primitives; another
// seed gives others. Closes both.
static inline void bench_same_bytes(struct bench *b, struct bench *fresh, int steps)
{
    size_t n, m, k;
    uint8_t *first = bench_train(b, 7, steps, &n), *again = bench_train(b, 7, steps, &m);
    uint8_t *other = bench_train(b, 8, steps, &k), *later = bench_train(fresh, 7, steps, &m);
    bench_close(b);
    bench_close(fresh);
    assert_int_equal(n, m);
    assert_memory_equal(first, again, n);
    assert_memory_equal(first, later, n);
    assert_memory_not_equal(first, other, n);
    free(first), free(again), free(other), free(later);
}

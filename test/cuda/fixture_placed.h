// SPDX-License-Identifier: Apache-2.0
// Airbench's programs at full size, compiled for addresses without memory and never run.
#pragma once

#include "runtime/cuda/cuda_lanes.h"
#include "runtime/cuda/cuda_program.h"
#include "test/emulate/emulate_test.h"
#include "test/unit/fixture_trainer.h"

struct placed {
    struct bench bench;
    struct device_type type;
    const struct plan *plan;  // of the step at full resolution
    const struct cuda_task *task;
    int tasks;
};

static inline size_t placed_round_up(size_t n) { return (n + 255) / 256 * 256; }

// Like session_ready, but with adjacent addresses without memory: compiling only computes with them.
static inline void placed_session(struct session *s)
{
    char *at = (char *)((uintptr_t)1 << 40);
    for (int i = 0; i < s->store->count; at += placed_round_up(slot_bytes(s->store->slot[i++]))) s->store->slot[i]->device = at;
    for (int i = 0; i < s->programs; at += placed_round_up(s->plan[i++]->kept_bytes)) s->plan[i]->kept = at;
    s->slab = at;
    for (int i = 0; i < s->programs; i++)
        if (s->device->type->compile(s->device, s->plan[i], s->slab, &s->program[i]) < 0) fail_msg("%s", error_text());
}

// `overlaps`: plans keep the chains of the update apart, as the device asks for.
static inline void placed_open(struct placed *p, const char *recipe, const char *const settings[], bool overlaps)
{
    bench_open(&p->bench, "cuda", 1, 50000, 10000, recipe, settings);
    p->type = *p->bench.device->type;
    p->type.overlaps = overlaps;
    p->bench.device->type = &p->type;
    if (trainer_new(&p->bench.choice, &p->bench.trainer) < 0) fail_msg("%s", error_text());
    struct trainer *t = p->bench.trainer;
    emulate_late(EMULATE_NEVER);
    placed_session(t->session);
    int last = trainer_variant(t, t->steps - 1, 0, 0, 0)->program;
    p->plan = t->session->plan[last];
    p->task = cuda_program_tasks(t->session->program[last], &p->tasks);
}

static inline void placed_close(struct placed *p)
{
    struct session *s = p->bench.trainer->session;
    for (int i = 0; i < s->store->count; i++) s->store->slot[i]->device = NULL;
    for (int i = 0; i < s->programs; i++) s->plan[i]->kept = NULL;
    s->slab = NULL;
    bench_close(&p->bench);
    emulate_late(EMULATE_AT_ONCE);
}

// SPDX-License-Identifier: Apache-2.0
// A training made ready: one session that holds a program for every variant of the step, the evaluation and the
// lookahead, and the schedule that says which program each step is. `dawn train` runs it, `dawn bench` times it,
// `dawn plan` looks at it without taking any memory.
//
// Order of calls: trainer_new, trainer_ready, trainer_load, trainer_begin, then trainer_step until it is done.
// Invariant: between trainer_begin and the end nothing is allocated, and the host reads the device only when asked.
#ifndef DAWN_TRAINER_H
#define DAWN_TRAINER_H

#include "tasks/task.h"

struct trainer_choice {
    const struct task *task;
    struct recipe recipe;
    struct dataset *data;    // borrowed
    struct device *device;   // borrowed
    unsigned fuse;           // FUSE_ALL unless a test says otherwise
};

struct trainer {
    struct trainer_choice choice;
    const struct dataset_facts *facts;
    struct task_build build;
    struct session *session;
    int64_t steps_an_epoch, steps;
    int64_t at;              // steps done
    uint64_t seed;
    int *program;            // of each step
    int32_t *order;          // of this epoch's samples
    int fold, evaluate, evaluate_rest;  // NONE where there is none; rest: the last, smaller batch
    int64_t evaluate_batch;
    int average_begin, average_pull;    // lookahead
};

int trainer_new(const struct trainer_choice *, struct trainer **) MUST_CHECK;  // builds and plans
int trainer_ready(struct trainer *) MUST_CHECK;                                // takes memory, compiles
int trainer_load(struct trainer *) MUST_CHECK;                                 // data set to the device
int trainer_begin(struct trainer *, uint64_t seed) MUST_CHECK;                 // weights, whitening, schedules
int trainer_step(struct trainer *) MUST_CHECK;                                 // one step; BUG after the last
void trainer_free(struct trainer *);

// Sum of the loss and correct answers since the last call with `reset`. Waits for the device.
struct trainer_sums {
    double loss;
    int64_t correct;
};
int trainer_sums(struct trainer *, bool reset, struct trainer_sums *) MUST_CHECK;
int trainer_evaluate(struct trainer *, int64_t *correct) MUST_CHECK;  // over the whole test set
bool trainer_evaluates_after(const struct trainer *, int64_t steps);  // as the recipe has it: at ends of epochs only

// The type of activations that `auto` means on a device: bf16 where it multiplies faster, else f32.
int trainer_dtype(const struct recipe *, struct device *, enum dtype *) MUST_CHECK;
// Trained parameters, and FLOPs of one forward pass of one sample at full resolution.
int64_t trainer_parameters(const struct trainer *);
double trainer_forward_flops(const struct trainer *);

#endif

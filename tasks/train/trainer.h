// SPDX-License-Identifier: Apache-2.0
// A training made ready: one session that holds a program for every variant of the step, the evaluation and the
// lookahead, and the schedule that says which program each step is. `dawn train` runs it, `dawn bench` times it,
// `dawn plan` looks at it without taking any memory.
//
// Order of calls: trainer_new, trainer_ready, trainer_load, trainer_begin, then trainer_step until it is done.
// Invariant: between trainer_begin and the end nothing is allocated, and the host reads the device only when asked.
#ifndef DAWN_TRAIN_TRAINER_H
#define DAWN_TRAIN_TRAINER_H

#include "runtime/checkpoint/checkpoint.h"
#include "tasks/record/result.h"
#include "tasks/step/average.h"
#include "tasks/step/evaluation.h"
#include "tasks/step/lookahead.h"

struct trainer_choice {
    const struct task *task;
    struct recipe recipe;
    struct dataset *data;    // borrowed
    struct device *device;   // borrowed
    unsigned fuse;           // FUSE_ALL unless a test says otherwise
    struct task_files files; // borrowed
};

enum { TRAINER_VARIANTS = 64, TURNS_MAX = 4 };
struct trainer_variant {
    struct variant is;
    int turn, program;
};

struct trainer {
    struct trainer_choice choice;
    const struct dataset_facts *facts;  // of what is stored
    struct dataset *view;    // owned: what is trained on; NULL: what is stored
    struct setting setting;
    struct session *session;
    struct step_slots slots;
    struct supply supply[SPLIT_COUNT];
    int64_t steps_an_epoch, steps;
    int64_t at, samples;     // steps done, samples of them
    int64_t terms;           // of the losses added up since the beginning
    uint64_t seed;
    struct trainer_variant variant[TRAINER_VARIANTS];  // of training steps
    int variants, turns, buckets;
    int parts;               // of a batch: data.accumulate
    uint8_t *of_step;        // [step, bucket, turn, first or middle or last part]: number of its variant
    struct evaluation evaluation;
    struct lookahead lookahead;
    struct average average;
    struct checkpoint_imported imported;  // by trainer_begin, where --weights was given; else its text is empty
};

int trainer_new(const struct trainer_choice *, struct trainer **) MUST_CHECK;  // builds and plans
int trainer_ready(struct trainer *) MUST_CHECK;                                // takes memory, compiles
int trainer_load(struct trainer *) MUST_CHECK;                                 // data set to the device
int trainer_begin(struct trainer *, uint64_t seed) MUST_CHECK;                 // weights, what models compute, schedules
// Instead of trainer_begin, with every slot restored (state.h): puts the order of the batches to where it stood after `at` steps.
int trainer_resume(struct trainer *, uint64_t seed, int64_t at, int64_t samples) MUST_CHECK;
int trainer_step(struct trainer *) MUST_CHECK;                                 // one step; BUG after the last
void trainer_free(struct trainer *);
// The program of a part of a step, from 0; of the whole step where it has one part.
const struct trainer_variant *trainer_variant(const struct trainer *, int64_t step, int bucket, int turn, int part);

// Sum of the loss and, where the board's metric counts, hits since the last call with `reset`. Waits for the device.
struct trainer_sums {
    double loss;
    int64_t hits;  // -1: the task counts none while it trains
};
int trainer_sums(struct trainer *, bool reset, struct trainer_sums *) MUST_CHECK;
// Over the whole test set: k of a METRIC_COUNT, millionths of a METRIC_RATIO. Of the average, where the recipe has one.
int trainer_evaluate(struct trainer *, int64_t score[METRICS_MAX]) MUST_CHECK;
int trainer_settle(struct trainer *) MUST_CHECK;  // after the last step: the weights become what was evaluated
bool trainer_evaluates_after(const struct trainer *, int64_t steps);  // as the recipe has it

// The type of activations that `auto` means for a model on a device: a 16-bit type where it multiplies faster, else f32.
int trainer_dtype(const struct recipe *, const struct model *, struct device *, enum dtype *) MUST_CHECK;
// Trained and frozen parameters, and FLOPs of one forward pass of one sample at the size of the evaluation.
int64_t trainer_parameters(const struct trainer *);
int64_t trainer_views(const struct trainer *);  // forward passes of a sample in an evaluation
double trainer_forward_flops(const struct trainer *);
// Of a streamed training: parts of the schedule in which training on a sample costs the same, at most `most`; their number. With
// buckets by length it is the mean over an epoch's batches. 0 for resident data, whose cost follows from the recipe.
int trainer_work(const struct trainer *, struct run_part *, int most);

#endif

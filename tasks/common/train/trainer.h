// SPDX-License-Identifier: Apache-2.0
// A training made ready: one session with a program for every variant of the step, the evaluation and the lookahead, and a
// schedule that selects the program of each step. `dawn train` runs it, `dawn bench` times it, `dawn plan` reads it without
// taking memory.
//
// Order of calls: trainer_new, trainer_ready, trainer_load, trainer_begin, then trainer_step until all steps are done.
// Invariant: after trainer_begin nothing is allocated, and the host reads the device only in calls that say so.
#pragma once

#include "runtime/checkpoint/checkpoint.h"
#include "submit/results/result.h"
#include "tasks/common/step/average.h"
#include "tasks/common/step/evaluation.h"
#include "tasks/common/step/lookahead.h"

struct trainer_choice {
    const struct task *task;
    struct recipe recipe;
    struct dataset *data;    // borrowed
    struct device *device;   // borrowed
    unsigned fuse;           // FUSE_ALL except in tests
    struct task_files files; // borrowed
};

enum { TRAINER_VARIANTS = 128 };
struct trainer_variant {
    struct variant is;
    int of, program;  // numbers in the task's table and in the session
};

struct trainer {
    struct trainer_choice choice;
    const struct dataset_facts *facts;  // facts of the stored data
    struct dataset *view;    // owned: the set to train on; NULL: train on the stored samples
    struct setting setting;
    struct session *session;
    struct step_slots slots;
    struct supply supply[FEEDS_MAX];
    int feeds;
    int64_t steps_per_epoch, steps;
    int64_t at, samples;     // steps done, samples in them
    int64_t terms;           // loss terms summed since the beginning
    uint64_t seed;
    struct trainer_variant variant[TRAINER_VARIANTS];  // variants of the training step
    int variants, buckets;
    int of[PROGRAMS_MAX], programs;     // the training programs, by their numbers in the task's table
    int own[PROGRAMS_MAX], advance;     // programs without a feed that host code runs; what ends a step of the task's own
    int fold;                // program that folds running statistics into the filters that these read; NONE: nothing to fold
    bool folded;             // it has run since the weights changed
    int parts;               // parts of a batch: data.accumulate, or this process's slices
    int64_t cuts;            // parts of a batch in all processes
    uint8_t *of_step;        // [step, bucket, program, part kind]: number of the variant; kinds: first, middle, last
    struct drive drive;
    int64_t taken[FEEDS_MAX];           // batches or parts of them since the beginning, where the task has a step of its own
    bool fresh[FEEDS_MAX];              // a batch that is cut waits for its program
    struct evaluation evaluation;
    struct lookahead lookahead;
    struct average average;
    struct checkpoint_imported imported;  // set by trainer_begin if --weights was given; else its text is empty
};

int trainer_build_steps(struct trainer *) MUST_CHECK;  // the part of trainer_new that builds the variants
int trainer_new(const struct trainer_choice *, struct trainer **) MUST_CHECK;  // builds and plans
int trainer_ready(struct trainer *) MUST_CHECK;                                // takes memory, compiles
int trainer_load(struct trainer *) MUST_CHECK;                                 // data set to the device
int trainer_begin(struct trainer *, uint64_t seed) MUST_CHECK;                 // weights, model hooks, schedules
int trainer_seek(struct trainer *) MUST_CHECK;      // the part that moves feeds and draws to the step `at`
int trainer_constants(struct trainer *) MUST_CHECK;  // the part of it that makes what no state holds
// Replaces trainer_begin after trainer_constants and after every slot was restored (state.h). Sets the order of batches to its
// position after `at` steps.
int trainer_resume(struct trainer *, uint64_t seed, int64_t at, int64_t samples) MUST_CHECK;
int trainer_step(struct trainer *) MUST_CHECK;                                 // one step; BUG after the last
void trainer_free(struct trainer *);
// The variant of a training program, by its position in trainer.of, for part `part` of a batch, counted from 0, or for the whole
// batch.
const struct trainer_variant *trainer_variant(const struct trainer *, int64_t step, int bucket, int program, int part);
// What a step does, added to the counts so far: batches of each feed, runs of each training program in the order of trainer.of.
struct trainer_calls {
    int64_t batches[FEEDS_MAX], runs[PROGRAMS_MAX];
};
// Calls next and run of `drive`, which need run nothing, as the step does; its other members are filled in.
int trainer_walk(const struct trainer *, int64_t step, struct drive *drive) MUST_CHECK;
int trainer_count_calls(const struct trainer *, int64_t step, struct trainer_calls *) MUST_CHECK;

// The sum of the loss, and of hits if the board's metric counts, since the last call with `reset`. Waits for the device.
struct trainer_sums {
    double loss;
    double rows;   // in it; 0: it has the number of terms that trainer.terms counts
    int64_t hits;  // -1: the task counts no hits while it trains
    struct run_loss mean[LOSSES_MAX];  // of the named losses that have rows, if the task has several losses
    int means;
};
int trainer_sums(struct trainer *, bool reset, struct trainer_sums *) MUST_CHECK;
// Of several processes the first gets the counts of all, so that its slots are the state of the training. All call it.
int trainer_join_counts(struct trainer *) MUST_CHECK;
// The loss scale of an f16 training, and how many steps were skipped so far; scale 0: it has none. Waits for the device.
struct trainer_scale {
    double scale;
    int64_t skipped;
};
int trainer_scale(struct trainer *, struct trainer_scale *) MUST_CHECK;
// Evaluates the whole test split, with the averaged weights if the recipe has an average. Scores are k of N for a
// METRIC_COUNT and millionths for a METRIC_RATIO.
int trainer_evaluate(struct trainer *, int64_t score[METRICS_MAX]) MUST_CHECK;
int trainer_settle(struct trainer *) MUST_CHECK;  // after the last step: makes the evaluated weights the final ones
bool trainer_evaluates_after(const struct trainer *, int64_t steps);  // according to the recipe

// The type of activations for `auto`: bf16 if the device multiplies it faster than f32, else f16 for models that were published
// in it, else f32.
enum dtype trainer_auto(const struct device_facts *, const struct model *);
int trainer_dtype(const struct recipe *, const struct model *, struct device *, enum dtype *) MUST_CHECK;
// Number of trained and frozen parameters, and FLOPs of one forward pass of a sample, the mean over the evaluation, or over the
// training of a task with answers that are loops.
int64_t trainer_parameters(const struct trainer *);
int64_t trainer_views(const struct trainer *);  // forward passes of a sample in an evaluation
double trainer_forward_flops(const struct trainer *);
// How often host code runs a program without a feed in the whole schedule, at most; 0: never, or it is not known.
int64_t trainer_own_runs(const struct trainer *, int program);
// Splits the schedule of a streamed training into at most `most` parts with a constant cost of training on a sample, programs
// that host code runs included. Returns their number. For buckets by length the cost is the mean over an epoch's batches. Returns
// 0 for resident data, whose cost follows from the recipe.
int trainer_work(const struct trainer *, struct run_part *, int most);
// Fewest and most samples of a step, of all processes.
void trainer_step_samples(const struct trainer *, int64_t *least, int64_t *most);

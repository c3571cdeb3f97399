// SPDX-License-Identifier: Apache-2.0
// Builds one step as a graph. The task supplies inputs, forward pass, loss and metrics. Fusing, differentiating, updating
// and counting are the same for every task and are done here. step_train (step.c) shows a whole training step.
#pragma once

#include "tasks/common/step/task.h"

// Slots that the host reads and writes between steps; NULL if no graph uses the slot.
struct feed_slots {
    struct slot *order;   // samples of this epoch in order, i32[count]
    struct slot *cursor;  // begin of the next batch, i32[1]
    struct slot *key;     // seed and epoch for random draws, i32[4]
    struct slot *field[DATASET_FIELDS];  // the resident data
    struct slot *input[FEED_FIELDS][ORDER_BUCKETS];  // a streamed batch
};
// Sums since the last reset. Training programs share one set, evaluations another.
enum { LOSSES_MAX = 8, CARRIED_MAX = 8 };
struct step_counts {
    struct slot *loss;    // f32[1]
    struct step_mean {
        const char *name;
        struct slot *sum, *rows;  // f32[1]
    } mean[LOSSES_MAX];   // of all programs, in the order of their first use
    int means;
    struct slot *hits[METRICS_MAX], *tries[METRICS_MAX];  // i32[1]
    struct slot *total[METRICS_MAX];  // f32[1]
};
enum { STEP_TABLES = 2 * RULES_MAX };
struct step_table {  // a schedule on the device: f32[steps]
    struct slot *slot;
    struct schedule schedule;
    double factor;
    double offset;   // the table is read at step + offset
};
// Slots that all graphs of one training share.
struct step_slots {
    struct feed_slots feed[FEEDS_MAX];
    struct step_counts train, test;
    struct slot *key;     // like a feed's, without an epoch, for programs without a feed
    struct slot *carried[CARRIED_MAX];  // by the evaluation's batches: an evaluation begins with zeros
    int carries;
    struct step_table table[STEP_TABLES];
    int tables;
};

struct step {
    struct graph *g;
    const struct setting *setting;
    struct step_slots *slots;
    const struct task_program *program;
    int number;  // of the program
    struct variant is;
    // ---- private
    int index;  // samples of the batch; NONE before the first use
    int loss;
    struct {
        const char *name;
        int sum, rows;
        float factor;
    } mean[LOSSES_MAX];
    int means;
    struct {
        int slot, value;
    } carried[CARRIED_MAX];
    int carries;
    int sites;  // numbers that step_site gave
    int picked[STEP_TABLES];  // the value of each table in this step, plus 1; 0: not picked yet
};

// ---- functions for tasks; each returns a value id
int step_index(struct step *);                            // i32[batch]: numbers of the samples in the batch
int step_field(struct step *, const char *field);         // the whole resident field of the feed's split
int step_input(struct step *, const char *field);         // the batch's rows of a field, resident or streamed
int step_key(struct step *);                              // key of random draws in this epoch
int step_forward(struct step *, int x);                   // the output of a model with one input and one output
// For random draws (dropout): i32[1], a number that differs in each step, part and slice, independent of the process; and the
// next site, a constant that differs between the draws of one step, in all programs.
int step_count(struct step *);
int step_site(struct step *);
// Sets the loss to differentiate, f32[1]. Its sum over steps is shown to people. `terms` is the number of terms in one step:
// the number of samples for a sum over the batch, 1 for a mean. Does nothing in an evaluation.
void step_loss(struct step *, int loss, int64_t terms);
// Adds factor * sum / rows to the loss. `rows`, f32[1], is counted by the graph and depends on no parameter; 0 or at least 1.
// `sum` is over the rows of one part; the mean is over the rows of the whole batch, on all processes. Without rows it is 0. The
// losses of a program have different names. Does nothing in an evaluation.
void step_mean_loss(struct step *, const char *name, int sum, int rows, float factor);
int step_hits(struct step *, int metric);                 // a counter, i32[1], for g_correct
int step_tries(struct step *, int metric);                // for a METRIC_RATIO and a METRIC_MEAN
int step_total(struct step *, int metric);                // f32[1], for g_accumulate: the sum of a METRIC_MEAN; in an evaluation
// Passes a value to the task's judge after each batch of an evaluation. The first dimension of the value is the batch. Does
// nothing in a training step.
void step_output(struct step *, int number, int value);
// A slot that keeps its value from one program to the next: a recurrent state, a cache of keys. drive.h reads and writes it by
// its name. The programs of one batch of an evaluation share one; it is not part of a training's state.
int step_slot(struct step *, const char *name, struct shape, enum dtype);
void step_keep(struct step *, int slot, int value);
// A slot without content, named after the words, pieces or characters that the weights are valid for: `what` and their digest.
// Weights for others lack the slot and are refused.
void step_mark(struct step *, const char *what, const char *digest);
// A recurrent state that follows streams (ORDER_STREAMS) from batch to batch, of one row each: step_carry gives the rows of this
// part or slice as the previous batch left them, and *slot for step_carry_on, which stores new ones at the end of the step,
// because the backward pass reads the old ones. The slot has the rows of all parts of this process and rotates by one part per
// program, so every part reads its own. Each evaluation begins with zeros; a task's own step may clear it (drive_write). A step
// carries at most CARRIED_MAX states, and so do all programs of the evaluation together for each batch size; more are an error of
// the graph.
int step_carry(struct step *, const char *name, struct shape, enum dtype, int *slot);
void step_carry_on(struct step *, int slot, int value);
static inline bool step_trains(const struct step *s)
{
    return s->program->kind == PROGRAM_TRAIN;
}
static inline bool step_is_sliced(const struct step *s)
{
    return step_trains(s) && !slices_whole(&s->setting->slices);
}

// ---- graphs of the task's programs, finished and added to the session; each function returns the number there or an error
int step_train(struct session *, const struct setting *, struct step_slots *, struct variant *, int program) MUST_CHECK;
// Builds a program without an update. *fold: the program to run once before evaluations, which folds running statistics into
// filters; NONE until one is needed.
int step_evaluate(struct session *, const struct setting *, struct step_slots *, struct variant *, int program,
                  int *fold) MUST_CHECK;
// Ends a step of several programs: advances the counter that schedules follow.
int step_advance(struct session *) MUST_CHECK;

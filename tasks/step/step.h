// SPDX-License-Identifier: Apache-2.0
// One step as a graph: the task supplies inputs, forward pass, loss and metrics; what is here does the rest, the same
// for every task: fuse, differentiate, update, count. A whole training step can be read in step_train (step.c).
#ifndef DAWN_TRAIN_STEP_H
#define DAWN_TRAIN_STEP_H

#include "tasks/step/task.h"

enum step_kind { STEP_TRAIN, STEP_EVALUATE, STEP_INFER };

// What the host reads and writes between steps. Slots, not names; NULL where no graph uses one.
struct feed_slots {
    struct slot *order;   // samples of this epoch, i32[count]
    struct slot *cursor;  // where the next batch begins, i32[1]
    struct slot *key;     // seed and epoch, for draws, i32[4]
    struct slot *field[DATASET_FIELDS];  // the resident data
    struct slot *input[FEED_FIELDS][ORDER_BUCKETS];  // a streamed batch
    struct slot *loss;    // sum of losses since it was reset, f32[1]
    struct slot *hits[METRICS_MAX], *tries[METRICS_MAX];  // i32[1]
};
enum { STEP_TABLES = 2 * RULES_MAX };
struct step_table {  // a schedule on the device: f32[steps]
    struct slot *slot;
    struct schedule schedule;
    double factor;
    double offset;   // it is read at step + offset
};
// What all graphs of one training share.
struct step_slots {
    struct feed_slots split[SPLIT_COUNT];
    struct step_table table[STEP_TABLES];
    int tables;
    struct slot *raw, *x, *answer;  // of inference
};

struct step {
    struct graph *g;
    const struct setting *setting;
    struct step_slots *slots;
    enum step_kind kind;
    enum split split;
    struct variant is;
    int turn;
    // ---- private
    int index;  // samples of the batch; NONE until asked
    int loss;
};

// ---- the language of tasks; each returns a value id
int step_index(struct step *);                            // i32[batch]: numbers of the batch's samples
int step_field(struct step *, const char *field);         // the whole field of the split, which is resident
int step_input(struct step *, const char *field);         // the batch's rows of it, resident or streamed
int step_key(struct step *);                              // of random draws in this epoch
int step_count(struct step *);                            // i32[1], another one in each step and part: of draws in it (dropout)
// What is differentiated, f32[1]. It is added up over steps for people: `terms` of it are in one step, as many as there are
// samples for a sum over the batch, 1 for a mean.
void step_loss(struct step *, int loss, int64_t terms);
int step_hits(struct step *, int metric);                 // a counter, i32[1], for g_correct
int step_tries(struct step *, int metric);                // of a METRIC_RATIO
// Hands a value to the task's judge after each batch of an evaluation; its first dimension is the batch. Does nothing in a
// training step.
void step_output(struct step *, int number, int value);
static inline bool step_trains(const struct step *s)
{
    return s->kind == STEP_TRAIN;
}

// ---- graphs, finished and added to the session; each returns the program's number or an error
int step_train(struct session *, const struct setting *, struct step_slots *, struct variant *, int turn) MUST_CHECK;
// *fold: a program that is run once before evaluations; it folds running statistics into filters. NONE until one is
// needed.
int step_evaluate(struct session *, const struct setting *, struct step_slots *, struct variant *, int *fold) MUST_CHECK;
int step_infer(struct session *, const struct setting *, struct step_slots *, int *fold, int *prepare, int *answer) MUST_CHECK;

#endif

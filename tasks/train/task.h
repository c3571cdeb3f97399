// SPDX-License-Identifier: Apache-2.0
// What a task says, and no more: inputs, forward graph, loss, metrics, models, recipes. Everything between the data and
// the record is shared: step.h builds graphs, trainer.h runs them, train.h records the run.
//
// A task writes one graph at a time through a `struct step`. It never sees a device, a slot's name or an optimiser's
// state. tasks/tasks.h lists the tasks.
#ifndef DAWN_TRAIN_TASK_H
#define DAWN_TRAIN_TASK_H

#include "data/feed/feed.h"
#include "runtime/optim.h"
#include "runtime/session.h"
#include "tasks/train/recipe.h"
#include "tasks/train/schedule.h"

struct step;

// ---- metrics

enum metric_kind {
    METRIC_COUNT,  // right answers, of all items
    METRIC_RATIO,  // hits of tries, both counted on the device; the score is in millionths
};
struct metric {
    const char *name, *unit;  // "top1", "%"
    enum metric_kind kind;
    bool lower_is_better;
};
enum { METRICS_MAX = 4 };

// ---- models

enum { MODEL_VALUES = 4 };
struct setting;
struct model {
    const char *name, *about;
    const char *recipe;  // its own default; NULL: the data set's
    bool half;           // published in f16: "auto" takes it where it is fast. Else bf16, which has the range of f32
    // Inputs and outputs are as the task says; values of graphs.
    void (*forward)(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
    // Before the first step: slots that are computed from the data (INIT_UPLOAD). NULL: there are none.
    int (*begin)(const struct setting *, struct session *, struct dataset *);
};

// ---- one training, as everybody who builds a part of it knows it

struct setting {
    const struct task *task;
    const struct recipe *recipe;
    const struct model *model;
    const struct dataset_facts *data;
    enum dtype dtype;        // of activations
    int64_t steps_an_epoch;
    int64_t steps;           // of the whole schedule
    const struct feed_choice *feed[SPLIT_COUNT];
    unsigned fuse;           // enum fuse_pattern
};

// How the graphs of one training differ: each variant is a graph of its own, because what a graph does not do costs
// nothing. Axes of size and length are one mechanism: progressive sizes, rectangular evaluation, length buckets.
struct variant {
    int64_t batch;
    int bucket;              // of the feed's batches
    int64_t height, width;   // of images; 0: not an axis of this task
    int64_t length;          // of sequences; 0: not an axis of this task
    uint32_t trains;         // bit i: parameters of group i train; frozen parts cost nothing on the backward pass
    bool renormalises;       // Muon brings filters back to their norm before the update
    int64_t terms;           // of the loss's sum, filled in by step_loss: the sum of losses divided by them is the mean
    const char *note;        // what is special, for people: "first layer too"; NULL: nothing
};

// ---- updates

// How some parameters are updated. Of several rules the first that matches counts.
struct rule {
    const char *name;            // of its learning rate's table: "filter"
    uint32_t groups, roles;      // bit i: parameters of group i, of enum role i
    enum recipe_optimiser optimiser;
    struct optim_settings settings;  // without values of graphs
    double rate;                 // the learning rate
    struct schedule share;       // share of it, over steps
    struct schedule norm;        // Muon: the norm that Newton-Schulz begins from
};
enum { RULES_MAX = 16 };
#define ROLES(role) (1u << (role))
#define ANY UINT32_MAX

// ---- the task

struct task {
    const char *name, *title;
    const struct metric *metrics;  // ends with name NULL; the first is the board's
    double target;                 // the board's
    const char *const *data_sets;  // NULL-terminated; the first is the real one
    const char *const *recipes;    // the default recipe of each data set
    const struct model *models;    // ends with name NULL
    int turns;                     // trained sets that step in turn on one batch (generator, critic); 0 means 1
    // How batches are made: buckets with their batches and, for a data set that is streamed, the fields of a batch and
    // their fill. NULL: resident, in batches of the recipe's size.
    void (*feed)(const struct setting *, enum split, struct feed_choice *);
    const char *length_field;      // of buckets by length; NULL: there are none
    // The variant of a step of the schedule: sizes and what trains. Batch and bucket come filled in.
    void (*variant)(const struct setting *, int64_t step, int turn, struct variant *);
    // The variant of an evaluation, likewise.
    void (*evaluation)(const struct setting *, struct variant *);
    // Training and evaluation: inputs, network, step_loss, counts of the metrics.
    void (*forward)(struct step *);
    // Inference at batch 1: a raw sample into the network's input, that input into answers.
    void (*prepare)(struct step *, int *raw, int *x);
    void (*answer)(struct step *, int x, int *logits);
    int (*rules)(const struct setting *, struct rule rules[RULES_MAX]);  // their number
};

int model_find(const struct task *, const char *name, const struct model **) MUST_CHECK;

#endif

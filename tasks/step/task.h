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
#include "tasks/recipe/recipe.h"
#include "tasks/recipe/schedule.h"
#include "tasks/step/task_files.h"

struct step;

// ---- metrics

enum metric_kind {
    METRIC_COUNT,  // right answers, of all items
    METRIC_RATIO,  // a value in millionths: hits of tries, both counted on the device, or what the task's judge says
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
    // Of weights that another program wrote (--weights): what their tensors' names begin with that the model's do not
    // ("bert."), and which of the model's parameters may be missing (a head: "fc.", all that begins so), because they are
    // trained anew. Both end with NULL; NULL: none.
    const char *const *prefixes, *const *fresh;
};

// ---- one training, as everybody who builds a part of it knows it

struct setting {
    const struct task *task;
    const struct recipe *recipe;
    const struct model *model;
    const struct dataset_facts *data;  // of the view, where the task has one
    struct task_files files;
    enum dtype dtype;        // of activations
    int64_t steps_an_epoch;
    int64_t steps;           // of the whole schedule
    const struct feed_choice *feed[SPLIT_COUNT];
    unsigned fuse;           // enum fuse_pattern
    bool single;             // inference: batches of one sample
};

enum { OUTPUTS_MAX = 4 };

// A batch may be computed in parts whose gradients are added up; the last one updates.
enum step_part { PART_WHOLE, PART_FIRST, PART_MIDDLE, PART_LAST };

// How the graphs of one training differ: each variant is a graph of its own, because what a graph does not do costs
// nothing. Axes of size and length are one mechanism: progressive sizes, rectangular evaluation, length buckets.
struct variant {
    int64_t batch;           // of one part
    enum step_part part;
    int bucket;              // of the feed's batches
    int64_t height, width;   // of images; 0: not an axis of this task
    int64_t length;          // of sequences; 0: not an axis of this task
    uint32_t trains;         // bit i: parameters of group i train; frozen parts cost nothing on the backward pass
    bool renormalises;       // Muon brings filters back to their norm before the update
    int64_t terms;           // of the loss's sum, filled in by step_loss: the sum of losses divided by them is the mean
    struct slot *output[OUTPUTS_MAX];  // of an evaluation, filled in by step_output
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

// ---- metrics that the host computes from outputs

// One batch of an evaluation. The first dimension of an output counts the samples; floats are f32, whatever type the graph
// computes in.
struct judged {
    const int32_t *sample;             // [count] numbers of the samples in the test split (of the view)
    int64_t count;
    int bucket;
    const void *output[OUTPUTS_MAX];   // as step_output handed them over; NULL: no such output
    struct shape shape[OUTPUTS_MAX];   // of the whole batch: [count, ...]
};
// begin, batch for each batch, end: one evaluation. Batches come bucket by bucket, each sample once. `end` is called once
// after every `begin` that succeeded and ends the state: with the scores to fill in (those of metrics that the graph does not
// count), or with NULL after a failure.
struct judge {
    int (*begin)(const struct setting *, struct dataset *stored, struct dataset *view, void **state);
    int (*batch)(void *state, const struct judged *);
    int (*end)(void *state, int64_t score[METRICS_MAX]);
    // The answers as a file, in the form that the task's own evaluator reads; between the last batch and end. NULL: none.
    int (*write)(void *state, const char *path);
    // The answer to a stored test sample as text, which free() ends; at the same time as `write`. NULL: answers are no texts.
    char *(*tell)(void *state, int64_t sample);
};

// ---- the task

struct task {
    const char *name, *title;
    const char *samples;           // what people call the samples: "images", "questions"; NULL: "samples"
    unsigned takes;                // files: TAKES_WEIGHTS, ...; another one is refused with a sentence
    const struct metric *metrics;  // ends with name NULL; the first is the board's
    double target;                 // the board's
    const char *const *data_sets;  // NULL-terminated; the first is the real one
    const char *const *recipes;    // the default recipe of each data set
    const struct model *models;    // ends with name NULL
    // What the task trains on where that is not the stored samples: windows of tokens, for example. The caller owns the new set
    // and closes it before the stored one; setting->data has the stored set's facts during the call, the view's from then
    // on. The record counts and digests what is stored. NULL: the stored samples.
    int (*view)(const struct setting *, struct dataset *stored, struct dataset **);
    // The stored test sample that a sample of the view is made of, where several can be (windows of one text): they are one
    // request. NULL: each is a request of its own.
    int64_t (*request)(const struct setting *, const struct dataset *view, int64_t sample);
    int turns;                     // trained sets that step in turn on one batch (generator, critic); 0 means 1
    // A data set of one question about a text, as somebody asks it (dawn infer TASK --ask). `like`: what was trained on; NULL:
    // it is not there. NULL: the task answers no questions.
    int (*ask)(const struct dataset *like, const char *text, size_t n, const char *question, struct dataset **);
    // How batches are made: buckets with their batches and, for a data set that is streamed, the fields of a batch and
    // their fill. NULL: resident, in batches of the recipe's size.
    void (*feed)(const struct setting *, enum split, struct feed_choice *);
    const char *length_field;      // of buckets by length; NULL: there are none
    // The bucket of each sample, where buckets go by something else than a length (the shape of an image) and the choice of
    // the feed has no bucket_of_epoch. NULL: they do not.
    int (*buckets)(const struct setting *, struct dataset *, enum split, int32_t *bucket);
    // The variant of a step of the schedule: sizes and what trains. Batch and bucket come filled in.
    void (*variant)(const struct setting *, int64_t step, int turn, struct variant *);
    // The variant of an evaluation, likewise.
    void (*evaluation)(const struct setting *, struct variant *);
    // Training and evaluation: inputs, network, step_loss, counts of the metrics, outputs for the judge.
    void (*forward)(struct step *);
    const struct judge *judge;     // metrics that the host computes; NULL: the graph counts them all
    // Inference at batch 1 of a resident data set of images: a raw sample into the network's input, that input into answers.
    // Without both, inference is the evaluation of a streamed sample (step.kind STEP_INFER), and its outputs are the answer.
    void (*prepare)(struct step *, int *raw, int *x);
    void (*answer)(struct step *, int x, int *logits);
    int (*rules)(const struct setting *, struct rule rules[RULES_MAX]);  // their number
};

static inline const char *task_samples(const struct task *task)
{
    return task->samples ? task->samples : "samples";
}
int model_find(const struct task *, const char *name, const struct model **) MUST_CHECK;

#endif

// SPDX-License-Identifier: Apache-2.0
// A task: what is trained on what, and what counts as having got there. One file a task, one table (task.c).
//
// A task writes graphs; it never sees a device. Between the graphs and the loop (trainer.h) there are only slots:
//   train.images train.labels train.order train.cursor train.key   the resident data and where the epoch stands
//   step  train.loss  train.correct                                counters of the device
//   test.images test.labels test.order test.cursor test.correct    the evaluation's
//   infer.image infer.x infer.logits                               one sample, raw, prepared, answered
//   schedule.*                                                     tables over steps, written by the trainer
#ifndef DAWN_TASK_H
#define DAWN_TASK_H

#include "data/dataset.h"
#include "runtime/session.h"
#include "tasks/cifar10/model.h"
#include "tasks/train/recipe.h"

struct task_build {
    const struct recipe *recipe;
    const struct model *model;
    const struct dataset_facts *data;
    enum dtype dtype;       // of activations
    int64_t steps;          // of the whole schedule
    unsigned fuse;          // enum fuse_pattern
};

// What tells apart the steps of a schedule: each has a graph of its own, because what a graph does not do costs nothing.
struct step_variant {
    int64_t side;        // of the images
    bool first_trains;   // the bias of the whitening layer is trained
    bool renormalises;   // filters are brought back to their norm before the update
};

struct task {
    const char *name, *title;
    const char *metric;               // "top1"
    double target;                    // the board's
    const char *const *data_sets;     // NULL-terminated; the first is the real one
    const char *const *recipes;       // the default recipe of each data set
    // Each adds finished graphs to the session and tells their numbers.
    int (*train)(struct session *, const struct task_build *, const struct step_variant *, int *step);
    // `fold` is run once before evaluations and inference: it folds running statistics into the filters these use.
    int (*evaluate)(struct session *, const struct task_build *, int64_t batch, int *fold, int *window);
    int (*infer)(struct session *, const struct task_build *, int *fold, int *preprocess, int *forward);
};

extern const struct task *const task_table[];  // ends with NULL
int task_find(const char *name, const struct task **) MUST_CHECK;

extern const struct task task_cifar10;

#endif

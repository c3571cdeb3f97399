// SPDX-License-Identifier: Apache-2.0
// Inference with trained weights: test samples one at a time, where latency and score come from the same pass, or the score
// alone, in batches.
#ifndef DAWN_INFER_H
#define DAWN_INFER_H

#include "runtime/device.h"
#include "tasks/record/result.h"
#include "tasks/step/task.h"

struct infer_options {
    const struct task *task;
    const char *data_name, *data_folder;
    struct dataset *data;     // borrowed; NULL: opened by name
    struct task_files files;  // weights: a file that names its model and recipe, or one of another program
    const struct recipe *recipe;  // of weights that do not name theirs; NULL: such weights are refused
    const char *device;
    int threads;
    enum recipe_precision precision;
    int64_t items, warmup;    // items 0: the whole test set
    int64_t views;            // forward passes a sample; 0: as many as the recipe of the weights says
    bool singles;             // one at a time; where a task is inferred from resident images, always
    const char *answers;      // a file for what the task's judge writes; NULL: none
    char **told;              // gets the answer to the first sample, which free() ends; NULL: nobody asks
    // Called between requests or batches, at most once a second, outside of every measured time. NULL: nobody watches.
    void (*progress)(void *context, const char *what, int64_t done, int64_t all);
    void *context;
    const char *trial;        // a short measurement that infer_tune compares, for people; NULL: the measurement itself
};

struct infer_figures {
    struct latency_times model_ns, whole_ns;  // without and with preprocessing
    int64_t items, warmup;
    int64_t score[METRICS_MAX];               // k of `items`, or millionths
    int threads;
    enum dtype dtype;
    struct recipe recipe;
    const char *device_type;   // "cpu"
    struct device_facts device;
    char digest[DIGEST_HEX];
    char imported[512];        // what was taken of another program's weights; "": they are our own
    bool counts_damaged;       // the next two were counted
    int64_t damaged;           // pictures
    char damaged_text[512];    // "": there were none
};

bool infer_is_timed(const struct infer_options *);  // the times of the figures are there
int infer_measure(const struct infer_options *, struct infer_figures *) MUST_CHECK;
// Measures 1 thread and all threads, and each precision that the device is fast in, and keeps the fastest. Sets only what was
// left open (threads 0, PRECISION_AUTO), and nothing where no times are asked for.
int infer_tune(struct infer_options *) MUST_CHECK;

#endif

// SPDX-License-Identifier: Apache-2.0
// The options that `dawn train`, `plan` and `bench` share: task, recipe, model, data and device. A command puts
// CHOOSE_OPTIONS(c) into its table and calls choose() after parsing.
#pragma once

#include "runtime/common/cli/options.h"
#include "tasks/tasks.h"

struct choose {
    const char *recipe, *model, *data, *precision, *device;
    struct option_list set;
    int64_t batch, threads;
    bool oversubscribe;
    struct task_files files;
};

#define CHOOSE_FILES(files)                                                                                            \
    {OPTION_PATH, 0, "weights", "FILE", "trained weights to begin with (safetensors)", &(files).weights, 0, 0},           \
    {OPTION_PATH, 0, "vocab", "FILE", "the vocabulary of the tokenizer", &(files).vocab, 0, 0},                    \
    {OPTION_PATH, 0, "vectors", "FILE", "vectors of words", &(files).vectors, 0, 0}

#define CHOOSE_WHAT(c)                                                                                                 \
    {OPTION_PATH, 0, "data", "NAME|DIR", "a data set of the task, or the folder that holds it", &(c).data, 0, 0},         \
    {OPTION_PATH, 0, "recipe", "NAME|FILE", "the recipe; \"dawn recipe\" lists them", &(c).recipe, 0, 0},         \
    {OPTION_TEXT, 0, "model", "NAME", "the network; \"dawn models\" lists them", &(c).model, 0, 0},                \
    {OPTION_LIST, 0, "set", "KEY=VALUE", "change one key of the recipe", &(c).set, 0, 0}

#define CHOOSE_WHERE(c)                                                                                                \
    {OPTION_TEXT, 0, "device", "NAME", "cuda, cuda:1, cpu, ref or null", &(c).device, 0, 0},                           \
    {OPTION_INT, 0, "threads", "N", "threads of the cpu device; 0: all", &(c).threads, 0, 1024},                      \
    {OPTION_FLAG, 0, "oversubscribe", NULL, "allow more threads than processors", &(c).oversubscribe, 0, 0},         \
    CHOOSE_FILES((c).files)

#define CHOOSE_OPTIONS(c)                                                                                              \
    CHOOSE_WHAT(c),                                                                                                    \
    {OPTION_INT, 0, "batch", "N", "samples per step; default: the recipe's", &(c).batch, 1, 1 << 20},                  \
    {OPTION_TEXT, 0, "precision", "P", "auto, f32, bf16 or f16; default: the recipe's", &(c).precision, 0, 0},       \
    CHOOSE_WHERE(c)

// The task, the data set's name and folder, and the recipe after all changes. The recipe's model belongs to the task.
struct chosen {
    const struct task *task;
    const char *data_name, *data_folder;  // folder NULL: the default one
    struct recipe recipe;
    struct task_files files;  // the task takes each given file
};
int choose(const struct choose *, const char *task, struct chosen *) MUST_CHECK;
// The target of the first metric: `given`, or the task's if it is NAN. A share lies between 0 and 1; a metric of another
// unit has any range.
int choose_target(const struct task *, double given, double *target) MUST_CHECK;
// The target that is harder to meet.
double choose_harder(const struct task *, double a, double b);
// Refuses more threads than the processors of the process unless --oversubscribe was given, because each step would wait for
// all threads.
int choose_threads(const struct choose *) MUST_CHECK;
// Opens the chosen data set. Opens noise of the same shape instead, and sets *is_noise, if `noise` is set, or if no folder
// was named and the default folder lacks the files. Noise is enough for plans and benchmarks.
int choose_open(const struct chosen *, bool noise, bool *is_noise, struct dataset **) MUST_CHECK;

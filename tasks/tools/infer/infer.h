// SPDX-License-Identifier: Apache-2.0
// Inference with trained weights: test samples one at a time, with latency and score from the same pass, or the score alone,
// in batches.
#pragma once

#include "runtime/device.h"
#include "submit/results/result.h"
#include "tasks/common/step/task.h"

struct match;
struct infer_playing {  // games (player.h)
    struct match *match;    // against the task's own program; NULL: against a person
    bool (*read)(struct text *line);
    void (*say)(const char *words);
};

struct infer_writing {  // a text that is written on
    const char *prompt;
    int64_t length, top;    // tokens to write; of the `top` most likely ones; 0: of all
    double temperature;     // divides the logits; 0: always the most likely one
    uint64_t seed;
    void (*print)(void *context, const char *text, size_t n);  // as it comes
    void *context;
};

struct infer_options {
    const struct task *task;
    const char *data_name, *data_folder;
    struct dataset *data;     // borrowed; NULL: opened by name
    struct task_files files;  // weights: a file that names its model and recipe, or a file of another program
    const struct recipe *recipe;  // for weights that name no recipe; NULL: such weights are refused
    const char *recipe_option;    // the option that chose `recipe` ("model"): refused for weights that name theirs; NULL: none
    const char *const *set;       // changes of it; for weights that name theirs, of keys that decode
    int sets;
    const char *device;
    int threads;
    enum recipe_precision precision;
    int64_t items, warmup;    // items 0: the whole test set
    int64_t views;            // forward passes a sample; 0: the number in the recipe of the weights
    bool singles;             // one at a time; implied if the task infers from resident images
    const char *answers;      // file for the answers of the task's judge; NULL: none
    const struct infer_writing *writing;  // only this; NULL: the test set
    const struct infer_playing *playing;  // only this; NULL: the test set
    struct text *lines;        // receives the answer to each sample as a line; NULL: not needed
    struct text *drawn;       // receives an SVG file that shows how the first answer was found; NULL: not needed
    struct exhibit *exhibit;  // receives the judge's charts of the answers, in a test of one at a time; NULL: not needed
    // Called between requests or batches, at most once per second, outside all measured times. May be NULL.
    void (*progress)(void *context, const char *what, int64_t done, int64_t all);
    void *context;
    const char *trial;        // names a short measurement of infer_tune for people; NULL: the final measurement
    int64_t limit_ns;         // a trial ends after that time with the requests so far, at least one; 0: no limit
};

struct infer_figures {
    struct latency_times model_ns, whole_ns;  // without and with preprocessing
    int64_t items, warmup;
    int64_t score[METRICS_MAX];               // k of `items`, or millionths
    int threads;
    enum dtype dtype;
    struct recipe recipe;
    char decoding[256];        // what differs from the recipe of the weights, all of it choices of decoding; "": nothing
    const char *device_type;   // "cpu"
    struct device_facts device;
    char digest[DIGEST_HEX];   // of the weights
    char scored[DIGEST_HEX];   // task->scored_digest; "": it has none
    char imported[512];        // tensors read from another program's weights; "": DAWN wrote the weights
    bool counts_damaged;       // the next two members are known
    int64_t damaged;           // number of damaged pictures
    char damaged_text[512];    // "": none
};

int infer_measure(const struct infer_options *, struct infer_figures *) MUST_CHECK;
// Measures 1 thread and all threads, and each precision that is fast on the device, and selects the fastest. Sets only open
// options (threads 0, PRECISION_AUTO), and nothing if no times are requested. A trial measures for a second at most.
int infer_tune(struct infer_options *) MUST_CHECK;

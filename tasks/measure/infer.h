// SPDX-License-Identifier: Apache-2.0
// Inference at batch 1 with trained weights: test images one at a time. Latency and accuracy come from the same pass.
#ifndef DAWN_INFER_H
#define DAWN_INFER_H

#include "runtime/device.h"
#include "tasks/record/result.h"
#include "tasks/train/task.h"

struct infer_options {
    const struct task *task;
    const char *data_name, *data_folder;
    const char *weights;      // a checkpoint, which names its model and recipe
    const char *device;
    int threads;
    enum recipe_precision precision;
    int64_t items, warmup;    // items 0: the whole test set
};

struct infer_figures {
    struct latency_times model_ns, whole_ns;  // without and with preprocessing
    int64_t items, correct, warmup;
    int threads;
    enum dtype dtype;
    struct recipe recipe;
    const char *device_type;   // "cpu"
    struct device_facts device;
    char digest[DIGEST_HEX];
};

int infer_measure(const struct infer_options *, struct infer_figures *) MUST_CHECK;
// Measures 1 thread and all threads, and each precision that the device is fast in, and keeps the fastest. Sets only what was
// left open (threads 0, PRECISION_AUTO).
int infer_tune(struct infer_options *) MUST_CHECK;

#endif

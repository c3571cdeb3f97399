// SPDX-License-Identifier: Apache-2.0
// GPUs for which a training can be predicted without one (dawn plan --on): their peaks, as facts of a device.
#ifndef DAWN_TASKS_GPUS_H
#define DAWN_TASKS_GPUS_H

#include "runtime/device.h"

struct gpu {
    const char *name, *title;       // "h200", "NVIDIA H200"
    double flops[DTYPE_COUNT];      // of matrix products, a second
    double bytes;                   // of a copy, read and written, a second
    double link;                    // bytes a second that it sends to other GPUs of its machine, and receives at the same time
    double memory;                  // bytes
    const char *source;             // where the figures come from
};
int gpu_find(const char *name, const struct gpu **) MUST_CHECK;
void gpu_facts(const struct gpu *, struct device_facts *);  // instead of those of the device that is here

// Seconds for which a step of `gpus` GPUs is longer because they add up gradients of so many bytes: a ring sends each byte
// nearly twice, and nothing of it overlaps the arithmetic.
double gpu_exchange_seconds(const struct gpu *, int64_t gpus, double bytes);

#endif

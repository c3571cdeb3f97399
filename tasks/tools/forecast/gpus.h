// SPDX-License-Identifier: Apache-2.0
// GPUs for which dawn plan --on predicts a training without the GPU: their peaks, as facts of a device.
#pragma once

#include "runtime/device.h"

struct gpu {
    const char *name, *title;       // "h200", "NVIDIA H200"
    double flops[DTYPE_COUNT];      // FLOPs a second of matrix products
    double bytes;                   // bytes per second of a copy, read and written
    double link;                    // bytes per second sent to other GPUs of the machine, while as many are received
    double memory;                  // in bytes
    const char *source;             // source of the figures
};
int gpu_find(const char *name, const struct gpu **) MUST_CHECK;
void gpu_facts(const struct gpu *, struct device_facts *);  // replaces the facts of the present device

// Seconds that the exchange of this many bytes of gradients adds to a step of `gpus` GPUs. A ring sends each byte nearly
// twice, and nothing overlaps the arithmetic.
double gpu_exchange_seconds(const struct gpu *, int64_t gpus, double bytes);

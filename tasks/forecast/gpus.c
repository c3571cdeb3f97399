// SPDX-License-Identifier: Apache-2.0
// The table of GPUs. Rates are those of large matrices and large copies; smaller ones are slower.
#include "tasks/forecast/gpus.h"

#include "runtime/base/text.h"

#include <stdio.h>
#include <string.h>

static const struct gpu gpus[] = {
    {.name = "h200", .title = "NVIDIA H200", .flops = {[F32] = 60e12, [BF16] = 790e12, [F16] = 790e12}, .bytes = 4.3e12,
     .link = 450e9, .memory = 143771.0 * 1048576,
     .source = "16-bit products and copies as other programs measured them on such a GPU, f32 assumed, links as in its data "
               "sheet"},
    {.name = "v100", .title = "NVIDIA V100 (SXM2, 16 GB)", .flops = {[F32] = 15.7e12, [F16] = 125e12}, .bytes = 0.9e12,
     .link = 150e9, .memory = 16160.0 * 1048576, .source = "all figures as in its data sheet"},
};
enum { GPUS = sizeof gpus / sizeof *gpus };

int gpu_find(const char *name, const struct gpu **into)
{
    const char *names[GPUS + 1] = {NULL};
    for (int i = 0; i < GPUS; i++) {
        *into = &gpus[i];
        names[i] = gpus[i].name;
        if (!strcmp(name, gpus[i].name)) return 0;
    }
    return fail_unknown(ERR_USAGE, "GPU with known peaks", name, names, NULL);
}

void gpu_facts(const struct gpu *gpu, struct device_facts *f)
{
    *f = (struct device_facts){.threads = 1, .peak_bytes = gpu->bytes, .memory = (size_t)gpu->memory};
    snprintf(f->name, sizeof f->name, "%s", gpu->title);
    snprintf(f->gpu, sizeof f->gpu, "%s", gpu->title);
    for (int t = 0; t < DTYPE_COUNT; t++) {
        f->peak_flops[t] = gpu->flops[t];
        f->fast[t] = t != F32 && gpu->flops[t] > gpu->flops[F32];
    }
}

double gpu_exchange_seconds(const struct gpu *gpu, int64_t gpus_used, double bytes)
{
    return gpus_used > 1 ? 2 * (double)(gpus_used - 1) / (double)gpus_used * bytes / gpu->link : 0;
}

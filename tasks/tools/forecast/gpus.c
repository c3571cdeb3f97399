// SPDX-License-Identifier: Apache-2.0
// The table of GPUs. Rates hold for large matrices and large copies; smaller ones are slower.
#include "tasks/tools/forecast/gpus.h"

#include "runtime/common/base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHEET "dense figures as in its data sheet"  // without sparsity

static const struct gpu gpus[] = {
    {.name = "h200", .title = "NVIDIA H200", .flops = {[F32] = 60e12, [BF16] = 790e12, [F16] = 790e12}, .bytes = 4.3e12,
     .link = 450e9, .memory = 143771.0 * 1048576,
     .source = "16-bit products and copies as other programs measured them on such a GPU, f32 assumed, links as in its data "
               "sheet"},
    {.name = "v100", .title = "NVIDIA V100 (SXM2, 16 GB)", .flops = {[F32] = 15.7e12, [F16] = 125e12}, .bytes = 0.9e12,
     .link = 150e9, .memory = 16160.0 * 1048576, .source = SHEET},
    // NVIDIA A100 80GB SXM, data sheet: 19.5 TFLOPS f32, 312 bf16 and f16 (dense), 2,039 GB/s, NVLink 600 GB/s both ways.
    {.name = "a100", .title = "NVIDIA A100 (SXM4, 80 GB)", .flops = {[F32] = 19.5e12, [BF16] = 312e12, [F16] = 312e12},
     .bytes = 2.039e12, .link = 300e9, .memory = 80e9, .source = SHEET},
    // NVIDIA H100 SXM, data sheet: 67 TFLOPS f32, 1,979 bf16 and f16 with sparsity, which is half of it dense, 3.35 TB/s,
    // NVLink 900 GB/s both ways.
    {.name = "h100", .title = "NVIDIA H100 (SXM5, 80 GB)", .flops = {[F32] = 67e12, [BF16] = 989.5e12, [F16] = 989.5e12},
     .bytes = 3.35e12, .link = 450e9, .memory = 80e9, .source = SHEET},
    // NVIDIA L4, data sheet: 30.3 TFLOPS f32, 242 bf16 and f16 with sparsity, 300 GB/s, PCIe 64 GB/s both ways. (A T4 is not
    // here: NVIDIA publishes two figures for its memory, 300 and 320 GB/s.)
    {.name = "l4", .title = "NVIDIA L4 (24 GB)", .flops = {[F32] = 30.3e12, [BF16] = 121e12, [F16] = 121e12}, .bytes = 0.3e12,
     .link = 32e9, .memory = 24e9, .source = SHEET},
};
enum { GPUS = sizeof gpus / sizeof *gpus };

int gpu_find(const char *name, const struct gpu **into)
{
    const char *names[GPUS + 1] = {NULL};
    for (int i = 0; i < GPUS; i++) {
        *into = &gpus[i];
        names[i] = gpus[i].name;
        if (!strcasecmp(name, gpus[i].name)) return 0;
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

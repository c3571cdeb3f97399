// SPDX-License-Identifier: Apache-2.0
// Compiled plans of the CUDA device: functions of device.h, listed in cuda.c's table.
#ifndef DAWN_CUDA_PROGRAM_H
#define DAWN_CUDA_PROGRAM_H

#include "runtime/cuda/cuda.h"

int cuda_program_compile(struct device *, const struct plan *, void *slab, struct program **) MUST_CHECK;
int cuda_program_run(struct program *) MUST_CHECK;
int cuda_program_profile(struct program *, int64_t *ns) MUST_CHECK;
void cuda_program_release(struct program *);

// The dependencies of a program, for tests: task 0 copies weights, task i + 1 is step i (cuda_lanes.h).
struct cuda_task;
const struct cuda_task *cuda_program_tasks(const struct program *, int *tasks);


#endif

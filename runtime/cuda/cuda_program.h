// SPDX-License-Identifier: Apache-2.0
// Compiled plans of the CUDA device: functions of device.h, listed in cuda.c's table.
#pragma once

#include "runtime/cuda/cuda.h"

int cuda_program_compile(struct device *, const struct plan *, void *slab, struct program **) MUST_CHECK;
int cuda_program_run(struct program *) MUST_CHECK;
int cuda_program_profile(struct program *, int64_t *ns) MUST_CHECK;
void cuda_program_release(struct program *);

// For tests: the tasks of a program (task 0 copies weights, task i + 1 is step i), with their dependencies if nodes may run
// concurrently (cuda_lanes.h); its launches (cuda_merge.h); the number of nodes of its captured graph.
struct cuda_task;
const struct cuda_task *cuda_program_tasks(const struct program *, int *tasks);
struct cuda_merge;
const struct cuda_merge *cuda_program_launches(const struct program *);
size_t cuda_program_nodes(const struct program *);

// SPDX-License-Identifier: Apache-2.0
// Copies to the GPU that are concurrent with its programs. A staged copy goes from pinned memory into a shadow buffer on a
// stream of its own; before the next program the shadow is copied to its target on the GPU. Queued programs still read the
// old bytes, captured graphs keep their addresses, and the host does not wait.
//
// Cost: one more copy of every staged range in GPU memory, and one copy on the GPU a run (computed, not measured: 150 MB at
// 3 TB/s, read and written, is 0.1 ms). A shadow is allocated when its range is staged first; the plan does not count it.
#pragma once

#include "runtime/cuda/cuda.h"

int cuda_stage(struct device *, void *to, const void *from, size_t bytes) MUST_CHECK;
int cuda_stage_done(struct device *) MUST_CHECK;
int cuda_stage_host_alloc(struct device *, size_t bytes, void **) MUST_CHECK;
void cuda_stage_host_free(struct device *, void *);

// Moves staged bytes to their place, before any later work of the device's stream.
int cuda_stage_apply(struct cuda_device *) MUST_CHECK;
// Call before freeing memory that may be a target of staged copies: applies, waits, drops all shadows.
void cuda_stage_forget(struct cuda_device *);
void cuda_stage_close(struct cuda_device *);

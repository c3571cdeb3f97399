// SPDX-License-Identifier: Apache-2.0
// Copies to the GPU that run beside its work: a staged copy goes on a stream of its own from pinned memory into a shadow
// buffer, and the next program first moves it where it belongs, on the GPU. So programs that are queued already still read
// the old bytes, captured graphs keep their addresses, and the host waits for nothing.
//
// Cost: one more copy of every staged range in the GPU's memory, and moving it there (150 MB in some 0.1 ms at 3 TB/s). A
// shadow is taken when a range is staged for the first time, outside of the plan's sums.
#ifndef DAWN_CUDA_STAGE_H
#define DAWN_CUDA_STAGE_H

#include "runtime/cuda/cuda.h"

int cuda_stage(struct device *, void *to, const void *from, size_t bytes) MUST_CHECK;
int cuda_stage_done(struct device *) MUST_CHECK;
int cuda_stage_host_alloc(struct device *, size_t bytes, void **) MUST_CHECK;
void cuda_stage_host_free(struct device *, void *);

// Puts what was staged in its place, before anything that the device's stream is given next.
int cuda_stage_apply(struct cuda_device *) MUST_CHECK;
// Before memory is given back that may have been staged into: applies, waits, drops all shadows.
void cuda_stage_forget(struct cuda_device *);
void cuda_stage_close(struct cuda_device *);

#endif

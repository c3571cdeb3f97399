// SPDX-License-Identifier: Apache-2.0
// 16-bit copies of f32 parameters, for operators that read their weights at the precision of the activations (cuda_op.copies).
// The first reader in a graph of a value and a type owns the copy, as bytes that its node keeps (device.h); whoever reads the
// same later, with no write in between, reads the owner's. Copies of slots that hold what they held when the program began
// are made by one launch at its beginning; of those, the ones of slots that the program never writes are made only when
// the slot has changed, outside the captured graph. What the program itself makes or writes is copied right before its
// owner runs.
#ifndef DAWN_CUDA_WEIGHTS_H
#define DAWN_CUDA_WEIGHTS_H

#include "runtime/cuda/cuda.h"

struct cuda_weights;

// Bytes that the copies owned by a node take (device_type.kept).
size_t cuda_weights_kept(struct device *, const struct graph *, const struct node *);
// Settles every copy of a plan; memory comes from the arena.
struct cuda_weights *cuda_weights_new(struct cuda_device *, const struct plan *, void *slab, struct arena *);
// What goes to the stream: `refresh` before each run and never captured, `begin` first thing in a run, `before` ahead
// of the step at that position, where its work goes.
int cuda_weights_refresh(struct cuda_weights *) MUST_CHECK;
int cuda_weights_begin(struct cuda_weights *) MUST_CHECK;
int cuda_weights_before(struct cuda_weights *, int position, cudaStream_t) MUST_CHECK;

// The bytes that are read and written by the copies at that position, or at the beginning (NONE). `into` may be NULL: counts.
struct cuda_touch;
int cuda_weights_touches(const struct cuda_weights *, int position, struct cuda_touch *into);
// Whether input i of a step is read through a copy, and if so where that lies.
bool cuda_weights_read(const struct cuda_step *, int i, struct cuda_touch *into);

#endif

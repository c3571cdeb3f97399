// SPDX-License-Identifier: Apache-2.0
// 16-bit copies of f32 parameters, for operators that read weights at the precision of the activations (cuda_op.copies). The
// first reader of a value and a type in a graph owns the copy, in the bytes that its node keeps (device.h). Later readers share
// the copy if nothing writes the value in between. Three moments exist:
//   - slots that the program never writes: copied outside of the captured graph, only if the slot changed
//   - other slots that still hold their value from the start of the program: one launch at the start
//   - values that the program itself computes or writes: copied right before the owner runs
// All programs of a session share one block for their copies, sized for the program that needs most: a program that runs after
// another one copies again.
// Rows of zeros follow the copy of a matrix, up to a multiple of 8 rows, so that a product can have that many columns.
#pragma once

#include "runtime/cuda/cuda.h"

struct cuda_weights;

// Bytes of the copies that a node owns (device_type.kept).
size_t cuda_weights_kept(struct device *, const struct graph *, const struct node *);
// Plans every copy of a plan; memory comes from the arena.
struct cuda_weights *cuda_weights_new(struct cuda_device *, const struct plan *, void *slab, struct arena *);
// These launch copies: `refresh` before each run, never captured; `begin` at the start of a run; `before` ahead of the step at
// that position, on its stream.
int cuda_weights_refresh(struct cuda_weights *) MUST_CHECK;
int cuda_weights_begin(struct cuda_weights *) MUST_CHECK;
int cuda_weights_before(struct cuda_weights *, int position, cudaStream_t) MUST_CHECK;

// The bytes that the copies at that position, or at the start (NONE), read and write. With `into` NULL, only counts.
struct cuda_touch;
int cuda_weights_touches(const struct cuda_weights *, int position, struct cuda_touch *into);
// True if input i of a step is read through a copy; *into then describes the copy.
bool cuda_weights_read(const struct cuda_step *, int i, struct cuda_touch *into);

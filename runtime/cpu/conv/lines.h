// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions with large windows and few channels, as of spectrograms: a row of a window at a time, as products of
// rows that overlap in memory. oneDNN 2.6 takes three to nine times as long for dw, and up to twice as long for dx in f32
// (docs/performance.md). Forward and for dx in bf16 it is as fast or faster.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"

bool lines_fit(const struct dnnl_conv *);  // false: use the general kernels
size_t lines_bytes(const struct dnnl_conv *, int threads);  // scratch
// in: w and dy for dx; x and dy for dw.
void lines_run(const struct loops *, const struct dnnl_conv *, int threads, const void *const in[2], void *to, void *work);

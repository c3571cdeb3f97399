// SPDX-License-Identifier: Apache-2.0
// Convolutions with large windows and few channels, as of spectrograms, and their gradients: a row of a window at a time, as
// products of rows that overlap in memory. oneDNN 2.6 takes three to nine times as long for dw, up to twice as long for dx in
// f32, and with AVX2 three times as long forward (docs/performance.md). With AVX-512 it is as fast or faster forward, and in bf16
// for dx.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"

bool lines_fit(const struct loops *, const struct dnnl_conv *);  // false: use the general kernels
size_t lines_bytes(const struct loops *, const struct dnnl_conv *, int threads);  // scratch
// in: x, w and a bias or NULL forward; w and dy for dx; x and dy for dw.
void lines_run(const struct loops *, const struct dnnl_conv *, int threads, void *const in[3], void *to, void *work);

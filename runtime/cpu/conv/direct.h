// SPDX-License-Identifier: Apache-2.0
// Convolution by a kernel of DAWN for batches, also for the gradient of x (as a convolution with transposed filters). It skips
// taps outside the image, which saves two fifths at 3 x 3 outputs (docs/performance.md).
#pragma once

#include "runtime/cpu/product/dnnl_prim.h"

// True if the kernel supports this forward convolution on this CPU; otherwise use oneDNN.
bool direct_fits(const struct dnnl_conv *);
size_t direct_bytes(const struct dnnl_conv *);  // packed filters
// Filters to [block of k][row of taps][chunk of units of channels][tap][unit][k of the block]; the last block has a multiple of
// 16, and the last chunk is filled up with zeros. If transposed, w is the forward convolution's, which is [c][r][s][k] here.
struct direct_order {
    int64_t k, units;  // of a block; of a chunk, 0: all. direct_run()'s are 64 and 0
};
void direct_pack(const struct dnnl_conv *, struct direct_order, bool transposed, const float *w, void *filters);
// y = act(x * w + bias)
void direct_run(const struct dnnl_conv *, bool transposed, const void *x, const float *w, const float *bias, void *y,
                void *work);

// SPDX-License-Identifier: Apache-2.0
// Convolution by an own kernel for batches, also for the gradient of x (as a convolution with turned filters). It
// computes no tap that falls outside the image, which at 3 x 3 outputs saves two fifths (docs/performance.md).
#ifndef DAWN_CPU_DIRECT_H
#define DAWN_CPU_DIRECT_H

#include "runtime/cpu/dnnl_prim.h"

// Whether the kernel is there for this forward convolution on this processor; else oneDNN does it.
bool direct_fits(const struct dnnl_conv *);
size_t direct_bytes(const struct dnnl_conv *);  // packed filters
// y = act(x * w + bias). Turned: w is that of the forward convolution, [c][r][s][k] as seen from here.
void direct_run(const struct dnnl_conv *, bool turned, const void *x, const float *w, const float *bias, void *y,
                void *work);

#endif

// SPDX-License-Identifier: Apache-2.0
// Gradient of a convolution's filters by a kernel of DAWN: oneDNN 2.6's reaches 312 to 620 GFLOP/s in bf16 where its forward
// kernels reach 850 (docs/performance.md). Needs AVX-512, and avx512_bf16 for bf16.
#pragma once

#include "runtime/cpu/product/dnnl_prim.h"

// True if the kernel supports this convolution on this CPU; otherwise use oneDNN.
bool wgrad_fits(const struct dnnl_conv *);
size_t wgrad_bytes(const struct dnnl_conv *, int threads);  // scratch
// dw[k,r,s,c] = sum over n,p,q of dy[n,p,q,k] * x[n, p*stride + r - before, q*stride + s - before, c]
void wgrad_run(const struct dnnl_conv *, int threads, const void *x, const void *dy, float *dw, void *work);

// SPDX-License-Identifier: Apache-2.0
// Convolutions and small products in bf16 on processors that multiply tiles of matrices (Intel's AMX): 16 times the products of
// their vector instructions in the same time. So little time remains for the products that the direct form is as fast as
// Winograd's, and it rounds less: these kernels are chosen before winograd.h, direct.h and wgrad.h.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "runtime/cpu/product/pairs_product.h"

// True if the processor has tiles and the system lets this process use them, unless DAWN_ISA is set. All
// else here needs it.
bool tiles_exist(void);

// True if the kernel supports this forward convolution; otherwise use another.
bool tiles_fit(const struct dnnl_conv *);
size_t tiles_pack_bytes(const struct dnnl_conv *);  // packed filters
size_t tiles_bytes(const struct dnnl_conv *, int threads);
// If transposed, w is the forward convolution's, which is [c][r][s][k] here.
void tiles_pack(const struct dnnl_conv *, bool transposed, const float *w, void *filters);
void tiles_run(const struct dnnl_conv *, int threads, const void *filters, const struct conv_data *, void *work);

bool tiles_wgrad_fit(const struct dnnl_conv *);
size_t tiles_wgrad_bytes(const struct dnnl_conv *, int threads);
// dy_at: positions, if y is pooled
void tiles_wgrad_run(const struct dnnl_conv *, int threads, const void *x, const void *dy, const uint8_t *dy_at, float *dw,
                     void *work);

// Units are pairs of bf16, as of pairs_product(); columns are a multiple of 16.
void tiles_product(const struct product *);

// A product of f32 units, or of pairs by tiles or vectors.
static inline void multiply_units(const struct loops *loops, bool pairs, bool tiles, const struct product *p)
{
    if (!pairs) loops->product(p);
    else (tiles ? tiles_product : pairs_product)(p);
}

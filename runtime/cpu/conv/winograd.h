// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution F(2x2, 3x3) in bf16: 16 products for four outputs of a 3x3 filter instead of 36. Both factors are
// rounded to bf16 after their transforms, so results have about twice the rounding error of direct.c (docs/performance.md).
// conv_attr.winograd allows it.
#pragma once

#include "runtime/cpu/product/dnnl_prim.h"

// True if the kernel supports this convolution on this CPU and is faster than the direct one. The answer depends on the shape
// alone, so that the same graph gives the same bytes.
// `kept`: its filters are packed once and used many times.
bool winograd_fits(const struct dnnl_conv *, bool kept);  // a forward one; as direct_fits()
size_t winograd_pack_bytes(const struct dnnl_conv *);   // packed filters
size_t winograd_bytes(const struct dnnl_conv *, int threads);
// If transposed, w is the forward convolution's, which is [c][r][s][k] here.
void winograd_pack(const struct dnnl_conv *, bool transposed, const float *w, void *filters);
void winograd_run(const struct dnnl_conv *, int threads, const void *filters, const struct conv_data *, void *work);

bool winograd_wgrad_fits(const struct dnnl_conv *);
size_t winograd_wgrad_bytes(const struct dnnl_conv *, int threads);
// dy_at: positions, if y is pooled
void winograd_wgrad_run(const struct dnnl_conv *, int threads, const void *x, const void *dy, const uint8_t *dy_at, float *dw,
                        void *work);

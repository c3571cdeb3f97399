// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution F(4x4, 3x3) in f32, on every instruction set: 36 products for sixteen outputs of a 3x3 filter instead of
// 144. Results have about the rounding error of a direct convolution (docs/decisions/winograd.md), so no recipe key selects it.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"

enum { WINOGRAD4_SPOTS = 36, WINOGRAD4_CHANNELS = 2048 };

// True if the kernel supports this convolution and is faster than a direct one. The answer depends on the shape and on the
// instruction set, so that the same graph gives the same bytes.
// `kept`: its filters are packed once and used many times.
bool winograd4_fits(const struct loops *, const struct dnnl_conv *, bool kept);  // a forward one
size_t winograd4_pack_bytes(const struct loops *, const struct dnnl_conv *);  // packed filters
size_t winograd4_bytes(const struct loops *, const struct dnnl_conv *, int threads);
// If transposed, w is the forward convolution's, which is [c][r][s][k] here.
void winograd4_pack(const struct loops *, const struct dnnl_conv *, bool transposed, const float *w, void *filters);
void winograd4_run(const struct loops *, const struct dnnl_conv *, int threads, const void *filters, const struct conv_data *,
                   void *work);

bool winograd4_wgrad_fits(const struct loops *, const struct dnnl_conv *);
size_t winograd4_wgrad_bytes(const struct loops *, const struct dnnl_conv *);
void winograd4_wgrad_run(const struct loops *, const struct dnnl_conv *, const float *x, const float *dy, float *dw, void *work);

// ---- shared by winograd4*.c
static inline int64_t winograd4_tiles(int64_t outputs) { return (outputs + 3) / 4; }
static inline int64_t winograd4_panels(const struct loops *loops, int64_t channels)
{
    return (channels + loops->panel_lanes - 1) / loops->panel_lanes;
}

// True if a kernel can compute this 3 x 3 convolution, and is faster than a direct one.
bool winograd4_shape(const struct loops *, const struct dnnl_conv *);
// The first channel of side x side pixels from (top, left) on, of an image of h x w pixels; zeros outside.
void winograd4_pixels(const float *image, int64_t h, int64_t w, int64_t channels, int64_t top, int64_t left, int side,
                      const float **pixel);

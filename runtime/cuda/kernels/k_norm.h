// SPDX-License-Identifier: Apache-2.0
// Batch norm on the device, with fused operators. A tensor is rows (pixels) of channels; a thread owns a few adjacent channels,
// keeps their coefficients in registers and walks down the rows.
#pragma once

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernel.h"

// The split of rows over threads. A block is `slots` rows of `tile` threads of `per` channels each. `tiles` blocks cover a row
// that is too long for one block; `blocks` of them cover the rows together.
struct k_norm_walk {
    uint32_t rows;
    int c, per, tile, tiles, slots, blocks;
};

// A thread has 16 bytes of channels, if they are divisible. K_NORM_RESIDENT: resident blocks per processor of the forward passes
// (at most 64 registers). K_NORM_BACK_RESIDENT: of the backward passes, whose coefficients of eight channels need 128 registers;
// with 16 bytes of two tensors and two rows, half as many threads keep as many bytes in flight. K_NORM_AHEAD: rows that a
// thread loads before it uses the first. K_NORM_BLOCKS is 4 blocks per multiprocessor of an H100. It is a constant because each
// block leaves a partial sum, and the order of sums must not depend on the GPU.
enum { K_NORM_RESIDENT = 4, K_NORM_BACK_RESIDENT = 2, K_NORM_AHEAD = 4, K_NORM_THREADS = 256, K_NORM_BLOCKS = 528 };

static inline struct k_norm_walk k_norm_walk_of(int64_t rows, int64_t c, int wide)
{
    struct k_norm_walk w = {(uint32_t)rows, (int)c, c % wide == 0 ? wide : 1, 0, 0, 0, 0};
    int across = (int)c / w.per;
    w.tiles = (int)k_divide_up(across, K_NORM_THREADS);
    w.tile = (int)k_divide_up(across, w.tiles);
    w.slots = K_NORM_THREADS / w.tile;
    int64_t each = (int64_t)w.slots * K_NORM_AHEAD, most = K_NORM_BLOCKS / w.tiles;
    int64_t blocks = k_divide_up(rows, each);
    if (blocks > most) blocks = most;
    w.blocks = (int)(blocks < 1 ? 1 : blocks);
    return w;
}

// The tensor around a 2x2 max pool: x is h by w, the pooled one p by q; an odd last row or column is dropped.
struct k_norm_pool {
    bool on;
    int64_t h, w;
    struct k_divide p, q;
};

// Rows of x[B,T,..,C] that count: rows of frames below the length of their sample. length NULL: all rows.
struct k_norm_frames {
    const int32_t *length;
    uint32_t samples, frames, frame;  // frames per sample; rows per frame
};

// ---- forward: statistics of x (or of the pooled x, which is also written), running values, y
struct k_norm {
    const void *x;
    void *pooled, *y;  // either may be NULL; y may be pooled
    uint8_t *at;       // may be NULL
    const void *shortcut;  // added before the activation; may be NULL
    const float *old_mean, *old_var, *scale, *bias;  // scale, bias: may be NULL
    float *run_mean, *run_var;                       // may be NULL; may be the old ones
    float *mean, *rstd;                              // never NULL: results, or scratch
    float *shift, *partial;                          // scratch
    enum dtype type;
    enum act act;
    float eps, momentum;
    struct k_norm_walk walk;
    struct k_norm_pool pool;
    struct k_norm_frames frames;
};
K_LAUNCHER(k_norm);

// y = act((x - mean) * rstd * scale + bias + shortcut); with `var` instead of rstd: 1 / sqrt(var + eps). y may be x.
struct k_norm_apply {
    const void *x, *shortcut;                       // shortcut: may be NULL
    void *y;
    const float *mean, *rstd, *var, *scale, *bias;  // one of rstd and var; scale, bias: may be NULL
    enum dtype type;
    enum act act;
    float eps;
    struct k_norm_walk walk;
    struct k_norm_frames frames;
};
K_LAUNCHER(k_norm_apply);

// w'[k,..] = w[k,..] * f, bias' = (before - mean) * f + bias, f = scale / sqrt(var + eps)
struct k_norm_fold {
    const float *w, *mean, *var, *scale, *bias, *before;  // the last three may be NULL
    float *to, *to_bias;                                  // may be NULL
    int64_t filters, each;
    float eps;
};
K_LAUNCHER(k_norm_fold);

// ---- backward: dx (with a pool: through the pool; x, dy and at are then the pooled ones), dscale, dbias
struct k_norm_grad {
    const void *dy, *x;
    const void *y;                                 // with a shortcut: the slope is taken at y; else NULL
    const uint8_t *at;
    void *dx;                                      // may be NULL
    void *dz;                                      // with y: the gradient of the shortcut, or NULL
    const float *mean, *rstd, *scale, *bias;       // scale, bias: may be NULL
    float *dscale, *dbias;                         // may be NULL
    float *a, *p, *q, *partial;                    // scratch
    enum dtype type;
    enum act act;
    struct k_norm_walk walk;
    struct k_norm_pool pool;
    struct k_norm_frames frames;
};
K_LAUNCHER(k_norm_grad);

// ---- scratch: a few arrays of channels, then two partial sums per channel and block
enum { K_NORM_ARRAYS = 3 };
static inline size_t k_norm_array(const struct k_norm_walk *w)  // in floats, rounded up to keep the next array aligned
{
    return (size_t)k_divide_up(w->c, 16) * 16;
}
static inline size_t k_norm_scratch(const struct k_norm_walk *w)  // in bytes
{
    return sizeof(float) * (K_NORM_ARRAYS * k_norm_array(w) + 2 * (size_t)w->c * (size_t)w->blocks);
}

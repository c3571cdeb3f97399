// SPDX-License-Identifier: Apache-2.0
// Convolution x[N,H,W,C] * w[K,R,S,C/groups] -> y[N,P,Q,K] and its two gradients, for problems that cuDNN does not take: any
// channel counts, strides, padding per side and groups. Deterministic. Products are of elements of `type`; sums are f32.
#pragma once

#include "runtime/cuda/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct k_conv_shape {
    int n, h, w, c, p, q, k, r, s, groups;  // n p q, n h w and r s max(c, k) / groups are below 2^31: k_conv_fits()
    int stride[2], before[2];               // rows, columns
};

struct k_conv_forward {
    struct k_conv_shape shape;
    const void *x, *w;
    const float *bias;         // [k], or NULL
    void *y;
    enum dtype type;           // of x, w and y
    enum act act;              // y = act(conv + bias)
};
K_LAUNCHER(k_conv_forward);

struct k_conv_dgrad {
    struct k_conv_shape shape;
    const void *w, *dy;
    void *dx;
    enum dtype type;
};
K_LAUNCHER(k_conv_dgrad);

struct k_conv_wgrad {
    struct k_conv_shape shape;
    const void *x, *dy;
    float *dw;
    void *work;                // k_conv_wgrad_work() bytes
    enum dtype type;           // of x and dy
};
K_LAUNCHER(k_conv_wgrad);
size_t k_conv_wgrad_work(const struct k_conv_shape *);

// True if the sizes fit the 32-bit indices of these kernels.
bool k_conv_fits(const struct k_conv_shape *);
// True if the forward kernel for few input channels takes it (one pass over x and y, filters in shared memory).
bool k_conv_is_stem(const struct k_conv_shape *);

#ifdef __cplusplus
}
#endif

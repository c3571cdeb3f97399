// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing with half-pixel centres, and its transpose. Position i of `to` lies at ((2 i + 1) from - to) / (2 to) of
// `from`: whole numbers, so positions and weights are as exact as f32 allows. They are computed where they are used; sides are
// at most K_RESIZE_MOST, which keeps the products within 32 bits.
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

enum { K_RESIZE_MOST = 16384, K_RESIZE_FEW = 4 };  // FEW: channels per thread if they cannot be loaded together

struct k_resize {      // x[N,h,w,C] -> y[N,p,q,C]; backward: y -> x, with x large
    const void *from;
    void *to;
    enum dtype type;
    int64_t images;
    int h, w, p, q;    // sizes of the resized tensor and of the result, in both directions
    int64_t channels;
};
K_LAUNCHER(k_resize);
K_LAUNCHER(k_resize_grad);

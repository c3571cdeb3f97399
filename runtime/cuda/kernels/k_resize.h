// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing with half-pixel centres, and its transpose. Place i of `to` lies at ((2 i + 1) from - to) / (2 to) of
// `from`: whole numbers, so that places and weights are as exact as f32 holds them. They are worked out where they are
// needed; sides are at most K_RESIZE_MOST, which keeps the products within 32 bits.
#ifndef DAWN_K_RESIZE_H
#define DAWN_K_RESIZE_H

#include "runtime/cuda/kernels/k_reduce.h"

enum { K_RESIZE_MOST = 16384, K_RESIZE_FEW = 4 };  // FEW: channels a thread does where they can not be loaded together

struct k_resize {      // x[N,h,w,C] -> y[N,p,q,C]; backwards: y -> x, with x large
    const void *from;
    void *to;
    enum dtype type;
    int64_t images;
    int h, w, p, q;    // of the tensor that was resized, and of the result, in both directions
    int64_t channels;
};
K_LAUNCHER(k_resize);
K_LAUNCHER(k_resize_grad);

#endif

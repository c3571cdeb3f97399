// SPDX-License-Identifier: Apache-2.0
// ROIAlign and its gradient.
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

enum { K_ROI_IMAGES = 65535 };  // at most

struct k_roi {
    const float *boxes;           // [batch, each, 4]
    const int32_t *rows;          // [batch, each], or NULL
    const void *x[ROI_LEVELS];    // [images, h, w, channels]
    void *y;                      // [batch, each, bins, bins, channels]
    const void *dy;               // backward; `images` is the batch then
    void *dx[ROI_LEVELS];         // or NULL
    enum dtype type;              // of x, or dx
    int64_t batch, each, images, channels;
    struct roi_attr attr;         // with the sizes of the levels
    struct k_divide_any by_groups, by_bins;  // of `lanes` channels; set by the launcher
};
K_LAUNCHER(k_roi_align);
K_LAUNCHER(k_roi_align_grad);

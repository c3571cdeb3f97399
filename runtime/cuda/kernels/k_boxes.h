// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers: coded, suppressed, matched, drawn, and slices by class.
#pragma once

#include "runtime/cuda/kernels/k_top.h"

struct k_boxes {           // x[batch, n, each, 4], anchors[n, 4] or [batch, n, 4] -> y
    const void *x;
    const float *anchors, *sizes;  // sizes[batch, 2], or NULL
    float *y;
    enum dtype type;       // of x
    int64_t count, n, each;  // count: batch times n
    bool shared;           // anchors[n, 4]
    struct boxes_attr attr;
};
K_LAUNCHER(k_boxes);

struct k_nms {             // results may be NULL
    const float *boxes, *scores;
    const int32_t *classes;  // [n] (shared) or [batch, n], or NULL
    float *to_boxes, *to_scores;
    int32_t *at, *count;
    uint64_t *sorted;      // [batch, k_sort_capacity(n)]
    int32_t *kept;         // [batch, k]
    int64_t batch, n;
    bool shared;
    struct nms_attr attr;
};
K_LAUNCHER(k_nms);

struct k_match {
    const float *boxes, *truth;  // [n, 4] (shared) or [batch, n, 4]; [batch, truths, 4]
    const int32_t *classes;      // [batch, truths], or NULL
    int32_t *labels, *at;        // [batch, n], or NULL
    float *best;                 // [batch, truths]: where boxes are rescued
    int64_t batch, n, truths;
    bool shared;
    struct match_attr attr;
};
K_LAUNCHER(k_match);

struct k_sample {          // results may be NULL
    const int32_t *labels;
    const float *random;
    int32_t *at, *to_labels;
    float *positive;
    int64_t batch, n;
    struct sample_attr attr;
};
K_LAUNCHER(k_sample);

struct k_class_slice {          // x[slices, classes, below], index[slices / above] -> y[slices, below]; back: y -> x
    const void *from;
    const int32_t *index;
    void *to;
    int64_t count, above, classes, below;  // count: elements of `to`
    int size;              // bytes of an element: 1, 2 or 4
    bool back;
};
K_LAUNCHER(k_class_slice);

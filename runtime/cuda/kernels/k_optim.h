// SPDX-License-Identifier: Apache-2.0
// Optimiser operators, all f32: one pass over each tensor. Results may overwrite the inputs they replace; a result without a
// reader is NULL.
#pragma once

#include "runtime/cuda/kernels/k_many.h"

#ifdef __cplusplus
extern "C" {
#endif

struct k_momentum {  // g = clip g + decay p; m = mu m + g; u = nesterov ? g + mu m : m
    const float *g, *m, *p;  // p may be NULL
    const float *clip;       // clip[1] may be NULL: 1; below 0: u = 0 and m stays
    float *u, *to_m;
    int64_t count;
    float mu, decay;
    bool nesterov;
};
K_LAUNCHER(k_momentum);
K_MANY_LAUNCHER(k_momentum);

struct k_adam {
    const float *g, *m, *v;
    const int32_t *step;     // counts from 0; NULL: m and v are not corrected
    const float *clip;       // clip[1] may be NULL: 1; below 0: u = 0, m and v stay
    float *u, *to_m, *to_v;
    int64_t count;
    float beta1, beta2, eps, root_eps;
    bool infinity;           // v = max(beta2 v, |g|), used without a root
};
K_LAUNCHER(k_adam);
K_MANY_LAUNCHER(k_adam);

struct k_squares {  // before + |x|^2
    const float *x, *before;  // before[1] may be NULL: 0
    float *to;
    void *work;               // k_squares_work() bytes
    int64_t count;
};
K_LAUNCHER(k_squares);
K_MANY_LAUNCHER(k_squares);  // `before` may be `to` of an earlier problem
size_t k_squares_work(int64_t count);

struct k_clip_factor {  // target / max(target, sqrt(squares))
    const float *squares;
    float *to;
    float target;
};
K_LAUNCHER(k_clip_factor);

struct k_trust {  // lr |p| / |u|; lr if either norm is 0
    const float *squares_p, *squares_u, *lr;
    float *to;
};
K_LAUNCHER(k_trust);

struct k_loss_scale {  // struct loss_scale_attr says what; a result without a reader is NULL
    const float *squares, *scale;
    const int32_t *counts;
    float *clip, *take;
    float *to_scale;          // may be `scale`
    int32_t *to_counts;       // may be `counts`
    float target, least, most;
    int32_t every;
};
K_LAUNCHER(k_loss_scale);

struct k_unit_norm {  // x * target * factor / (|x| + eps)
    const float *x, *factor;  // factor[1] may be NULL: 1
    float *y;                 // may be x
    void *work;               // k_unit_norm_work() bytes
    int64_t count;
    float target, eps;
};
K_LAUNCHER(k_unit_norm);
K_MANY_LAUNCHER(k_unit_norm);
size_t k_unit_norm_work(int64_t count);

struct k_descend {  // p - lr factor (u + decay p), clamped to +-limit if that is not 0
    const float *p, *u, *lr;
    float *to;
    int64_t count;
    float factor, decay, limit;
};
K_LAUNCHER(k_descend);
K_MANY_LAUNCHER(k_descend);

struct k_lerp {  // e + t (p - e)
    const float *e, *p, *t;
    float *to;
    int64_t count;
};
K_LAUNCHER(k_lerp);
K_MANY_LAUNCHER(k_lerp);

struct k_assign {
    const void *from;
    void *to;
    enum dtype from_type, to_type;  // equal, or `to` is a float
    int64_t count;
};
K_LAUNCHER(k_assign);
K_MANY_LAUNCHER(k_assign);  // of equal types only

#ifdef __cplusplus
}
#endif

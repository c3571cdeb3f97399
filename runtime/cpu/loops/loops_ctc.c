// SPDX-License-Identifier: Apache-2.0
// CTC: classes of a frame and states of a frame as vectors.
#include "runtime/cpu/loops/loops_inside.h"
#include "runtime/ctc.h"

void LOOPS_NAME(ctc_row)(const float *x, int64_t n, float top, float *m, int32_t *e, float *y)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        struct ctc_number v = ctc_exp(x[i] - top);
        m[i] = v.m, e[i] = v.e, y[i] = v.m * ctc_power(v.e);
    }
}

void LOOPS_NAME(ctc_frame)(const struct ctc_frame *c, int64_t n)
{
    const float *m = c->m, *y = c->y;
    const int32_t *e = c->e, *skip = c->skip, *of = c->of, *y_e = c->y_e;
    float *before = c->before, *with = c->with;
    int32_t *before_e = c->before_e, *with_e = c->with_e;
    INDEPENDENT
    for (int64_t s = 0; s < (n & -SCAN_LANES); s++) {
        struct ctc_number sum = ctc_add(m + s, e + s, skip[s]), v = ctc_of(sum.m * y[of[s]], sum.e + y_e[of[s]]);
        before[s] = sum.m, before_e[s] = sum.e;
        with[s] = v.m, with_e[s] = v.e;
    }
}

void LOOPS_NAME(ctc_shares)(const float *before, const int32_t *before_e, const float *with, const int32_t *with_e,
                            struct ctc_scale scale, int64_t n, float *share)
{
    INDEPENDENT
    for (int64_t s = 0; s < n; s++)
        share[s] = before[n - 1 - s] * with[s] * scale.factor * ctc_power(before_e[n - 1 - s] + with_e[s] - scale.e);
}

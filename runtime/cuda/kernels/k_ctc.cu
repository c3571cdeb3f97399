// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: see k_ctc.h. The states of a frame are threads, and barriers separate the frames.
#include "runtime/cuda/kernels/k_ctc.h"

#include "runtime/ctc.h"
#include "runtime/cuda/kernels/k_common.cuh"

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) ctc_rows(const struct k_ctc k)
{
    const int64_t row = ((int64_t)blockIdx.x * K_BLOCK + threadIdx.x) / K_WARP, lane = threadIdx.x % K_WARP;
    if (row >= (int64_t)k.samples * k.frames) return;
    const T *x = (const T *)k.x + row * k.classes;
    float *m = k.y.m + row * k.classes, top = -INFINITY, sum = 0.0f;
    for (int64_t i = lane; i < k.classes; i += K_WARP) top = fmaxf(top, to_float(x[i]));
    top = warp_most(top);
    for (int64_t i = lane; i < k.classes; i += K_WARP) {
        const struct ctc_number v = ctc_exp(to_float(x[i]) - top);
        m[i] = v.m, k.y.e[row * k.classes + i] = v.e;
        sum += v.m * ctc_power(v.e);
    }
    const float factor = 1.0f / warp_sum(sum);
    for (int64_t i = lane; i < k.classes; i += K_WARP) m[i] *= factor;
}

struct ctc_sample {
    int b, frames, labels, states;
    bool fits, broken, reverse;      // broken: some probability is NaN; reverse: states are numbered from the last
    struct ctc_number all;           // the probability of the labels
    struct k_ctc_numbers y, before, with;
    int64_t wide;                    // states of one of the two frames of `with`
};

// The numbers of the i-th frame in the direction.
__device__ static inline struct k_ctc_numbers frame_of(const ctc_sample &s, int i)
{
    const int64_t at = i % 2 * s.wide;
    return {s.with.m + at, s.with.e + at};
}

__device__ static inline int limited(const int32_t *count, int b, int most)
{
    const int n = count ? count[b] : most;
    return n < 0 ? 0 : n > most ? most : n;
}

__device__ static inline int label_of(const struct k_ctc &k, int b, int i)
{
    const int64_t at = (int64_t)b * k.most + i;
    return k.bytes ? ((const uint8_t *)k.labels)[at] : ((const int32_t *)k.labels)[at];
}

__device__ static inline ctc_sample sample_of(const struct k_ctc &k, int b)
{
    const int64_t states = 2 * (int64_t)k.most + 1, wide = K_CTC_GUARD + states;
    ctc_sample s;
    s.b = b, s.frames = limited(k.length, b, k.frames), s.labels = limited(k.count, b, k.most), s.states = 2 * s.labels + 1;
    s.broken = s.reverse = false, s.wide = wide;
    int least = s.labels;
    bool known = true;
    for (int i = 0; i < s.labels; i++) {
        const int label = label_of(k, b, i);
        known = known && label >= 1 && label < k.classes;
        least += i > 0 && label == label_of(k, b, i - 1);
    }
    s.fits = known && least <= s.frames;
    s.y = {k.y.m + (int64_t)b * k.frames * k.classes, k.y.e + (int64_t)b * k.frames * k.classes};
    s.before = {k.before.m + b * k.frames * states, k.before.e + b * k.frames * states};
    s.with = {k.with.m + 2 * b * wide + K_CTC_GUARD, k.with.e + 2 * b * wide + K_CTC_GUARD};
    return s;
}

__device__ static inline int class_of(const struct k_ctc &k, const ctc_sample &s, int state)
{
    return state % 2 == 0 ? 0 : label_of(k, s.b, s.reverse ? s.labels - 1 - state / 2 : state / 2);
}

// Before the first frame only the first state is possible. All threads call it.
__device__ static inline void begin_states(const ctc_sample &s)
{
    __syncthreads();
    for (int j = 0; j < 2; j++)
        for (int i = (int)threadIdx.x - K_CTC_GUARD; i < s.states; i += K_BLOCK) {
            const struct k_ctc_numbers to = frame_of(s, j);
            to.m[i] = j == 1 && i == 0 ? 1.0f : 0.0f, to.e[i] = j == 1 && i == 0 ? 0 : CTC_ZERO;
        }
    __syncthreads();
}

// The sums of a state without frame t and with it, which is the i-th in the direction.
__device__ static inline struct ctc_number run_state(const struct k_ctc &k, const ctc_sample &s, int i, int t, int state)
{
    const struct k_ctc_numbers from = frame_of(s, i + 1), to = frame_of(s, i);
    const int of = class_of(k, s, state);
    const bool skip = state % 2 == 1 && state > 1 && of != class_of(k, s, state - 2);
    const int64_t at = (int64_t)t * k.classes + of;
    const struct ctc_number sum = ctc_add(from.m + state, from.e + state, skip);
    const struct ctc_number v = ctc_of(sum.m * s.y.m[at], sum.e + s.y.e[at]);
    to.m[state] = v.m, to.e[state] = v.e;
    return sum;
}

__device__ static inline void forward(const struct k_ctc &k, ctc_sample &s)
{
    const int64_t states = 2 * (int64_t)k.most + 1;
    begin_states(s);
    for (int t = 0; t < s.frames; t++) {
        for (int i = (int)threadIdx.x; i < s.states; i += K_BLOCK) {
            const struct ctc_number sum = run_state(k, s, t, t, i);
            if (k.d) s.before.m[t * states + i] = sum.m, s.before.e[t * states + i] = sum.e;
        }
        const float any = s.y.m[(int64_t)t * k.classes];
        s.broken = s.broken || any != any;
        __syncthreads();
    }
    // One more sum: what ends in the last state, or in the label before it.
    const struct k_ctc_numbers last = frame_of(s, s.frames + 1);
    const struct ctc_number all = ctc_add(last.m + s.states - 1, last.e + s.states - 1, 0);
    s.all = ctc_of(all.m, all.e);
    s.fits = s.all.m > 0.0f || s.broken;
}

template <typename T> __device__ static inline void backward(const struct k_ctc &k, ctc_sample &s)
{
    const int64_t states = 2 * (int64_t)k.most + 1;
    const float factor = s.broken ? NAN : 1.0f / s.all.m;
    float *share = k.share + s.b * states;
    s.reverse = true;
    begin_states(s);
    for (int i = 0; i < s.frames; i++) {
        const int t = s.frames - 1 - i;
        const struct k_ctc_numbers with = frame_of(s, i);
        for (int r = (int)threadIdx.x; r < s.states; r += K_BLOCK) {
            const int64_t at = t * states + s.states - 1 - r;
            run_state(k, s, i, t, r);
            share[r] = s.before.m[at] * with.m[r] * factor * ctc_power(s.before.e[at] + with.e[r] - s.all.e);
        }
        __syncthreads();
        for (int c = (int)threadIdx.x; c < k.classes; c += K_BLOCK) {
            float d = s.y.m[(int64_t)t * k.classes + c] * ctc_power(s.y.e[(int64_t)t * k.classes + c]);
            for (int r = 0; r < s.states; r++)
                if (class_of(k, s, r) == c) d -= share[r];
            ((T *)k.d)[((int64_t)s.b * k.frames + t) * k.classes + c] = from_float<T>(d);
        }
        __syncthreads();
    }
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) ctc_samples(const struct k_ctc k)
{
    ctc_sample s = sample_of(k, (int)blockIdx.x);
    if (s.fits) forward(k, s);
    if (threadIdx.x == 0) {
        const float loss = !s.fits ? 0.0f : s.broken ? NAN : -(element_log(s.all.m) + (float)s.all.e * 0.693147181f);
        k.each[s.b] = loss;
        if (k.losses) k.losses[s.b] = loss;
        if (k.skipped) k.skipped[s.b] = s.fits ? 0.0f : 1.0f;
    }
    if (!k.d) return;
    if (s.fits) backward<T>(k, s);
    T *d = (T *)k.d + (int64_t)s.b * k.frames * k.classes;
    const int64_t end = (int64_t)k.frames * k.classes;
    for (int64_t i = (s.fits ? (int64_t)s.frames * k.classes : 0) + threadIdx.x; i < end; i += K_BLOCK)
        d[i] = from_float<T>(0.0f);
}

static __global__ void __launch_bounds__(K_BLOCK) ctc_sum(const struct k_ctc k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    float sum = 0.0f;
    for (int b = (int)threadIdx.x; b < k.samples; b += K_BLOCK) sum += k.each[b];
    sum = block_sum<K_BLOCK>(sum, scratch);
    if (threadIdx.x == 0) *k.loss = sum;
}

K_LAUNCHER(k_ctc)
{
    const struct k_ctc *k = (const struct k_ctc *)args;
    const unsigned blocks = blocks_for((int64_t)k->samples * k->frames, K_BLOCK / K_WARP);
    BY_FLOAT(k->type, T, {
        TRY_CUDA(launch(ctc_rows<T>, blocks, K_BLOCK, stream, *k));
        TRY_CUDA(launch(ctc_samples<T>, (unsigned)k->samples, K_BLOCK, stream, *k));
        return k->loss ? launch(ctc_sum, 1u, K_BLOCK, stream, *k) : cudaSuccess;
    });
}

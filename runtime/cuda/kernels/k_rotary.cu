// SPDX-License-Identifier: Apache-2.0
// Rotary positions. A thread reads N adjacent channels of each half of a head and writes the same, so that y may be x.
#include "runtime/cuda/kernels/k_rotary.h"

#include "runtime/cuda/kernels/k_layout.cuh"

enum { ANGLES = 1024 };  // of a block: at least those of one token
static_assert(ANGLES >= ROTARY_MOST / 2, "a block holds the angles of a token");

struct rotary_blocks {
    struct k_rotary k;
    int tokens;  // of a block
};

template <typename T, int N> static __global__ void __launch_bounds__(K_BLOCK) rotary(const struct rotary_blocks o)
{
    __shared__ float cosine[ANGLES], sine[ANGLES];
    const struct k_rotary &k = o.k;
    const int64_t first = (int64_t)blockIdx.x * o.tokens, left = k.tokens - first;
    const int tokens = left < o.tokens ? (int)left : o.tokens;
    for (int i = (int)threadIdx.x; i < tokens * k.half; i += K_BLOCK) {
        const int64_t token = first + i / k.half, sample = token / k.t;
        const int64_t position = token - sample * k.t + (k.at ? k.at[k.each ? sample : 0] : 0);
        float s;
        element_rotary(k.turn[i % k.half], position, &cosine[i], &s);
        sine[i] = k.sign * s;
    }
    __syncthreads();
    const int vectors = k.half / N;
    for (int i = (int)threadIdx.x; i < tokens * k.heads * vectors; i += K_BLOCK) {
        const int row = i / vectors, c = (i - row * vectors) * N, angle = row / k.heads * k.half + c;
        const int64_t at = (first * k.heads + row) * 2 * k.half + c;
        float p[N], q[N];
        load<N>((const T *)k.x + at, p), load<N>((const T *)k.x + at + k.half, q);
        for (int j = 0; j < N; j++) {
            const float a = p[j], b = q[j];
            p[j] = a * cosine[angle + j] - b * sine[angle + j];
            q[j] = b * cosine[angle + j] + a * sine[angle + j];
        }
        store<N>((T *)k.y + at, p), store<N>((T *)k.y + at + k.half, q);
    }
}

K_LAUNCHER(k_rotary)
{
    const struct k_rotary *k = (const struct k_rotary *)args;
    const int lanes = k_lanes(k->type, k->half), most = ANGLES / k->half;
    int64_t tokens = k_divide_up(2 * K_BLOCK, (int64_t)k->heads * k->half / lanes);  // two vectors a thread
    struct rotary_blocks o = {*k, tokens < most ? (int)tokens : most};
    BY_LANES(k->type, lanes, T, N, return launch(rotary<T, N>, blocks_for(k->tokens, o.tokens), K_BLOCK, stream, o));
    return cudaErrorInvalidValue;
}

// SPDX-License-Identifier: Apache-2.0
// Transforms filters to [k block of 64][position][pair of channels][64] in bf16. The channels of a block of 32 are stored in the
// order of winograd.c: even ones first. Cost: 2 million parameters take less than a millisecond on one core.
#include "runtime/cpu/conv/winograd_inside.h"

#include "runtime/common/base/threads.h"

size_t winograd_pack_bytes(const struct dnnl_conv *c)
{
    return plan_round_up((size_t)(WINOGRAD_SPOTS * c->k * c->c) * sizeof(uint16_t));
}

struct packing {
    const struct dnnl_conv *conv;
    bool transposed;
    const float *w;
    char *to;
};

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"

// u = G g G'
static inline AVX512 ALWAYS void transform_filter(const __m512 g[9], __m512 u[16])
{
    const __m512 half = _mm512_set1_ps(0.5f);
    __m512 t[12];
#pragma GCC unroll 3
    for (int s = 0; s < 3; s++) {
        __m512 sum = _mm512_add_ps(g[s], g[6 + s]);
        t[s] = g[s], t[9 + s] = g[6 + s];
        t[3 + s] = _mm512_mul_ps(half, _mm512_add_ps(sum, g[3 + s]));
        t[6 + s] = _mm512_mul_ps(half, _mm512_sub_ps(sum, g[3 + s]));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512 sum = _mm512_add_ps(t[3 * i], t[3 * i + 2]);
        u[4 * i] = t[3 * i], u[4 * i + 3] = t[3 * i + 2];
        u[4 * i + 1] = _mm512_mul_ps(half, _mm512_add_ps(sum, t[3 * i + 1]));
        u[4 * i + 2] = _mm512_mul_ps(half, _mm512_sub_ps(sum, t[3 * i + 1]));
    }
}

// 16 filters from k on, `wide` channels from c on, of w[K][9][C].
static AVX512 void pack_plain(const struct packing *g, int64_t k, int64_t c, int64_t wide)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __mmask16 low = wide >= 16 ? 0xffff : (__mmask16)((1u << wide) - 1);
    __mmask16 high = wide <= 16 ? 0 : (__mmask16)((1u << (wide - 16)) - 1);
    char part[WINOGRAD_SPOTS][16][64] __attribute__((aligned(64)));  // position, filter, channels in the order of V
    for (int f = 0; f < 16; f++) {
        const float *from = g->w + (k + f) * 9 * g->conv->c + c;
        for (int odd = 0; odd < 2; odd++) {  // the second write may begin inside the first
            const __m512i pick = _mm512_add_epi32(even, _mm512_set1_epi32(odd));
            __m512 taps[9], u[16];
#pragma GCC unroll 9
            for (int t = 0; t < 9; t++) {
                const float *at = from + t * g->conv->c;
                taps[t] = _mm512_permutex2var_ps(_mm512_maskz_loadu_ps(low, at), pick, _mm512_maskz_loadu_ps(high, at + 16));
            }
            transform_filter(taps, u);
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                _mm256_storeu_si256((void *)(part[i][f] + odd * wide), (__m256i)_mm512_cvtneps_pbh(u[i]));
        }
    }
    for (int i = 0; i < WINOGRAD_SPOTS; i++) {
        __m512i v[16];
        for (int f = 0; f < 16; f++) v[f] = _mm512_load_si512(part[i][f]);
        transpose16(v);
        char *to = g->to + winograd_filters_at(g->conv, k, c, i);
        for (int64_t u = 0; u < wide / 2; u++) _mm512_storeu_si512(to + u * KB * 4, v[u]);
    }
}

// The same of transposed filters, w[C][9][K], rotated by 180 degrees.
static AVX512 void pack_rotated(const struct packing *g, int64_t k, int64_t c, int64_t wide)
{
    for (int64_t entry = 0; entry < wide; entry += 2) {
        int64_t first = entry < wide / 2 ? 2 * entry : 2 * entry - wide + 1;  // of two channels of the same parity
        float part[WINOGRAD_SPOTS][16] __attribute__((aligned(64)));
        __m512 taps[9], u[16];
        for (int two = 0; two < 2; two++) {
            const float *from = g->w + (c + first + 2 * two) * 9 * g->conv->k + k;
#pragma GCC unroll 9
            for (int t = 0; t < 9; t++) taps[t] = _mm512_loadu_ps(from + (8 - t) * g->conv->k);
            transform_filter(taps, u);
            if (two) break;
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) _mm512_store_ps(part[i], u[i]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            char *to = g->to + winograd_filters_at(g->conv, k, c + entry, i);
            _mm512_storeu_si512(to, winograd_pairs(_mm512_load_ps(part[i]), u[i]));
        }
    }
}

// A piece is (16 k, block of channels).
static void pack_filters(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct packing *g = context;
    int64_t blocks = (g->conv->c + CB - 1) / CB;
    for (int64_t i = begin; i < end; i++) {
        int64_t k = i / blocks * 16, c = i % blocks * CB, wide = g->conv->c - c < CB ? g->conv->c - c : CB;
        (g->transposed ? pack_rotated : pack_plain)(g, k, c, wide);
    }
}

#else

static void pack_filters(void *context, int64_t begin, int64_t end, int thread)
{
    (void)context, (void)begin, (void)end, (void)thread;
    BUG("winograd_pack without AVX-512");
}

#endif

void winograd_pack(const struct dnnl_conv *c, bool transposed, const float *w, void *filters)
{
    struct packing g = {c, transposed, w, filters};
    threads_for(c->k / 16 * ((c->c + CB - 1) / CB), 1, pack_filters, &g);
}

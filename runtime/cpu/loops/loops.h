// SPDX-License-Identifier: Apache-2.0
// The vector loops of the CPU device: single-threaded passes over memory. The same source is compiled once per instruction set
// (-DISA=base|avx2|avx512), and one is chosen at run time. The cpu_*.c files split the work over threads and call these loops.
// All are plain C with the channel innermost, so that the compiler vectorises them.
//
// A `period` holds values per channel, repeated until it is wide enough for whole vectors (width is a multiple of C): element
// i of a pass uses entry i % width. If a loop writes y, y may be x itself.
#pragma once

#include "runtime/graph.h"

struct period {
    int64_t width;
    float *mean, *a, *b;  // z = (x - mean) * a + b
    float *p, *q;         // dx = a * dz - ((x - mean) * p + q)
};

// The pixels of a pooling window that lie inside the image, or the windows over a pixel.
enum { WINDOW_MAX = 256 };
struct window {
    int count;
    const void *x[WINDOW_MAX];      // or dy
    const uint8_t *at[WINDOW_MAX];  // backward
    uint8_t tap[WINDOW_MAX];        // position within the window
};

// The rates of an optimiser step, computed in advance.
struct adam_rates {
    float beta1, beta2, eps, scale_m, scale_v;  // u = (m * scale_m) / (sqrt(v * scale_v + root_eps) + eps)
    bool infinity;  // Adamax: v is max(beta2 v, |g|), and scale_v is not used
    float root_eps;
};

// The gradient of a softmax reads these: dx = (exp(x - shift) * share - even) * factor.
struct xent_rates {
    float shift, share, even, factor;
};

// Dropout of the probabilities of attention (element.h).
struct attention_mask {
    const int32_t *key;  // NULL: none is dropped
    uint32_t step, site, least;
    float factor;
};

// c[rows, columns] (+)= a b over `depth` units: unit u of row i of a is at a + i a_row + u a_unit, and rows of b are b_row apart.
// A unit is an f32, or two bf16 that are multiplied and added pairwise. Rows are even, columns a multiple of a vector's lanes.
enum { PRODUCT_ROWS = 12, PRODUCT_LANES = 16 };
struct product {
    const float *a, *b;
    float *c;
    int64_t rows, columns, depth, a_row, a_unit, b_row, c_row;
    bool adds;
};

// The 36 positions of a tile of winograd4.c: position i is `spot` numbers behind position i - 1. The channels of a position lie
// in panels of panel_lanes, `panel` numbers apart.
struct positions {
    float *at;
    int64_t spot, panel;
};

// One word of one direction of an SRU, for n hidden units, a multiple of SCAN_LANES: lanes past the last unit are computed, too,
// and mean nothing.
enum { SCAN_LANES = 16 };
static inline int64_t loops_lanes(int64_t units) { return (units + SCAN_LANES - 1) / SCAN_LANES * SCAN_LANES; }
struct sru_word {
    const float *candidate, *forget, *reset, *skip;  // of u, or the skip input
    const float *bias_forget, *bias_reset, *mask;
    float *c, *h;             // forward: the state so far and now; the result
    const float *now, *before, *dh;                  // backward: c of this word and of the word before
    float *dc;                // gradient of c that comes from later words; of the word before, afterwards
    float *d[4];              // of candidate, forget, reset, skip
    float *dbias_forget, *dbias_reset;               // added to
};

// One word of one direction of a GRU, as of sru_word.
struct gru_word {
    float *parts;             // [4][n]: reset, update, product for the new state, its input; afterwards r, z, the product, n
    const float *kept;        // gru_back: parts as they were after the word; parts itself is only written
    const float *bias;        // [3][n]
    float *state;             // the last and the next one
    const float *before;      // the state before
    float *reset_state;       // original: the same, which gru_reset multiplies by r
    float *back, *reset;      // backward: gradients of the state, and (original) of r h
};

// A frame of CTC for n states, a multiple of SCAN_LANES, past the last of which numbers mean nothing (ctc.h).
struct ctc_frame {
    const float *m;           // of the frame before; readable from -2 on
    const int32_t *e;
    const int32_t *skip;      // of each state
    const int32_t *of;        // its class
    const float *y;           // probabilities of the classes
    const int32_t *y_e;
    float *before, *with;     // sums without this frame, and with it
    int32_t *before_e, *with_e;
};
struct ctc_scale {            // 2^-e times `factor`
    float factor;
    int32_t e;
};

// A run of a formula of map.def: the value, or dy times a slope. Inputs that are not read may be NULL; `to` may be a or dy.
struct map_run {
    const void *a, *b, *c, *y, *dy;
    void *to;
    float p, q;
};

// LOOP(name, arguments) declares a member of struct loops and a function of every instruction set.
#define LOOPS_LIST                                                                                                     \
    /* ---- types: any float type to f32 and back */                                                                   \
    LOOP(widen, (enum dtype, const void *x, float *y, int64_t n))                                                      \
    LOOP(narrow, (enum dtype, const float *x, void *y, int64_t n))                                                     \
    /* ---- batch norm and activations */                                                                              \
    LOOP(sums, (enum dtype, const void *x, int64_t n, const struct period *, float *sum, float *square))               \
    LOOP(flush, (float *acc, double *total, int64_t width, int64_t c)) /* total += acc folded to c; acc = 0 */         \
    LOOP(apply, (enum dtype, enum act, const void *x, int64_t n, const struct period *, void *y))                      \
    LOOP(back_sums, (enum dtype, enum act, const void *dy, const void *x, int64_t n, const struct period *,            \
                     float *sum, float *dot)) /* sum += dz, dot += dz * (x - mean) */                                  \
    LOOP(back, (enum dtype, enum act, const void *dy, const void *x, int64_t n, const struct period *, void *dx))      \
    LOOP(apply_add, (enum dtype, bool relu, const void *x, const void *shortcut, int64_t n, const struct period *,     \
                     void *y)) /* y = z + shortcut, or the relu of that */                                             \
    LOOP(gate_sums, (enum dtype, const void *dy, const void *y, const void *x, int64_t n, const struct period *,       \
                     void *dz, float *sum, float *dot)) /* dz = y > 0 ? dy : 0, may be NULL; sums of that */           \
    LOOP(act_back, (enum dtype, enum act, const void *dy, const void *x, int64_t n, const struct period *, void *dx,   \
                    float *sum)) /* z = x + b; dx = dy * act'(z), dx may be NULL; sum += the same */                   \
    /* ---- pooling: two rows of `pairs` x 2 pixels to one, and backward (raw elements of `size` bytes) */             \
    LOOP(pool2, (enum dtype, const void *x0, const void *x1, int64_t pairs, int64_t c, void *y, uint8_t *at))          \
    LOOP(unpool2, (size_t size, const void *dy, const uint8_t *at, int64_t pairs, int64_t c, void *dx0, void *dx1))    \
    LOOP(pool_max, (enum dtype, const struct window *, int64_t n, void *y, uint8_t *at)) /* of n channels; one of y and\
                    at may be NULL */                                                                                  \
    LOOP(unpool_max, (enum dtype, const struct window *, int64_t n, void *dx)) /* sum of dy where `at` is the tap */   \
    LOOP(add_scaled, (enum dtype, const void *x, int64_t n, float factor, float *acc)) /* acc += factor x */           \
    /* ---- element-wise */                                                                                            \
    LOOP(map, (enum dtype, enum map, int part, const struct map_run *, int64_t n)) /* part 0: the value; 1, 2, 3: dy times   \
            the slope of a, b, c */                                                                                    \
    LOOP(scale, (enum dtype, const void *x, float factor, void *y, int64_t n))                                         \
    LOOP(dropout, (enum dtype, const void *x, int64_t first, int64_t n, const int32_t *key, uint32_t step, int site,   \
                   float p, void *y)) /* x and y start at element `first` of the tensor */                             \
    LOOP(random, (const struct random_attr *, int64_t first, int64_t n, const int32_t *key, uint32_t step, void *y))   \
    LOOP(any_above, (const float *x, int64_t n, float least, bool *any)) /* any x is not at most `least` */           \
    LOOP(exp_shifted, (float *x, int64_t n, float shift)) /* x = exp(x - shift) */                                     \
    LOOP(top_sum, (enum dtype, const void *x, int64_t n, float *top, double *sum)) /* top = at least all x; sum += all x */ \
    LOOP(exp_sum, (enum dtype, const void *x, int64_t n, float shift, float *e, double *sum)) /* sum += all exp(x - shift),\
                    which e has, too, unless it is NULL; it has room for a multiple of 16 */                           \
    LOOP(xent_back, (enum dtype, const void *x, int64_t n, const struct xent_rates *, void *dx))                       \
    LOOP(xent_slopes, (enum dtype, const float *e, int64_t n, const struct xent_rates *, void *dx)) /* the same of these */ \
    LOOP(logits, (enum dtype, void *z, int64_t n, const float *bias, float cap)) /* z = cap tanh((z + bias) / cap); bias may be\
                    NULL, and cap 0: z + bias */                                                                       \
    LOOP(cap_back, (enum dtype, const float *d, int64_t n, float cap, void *z)) /* z = d (1 - (z / cap)^2) */           \
    /* ---- layer norm of `rows` rows */                                                                               \
    LOOP(layer_norm, (const float *x, int64_t rows, int64_t n, const float *scale, const float *bias, float eps,       \
                      enum dtype, void *y, float *mean, float *rstd))                                                  \
    LOOP(layer_norm_back, (enum dtype, const void *dy, const void *x, const float *mean, const float *rstd,            \
                           const float *scale, int64_t rows, int64_t n, float *dx, float *dscale, float *dbias)) /* adds to\
                    dscale and dbias */                                                                                \
    /* RMS norm: `rows` of them. x and y are of one type; y or rstd may be NULL; scale: or NULL */                      \
    LOOP(rms_norm, (enum dtype, const void *x, int64_t rows, int64_t n, const float *scale, float eps, void *y,        \
                    float *rstd))                                                                                      \
    LOOP(rms_norm_back, (enum dtype, const void *dy, const void *x, const float *rstd, const float *scale,             \
                         int64_t rows, int64_t n, enum dtype to, void *dx, float *dscale)) /* to: x's type, or F32 */ \
    /* ---- attention: rows of scores, padded with zeros from n to `padded` (a multiple of 16) */                      \
    LOOP(attend, (float *s, int64_t n, int64_t padded, float scale, const struct attention_mask *, uint32_t row,         \
                  float *lse)) /* s = the masked probabilities */                                                      \
    LOOP(attend_back, (float *s, float *dp, int64_t n, int64_t padded, float scale, const struct attention_mask *,       \
                       uint32_t row, float lse, float delta)) /* s = the same, dp = gradient of the unscaled scores */ \
    /* rotary positions: half the channels of a head */                                                                \
    LOOP(rotary_angles, (const uint64_t *turn, int64_t position, int64_t half, bool inverse, float *c, float *s))      \
    LOOP(rotate, (enum dtype, const void *x, int64_t heads, int64_t half, const float *c, const float *s, void *y))    \
    LOOP(join_rows, (const uint16_t *a, const uint16_t *b, int64_t n, uint32_t *y)) /* a and b side by side */          \
    LOOP(turn, (const float *x, int64_t rows, int64_t columns, int64_t row, float *y, int64_t to)) /* y[columns][to] = x' */ \
    LOOP(product, (const struct product *)) /* f32 units */                                                            \
    /* ---- F(4x4, 3x3) of Winograd (winograd4.c) at `channels` channels. Whole vectors, the last of which may overlap    \
            the one before it within the first panel */                                                                \
    LOOP(winograd4_inputs, (const float *const pixel[36], int64_t channels, const struct positions *to))               \
    LOOP(winograd4_gradients, (const float *const pixel[16], int64_t channels, const struct positions *to))            \
    LOOP(winograd4_filters, (const float *const tap[9], int64_t channels, const struct positions *to))                 \
    LOOP(winograd4_outputs, (const struct positions *, int64_t channels, const float *bias, float *const y[16]))       \
    LOOP(winograd4_sums, (const struct positions *, int64_t channels, float *const dw[9]))                             \
    /* ---- recurrent layers: one word. Gates of an LSTM are four adjacent parts of n */                               \
    LOOP(sru, (enum act, const struct sru_word *, int64_t n))                                                          \
    LOOP(sru_back, (enum act, const struct sru_word *, int64_t n))                                                     \
    LOOP(lstm, (float *gates, float *c, float *h, int64_t n)) /* gates = their activations, c = the next state */      \
    LOOP(lstm_back, (float *gates, const float *c, const float *before, const float *dh, float *dc, int64_t n))        \
    /* gates = gradients of what went into the activations; dc as in sru_back */                                       \
    LOOP(gru, (const struct gru_word *, bool original, int64_t n))                                                     \
    LOOP(gru_reset, (const struct gru_word *, int64_t n)) /* original: before `gru`, r alone */                        \
    LOOP(gru_back, (const struct gru_word *, bool original, int64_t n)) /* parts = gradients of what went into r, z, the   \
            product and the new state; back = what passes z. Original: not that of the product, and r is copied */            \
    LOOP(gru_back_reset, (const struct gru_word *, int64_t n)) /* original: after gru_back, that of r */               \
    /* ---- CTC */                                                                                                     \
    LOOP(ctc_row, (const float *x, int64_t n, float top, float *m, int32_t *e, float *y)) /* e^(x - top), as y, too */ \
    LOOP(ctc_frame, (const struct ctc_frame *, int64_t n))                                                             \
    LOOP(ctc_shares, (const float *before, const int32_t *before_e, const float *with, const int32_t *with_e,          \
                      struct ctc_scale, int64_t n, float *share)) /* before is read backward from n - 1 */             \
    /* ---- images */                                                                                                  \
    LOOP(pixels, (enum dtype, const uint8_t *x, const float *a, const float *b, int64_t n, void *y)) /* x a + b */     \
    LOOP(blend, (enum dtype, const void *x0, const void *x1, float w1, int64_t n, float *y))                           \
    LOOP(taps, (enum dtype, const float *x, const int32_t *i0, const int32_t *i1, const float *w1, int64_t n, void *y))\
    /* ---- optimisers, f32 */                                                                                         \
    LOOP(momentum, (const float *g, const float *m, const float *p, float mu, float decay, bool nesterov, int64_t n,   \
                    float *u, float *m_out)) /* p or u may be NULL */                                                  \
    LOOP(adam, (const float *g, const float *m, const float *v, const struct adam_rates *, int64_t n, float *u,        \
                float *m_out, float *v_out))                                                                           \
    LOOP(square_sum, (const float *x, int64_t n, double *sum)) /* sum += |x|^2 */                                      \
    LOOP(descend, (const float *p, const float *u, float rate, float decay, int64_t n, float *out))                    \
    LOOP(lerp, (const float *e, const float *p, float t, int64_t n, float *out))

struct loops {
    const char *isa;  // "avx512"
    int panel_lanes;  // columns of a product that its registers hold; two vectors
#define LOOP(name, arguments) void(*name) arguments;
    LOOPS_LIST
#undef LOOP
};

#ifdef ISA_ONLY_BASE
extern const struct loops loops_base;
#else
extern const struct loops loops_base, loops_avx2, loops_avx512;
#endif

// The best set of this CPU. DAWN_ISA=base|avx2|avx512 selects a lower one; an unsupported set is ignored.
const struct loops *loops_choose(void);
// All sets that this CPU supports, `base` first; returns their number (at most 3).
int loops_all(const struct loops *into[3]);

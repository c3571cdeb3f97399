// SPDX-License-Identifier: Apache-2.0
// Frames are transformed in groups: each lane of a complex FFT holds one frame as its real part and the next one as its
// imaginary part, so two real frames cost one complex transform, and loops over lanes are vector instructions. 320 = 4 * 4 * 4
// * 5 (Stockham: each pass writes in the order that the next one reads). The logarithms take as long as the transform.
#include "data/audio/spectrum.h"

#include <math.h>
#include <string.h>

enum { N = SPECTRUM_WINDOW, LANES = 4, GROUP = 2 * LANES };

struct waves {
    float re[N][LANES], im[N][LANES];
};
struct tables {
    float window[N], cosine[N], sine[N];  // cosine and sine of -2 pi i / N
};
struct complex_lanes {
    float re[LANES], im[LANES];
};

static void make_tables(struct tables *t)
{
    for (int i = 0; i < N; i++) {
        const double angle = 2 * M_PI * i / N;
        t->window[i] = (float)(0.54 - 0.46 * cos(angle));
        t->cosine[i] = (float)cos(angle), t->sine[i] = (float)-sin(angle);
    }
}

static inline struct complex_lanes load(const struct waves *w, int at)
{
    struct complex_lanes z;
    memcpy(z.re, w->re[at], sizeof z.re);
    memcpy(z.im, w->im[at], sizeof z.im);
    return z;
}

// Multiplies by exp(-2 pi i turn / N).
static inline void store(struct waves *w, int at, const struct complex_lanes *z, const struct tables *t, int turn)
{
    const float c = t->cosine[turn], s = t->sine[turn];
    for (int l = 0; l < LANES; l++) {
        w->re[at][l] = z->re[l] * c - z->im[l] * s;
        w->im[at][l] = z->re[l] * s + z->im[l] * c;
    }
}

// One pass of radix 4: n points are left to transform, in s interleaved sequences.
static void pass4(const struct waves *x, struct waves *y, const struct tables *t, int n, int s)
{
    const int m = n / 4;
    for (int p = 0; p < m; p++)
        for (int q = 0; q < s; q++) {
            const struct complex_lanes a = load(x, q + s * p), b = load(x, q + s * (p + m)), c = load(x, q + s * (p + 2 * m)),
                                       d = load(x, q + s * (p + 3 * m));
            struct complex_lanes z[4];
            for (int l = 0; l < LANES; l++) {
                const float sum_re = a.re[l] + c.re[l], sum_im = a.im[l] + c.im[l], dif_re = a.re[l] - c.re[l],
                            dif_im = a.im[l] - c.im[l], add_re = b.re[l] + d.re[l], add_im = b.im[l] + d.im[l],
                            sub_re = b.re[l] - d.re[l], sub_im = b.im[l] - d.im[l];
                z[0].re[l] = sum_re + add_re, z[0].im[l] = sum_im + add_im;
                z[1].re[l] = dif_re + sub_im, z[1].im[l] = dif_im - sub_re;
                z[2].re[l] = sum_re - add_re, z[2].im[l] = sum_im - add_im;
                z[3].re[l] = dif_re - sub_im, z[3].im[l] = dif_im + sub_re;
            }
            for (int k = 0; k < 4; k++) store(y, q + s * (4 * p + k), &z[k], t, p * k * s % N);
        }
}

// The last pass: sequences of five points.
static void pass5(const struct waves *x, struct waves *y, const struct tables *t)
{
    enum { S = N / 5 };
    for (int q = 0; q < S; q++)
        for (int k = 0; k < 5; k++) {
            struct complex_lanes sum = load(x, q);
            for (int j = 1; j < 5; j++) {
                const struct complex_lanes z = load(x, q + S * j);
                const float c = t->cosine[j * k % 5 * S], s = t->sine[j * k % 5 * S];
                for (int l = 0; l < LANES; l++) {
                    sum.re[l] += z.re[l] * c - z.im[l] * s;
                    sum.im[l] += z.re[l] * s + z.im[l] * c;
                }
            }
            memcpy(y->re[q + S * k], sum.re, sizeof sum.re);
            memcpy(y->im[q + S * k], sum.im, sizeof sum.im);
        }
}

static void transform(struct waves *x, struct waves *y, const struct tables *t)
{
    pass4(x, y, t, N, 1);
    pass4(y, x, t, N / 4, 4);
    pass4(x, y, t, N / 16, 16);
    pass5(y, x, t);
}

// Frame `frame` of the sound, windowed: the real or the imaginary part of a lane.
static void take_frame(const float *samples, int64_t count, int64_t frame, const struct tables *t, float (*part)[LANES], int lane)
{
    const int64_t first = (frame - 1) * SPECTRUM_HOP;
    for (int i = 0; i < N; i++) {
        const int64_t at = first + i;
        part[i][lane] = at >= 0 && at < count ? samples[at] * t->window[i] : 0;
    }
}

// Two real frames from their joint transform z: (z[k] + conj z[-k]) / 2 and (z[k] - conj z[-k]) / 2i.
static void give_frames(const struct waves *w, int lane, float *first, float *second)
{
    for (int k = 0; k < SPECTRUM_BINS; k++) {
        const int mirror = (N - k) % N;
        const float a = w->re[k][lane], b = w->im[k][lane], c = w->re[mirror][lane], d = w->im[mirror][lane];
        first[k] = log1pf(0.5f * sqrtf((a + c) * (a + c) + (b - d) * (b - d)));
        if (second != NULL) second[k] = log1pf(0.5f * sqrtf((b + d) * (b + d) + (c - a) * (c - a)));
    }
}

void spectrum_make(const float *samples, int64_t count, float *into)
{
    const int64_t frames = spectrum_frames(count);
    struct tables tables;
    struct waves waves, other;
    make_tables(&tables);
    for (int64_t t = 0; t < frames; t += GROUP) {
        for (int i = 0; i < GROUP; i++) take_frame(samples, count, t + i, &tables, i & 1 ? waves.im : waves.re, i / 2);
        transform(&waves, &other, &tables);
        for (int i = 0; i < GROUP && t + i < frames; i += 2) {
            float *first = into + (t + i) * SPECTRUM_BINS;
            give_frames(&waves, i / 2, first, t + i + 1 < frames ? first + SPECTRUM_BINS : NULL);
        }
    }
}

int spectrum_normalise(float *x, int64_t frames)
{
    const int64_t n = frames * SPECTRUM_BINS;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i];
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    if (!(squares > 0)) return fail(ERR_INPUT, "its spectrum is the same everywhere: the sound is silent");
    const float scale = (float)(1 / sqrt(squares / (double)(n - 1))), middle = (float)mean;
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - middle) * scale;
    return 0;
}

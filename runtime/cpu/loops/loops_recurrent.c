// SPDX-License-Identifier: Apache-2.0
// The element-wise part of recurrent layers, one word at a time in the L1 cache, in whole vectors: a remainder of single elements
// would take as long as all vectors of a usual layer, because each element is several exponentials.
#include "runtime/cpu/loops/loops_inside.h"

ALWAYS void sru_of(enum act act, const struct sru_word *w, int64_t n)
{
    const float *candidate = w->candidate, *forget = w->forget, *reset = w->reset, *skip = w->skip, *mask = w->mask;
    const float *bias_forget = w->bias_forget, *bias_reset = w->bias_reset;
    float *c = w->c, *h = w->h;
    INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        float f = element_sigmoid(forget[j] + bias_forget[j]), r = element_sigmoid(reset[j] + bias_reset[j]);
        float state = f * (c[j] - candidate[j]) + candidate[j];
        c[j] = state;
        h[j] = r * (mask[j] * activate(act, state) - skip[j]) + skip[j];
    }
}

ALWAYS void sru_back_of(enum act act, const struct sru_word *w, int64_t n)
{
    const float *candidate = w->candidate, *forget = w->forget, *reset = w->reset, *skip = w->skip, *mask = w->mask;
    const float *bias_forget = w->bias_forget, *bias_reset = w->bias_reset, *now = w->now, *before = w->before, *dh = w->dh;
    float *dc = w->dc, *to_candidate = w->d[0], *to_forget = w->d[1], *to_reset = w->d[2], *to_skip = w->d[3];
    float *dbias_forget = w->dbias_forget, *dbias_reset = w->dbias_reset;
    INDEPENDENT
    for (int64_t j = 0; j < n; j++) {
        float f = element_sigmoid(forget[j] + bias_forget[j]), r = element_sigmoid(reset[j] + bias_reset[j]);
        float a = activate(act, now[j]), g = dh[j];
        float steep = act == ACT_TANH ? 1.0f - a * a : slope(act, now[j]);
        float dr = g * (mask[j] * a - skip[j]) * r * (1.0f - r);
        float d = dc[j] + g * r * mask[j] * steep;
        float df = d * (before[j] - candidate[j]) * f * (1.0f - f);
        to_candidate[j] = d * (1.0f - f), to_forget[j] = df, to_reset[j] = dr, to_skip[j] = g * (1.0f - r);
        dbias_forget[j] += df, dbias_reset[j] += dr;
        dc[j] = d * f;
    }
}

#define EACH_STATE(act, name, ...)                                                                                     \
    do {                                                                                                               \
        if ((act) == ACT_TANH)                                                                                         \
            name(ACT_TANH, __VA_ARGS__);                                                                               \
        else if ((act) == ACT_RELU)                                                                                    \
            name(ACT_RELU, __VA_ARGS__);                                                                               \
        else                                                                                                           \
            name(ACT_NONE, __VA_ARGS__);                                                                               \
    } while (0)

void LOOPS_NAME(sru)(enum act act, const struct sru_word *w, int64_t n)
{
    EACH_STATE(act, sru_of, w, n & -SCAN_LANES);  // whole vectors: the compiler need not write a remainder
}

void LOOPS_NAME(sru_back)(enum act act, const struct sru_word *w, int64_t n)
{
    EACH_STATE(act, sru_back_of, w, n & -SCAN_LANES);
}

void LOOPS_NAME(lstm)(float *gates, float *c, float *h, int64_t n)
{
    float *in = gates, *forget = gates + n, *cell = gates + 2 * n, *out = gates + 3 * n;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) {
        float i = element_sigmoid(in[j]), f = element_sigmoid(forget[j]), o = element_sigmoid(out[j]);
        float g = element_tanh(cell[j]), state = f * c[j] + i * g;
        in[j] = i, forget[j] = f, cell[j] = g, out[j] = o;
        c[j] = state;
        h[j] = o * element_tanh(state);
    }
}

void LOOPS_NAME(lstm_back)(float *gates, const float *c, const float *before, const float *dh, float *dc, int64_t n)
{
    float *in = gates, *forget = gates + n, *cell = gates + 2 * n, *out = gates + 3 * n;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) {
        float i = in[j], f = forget[j], g = cell[j], o = out[j], top = element_tanh(c[j]), all = dh[j];
        float d = dc[j] + all * o * (1.0f - top * top);
        in[j] = d * g * i * (1.0f - i), forget[j] = d * before[j] * f * (1.0f - f);
        cell[j] = d * i * (1.0f - g * g), out[j] = all * top * o * (1.0f - o);
        dc[j] = d * f;
    }
}

ALWAYS void gru_of(bool original, const struct gru_word *w, int64_t n)
{
    float *r = w->parts, *z = r + n, *product = z + n, *fresh = product + n, *state = w->state;
    const float *bias_r = w->bias, *bias_z = bias_r + n, *bias_n = bias_z + n;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) {
        float reset = original ? 1.0f : element_sigmoid(r[j] + bias_r[j]), update = element_sigmoid(z[j] + bias_z[j]);
        float q = product[j] + bias_n[j], new_state = element_tanh(fresh[j] + reset * q);
        if (!original) r[j] = reset;
        z[j] = update, product[j] = q, fresh[j] = new_state;
        state[j] = new_state + update * (state[j] - new_state);
    }
}

void LOOPS_NAME(gru)(const struct gru_word *w, bool original, int64_t n)
{
    if (original)
        gru_of(true, w, n);
    else
        gru_of(false, w, n);
}

void LOOPS_NAME(gru_reset)(const struct gru_word *w, int64_t n)
{
    float *r = w->parts, *state = w->reset_state;
    const float *bias = w->bias;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) r[j] = element_sigmoid(r[j] + bias[j]), state[j] *= r[j];
}

ALWAYS void gru_back_of(bool original, const struct gru_word *w, int64_t n)
{
    const float *r = w->kept, *z = r + n, *product = z + n, *fresh = product + n, *before = w->before;
    float *dr = w->parts, *dz = dr + n, *dproduct = dz + n, *dfresh = dproduct + n, *back = w->back;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) {
        float reset = r[j], update = z[j], new_state = fresh[j], g = back[j];
        float d = g * (1.0f - update) * (1.0f - new_state * new_state);
        dr[j] = original ? reset : d * product[j] * reset * (1.0f - reset);
        if (!original) dproduct[j] = d * reset;
        dz[j] = g * (before[j] - new_state) * update * (1.0f - update);
        dfresh[j] = d, back[j] = g * update;
    }
}

void LOOPS_NAME(gru_back)(const struct gru_word *w, bool original, int64_t n)
{
    if (original)
        gru_back_of(true, w, n);
    else
        gru_back_of(false, w, n);
}

void LOOPS_NAME(gru_back_reset)(const struct gru_word *w, int64_t n)
{
    float *r = w->parts, *back = w->back;
    const float *before = w->before, *reset = w->reset;
    INDEPENDENT
    for (int64_t j = 0; j < (n & -SCAN_LANES); j++) {
        float gate = r[j];
        r[j] = reset[j] * before[j] * gate * (1.0f - gate), back[j] += reset[j] * gate;
    }
}

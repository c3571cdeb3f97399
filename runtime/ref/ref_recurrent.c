// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, one hidden unit (SRU) or one word (LSTM, GRU) at a time. States are kept in double; what products read, the h
// of an LSTM or a GRU and the gradients of gates, is rounded as it is stored.
#include "runtime/ref/ref.h"

#include <math.h>

struct scan {
    int64_t samples, t, d, h;  // words; directions; hidden units of one
    const double *length;      // NULL for all
};

static struct scan scan_of(const struct ref_step *s, int sequence, int parts, int lengths)
{
    const int64_t *dim = ref_in(s, sequence)->shape.dim;
    int64_t d = s->node->attr.recurrent.directions;
    return (struct scan){dim[0], dim[1], d, dim[2] / parts / d, ref_read(s, lengths)};
}

static int64_t length_of(const struct scan *o, int64_t b)
{
    double n = o->length ? o->length[b] : (double)o->t;
    return n < 0.0 ? 0 : n > (double)o->t ? o->t : (int64_t)n;
}

// The row [B,T] of the word that direction d reads as number i.
static int64_t row_of(const struct scan *o, int64_t b, int64_t d, int64_t i)
{
    return b * o->t + (d ? length_of(o, b) - 1 - i : i);
}

static int64_t unit_at(const struct scan *o, int64_t row, int64_t d, int64_t j) { return (row * o->d + d) * o->h + j; }

static int64_t part_at(const struct scan *o, int64_t row, int64_t d, int parts, int part, int64_t j)
{
    return ((row * o->d + d) * parts + part) * o->h + j;
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

// ---- SRU
struct sru {
    struct scan of;
    int parts;
    const double *u, *x, *bias, *mask;  // mask[B,D,H]
    enum act act;
};

// One hidden unit at one word: its gates and its inputs.
struct unit {
    double candidate, skip, f, r, m;
    int64_t at, from, skip_at;  // of h; of the candidate in u; of the skip input in x or u
};

static struct sru read_sru(const struct ref_step *s, int u, int lengths)
{
    const struct recurrent_attr *a = &s->node->attr.recurrent;
    int parts = s->in[u + 1] ? 3 : 4;
    struct sru o = {.of = scan_of(s, u, parts, lengths), .parts = parts, .u = ref_read(s, u), .x = ref_read(s, u + 1),
                    .bias = ref_read(s, u + 2), .act = a->act};
    int64_t count = o.of.samples * o.of.d * o.of.h;
    double *mask = ref_zeros(s, count);
    for (int64_t i = 0; i < count; i++) mask[i] = 1.0;
    if (s->in[lengths + 1]) ref_drop(s, mask, count, lengths + 1, a->p, a->site);
    o.mask = mask;
    return o;
}

static struct unit unit_of(const struct sru *o, int64_t b, int64_t d, int64_t i, int64_t j)
{
    int64_t row = row_of(&o->of, b, d, i), h = o->of.h;
    struct unit n = {.at = unit_at(&o->of, row, d, j), .from = part_at(&o->of, row, d, o->parts, 0, j)};
    n.skip_at = o->x ? n.at : n.from + 3 * h;
    n.candidate = o->u[n.from], n.skip = (o->x ? o->x : o->u)[n.skip_at];
    n.f = sigmoid(o->u[n.from + h] + o->bias[2 * d * h + j]);
    n.r = sigmoid(o->u[n.from + 2 * h] + o->bias[(2 * d + 1) * h + j]);
    n.m = o->mask[(b * o->of.d + d) * h + j];
    return n;
}

void ref_sru(const struct ref_step *s)
{
    struct sru o = read_sru(s, 0, 3);
    int64_t lines = o.of.samples * o.of.d * o.of.h, count = lines * o.of.t;
    double *h = ref_zeros(s, count), *c = ref_zeros(s, count);
    for (int64_t line = 0; line < lines; line++) {
        int64_t j = line % o.of.h, d = line / o.of.h % o.of.d, b = line / o.of.h / o.of.d, n = length_of(&o.of, b);
        double state = 0.0;
        for (int64_t i = 0; i < n; i++) {
            struct unit at = unit_of(&o, b, d, i, j);
            state = at.f * state + (1.0 - at.f) * at.candidate;
            c[at.at] = state;
            h[at.at] = at.r * at.m * ref_act_value(o.act, state) + (1.0 - at.r) * at.skip;
        }
    }
    ref_write(s, 0, h);
    ref_write(s, 1, c);
}

void ref_sru_grad(const struct ref_step *s)
{
    struct sru o = read_sru(s, 1, 5);
    int64_t units = o.of.h, lines = o.of.samples * o.of.d * units, count = lines * o.of.t;
    const double *dh = ref_read(s, 0), *c = ref_read(s, 4);
    double *du = ref_zeros(s, count * o.parts), *dx = ref_zeros(s, count), *dbias = ref_zeros(s, 2 * o.of.d * units);
    for (int64_t line = 0; line < lines; line++) {
        int64_t j = line % units, d = line / units % o.of.d, b = line / units / o.of.d, n = length_of(&o.of, b);
        double dc = 0.0;
        for (int64_t i = n - 1; i >= 0; i--) {
            struct unit at = unit_of(&o, b, d, i, j);
            double before = i > 0 ? c[unit_at(&o.of, row_of(&o.of, b, d, i - 1), d, j)] : 0.0, state = c[at.at], g = dh[at.at];
            double dr = g * (at.m * ref_act_value(o.act, state) - at.skip) * at.r * (1.0 - at.r);
            dc += g * at.r * at.m * ref_act_slope(o.act, state);
            double df = dc * (before - at.candidate) * at.f * (1.0 - at.f);
            du[at.from] = dc * (1.0 - at.f), du[at.from + units] = df, du[at.from + 2 * units] = dr;
            (o.x ? dx : du)[at.skip_at] = g * (1.0 - at.r);
            dbias[2 * d * units + j] += df, dbias[(2 * d + 1) * units + j] += dr;
            dc *= at.f;
        }
    }
    ref_write(s, 0, du);
    ref_write(s, 1, dx);
    ref_write(s, 2, dbias);
}

// ---- LSTM
enum { GATES = 4 };  // input, forget, cell, output

static const double *read_weights(const struct ref_step *s, enum dtype type)
{
    double *w = ref_read(s, 1);
    if (w) ref_round_all(type, w, shape_count(&ref_in(s, 1)->shape));
    return w;
}

// A copy of input `i`, or zeros.
static double *read_state(const struct ref_step *s, int i, int64_t count)
{
    double *given = ref_read(s, i);
    return given ? given : ref_zeros(s, count);
}

// w of one direction times h, added to the gates.
static void add_states(const struct scan *o, const double *w, const double *h, double *gates)
{
    for (int64_t i = 0; i < GATES * o->h; i++)
        for (int64_t j = 0; j < o->h; j++) gates[i] += w[i * o->h + j] * h[j];
}

void ref_lstm(const struct ref_step *s)
{
    struct scan o = scan_of(s, 0, GATES, 2);
    enum dtype type = ref_in(s, 0)->dtype;
    int64_t lines = o.samples * o.d, units = o.h, count = lines * o.t * units;
    const double *x = ref_read(s, 0), *w = read_weights(s, type);
    double *h = ref_zeros(s, count), *c = ref_zeros(s, count), *gates = ref_zeros(s, GATES * count);
    double *last_h = read_state(s, 3, lines * units), *last_c = read_state(s, 4, lines * units);
    for (int64_t line = 0; line < lines; line++) {
        int64_t d = line % o.d, b = line / o.d, n = length_of(&o, b);
        double *state = last_c + line * units, *before = last_h + line * units;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = unit_at(&o, row_of(&o, b, d, i), d, 0);
            double *g = gates + GATES * at;
            for (int64_t k = 0; k < GATES * units; k++) g[k] = x[GATES * at + k];
            if (w) add_states(&o, w + d * GATES * units * units, before, g);
            for (int64_t k = 0; k < GATES * units; k++) g[k] = k / units == 2 ? tanh(g[k]) : sigmoid(g[k]);
            for (int64_t j = 0; j < units; j++) {
                state[j] = g[units + j] * state[j] + g[j] * g[2 * units + j];
                c[at + j] = state[j];
                h[at + j] = before[j] = ref_round(type, g[3 * units + j] * tanh(state[j]));
            }
        }
    }
    double *const out[] = {h, c, gates, last_h, last_c};
    for (int i = 0; i < 5; i++) ref_write(s, i, out[i]);
}

void ref_lstm_grad(const struct ref_step *s)
{
    struct scan o = scan_of(s, 0, GATES, 4);
    enum dtype type = ref_in(s, 0)->dtype;
    int64_t lines = o.samples * o.d, units = o.h, count = lines * o.t * units;
    const double *gates = ref_read(s, 0), *w = read_weights(s, type), *h = ref_read(s, 2), *c = ref_read(s, 3);
    const double *h0 = read_state(s, 5, lines * units), *c0 = read_state(s, 6, lines * units), *dh = read_state(s, 7, count);
    double *dx = ref_zeros(s, GATES * count), *before = ref_zeros(s, count);
    double *dh0 = read_state(s, 8, lines * units), *dc0 = read_state(s, 9, lines * units);
    for (int64_t line = 0; line < lines; line++) {
        int64_t d = line % o.d, b = line / o.d, n = length_of(&o, b);
        double *back = dh0 + line * units, *dc = dc0 + line * units;
        for (int64_t i = n - 1; i >= 0; i--) {
            int64_t at = unit_at(&o, row_of(&o, b, d, i), d, 0), last = i > 0 ? unit_at(&o, row_of(&o, b, d, i - 1), d, 0) : -1;
            const double *g = gates + GATES * at, *h_last = last < 0 ? h0 + line * units : h + last;
            const double *c_last = last < 0 ? c0 + line * units : c + last;
            double *to = dx + GATES * at;
            for (int64_t j = 0; j < units; j++) {
                double in = g[j], forget = g[units + j], cell = g[2 * units + j], out = g[3 * units + j];
                double all = dh[at + j] + back[j], top = tanh(c[at + j]);
                dc[j] += all * out * (1.0 - top * top);
                to[j] = dc[j] * cell * in * (1.0 - in), to[units + j] = dc[j] * c_last[j] * forget * (1.0 - forget);
                to[2 * units + j] = dc[j] * in * (1.0 - cell * cell), to[3 * units + j] = all * top * out * (1.0 - out);
                dc[j] *= forget;
                before[at + j] = h_last[j];
                back[j] = 0.0;
            }
            ref_round_all(type, to, GATES * units);
            for (int64_t k = 0; w && k < GATES * units; k++)
                for (int64_t j = 0; j < units; j++) back[j] += to[k] * w[(d * GATES * units + k) * units + j];
        }
    }
    double *const out[] = {dx, before, dh0, dc0};
    for (int i = 0; i < 4; i++) ref_write(s, i, out[i]);
}

// ---- GRU: parts reset, update, new
// sums[3 units] += w of one direction times v, for parts [first, end).
static void add_parts(const struct scan *o, const double *w, int first, int end, const double *v, double *sums)
{
    for (int64_t i = first * o->h; i < end * o->h; i++)
        for (int64_t j = 0; j < o->h; j++) sums[i] += w[i * o->h + j] * v[j];
}

// sums[units] += parts [first, end) of d times w.
static void add_back(const struct scan *o, const double *w, int first, int end, const double *d, double *sums)
{
    for (int64_t i = first * o->h; i < end * o->h; i++)
        for (int64_t j = 0; j < o->h; j++) sums[j] += d[i] * w[i * o->h + j];
}

void ref_gru(const struct ref_step *s)
{
    struct scan o = scan_of(s, 0, 3, 3);
    enum dtype type = ref_in(s, 0)->dtype;
    bool original = s->node->attr.recurrent.original;
    int64_t units = o.h, count = o.samples * o.d * o.t * units;
    const double *x = ref_read(s, 0), *w = read_weights(s, type), *bias = read_state(s, 2, 3 * o.d * units);
    double *h = ref_zeros(s, count), *kept = ref_zeros(s, 4 * count);
    double *b = ref_zeros(s, 3 * units), *v = ref_zeros(s, units), *state = ref_zeros(s, units);
    for (int64_t line = 0; line < o.samples * o.d; line++) {
        int64_t d = line % o.d, n = length_of(&o, line / o.d);
        const double *of = w + d * 3 * units * units;
        for (int64_t j = 0; j < units; j++) state[j] = v[j] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = unit_at(&o, row_of(&o, line / o.d, d, i), d, 0);
            const double *a = x + 3 * at;
            double *k = kept + 4 * at;
            for (int64_t j = 0; j < 3 * units; j++) b[j] = bias[d * 3 * units + j];
            add_parts(&o, of, 0, original ? 2 : 3, v, b);
            for (int64_t j = 0; j < 2 * units; j++) k[j] = sigmoid(a[j] + b[j]);
            for (int64_t j = 0; j < units; j++) k[2 * units + j] = original ? ref_round(type, k[j] * v[j]) : b[2 * units + j];
            if (original) add_parts(&o, of, 2, 3, k + 2 * units, b);
            for (int64_t j = 0; j < units; j++) {
                double fresh = tanh(a[2 * units + j] + (original ? 1.0 : k[j]) * b[2 * units + j]);
                k[3 * units + j] = fresh;
                state[j] = fresh + k[units + j] * (state[j] - fresh);
                h[at + j] = v[j] = ref_round(type, state[j]);
            }
        }
    }
    ref_write(s, 0, h);
    ref_write(s, 1, kept);
}

void ref_gru_grad(const struct ref_step *s)
{
    struct scan o = scan_of(s, 0, 4, 3);
    enum dtype type = ref_in(s, 0)->dtype;
    bool original = s->node->attr.recurrent.original;
    int64_t units = o.h, count = o.samples * o.d * o.t * units;
    const double *kept = ref_read(s, 0), *w = read_weights(s, type), *h = ref_read(s, 2), *dh = ref_read(s, 4);
    double *dx = ref_zeros(s, 3 * count), *du = ref_zeros(s, 3 * count), *before = ref_zeros(s, count);
    double *back = ref_zeros(s, units), *reset = ref_zeros(s, units);
    for (int64_t line = 0; line < o.samples * o.d; line++) {
        int64_t d = line % o.d, n = length_of(&o, line / o.d);
        const double *of = w + d * 3 * units * units;
        for (int64_t j = 0; j < units; j++) back[j] = 0.0;
        for (int64_t i = n - 1; i >= 0; i--) {
            int64_t at = unit_at(&o, row_of(&o, line / o.d, d, i), d, 0);
            int64_t last = i > 0 ? unit_at(&o, row_of(&o, line / o.d, d, i - 1), d, 0) : -1;
            const double *r = kept + 4 * at, *z = r + units, *q = z + units, *fresh = q + units;
            double *x = dx + 3 * at, *u = du + 3 * at;
            for (int64_t j = 0; j < units; j++) {
                double all = dh[at + j] + back[j];
                before[at + j] = last < 0 ? 0.0 : h[last + j];
                x[units + j] = all * (before[at + j] - fresh[j]) * z[j] * (1.0 - z[j]);
                x[2 * units + j] = all * (1.0 - z[j]) * (1.0 - fresh[j] * fresh[j]);
                u[2 * units + j] = original ? ref_round(type, x[2 * units + j]) : x[2 * units + j] * r[j];
                back[j] = all * z[j], reset[j] = 0.0;
            }
            if (original) add_back(&o, of, 2, 3, u, reset);
            for (int64_t j = 0; j < units; j++) {
                double dr = original ? reset[j] * before[at + j] : x[2 * units + j] * q[j];
                x[j] = u[j] = dr * r[j] * (1.0 - r[j]), u[units + j] = x[units + j];
                back[j] += original ? reset[j] * r[j] : 0.0;
            }
            ref_round_all(type, u, 3 * units);
            add_back(&o, of, 0, original ? 2 : 3, u, back);
        }
    }
    double *const out[] = {dx, before, du};
    for (int i = 0; i < 3; i++) ref_write(s, i, out[i]);
}

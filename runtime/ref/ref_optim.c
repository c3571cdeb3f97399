// SPDX-License-Identifier: Apache-2.0
// Optimiser operators. Persistent values are read completely before they are overwritten.
#include "runtime/ref/ref.h"

#include <math.h>

static int64_t optim_count(const struct ref_step *s) { return shape_count(&ref_in(s, 0)->shape); }

// The gradient, clipped where input `clip` is given.
static double *read_gradient(const struct ref_step *s, int clip)
{
    double *g = ref_read(s, 0), factor = s->node->in[clip] == NONE ? 1.0 : ref_get(s, clip, 0);
    for (int64_t i = 0, count = optim_count(s); i < count; i++) g[i] *= factor;
    return g;
}

static bool skips_step(const struct ref_step *s, int clip)
{
    return s->node->in[clip] != NONE && ref_get(s, clip, 0) < 0;
}

// u = 0, and the first `states` states stay.
static void write_skipped(const struct ref_step *s, int states)
{
    double *u = ref_read(s, 0);
    for (int64_t i = 0, count = optim_count(s); i < count; i++) u[i] = 0;
    for (int i = 1; i <= states; i++) ref_write(s, i, ref_read(s, i));
    ref_write(s, 0, u);
}

void ref_momentum(const struct ref_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    if (skips_step(s, 3)) return write_skipped(s, 1);
    double *g = read_gradient(s, 3), *m = ref_read(s, 1), *p = ref_read(s, 2), mu = a->mu;
    for (int64_t i = 0, count = optim_count(s); i < count; i++) {
        if (p) g[i] += (double)a->decay * p[i];
        m[i] = mu * m[i] + g[i];
        g[i] = a->nesterov ? g[i] + mu * m[i] : m[i];
    }
    ref_write(s, 0, g);
    ref_write(s, 1, m);
}

void ref_adam(const struct ref_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    if (skips_step(s, 4)) return write_skipped(s, 2);
    double *u = read_gradient(s, 4), *m = ref_read(s, 1), *v = ref_read(s, 2), b1 = a->beta1, b2 = a->beta2;
    bool counts = s->node->in[3] != NONE;
    double t = counts ? ref_get(s, 3, 0) + 1.0 : 0.0;
    double whole1 = counts ? 1.0 - pow(b1, t) : 1.0, whole2 = counts ? 1.0 - pow(b2, t) : 1.0;
    for (int64_t i = 0, count = optim_count(s); i < count; i++) {
        m[i] = b1 * m[i] + (1.0 - b1) * u[i];
        v[i] = a->infinity ? fmax(b2 * v[i], fabs(u[i])) : b2 * v[i] + (1.0 - b2) * u[i] * u[i];
        u[i] = m[i] / whole1 / ((a->infinity ? v[i] : sqrt(v[i] / whole2 + (double)a->root_eps)) + (double)a->eps);
    }
    ref_write(s, 0, u);
    ref_write(s, 1, m);
    ref_write(s, 2, v);
}

static double square_sum(const double *x, int64_t count)
{
    double squares = 0.0;
    for (int64_t i = 0; i < count; i++) squares += x[i] * x[i];
    return squares;
}

void ref_squares(const struct ref_step *s)
{
    double sum = square_sum(ref_read(s, 0), optim_count(s));
    if (s->node->in[1] != NONE) sum += ref_get(s, 1, 0);
    ref_write(s, 0, &sum);
}

void ref_clip_factor(const struct ref_step *s)
{
    double norm = sqrt(ref_get(s, 0, 0)), target = s->node->attr.optim.target, factor = norm <= target ? 1.0 : target / norm;
    ref_write(s, 0, &factor);
}

void ref_trust(const struct ref_step *s)
{
    double p = sqrt(ref_get(s, 0, 0)), u = sqrt(ref_get(s, 1, 0)), rate = ref_get(s, 2, 0);
    if (p > 0 && u > 0) rate *= p / u;
    ref_write(s, 0, &rate);
}

void ref_loss_scale(const struct ref_step *s)
{
    const struct loss_scale_attr *a = &s->node->attr.loss_scale;
    double squares = ref_get(s, 0, 0), scale = ref_get(s, 1, 0), norm = sqrt(squares);
    double counts[2] = {ref_get(s, 2, 0), ref_get(s, 2, 1)};
    bool skips = !isfinite(squares) && scale > (double)a->least, grows = !skips && counts[0] + 1 >= a->every;
    bool clips = a->target > 0 && !(norm <= (double)a->target * scale);
    double clip = skips ? -1 : clips ? (double)a->target / norm : 1 / scale, take = skips ? 0 : 1;
    scale = skips ? fmax(scale / 2, (double)a->least) : grows ? fmin(scale * 2, (double)a->most) : scale;
    counts[0] = skips || grows ? 0 : counts[0] + 1;
    counts[1] += skips;
    ref_write(s, 0, &clip);
    ref_write(s, 1, &take);
    ref_write(s, 2, &scale);
    ref_write(s, 3, counts);
}

void ref_unit_norm(const struct ref_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    double *x = ref_read(s, 0);
    int64_t count = optim_count(s);
    double wanted = (double)a->target * (s->node->in[1] == NONE ? 1.0 : ref_get(s, 1, 0));
    double factor = wanted / (sqrt(square_sum(x, count)) + (double)a->eps);
    for (int64_t i = 0; i < count; i++) x[i] *= factor;
    ref_write(s, 0, x);
}

void ref_descend(const struct ref_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    double *p = ref_read(s, 0), *u = ref_read(s, 1), rate = ref_get(s, 2, 0) * (double)a->factor;
    for (int64_t i = 0, count = optim_count(s); i < count; i++) p[i] -= rate * (u[i] + (double)a->decay * p[i]);
    for (int64_t i = 0, count = optim_count(s); i < count && a->limit > 0; i++)  // NaN stays
        p[i] = p[i] > (double)a->limit ? (double)a->limit : p[i] < -(double)a->limit ? -(double)a->limit : p[i];
    ref_write(s, 0, p);
}

void ref_lerp(const struct ref_step *s)
{
    double *e = ref_read(s, 0), *p = ref_read(s, 1), t = ref_get(s, 2, 0);
    for (int64_t i = 0, count = optim_count(s); i < count; i++) e[i] += t * (p[i] - e[i]);
    ref_write(s, 0, e);
}

void ref_assign(const struct ref_step *s) { ref_write(s, 0, ref_read(s, 1)); }

// This device trains alone (device_type.joins), so the sum is one process's value.
void ref_all_reduce(const struct ref_step *s)
{
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++)
        if (s->node->in[i] != NONE) ref_write(s, i, ref_read(s, i));
}

// SPDX-License-Identifier: Apache-2.0
// Attention, one query at a time. With P = softmax(q k' scale) and M the mask of the dropout (0 or a factor):
//   y = (P M) v    dP = (dy v') M    dS = P (dP - sum(dy y))    dq = scale dS k, dk = scale dS' q, dv = (P M)' dy
#include "runtime/ref/ref.h"

#include "runtime/element.h"

#include <math.h>

struct heads {
    const double *qkv, *length;  // length: NULL for all
    const int32_t *key;          // of the dropout; NULL for none
    uint32_t step;
    int64_t samples, t, h, d;
    double scale;
    const struct attention_attr *attr;
};

static struct heads read_heads(const struct ref_step *s, int qkv, int lengths)
{
    const int64_t *dim = ref_in(s, qkv)->shape.dim;
    const struct attention_attr *a = &s->node->attr.attention;
    struct heads o = {.qkv = ref_read(s, qkv), .length = ref_read(s, lengths), .key = s->in[lengths + 1],
                      .samples = dim[0], .t = dim[1], .h = a->heads, .d = dim[2] / 3 / a->heads, .attr = a};
    if (o.key) o.step = *(const uint32_t *)s->in[lengths + 2];
    o.scale = 1.0 / sqrt((double)o.d);
    return o;
}

static int64_t length_of(const struct heads *o, int64_t b)
{
    double n = o->length ? o->length[b] : (double)o->t;
    return n < 0.0 ? 0 : n > (double)o->t ? o->t : (int64_t)n;
}

// The beginning of row t of part 0 (q), 1 (k) or 2 (v).
static int64_t part_at(const struct heads *o, int64_t b, int64_t h, int64_t t, int part)
{
    return ((b * o->t + t) * 3 + part) * o->h * o->d + h * o->d;
}

static double dot_of(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double mask_of(const struct heads *o, int64_t row, int64_t k)
{
    if (!o->key) return 1.0;
    uint32_t draw = (uint32_t)(k / (ATTENTION_LANES * ATTENTION_DRAW) * ATTENTION_LANES + k % ATTENTION_LANES);
    struct rng4 r = element_attention_draw(o->key, o->step, (uint32_t)o->attr->site, (uint32_t)row, draw);
    uint32_t piece = element_attention_piece(r, (int)(k / ATTENTION_LANES % ATTENTION_DRAW));
    return piece >= element_attention_least(o->attr->p) ? (double)element_attention_factor(o->attr->p) : 0.0;
}

// The scores of query t over `n` keys.
static void scores_of(const struct heads *o, int64_t b, int64_t h, int64_t t, int64_t n, double *into)
{
    const double *q = o->qkv + part_at(o, b, h, t, 0);
    for (int64_t k = 0; k < n; k++) into[k] = o->scale * dot_of(q, o->qkv + part_at(o, b, h, k, 1), o->d);
}

void ref_attention(const struct ref_step *s)
{
    struct heads o = read_heads(s, 0, 1);
    double *y = ref_zeros(s, o.samples * o.t * o.h * o.d), *lse = ref_zeros(s, o.samples * o.h * o.t), *p = ref_zeros(s, o.t);
    for (int64_t row = 0; row < o.samples * o.h * o.t; row++) {
        int64_t t = row % o.t, h = row / o.t % o.h, b = row / o.t / o.h, n = length_of(&o, b);
        if (t >= n) continue;
        scores_of(&o, b, h, t, n, p);
        double top = p[0], sum = 0.0, *to = y + ((b * o.t + t) * o.h + h) * o.d;
        for (int64_t k = 0; k < n; k++) top = fmax(top, p[k]);
        for (int64_t k = 0; k < n; k++) sum += exp(p[k] - top);
        lse[row] = top + log(sum);
        for (int64_t k = 0; k < n; k++) {
            double weight = exp(p[k] - lse[row]) * mask_of(&o, row, k);
            const double *v = o.qkv + part_at(&o, b, h, k, 2);
            for (int64_t i = 0; i < o.d; i++) to[i] += weight * v[i];
        }
    }
    ref_write(s, 0, y);
    ref_write(s, 1, lse);
}

void ref_attention_grad(const struct ref_step *s)
{
    struct heads o = read_heads(s, 1, 4);
    const double *dy = ref_read(s, 0), *y = ref_read(s, 2), *lse = ref_read(s, 3);
    double *d = ref_zeros(s, o.samples * o.t * 3 * o.h * o.d), *p = ref_zeros(s, o.t);
    for (int64_t row = 0; row < o.samples * o.h * o.t; row++) {
        int64_t t = row % o.t, h = row / o.t % o.h, b = row / o.t / o.h, n = length_of(&o, b);
        int64_t at = ((b * o.t + t) * o.h + h) * o.d, q = part_at(&o, b, h, t, 0);
        if (t >= n) continue;
        scores_of(&o, b, h, t, n, p);
        double delta = dot_of(dy + at, y + at, o.d);
        for (int64_t k = 0; k < n; k++) {
            double mask = mask_of(&o, row, k), prob = exp(p[k] - lse[row]);
            int64_t key = part_at(&o, b, h, k, 1), value = part_at(&o, b, h, k, 2);
            double ds = o.scale * prob * (mask * dot_of(dy + at, o.qkv + value, o.d) - delta);
            for (int64_t i = 0; i < o.d; i++) {
                d[q + i] += ds * o.qkv[key + i];
                d[key + i] += ds * o.qkv[q + i];
                d[value + i] += prob * mask * dy[at + i];
            }
        }
    }
    ref_write(s, 0, d);
}

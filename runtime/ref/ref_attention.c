// SPDX-License-Identifier: Apache-2.0
// Attention, one query at a time. With P = softmax(q k' scale) and M the mask of the dropout (0 or a factor):
//   y = (P M) v    dP = (dy v') M    dS = P (dP - sum(dy y))    dq = scale dS k, dk = scale dS' q, dv = (P M)' dy
#include "runtime/ref/ref.h"

#include "runtime/element.h"

#include <math.h>

struct heads {
    const double *q, *kv, *length, *q_length;  // kv: q where one tensor holds all; length: NULL for all
    const int32_t *key;                        // of the dropout; NULL for none
    uint32_t step;
    int64_t samples, t, keys, h, d;
    int64_t pitch, kv_pitch, k_at;             // from token to token; from a token's row to its keys
    double scale;
    const struct attention_attr *attr;
};

// Inputs from `lengths` on are lengths, q_lengths, key and step.
static struct heads read_heads(const struct ref_step *s, int q, int lengths)
{
    const struct value *kv = ref_in(s, q + 1);
    const int64_t *dim = ref_in(s, q)->shape.dim;
    const struct attention_attr *a = &s->node->attr.attention;
    int64_t width = kv ? dim[2] : dim[2] / 3;
    struct heads o = {.q = ref_read(s, q), .length = ref_read(s, lengths), .key = s->in[lengths + 2], .samples = dim[0],
                      .t = dim[1], .keys = kv ? kv->shape.dim[1] : dim[1], .h = a->heads, .d = width / a->heads,
                      .pitch = dim[2], .kv_pitch = kv ? 2 * width : dim[2], .k_at = kv ? 0 : width, .attr = a};
    o.kv = kv ? ref_read(s, q + 1) : o.q;
    o.q_length = kv ? ref_read(s, lengths + 1) : o.length;
    if (o.key) o.step = *(const uint32_t *)s->in[lengths + 3];
    o.scale = 1.0 / sqrt((double)o.d);
    return o;
}

static int64_t length_of(const double *length, int64_t b, int64_t most)
{
    double n = length ? length[b] : (double)most;
    return n < 0.0 ? 0 : n > (double)most ? most : (int64_t)n;
}

// How many keys query t sees.
static int64_t seen_by(const struct heads *o, int64_t b, int64_t t)
{
    int64_t queries = length_of(o->q_length, b, o->t), keys = length_of(o->length, b, o->keys), last = t + 1 + keys - queries;
    if (t >= queries) return 0;
    return !o->attr->causal || last > keys ? keys : last < 0 ? 0 : last;
}

static int64_t query_at(const struct heads *o, int64_t b, int64_t h, int64_t t)
{
    return (b * o->t + t) * o->pitch + h * o->d;
}

static int64_t key_at(const struct heads *o, int64_t b, int64_t h, int64_t k)
{
    return (b * o->keys + k) * o->kv_pitch + o->k_at + h * o->d;
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
    return piece >= element_least(o->attr->p) ? (double)element_factor(o->attr->p) : 0.0;
}

// The scores of query t over `n` keys.
static void scores_of(const struct heads *o, int64_t b, int64_t h, int64_t t, int64_t n, double *into)
{
    const double *q = o->q + query_at(o, b, h, t);
    for (int64_t k = 0; k < n; k++) into[k] = o->scale * dot_of(q, o->kv + key_at(o, b, h, k), o->d);
}

void ref_attention(const struct ref_step *s)
{
    struct heads o = read_heads(s, 0, 2);
    double *y = ref_zeros(s, o.samples * o.t * o.h * o.d), *lse = ref_zeros(s, o.samples * o.h * o.t), *p = ref_zeros(s, o.keys);
    for (int64_t row = 0; row < o.samples * o.h * o.t; row++) {
        int64_t t = row % o.t, h = row / o.t % o.h, b = row / o.t / o.h, n = seen_by(&o, b, t);
        if (n == 0) continue;
        scores_of(&o, b, h, t, n, p);
        double top = p[0], sum = 0.0, *to = y + ((b * o.t + t) * o.h + h) * o.d;
        for (int64_t k = 0; k < n; k++) top = fmax(top, p[k]);
        for (int64_t k = 0; k < n; k++) sum += exp(p[k] - top);
        lse[row] = top + log(sum);
        for (int64_t k = 0; k < n; k++) {
            double weight = exp(p[k] - lse[row]) * mask_of(&o, row, k);
            const double *v = o.kv + key_at(&o, b, h, k) + o.h * o.d;
            for (int64_t i = 0; i < o.d; i++) to[i] += weight * v[i];
        }
    }
    ref_write(s, 0, y);
    ref_write(s, 1, lse);
}

void ref_attention_grad(const struct ref_step *s)
{
    struct heads o = read_heads(s, 1, 5);
    const double *dy = ref_read(s, 0), *y = ref_read(s, 3), *lse = ref_read(s, 4);
    double *dq = ref_zeros(s, o.samples * o.t * o.pitch), *p = ref_zeros(s, o.keys);
    double *dkv = o.kv == o.q ? dq : ref_zeros(s, o.samples * o.keys * o.kv_pitch);
    for (int64_t row = 0; row < o.samples * o.h * o.t; row++) {
        int64_t t = row % o.t, h = row / o.t % o.h, b = row / o.t / o.h, n = seen_by(&o, b, t);
        int64_t at = ((b * o.t + t) * o.h + h) * o.d, q = query_at(&o, b, h, t);
        scores_of(&o, b, h, t, n, p);
        double delta = dot_of(dy + at, y + at, o.d);
        for (int64_t k = 0; k < n; k++) {
            double mask = mask_of(&o, row, k), prob = exp(p[k] - lse[row]);
            int64_t key = key_at(&o, b, h, k), value = key + o.h * o.d;
            double ds = o.scale * prob * (mask * dot_of(dy + at, o.kv + value, o.d) - delta);
            for (int64_t i = 0; i < o.d; i++) {
                dq[q + i] += ds * o.kv[key + i];
                dkv[key + i] += ds * o.q[q + i];
                dkv[value + i] += prob * mask * dy[at + i];
            }
        }
    }
    ref_write(s, 0, dq);
    if (dkv != dq) ref_write(s, 1, dkv);
}

// ---- rotary positions
void ref_rotary(const struct ref_step *s)
{
    const struct rotary_attr *a = &s->node->attr.rotary;
    const struct value *at = ref_in(s, 1);
    const int64_t *d = ref_in(s, 0)->shape.dim, half = d[3] / 2;
    bool each = at && shape_count(&at->shape) > 1;
    double *x = ref_read(s, 0);
    for (int64_t r = 0; r < d[0] * d[1] * d[2]; r++) {
        int64_t b = r / (d[1] * d[2]), t = r / d[2] % d[1];
        double position = (double)t + (at ? ref_get(s, 1, each ? b : 0) : 0.0);
        for (int64_t i = 0; i < half; i++) {
            double angle = position * pow((double)a->base, -2.0 * (double)i / (double)d[3]);
            double c = cos(angle), sine = a->inverse ? -sin(angle) : sin(angle);
            double *p = x + r * d[3] + i, *q = p + half, first = *p, second = *q;
            *p = first * c - second * sine;
            *q = second * c + first * sine;
        }
    }
    ref_write(s, 0, x);
}

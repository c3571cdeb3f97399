// SPDX-License-Identifier: Apache-2.0
// The formulas of map.def in double, with libm's functions; activations for the operators that fuse them.
#include "runtime/ref/ref.h"

#include <math.h>

static double real_relu(double x) { return x > 0.0 ? x : 0.0; }
static double real_relu_slope(double x) { return x > 0.0 ? 1.0 : 0.0; }
static double real_gelu(double x) { return x * 0.5 * erfc(-x * M_SQRT1_2); }
static double real_gelu_slope(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2) + x * exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
}
static double real_sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double real_sigmoid_slope(double x) { return 1.0 / (1.0 + exp(-x)) / (1.0 + exp(x)); }
static double real_silu(double x) { return x / (1.0 + exp(-x)); }
static double real_silu_slope(double x)
{
    double s = real_sigmoid(x);
    return s * (1.0 + x * (1.0 - s));
}
static double real_tanh(double x) { return tanh(x); }
static double real_tanh_slope(double x) { return 1.0 - tanh(x) * tanh(x); }
static double gelu_tanh_of(double x) { return sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x); }
static double real_gelu_tanh(double x) { return 0.5 * x * (1.0 + tanh(gelu_tanh_of(x))); }
static double real_gelu_tanh_slope(double x)
{
    double t = tanh(gelu_tanh_of(x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * sqrt(2.0 / M_PI) * (1.0 + 3.0 * 0.044715 * x * x);
}
static double real_exp_any(double x) { return exp(x); }
static double real_log(double x) { return log(x); }
static double real_sqrt(double x) { return sqrt(x); }
static double real_pow(double x, double to) { return pow(x, to); }
static double real_softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }

double ref_act_value(enum act act, double x)
{
    switch (act) {
    case ACT_NONE: return x;
#define ACT(ID, name) case ACT_##ID: return real_##name(x);
    ACT_LIST(ACT)
#undef ACT
    case ACT_KINDS: break;
    }
    BUG("unknown activation");
}

double ref_act_slope(enum act act, double x)
{
    switch (act) {
    case ACT_NONE: return 1.0;
#define ACT(ID, name) case ACT_##ID: return real_##name##_slope(x);
    ACT_LIST(ACT)
#undef ACT
    case ACT_KINDS: break;
    }
    BUG("unknown activation");
}

// The value (part 0) or the slope of input `part` - 1; in: A, B, C, Y.
static double formula_at(const struct map_attr *m, int part, const double in[4])
{
#define A in[0]
#define B in[1]
#define C in[2]
#define Y in[3]
#define P ((double)m->p)
#define Q ((double)m->q)
#define F(name) real_##name
    switch (m->formula) {
#define MAP(ID, name, inputs, flops, back, value, a, b, c)                                                             \
    case MAP_##ID: return part == 0 ? (value) : part == 1 ? (a) : part == 2 ? (b) : (c);
#include "runtime/map.def"
#undef MAP
    default: BUG("unknown formula");
    }
#undef A
#undef B
#undef C
#undef Y
#undef P
#undef Q
#undef F
}

// Elements 0 .. count of input `first` and the three after it, of which those without all dimensions are repeated.
struct repeated {
    double *at[4];
    int64_t period[4];
};

static struct repeated read_repeated(const struct ref_step *s, int first, int inputs)
{
    struct repeated r = {{NULL}, {0}};
    for (int i = 0; i < inputs; i++)
        if (ref_in(s, first + i)) r.at[i] = ref_read(s, first + i), r.period[i] = shape_count(&ref_in(s, first + i)->shape);
    return r;
}

static void pick_repeated(const struct repeated *r, int64_t i, double in[4])
{
    for (int k = 0; k < 4; k++) in[k] = r->at[k] ? r->at[k][i % r->period[k]] : 0.0;
}

void ref_map(const struct ref_step *s)
{
    int64_t count = shape_count(&ref_in(s, 0)->shape);
    struct repeated r = read_repeated(s, 0, 3);
    double *y = ref_zeros(s, count), in[4];
    for (int64_t i = 0; i < count; i++) pick_repeated(&r, i, in), y[i] = formula_at(&s->node->attr.map, 0, in);
    ref_write(s, 0, y);
}

void ref_map_grad(const struct ref_step *s)
{
    int64_t count = shape_count(&ref_in(s, 0)->shape);
    struct repeated r = read_repeated(s, 1, 4);
    const double *dy = ref_read(s, 0);
    double *dx = ref_zeros(s, count), in[4];
    for (int part = 1; part <= 3; part++) {
        if (!ref_out(s, part - 1)) continue;
        for (int64_t i = 0; i < count; i++) pick_repeated(&r, i, in), dx[i] = dy[i] * formula_at(&s->node->attr.map, part, in);
        ref_write(s, part - 1, dx);
    }
}

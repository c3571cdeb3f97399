// SPDX-License-Identifier: Apache-2.0
// Gradient rules against finite differences, on ref in f32. With L = sum(y * weights), summed here in double, the
// central difference at two steps gives Richardson's extrapolation, whose error is of the fourth order. The allowed error
// is derived, not chosen: the roundings of the elements of y that moved, plus the truncation seen between the two steps.
// The test also checks that this is small compared with the gradient itself, so that a wrong rule cannot pass.
#include "runtime/cases/cases.h"

#include "runtime/common/base/rng.h"
#include "test/unit/test.h"

enum { MOST_ELEMENTS = 12 };

static const struct case_input *input_named(const struct case_live *c, const char *name)
{
    for (int i = 0; i < c->build.inputs; i++)
        if (!strcmp(c->build.input[i].slot->name, name)) return &c->build.input[i];
    return NULL;
}

// y of the last run, and sum(y * weights).
static double loss_of(const struct case_live *c, double *y)
{
    const struct case_output *out = case_output(c, 0);
    const float *weights = input_named(c, "weights")->host;
    double sum = 0.0;
    for (int64_t i = 0, n = shape_count(&out->slot->shape); i < n; i++) {
        y[i] = element_get(out->slot->dtype, out->host, i);
        sum += y[i] * (double)weights[i];
    }
    return sum;
}

// A direction in the space of an input: one element, or all elements with random signs.
struct direction {
    struct case_input *in;
    int64_t element;  // -1: all, with signs
};

static double sign_of(int64_t i) { return rng_draw(7, RNG_TEST, 1, (uint32_t)i, 0).v[0] & 1u ? 1.0 : -1.0; }

struct slope {
    double value, allowed;
};

// (L(x + h d) - L(x - h d)) / 2h. The steps are rounded to f32, so 2h is the actual difference.
static int difference(struct case_live *c, const struct direction *d, double h, double *slope, double *noise)
{
    float *x = d->in->host;
    int64_t n = shape_count(&d->in->slot->shape), outputs = shape_count(&case_output(c, 0)->slot->shape);
    float *was = zalloc((size_t)n * sizeof *was);
    double *low = zalloc((size_t)outputs * sizeof *low), *high = zalloc((size_t)outputs * sizeof *high);
    double wide = 0.0, loss[2];
    memcpy(was, x, (size_t)n * sizeof *was);
    int rc = 0;
    for (int side = 0; side < 2 && rc == 0; side++) {
        for (int64_t i = 0; i < n; i++) {
            if (d->element >= 0 && i != d->element) continue;
            double step = (side ? h : -h) * (d->element < 0 ? sign_of(i) : 1.0);
            x[i] = (float)((double)was[i] + step);
            if (d->element >= 0) wide += side ? (double)x[i] : -(double)x[i];
        }
        rc = case_run(c);
        loss[side] = rc ? 0.0 : loss_of(c, side ? high : low);
    }
    memcpy(x, was, (size_t)n * sizeof *was);
    if (d->element < 0) wide = 2.0 * h;
    *slope = (loss[1] - loss[0]) / wide;
    *noise = 0.0;
    const float *weights = input_named(c, "weights")->host;
    for (int64_t i = 0; i < outputs; i++)  // each y is rounded once, by at most half a step of f32
        if (high[i] != low[i]) *noise += (fabs(high[i]) + fabs(low[i])) * fabs((double)weights[i]) * 0x1p-24 / wide;
    free(was);
    free(low);
    free(high);
    return rc;
}

static int slope_of(struct case_live *c, const struct direction *d, double h, struct slope *s)
{
    double coarse, fine, noise1, noise2;
    TRY(difference(c, d, h, &coarse, &noise1));
    TRY(difference(c, d, h / 2.0, &fine, &noise2));
    s->value = (4.0 * fine - coarse) / 3.0;
    s->allowed = (4.0 * noise2 + noise1) / 3.0 + fabs(fine - coarse);
    return 0;
}

// The rung of a ladder is the distance at which a maximum changes hands; half of that is safe for both neighbours.
static double step_for(const struct case_input *in) { return in->draw == DRAW_DISTINCT ? in->a / 8.0 : 0x1p-5; }

static int failures;

static void hold_direction(struct case_live *c, const struct direction *d, const double *gradient, double largest,
                           double *loosest)
{
    const char *name = d->in->slot->name;
    int64_t n = shape_count(&d->in->slot->shape);
    struct slope s;
    if (slope_of(c, d, step_for(d->in), &s) < 0) {
        failures++;
        print_error("%s: %s\n", c->build.row->name, error_text());
        return;
    }
    double analytic = 0.0, size = 0.0, moved = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (d->element >= 0 && i != d->element) continue;
        analytic += gradient[i] * (d->element < 0 ? sign_of(i) : 1.0);
        size += fabs(gradient[i]);
        moved += fabs(gradient[i] * (double)((const float *)d->in->host)[i]);
    }
    // The analytic gradient is made of f32 numbers too, rounded a few times on its way. Where all elements move, the
    // steps themselves are rounded: by half a step of f32 on each of the four sides.
    double allowed = s.allowed + 32.0 * 0x1p-24 * fmax(size, largest) + 1e-9;
    if (d->element < 0) allowed += 3.0 * 0x1p-24 * moved / step_for(d->in);
    double scale = fmax(size, largest);
    if (scale > 0.0 && allowed / scale > *loosest) *loosest = allowed / scale;
    if (!(fabs(s.value - analytic) <= allowed)) {
        failures++;
        print_error("%s: d %s[%lld] is %.9g, finite differences say %.9g +- %.3g\n", c->build.row->name, name,
                    (long long)d->element, analytic, s.value, allowed);
    }
}

static void hold_input(struct case_live *c, int number, double *loosest)
{
    struct case_input *in = &c->build.input[number];
    const struct case_output *out = case_output(c, CASE_OUTPUTS + number);
    int64_t n = shape_count(&in->slot->shape);
    double *gradient = zalloc((size_t)n * sizeof *gradient), largest = 0.0;
    if (case_run(c) < 0) failures++;
    for (int64_t i = 0; i < n && out; i++) {  // no output: it must be 0
        gradient[i] = element_get(out->slot->dtype, out->host, i);
        if (!(fabs(gradient[i]) < 1e30)) failures++, print_error("%s: a gradient is not finite\n", c->build.row->name);
        largest = fmax(largest, fabs(gradient[i]));
    }
    int64_t every = n <= MOST_ELEMENTS ? 1 : n / MOST_ELEMENTS + 1;
    for (int64_t i = every / 2; i < n; i += every) {
        struct direction d = {in, i};
        hold_direction(c, &d, gradient, largest, loosest);
    }
    struct direction all = {in, -1};
    hold_direction(c, &all, gradient, largest, loosest);
    free(gradient);
}

TEST(test_gradients)
{
    struct device *ref;
    int cases = 0, inputs = 0;
    failures = 0;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row)) {
        if (!(row->flags & CASE_GRADIENT) || row->flags & (CASE_LARGE | CASE_PATTERN)) continue;
        struct case_live *c = NULL;
        if (case_open(ref, row, &(struct case_options){.type = F32, .gradient = true}, &c) < 0) {
            failures++;
            print_error("%s\n", error_text());
            continue;
        }
        double loosest = 0.0;
        for (int i = 0; i < c->build.inputs; i++)
            if (c->build.input[i].differentiable) hold_input(c, i, &loosest), inputs++;
        if (loosest > 0.02) {
            failures++;
            print_error("%s: the comparison allows %.2g of the gradient: too loose to mean anything\n", row->name,
                        loosest);
        }
        case_close(c);
        cases++;
    }
    device_close(ref);
    print_message("%d cases, %d inputs\n", cases, inputs);
    assert_true(cases > 80);
    assert_int_equal(failures, 0);
}

// A gradient with an error of 3% is detected.
TEST(test_a_wrong_gradient_is_caught)
{
    struct device *ref;
    struct case_live *c = NULL;
    const struct op_case *row = case_next(NULL);
    while (strcmp(row->name, "norm bias gelu")) row = case_next(row);
    assert_int_equal(device_open("ref", 1, &ref), 0);
    assert_int_equal(case_open(ref, row, &(struct case_options){.type = F32, .gradient = true}, &c), 0);
    assert_int_equal(case_run(c), 0);
    const struct case_output *out = case_output(c, CASE_OUTPUTS + 0);
    int64_t n = shape_count(&out->slot->shape), at = 0;
    double *gradient = zalloc((size_t)n * sizeof *gradient), loosest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        gradient[i] = element_get(F32, out->host, i);
        if (fabs(gradient[i]) > fabs(gradient[at])) at = i;
    }
    struct direction d = {&c->build.input[0], at};
    failures = 0;
    hold_direction(c, &d, gradient, fabs(gradient[at]), &loosest);
    assert_int_equal(failures, 0);
    gradient[at] *= 1.03;
    print_message("the next complaint is meant to be there:\n");
    hold_direction(c, &d, gradient, fabs(gradient[at]), &loosest);
    assert_int_equal(failures, 1);
    free(gradient);
    case_close(c);
    device_close(ref);
}

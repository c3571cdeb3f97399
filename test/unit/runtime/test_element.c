// SPDX-License-Identifier: Apache-2.0
// The arithmetic of single elements (runtime/element.h) against libm in double, over every range that occurs, and the draws
// of augmentation and dropout: bounds, balance, and that a draw depends on nothing but its key. A GPU runs other
// instructions in two places (__expf in element_exp_near, __fdividef in element_inverse): their error is not tested here.
#include "runtime/element.h"
#include "runtime/graph.h"
#include "test/unit/test.h"

// The largest error of f against want over [low, high] in `steps` steps, relative to max(|want|, floor).
static double worst(float (*f)(float), double (*want)(double), double low, double high, int steps, double floor)
{
    double most = 0.0;
    for (int i = 0; i <= steps; i++) {
        float x = (float)(low + (high - low) * i / steps);
        double w = want((double)x), error = fabs((double)f(x) - w) / fmax(fabs(w), floor);
        if (!(error <= most)) most = error;
    }
    return most;
}

static float sigmoid(float x) { return element_sigmoid(x); }
static float silu(float x) { return element_silu(x); }
static float silu_slope(float x) { return element_silu_slope(x); }
static float gelu(float x) { return element_gelu(x); }
static float gelu_slope(float x) { return element_gelu_slope(x); }
static float exponential(float x) { return element_exp(x); }
static float relu(float x) { return element_relu(x); }

static double true_sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double true_silu(double x) { return x * true_sigmoid(x); }
static double true_silu_slope(double x) { return true_sigmoid(x) * (1.0 + x * (1.0 - true_sigmoid(x))); }
static double true_gauss(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
static double true_gelu(double x) { return x * true_gauss(x); }
static double true_gelu_slope(double x) { return true_gauss(x) + x * exp(-0.5 * x * x) / sqrt(2.0 * M_PI); }
static double true_relu(double x) { return x > 0.0 ? x : 0.0; }

static float tangent(float x) { return element_tanh(x); }
static float tangent_slope(float x) { return element_tanh_slope(x); }
static float logistic_slope(float x) { return element_sigmoid_slope(x); }
static float gelu_tanh(float x) { return element_gelu_tanh(x); }
static float gelu_tanh_slope(float x) { return element_gelu_tanh_slope(x); }

static double true_tangent_slope(double x) { return 1.0 / (cosh(x) * cosh(x)); }
static double true_logistic_slope(double x) { return true_sigmoid(x) * true_sigmoid(-x); }
static double inner_of(double x) { return 2.0 * sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x); }
static double true_gelu_tanh(double x) { return x * true_sigmoid(inner_of(x)); }
static double true_gelu_tanh_slope(double x)
{
    double s = true_sigmoid(inner_of(x));
    return s + x * s * true_sigmoid(-inner_of(x)) * 2.0 * sqrt(2.0 / M_PI) * (1.0 + 3.0 * 0.044715 * x * x);
}

enum { STEPS = 400000 };

TEST(test_exp)
{
    assert_true(worst(exponential, exp, -87.0, 88.0, STEPS, 0.0) < 3e-7);
    assert_true(worst(exponential, exp, -1.0, 1.0, STEPS, 0.0) < 3e-7);
    assert_true(element_exp(0.0f) == 1.0f);
    // Beyond the range of f32 it saturates: neither infinite nor below its smallest value.
    assert_true(element_exp(1000.0f) == element_exp(88.0f));
    assert_true(isfinite(element_exp(INFINITY)));
    assert_true(element_exp(-INFINITY) == element_exp(-87.0f));
    assert_true(element_exp(-87.0f) > 0.0f && element_exp(-87.0f) < 2e-38f);
}

// The bounds stated in element.h; the errors of products follow from their factors' errors.
TEST(test_activations)
{
    assert_true(worst(sigmoid, true_sigmoid, -80.0, 80.0, STEPS, 0.0) < 5e-7);
    assert_true(worst(silu, true_silu, -20.0, 20.0, STEPS, 1e-3) < 6e-7);
    assert_true(worst(silu_slope, true_silu_slope, -20.0, 20.0, STEPS, 1.0) < 6e-7);
    assert_true(worst(gelu, true_gelu, -12.0, 12.0, STEPS, 1.0) < 4e-7);
    assert_true(worst(gelu_slope, true_gelu_slope, -12.0, 12.0, STEPS, 1.0) < 5e-7);
    assert_true(worst(relu, true_relu, -5.0, 5.0, STEPS, 0.0) == 0.0);
    assert_true(worst(tangent, tanh, -20.0, 20.0, STEPS, 0.0) < 4e-7);
    assert_true(worst(tangent, tanh, -0.01, 0.01, STEPS, 1e-30) < 4e-7);  // small values too
    assert_true(worst(tangent_slope, true_tangent_slope, -40.0, 40.0, STEPS, 0.0) < 6e-7);
    assert_true(worst(logistic_slope, true_logistic_slope, -80.0, 80.0, STEPS, 0.0) < 6e-7);
    assert_true(worst(gelu_tanh, true_gelu_tanh, -12.0, 12.0, STEPS, 1.0) < 4e-7);
    assert_true(worst(gelu_tanh_slope, true_gelu_tanh_slope, -12.0, 12.0, STEPS, 1.0) < 2e-6);
    double most = 0.0;
    for (int i = -STEPS; i <= STEPS; i++) {
        float x = (float)(10.0 * i / STEPS), density, below = element_gauss(x, &density);
        most = fmax(most, fabs((double)below - true_gauss((double)x)));
        assert_true(fabs((double)density - exp(-0.5 * (double)x * (double)x) / sqrt(2.0 * M_PI)) < 3e-7);
    }
    assert_true(most < 4e-7);
}

static float exponential_any(float x) { return element_exp_any(x); }
static float logarithm(float x) { return element_log(x); }
static float softplus(float x) { return element_softplus(x); }
static double true_softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }

TEST(test_formulas)
{
    assert_true(worst(exponential_any, exp, -86.0, 88.0, STEPS, 0.0) < 7e-7);
    assert_true(element_exp_any(89.0f) == INFINITY && element_exp_any(INFINITY) == INFINITY);
    assert_true(element_exp_any(-200.0f) == 0.0f && element_exp_any(-INFINITY) == 0.0f && isnan(element_exp_any(NAN)));
    assert_true(worst(logarithm, log, 1e-6, 4.0, STEPS, 1e-30) < 1.2e-7);
    assert_true(worst(logarithm, log, 0.99, 1.01, STEPS, 1e-30) < 1.2e-7);  // near zero, too
    assert_true(worst(logarithm, log, 1e-40, 1e-37, STEPS, 0.0) < 1.2e-7);  // subnormal numbers
    assert_true(worst(logarithm, log, 1.0, 3e38, STEPS, 0.0) < 1.2e-7);
    assert_true(element_log(0.0f) == -INFINITY && element_log(INFINITY) == INFINITY);
    assert_true(isnan(element_log(-1.0f)) && isnan(element_log(NAN)) && isnan(element_log(-INFINITY)));
    assert_true(worst(softplus, true_softplus, -80.0, 80.0, STEPS, 0.0) < 5e-7);
    assert_true(element_softplus(1e9f) == 1e9f && isnan(element_softplus(NAN)) && element_softplus(-INFINITY) < 1e-37f);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct rng4 r = rng_draw(3, RNG_TEST, 0, i, 0);
        uint32_t u = i < 2 ? i * UINT32_MAX : r.v[0], v = r.v[1] & (i < 64 ? 0xe0000000u : UINT32_MAX);
        float a, b;
        element_normals(u, v, &a, &b);
        double radius = sqrt(-2.0 * log(((double)(u >> 8) + 1.0) * 0x1p-24)), turn = 2.0 * M_PI * (double)rng_unit(v);
        assert_true(fabs((double)a - radius * cos(turn)) < 1e-6 && fabs((double)b - radius * sin(turn)) < 1e-6);
    }
}

// The angle of rotary positions: at position 8,191 as right as at 1, before 0, and far out.
TEST(test_rotary_angles)
{
    enum { CHANNELS = 128 };
    uint64_t turn[ROTARY_MOST / 2];
    rotary_turns(&(struct rotary_attr){.base = 10000}, CHANNELS, turn);
    static const int64_t positions[] = {0, 1, 8191, -3, 131071, 4194303};
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < CHANNELS / 2; i++) {
            double angle = (double)positions[k] * pow(10000, -2.0 * i / CHANNELS);
            float c, s;
            element_rotary(turn[i], positions[k], &c, &s);
            assert_true(fabs((double)c - cos(angle)) < 1.5e-7 && fabs((double)s - sin(angle)) < 1.5e-7);
        }
}

TEST(test_activations_far_out)
{
    static const float far[] = {50.0f, 100.0f, 1e4f, 1e18f};
    for (int i = 0; i < 4; i++) {
        float x = far[i];
        assert_true(element_silu(x) == x && element_gelu(x) == x && element_relu(x) == x);
        assert_true(element_silu_slope(x) == 1.0f && element_gelu_slope(x) == 1.0f);
        assert_true(element_relu(-x) == 0.0f && fabsf(element_gelu(-x)) < 1e-18f);
        assert_true(isfinite(element_silu(-x)) && isfinite(element_silu_slope(-x)));
        assert_true(element_tanh(x) == 1.0f && element_tanh(-x) == -1.0f && element_tanh_slope(x) < 1e-30f);
        assert_true(element_gelu_tanh(x) == x && fabsf(element_gelu_tanh(-x)) < 1e-18f);
        assert_true(element_gelu_tanh_slope(x) == 1.0f && fabsf(element_gelu_tanh_slope(-x)) < 1e-12f);
    }
    assert_true(element_silu(0.0f) == 0.0f && element_gelu(0.0f) == 0.0f);
    assert_true(element_relu_slope(0.0f) == 0.0f && element_relu_slope(1e-30f) == 1.0f);
    // A diverged run must be visible: NaN stays NaN.
    assert_true(isnan(element_silu(NAN)) && isnan(element_gelu(NAN)));
    assert_true(isnan(element_tanh(NAN)) && isnan(element_sigmoid(NAN)) && isnan(element_gelu_tanh(NAN)));
    assert_true(isnan(element_tanh_slope(NAN)) && isnan(element_sigmoid_slope(NAN)) && isnan(element_gelu_tanh_slope(NAN)));
}

// The derivatives against central differences, which need no libm.
TEST(test_slopes_are_slopes)
{
    for (int i = -60; i <= 60; i++) {
        float x = (float)i / 10.0f, h = 0.0625f;
        double silu_rise = ((double)element_silu(x + h) - (double)element_silu(x - h)) / (2.0 * (double)h);
        double gelu_rise = ((double)element_gelu(x + h) - (double)element_gelu(x - h)) / (2.0 * (double)h);
        assert_true(fabs(silu_rise - (double)element_silu_slope(x)) < 1e-3);
        assert_true(fabs(gelu_rise - (double)element_gelu_slope(x)) < 1e-3);
    }
}

TEST(test_reflect)
{
    static const int want[] = {2, 1, 0, 1, 2, 3, 2, 1};  // -2 .. 5 of 4: borders are not doubled
    for (int i = 0; i < 8; i++) assert_int_equal(element_reflect(i - 2, 4), want[i]);
}

// ---- draws

TEST(test_augmentation_is_in_bounds_and_balanced)
{
    enum { N = 20000, PAD = 2 };
    const int32_t key[4] = {12345, -7, 3, 0};
    int flips = 0, count[2 * PAD + 1][2 * PAD + 1] = {{0}};
    double shift = 0.0, gain = 0.0;
    for (uint32_t i = 0; i < N; i++) {
        struct augment_draw d = element_augment(key, i, 1, PAD, 0.14f, 0.13f);
        assert_true(d.dy >= -PAD && d.dy <= PAD && d.dx >= -PAD && d.dx <= PAD);
        assert_true(fabsf(d.shift) <= 0.14f && fabsf(d.gain - 1.0f) <= 0.1301f);
        flips += d.flip;
        count[d.dy + PAD][d.dx + PAD]++;
        shift += (double)d.shift, gain += (double)d.gain;
    }
    // Five standard deviations of a fair draw.
    assert_true(abs(flips - N / 2) < 5.0 * sqrt(N / 4.0));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++) assert_true(fabs(count[y][x] - N / 25.0) < 5.0 * sqrt(N / 25.0));
    assert_true(fabs(shift / N) < 5.0 * 0.14 / sqrt(3.0 * N));
    assert_true(fabs(gain / N - 1.0) < 5.0 * 0.13 / sqrt(3.0 * N));
}

TEST(test_alternate_flip)
{
    int first = 0;
    for (uint32_t image = 0; image < 1000; image++) {
        int flip[4];
        for (int epoch = 0; epoch < 4; epoch++) {
            const int32_t key[4] = {1, 2, epoch, 0};
            flip[epoch] = element_augment(key, image, 2, 0, 0.0f, 0.0f).flip;
        }
        assert_int_equal(flip[1], !flip[0]);  // turned every epoch
        assert_int_equal(flip[2], flip[0]);
        assert_int_equal(flip[3], flip[1]);
        first += flip[0];
    }
    assert_in_range(first, 420, 580);
}

TEST(test_draws_depend_on_their_key_alone)
{
    const int32_t key[4] = {9, 9, 5, 0}, other_seed[4] = {9, 10, 5, 0}, other_epoch[4] = {9, 9, 6, 0};
    int same[3] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct augment_draw a = element_augment(key, i, 1, 4, 0.1f, 0.1f);
        struct augment_draw b = element_augment(key, i, 1, 4, 0.1f, 0.1f);
        assert_memory_equal(&a, &b, sizeof a);
        // Draws for one purpose do not affect another: the crop is the same without the jitter.
        struct augment_draw plain = element_augment(key, i, 0, 4, 0.0f, 0.0f);
        assert_int_equal(plain.dy, a.dy);
        assert_int_equal(plain.dx, a.dx);
        assert_int_equal(plain.flip, 0);
        assert_true(plain.shift == 0.0f && plain.gain == 1.0f);
        struct augment_draw s = element_augment(other_seed, i, 1, 4, 0.1f, 0.1f);
        struct augment_draw e = element_augment(other_epoch, i, 1, 4, 0.1f, 0.1f);
        same[0] += s.dy == a.dy && s.dx == a.dx;
        same[1] += e.dy == a.dy && e.dx == a.dx;
        same[2] += element_augment(key, i + 1000, 1, 4, 0.1f, 0.1f).dy == a.dy;
    }
    assert_true(same[0] < 40 && same[1] < 40);  // 1 in 81 by chance
    assert_in_range(same[2], 60, 170);          // 1 in 9
}

TEST(test_dropout_keeps_the_right_share)
{
    enum { N = 40000 };
    const int32_t key[4] = {4, 0, 0, 0};
    int kept = 0, site = 0, step = 0;
    for (uint64_t i = 0; i < N; i++) {
        int keep = element_keeps(key, 3, 1, i, 0.3f);
        kept += keep;
        site += keep == element_keeps(key, 3, 2, i, 0.3f);
        step += keep == element_keeps(key, 4, 1, i, 0.3f);
        assert_int_equal(element_keeps(key, 3, 1, i, 0.0f), 1);
    }
    assert_true(fabs(kept - 0.7 * N) < 5.0 * sqrt(N * 0.21));
    // Two independent draws agree with .7 * .7 + .3 * .3.
    assert_true(fabs(site - 0.58 * N) < 5.0 * sqrt(N * 0.25));
    assert_true(fabs(step - 0.58 * N) < 5.0 * sqrt(N * 0.25));
}

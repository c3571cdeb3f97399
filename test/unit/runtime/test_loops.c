// SPDX-License-Identifier: Apache-2.0
// Compares the vector loops of every instruction set of this processor with the base build. Loops that only move or select must
// agree to the bit, loops that compute within rounding. Widths are chosen to have tails and to have none.
// (test_ops tests the base build: it compares the whole device with `ref`.)
#include "runtime/common/base/arena.h"
#include "runtime/cpu/loops/loops.h"
#include "runtime/element.h"
#include "test/unit/test.h"

enum { MOST = 4096 };
static const int64_t widths[] = {256, 96, 37, 10, 1};
static const enum dtype types[] = {F32, BF16, F16};
static const struct loops *variant[3];
static int variants;

static float draw(uint32_t purpose, int64_t i)
{
    struct rng4 r = rng_draw(7, RNG_TEST, purpose, (uint32_t)i, 0);
    return 8.0f * rng_unit(r.v[0]) - 4.0f;
}

// Numbers between -4 and 4, rounded to the type.
static void fill(enum dtype t, void *x, int64_t n, uint32_t purpose)
{
    for (int64_t i = 0; i < n; i++) element_set(t, x, i, (double)draw(purpose, i));
}

// Within `slack` roundings of f32 at magnitude 1 or above, and one step of the stored type.
static void assert_close(enum dtype t, const void *got, const void *want, int64_t n, double slack)
{
    double step = t == F32 ? 0 : t == BF16 ? 0x1p-7 : 0x1p-10;
    for (int64_t i = 0; i < n; i++) {
        double a = element_get(t, got, i), b = element_get(t, want, i), size = fmax(1, fabs(b));
        if (!(fabs(a - b) <= slack * 0x1p-23 * size + step * fabs(b)))
            fail_msg("element %lld of %s: %g, not %g", (long long)i, dtype_name(t), a, b);
    }
}

TEST(test_types)
{
    uint16_t *all = zalloc(65536 * sizeof *all), *back = zalloc(65536 * sizeof *back);
    float *wide = zalloc(65536 * sizeof *wide);
    for (int i = 0; i < 65536; i++) all[i] = (uint16_t)i;
    for (int v = 0; v < variants; v++)
        for (int t = 1; t < 3; t++) {  // every 16-bit number there and back
            variant[v]->widen(types[t], all, wide, 65536);
            variant[v]->narrow(types[t], wide, back, 65536);
            for (int i = 0; i < 65536; i++) {
                float want = types[t] == BF16 ? bf16_to_f32(all[i]) : f16_to_f32(all[i]);
                if (isnan(want))
                    assert_true(isnan(wide[i]) && isnan(element_get(types[t], back, i)));
                else
                    assert_true(wide[i] == want && back[i] == all[i]);
            }
        }
    free(all), free(back), free(wide);
}

struct places {
    struct period k;
    float at[5][300];
};

static void places_of(struct places *p, int64_t width)
{
    p->k = (struct period){width, p->at[0], p->at[1], p->at[2], p->at[3], p->at[4]};
    for (int i = 0; i < 5; i++)
        for (int64_t c = 0; c < width; c++) p->at[i][c] = draw(100 + (uint32_t)i, c) * (i == 3 ? 0.01f : 0.5f);
}

static void norm_like(const struct loops *got, enum dtype t, enum act act, int64_t width)
{
    static struct places p;
    static float x[MOST], dy[MOST], y[2][MOST], sum[2][2][300];
    int64_t n = MOST / width * width - width / 3;
    places_of(&p, width);
    fill(t, x, n, 1), fill(t, dy, n, 2);
    const struct loops *one[2] = {got, &loops_base};
    for (int i = 0; i < 2; i++) one[i]->apply(t, act, x, n, &p.k, y[i]);
    assert_close(t, y[0], y[1], n, 16);
    for (int i = 0; i < 2; i++) one[i]->back(t, act, dy, x, n, &p.k, y[i]);
    assert_close(t, y[0], y[1], n, 64);
    for (int i = 0; i < 2; i++) {
        memset(sum[i], 0, sizeof sum[i]);
        one[i]->back_sums(t, act, dy, x, n, &p.k, sum[i][0], sum[i][1]);
    }
    // Sums of up to MOST numbers: their rounding grows with the summands, not with the result.
    double slack = 100.0 * (double)(n / width + 1);
    assert_close(F32, sum[0][0], sum[1][0], width, slack), assert_close(F32, sum[0][1], sum[1][1], width, slack);
    for (int i = 0; i < 2; i++) {
        memset(sum[i], 0, sizeof sum[i]);
        one[i]->sums(t, x, n, &p.k, sum[i][0], sum[i][1]);
    }
    assert_close(F32, sum[0][0], sum[1][0], width, slack), assert_close(F32, sum[0][1], sum[1][1], width, slack);
    for (int i = 0; i < 2; i++) {
        memset(sum[i], 0, sizeof sum[i]);
        one[i]->act_back(t, act, dy, x, n, &p.k, y[i], sum[i][0]);
        one[i]->act_back(t, act, dy, x, n, &p.k, NULL, sum[i][1]);
    }
    assert_close(t, y[0], y[1], n, 32);
    assert_close(F32, sum[0][0], sum[1][0], width, slack), assert_close(F32, sum[0][1], sum[0][0], width, slack);
}

TEST(test_norm)
{
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++)
            for (enum act act = ACT_NONE; act < ACT_KINDS; act++)
                for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                    norm_like(variant[v], types[t], act, widths[w]);
}

TEST(test_apply_in_place)
{
    static struct places p;
    uint16_t x[1000], y[1000];
    places_of(&p, 250);
    fill(BF16, x, 1000, 3);
    for (int v = 0; v < variants; v++) {
        uint16_t in_place[1000];
        memcpy(in_place, x, sizeof x);
        variant[v]->apply(BF16, ACT_SILU, x, 1000, &p.k, y);
        variant[v]->apply(BF16, ACT_SILU, in_place, 1000, &p.k, in_place);
        assert_memory_equal(y, in_place, sizeof y);
    }
}

// A NaN that goes in must come out of every activation but relu, whose condition it fails.
TEST(test_nan_shows)
{
    static struct places p;
    float x[40], y[40];
    places_of(&p, 40);
    fill(F32, x, 40, 4);
    x[3] = x[33] = NAN;
    for (int v = 0; v < variants; v++)
        for (int i = 0; i < 3; i++) {
            variant[v]->apply(F32, (enum act[]){ACT_NONE, ACT_GELU, ACT_SILU}[i], x, 40, &p.k, y);
            for (int c = 0; c < 40; c++) assert_int_equal(!!isnan(y[c]), c == 3 || c == 33);
        }
}

// ---- a row of logits against sums in double. Rows with and without a last part of a group, short and long
static void check_sums(int v, enum dtype t, int64_t n)
{
    float x[MOST], e[MOST], top = -INFINITY;
    double sum = 0, power = 0, want = 0, size = 0, want_power = 0;
    fill(t, x, n, 5);
    element_set(t, x, n / 2, -INFINITY);  // a class that is masked
    variant[v]->top_sum(t, x, n / 2, &top, &sum);
    for (int64_t i = 0; i < n / 2; i++) want += element_get(t, x, i), size += fabs(element_get(t, x, i));
    assert_true(fabs(sum - want) <= 16 * 0x1p-23 * size);
    variant[v]->top_sum(t, x, n, &top, &sum);
    variant[v]->exp_sum(t, x, n, top, e, &power);
    bool found = false;
    for (int64_t i = 0; i < n; i++) {
        double z = element_get(t, x, i), y = exp(z - (double)top);
        assert_true(z <= (double)top);
        found |= z == (double)top;
        assert_true(fabs((double)e[i] - y) <= 4e-7 * y + 2e-38);
        want_power += y;
    }
    assert_true(found && sum == -INFINITY && fabs(power - want_power) <= 2e-6 * want_power);
    const int64_t places[] = {0, n / 3, n - 1};
    for (int i = 0; i < 3; i++) {  // a NaN changes no maximum and is seen in both sums
        float most = -INFINITY;
        fill(t, x, n, 5);
        element_set(t, x, places[i], (double)NAN);
        sum = power = 0;
        variant[v]->top_sum(t, x, n, &most, &sum);
        variant[v]->exp_sum(t, x, n, most, i ? e : NULL, &power);
        assert_true(isnan(sum) && isnan(power) && !isnan(most));
    }
}

TEST(test_row_sums)
{
    static const int64_t length[] = {2, 63, 64, 65, 256, 300, 4050};
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++)
            for (int i = 0; i < 7; i++) check_sums(v, types[t], length[i]);
}

// ---- layer norms against sums in double
enum { NORM_ROWS = 11, NORM_MOST = 520 };

struct norm_rows {
    float x[NORM_ROWS * NORM_MOST], dy[NORM_ROWS * NORM_MOST], want[NORM_ROWS * NORM_MOST], y[NORM_ROWS * NORM_MOST];
    float scale[NORM_MOST], bias[NORM_MOST], mean[NORM_ROWS], rstd[NORM_ROWS];
};

static void check_norm(int v, enum dtype t, int64_t n, struct norm_rows *o)
{
    fill(F32, o->x, NORM_ROWS * n, 6), fill(F32, o->scale, n, 7), fill(F32, o->bias, n, 8);
    variant[v]->layer_norm(o->x, NORM_ROWS, n, o->scale, o->bias, 1e-5f, t, o->y, o->mean, o->rstd);
    for (int64_t r = 0; r < NORM_ROWS; r++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < n; i++) sum += (double)o->x[r * n + i];
        for (int64_t i = 0; i < n; i++) square += pow((double)o->x[r * n + i] - sum / (double)n, 2);
        double rstd = 1 / sqrt(square / (double)n + 1e-5);
        assert_true(fabs((double)o->mean[r] - sum / (double)n) < 1e-6 && fabs((double)o->rstd[r] - rstd) < 1e-5 * rstd);
        for (int64_t i = 0; i < n; i++)
            element_set(t, o->want, r * n + i,
                        ((double)o->x[r * n + i] - sum / (double)n) * rstd * (double)o->scale[i] + (double)o->bias[i]);
    }
    assert_close(t, o->y, o->want, NORM_ROWS * n, 256);
    o->x[n - 1] = NAN;  // a NaN fills its row and no other
    variant[v]->layer_norm(o->x, NORM_ROWS, n, o->scale, o->bias, 1e-5f, t, o->y, o->mean, o->rstd);
    for (int64_t i = 0; i < 2 * n; i++) assert_int_equal(!!isnan(element_get(t, o->y, i)), i < n);
}

static void check_norm_back(int v, enum dtype t, int64_t n, struct norm_rows *o)
{
    float got[2][NORM_MOST] = {{0}}, sums[2][NORM_MOST];
    fill(t, o->x, NORM_ROWS * n, 6), fill(t, o->dy, NORM_ROWS * n, 9), fill(F32, o->scale, n, 7);
    for (int64_t r = 0; r < NORM_ROWS; r++) o->mean[r] = 0.1f * (float)r, o->rstd[r] = 0.5f;
    variant[v]->layer_norm_back(t, o->dy, o->x, o->mean, o->rstd, o->scale, NORM_ROWS, n, o->y, got[0], got[1]);
    double scales[NORM_MOST] = {0}, biases[NORM_MOST] = {0};
    for (int64_t r = 0; r < NORM_ROWS; r++) {
        double a = 0, b = 0, each[NORM_MOST], hat[NORM_MOST];
        for (int64_t i = 0; i < n; i++) {
            double d = element_get(t, o->dy, r * n + i);
            hat[i] = (element_get(t, o->x, r * n + i) - (double)o->mean[r]) * 0.5, each[i] = d * (double)o->scale[i];
            scales[i] += d * hat[i], biases[i] += d, a += each[i] / (double)n, b += each[i] * hat[i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++) o->want[r * n + i] = (float)(0.5 * (each[i] - a - hat[i] * b));
    }
    for (int64_t i = 0; i < n; i++) sums[0][i] = (float)scales[i], sums[1][i] = (float)biases[i];
    assert_close(F32, o->y, o->want, NORM_ROWS * n, 64);
    for (int j = 0; j < 2; j++) assert_close(F32, got[j], sums[j], n, 64);
}

TEST(test_layer_norm_rows)
{
    static const int64_t width[] = {1, 16, 37, 128, 520};
    struct norm_rows *o = zalloc(sizeof *o);
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++)
            for (int i = 0; i < 5; i++) check_norm(v, types[t], width[i], o), check_norm_back(v, types[t], width[i], o);
    free(o);
}

// ---- pooling against a plain search
static void plain_pool(const float window[4], float *y, int *at)
{
    *y = window[0], *at = 0;
    for (int i = 1; i < 4; i++)
        if (window[i] > *y || (isnan(*y) && !isnan(window[i]))) *y = window[i], *at = i;
}

static void pool_like(const struct loops *loops, enum dtype t, int64_t c)
{
    enum { PAIRS = 3 };
    static float x[2][2 * PAIRS * 300], y[PAIRS * 300];
    static _Alignas(64) float dx[2][2 * PAIRS * 320];  // rows that stores past the cache can take;
    static uint8_t at[PAIRS * 300];
    static const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1.0f, -1.0f, 0.5f};
    for (int r = 0; r < 2; r++)
        for (int64_t i = 0; i < 2 * PAIRS * c; i++)  // few values, so that there are ties
            element_set(t, x[r], i, (double)special[rng_draw(7, RNG_TEST, (uint32_t)r, (uint32_t)i, 1).v[0] & 7u]);
    loops->pool2(t, x[0], x[1], PAIRS, c, y, at);
    for (int64_t p = 0; p < PAIRS; p++)
        for (int64_t i = 0; i < c; i++) {
            float window[4], want;
            int where;
            for (int k = 0; k < 4; k++) window[k] = (float)element_get(t, x[k / 2], (2 * p + k % 2) * c + i);
            plain_pool(window, &want, &where);
            double got = element_get(t, y, p * c + i);
            assert_true(isnan(want) ? isnan(got) : got == (double)want && !signbit(got) == !signbit(want));
            assert_int_equal(at[p * c + i], where);
        }
    memset(dx, 0xff, sizeof dx);
    loops->unpool2(dtype_size(t), y, at, PAIRS, c, dx[0], dx[1]);
    for (int64_t p = 0; p < PAIRS; p++)
        for (int64_t i = 0; i < c; i++)
            for (int k = 0; k < 4; k++) {
                double got = element_get(t, dx[k / 2], (2 * p + k % 2) * c + i), want = element_get(t, y, p * c + i);
                if (at[p * c + i] != k) want = 0;
                assert_true(isnan(want) ? isnan(got) : got == want);
            }
}

// Windows of four taps out of a row, whose numbers are not those of the taps.
static void windows_like(const struct loops *loops, enum dtype t, int64_t c)
{
    static const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1.0f, -1.0f, 0.5f};
    float x[4 * 64], y[64];
    uint8_t at[64];
    struct window w = {.count = 4};
    for (int64_t i = 0; i < 4 * c; i++)
        element_set(t, x, i, (double)special[rng_draw(8, RNG_TEST, 0, (uint32_t)i, 1).v[0] & 7u]);
    for (int k = 0; k < 4; k++) w.x[k] = (const char *)x + (size_t)(k * c) * dtype_size(t), w.tap[k] = (uint8_t)(7 + 5 * k);
    loops->pool_max(t, &w, c, y, at);
    for (int64_t i = 0; i < c; i++) {
        float window[4], want;
        int where;
        for (int k = 0; k < 4; k++) window[k] = (float)element_get(t, x, k * c + i);
        plain_pool(window, &want, &where);
        double got = element_get(t, y, i);
        assert_true(isnan(want) ? isnan(got) : got == (double)want && !signbit(got) == !signbit(want));
        assert_int_equal(at[i], 7 + 5 * where);
    }
}

TEST(test_windows)
{
    static const int64_t channels[] = {64, 48, 16, 17, 1};
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++)
            for (int c = 0; c < 5; c++) windows_like(variant[v], types[t], channels[c]);
}

TEST(test_pool)
{
    static const int64_t channels[] = {64, 300, 17, 3, 1};
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++)
            for (int c = 0; c < 5; c++) pool_like(variant[v], types[t], channels[c]);
}

// ---- element by element
TEST(test_elements)
{
    static float a[1003], b[1003], y[2][1003];
    for (int v = 0; v < variants; v++)
        for (int t = 0; t < 3; t++) {
            enum dtype type = types[t];
            fill(type, a, 1003, 5), fill(type, b, 1003, 6);
            variant[v]->map(type, MAP_ADD, 0, &(struct map_run){.a = a, .b = b, .to = y[0]}, 1003);
            for (int i = 0; i < 1003; i++)
                element_set(type, y[1], i, element_get(type, a, i) + element_get(type, b, i));
            assert_close(type, y[0], y[1], 1003, 1);
            variant[v]->map(type, MAP_MUL, 0, &(struct map_run){.a = a, .b = b, .to = y[0]}, 1003);
            for (int i = 0; i < 1003; i++)
                element_set(type, y[1], i, element_get(type, a, i) * element_get(type, b, i));
            assert_close(type, y[0], y[1], 1003, 1);
            variant[v]->scale(type, a, 0.375f, y[0], 1003);
            for (int i = 0; i < 1003; i++) element_set(type, y[1], i, element_get(type, a, i) * 0.375);
            assert_close(type, y[0], y[1], 1003, 1);
        }
}

// Starts in the middle of a draw must not change which elements are kept.
TEST(test_dropout)
{
    float x[700], y[700];
    const int32_t key[4] = {11, 22, 33, 44};
    for (int i = 0; i < 700; i++) x[i] = 1;
    for (int v = 0; v < variants; v++)
        for (int64_t first = 0; first < 10; first++) {
            variant[v]->dropout(F32, x, first, 700, key, 9, 2, 0.25f, y);
            for (int64_t i = 0; i < 700; i++)
                assert_true(y[i] == (element_keeps(key, 9, 2, (uint64_t)(first + i), 0.25f) ? 1.0f / 0.75f : 0.0f));
        }
}

TEST(test_optimisers)
{
    static float g[777], m[777], v2[777], p[777], out[2][3][777];
    fill(F32, g, 777, 8), fill(F32, m, 777, 9), fill(F32, p, 777, 10), fill(F32, v2, 777, 11);
    for (int i = 0; i < 777; i++) v2[i] = fabsf(v2[i]);
    struct adam_rates rates = {0.9f, 0.99f, 1e-8f, 1.5f, 2.5f, false, 0};
    for (int v = 0; v < variants; v++) {
        const struct loops *one[2] = {variant[v], &loops_base};
        for (int nesterov = 0; nesterov < 2; nesterov++) {
            for (int i = 0; i < 2; i++) one[i]->momentum(g, m, p, 0.8f, 0.1f, nesterov, 777, out[i][0], out[i][1]);
            assert_close(F32, out[0][0], out[1][0], 777, 8), assert_close(F32, out[0][1], out[1][1], 777, 8);
        }
        for (int infinity = 0; infinity < 2; infinity++) {
            rates.infinity = infinity;
            for (int i = 0; i < 2; i++) one[i]->adam(g, m, v2, &rates, 777, out[i][0], out[i][1], out[i][2]);
            for (int k = 0; k < 3; k++) assert_close(F32, out[0][k], out[1][k], 777, 16);
        }
        double sum[2] = {0, 0};
        for (int i = 0; i < 2; i++) one[i]->square_sum(g, 777, &sum[i]);
        double want = 0;
        for (int i = 0; i < 777; i++) want += (double)g[i] * (double)g[i];
        assert_true(fabs(sum[0] - want) < 1e-9 && fabs(sum[1] - want) < 1e-9);
    }
}

// Blending at whole places gives the pixels themselves; at halves, the middle.
TEST(test_images)
{
    float x[60], row[60], y[40];
    int32_t i0[40], i1[40];
    float w[40];
    uint8_t pixel[100];
    float a[100], b[100], z[100];
    for (int i = 0; i < 60; i++) x[i] = (float)i;
    for (int i = 0; i < 40; i++) i0[i] = i, i1[i] = i + 2, w[i] = i % 2 ? 0.5f : 0.0f;
    for (int i = 0; i < 100; i++) pixel[i] = (uint8_t)(2 * i), a[i] = 0.5f, b[i] = (float)-i;
    for (int v = 0; v < variants; v++) {
        variant[v]->blend(F32, x, x, 0.25f, 60, row);
        for (int i = 0; i < 60; i++) assert_true(row[i] == (float)i);
        variant[v]->taps(F32, row, i0, i1, w, 40, y);
        for (int i = 0; i < 40; i++) assert_true(y[i] == (float)(i + i % 2));
        variant[v]->pixels(F32, pixel, a, b, 100, z);
        for (int i = 0; i < 100; i++) assert_true(z[i] == 0.0f);
    }
}

TEST(test_choice)
{
    const char *before = getenv("DAWN_ISA");
    char *kept = before ? copy_text(before) : NULL;
    setenv("DAWN_ISA", "base", 1);
    assert_ptr_equal(loops_choose(), &loops_base);
    setenv("DAWN_ISA", "no such set", 1);
    assert_ptr_equal(loops_choose(), variant[variants - 1]);
    unsetenv("DAWN_ISA");
    assert_ptr_equal(loops_choose(), variant[variants - 1]);
    assert_string_equal(variant[0]->isa, "base");
    if (kept) setenv("DAWN_ISA", kept, 1);
    free(kept);
}

SETUP(find_variants)
{
    variants = loops_all(variant);
    return 0;
}

TEST_GROUP(find_variants, NULL)

// SPDX-License-Identifier: Apache-2.0
// Changes of colours against torchvision's on f32 (test/bench/torch_detectors.py prints these), and their draws.
#include "data/image/jitter.h"
#include "test/unit/test.h"

enum { PIXELS = 12, LONG = 1000 };
static const struct {
    struct jitter how;
    float want[PIXELS * 3];
} cases[] = {
    {{{1.2f, 1.0f, 1.0f, 0.0f}, {0, 1, 2, 3}}, {240.00f, 240.00f, 240.00f, 0.00f, 0.00f, 0.00f, 88.80f, 37.20f, 12.00f,
      133.20f, 202.80f, 255.00f, 177.60f, 61.20f, 255.00f, 222.00f, 226.80f, 255.00f, 255.00f, 85.20f, 237.60f, 3.60f,
      250.80f, 217.20f, 48.00f, 109.20f, 196.80f, 92.40f, 255.00f, 176.40f, 136.80f, 133.20f, 156.00f, 181.20f, 255.00f,
      135.60f}},
    {{{1.0f, 0.5f, 1.0f, 0.0f}, {0, 1, 2, 3}}, {164.37f, 164.37f, 164.37f, 64.37f, 64.37f, 64.37f, 101.37f, 79.87f, 69.37f,
      119.87f, 148.87f, 188.87f, 138.37f, 89.87f, 180.37f, 156.87f, 158.87f, 171.87f, 175.37f, 99.87f, 163.37f, 65.87f,
      168.87f, 154.87f, 84.37f, 109.87f, 146.37f, 102.87f, 178.87f, 137.87f, 121.37f, 119.87f, 129.37f, 139.87f,
      188.87f, 120.87f}},
    {{{1.0f, 1.0f, 1.5f, 0.0f}, {0, 1, 2, 3}}, {200.01f, 200.01f, 200.01f, 0.00f, 0.00f, 0.00f, 90.27f, 25.77f, 0.00f, 86.12f,
      173.12f, 255.00f, 171.69f, 26.19f, 255.00f, 182.13f, 188.13f, 227.13f, 255.00f, 41.20f, 231.70f, 0.00f, 241.39f,
      199.39f, 17.97f, 94.47f, 203.97f, 28.40f, 255.00f, 133.40f, 113.97f, 109.47f, 137.97f, 124.41f, 255.00f, 67.41f}},
    {{{1.0f, 1.0f, 1.0f, 0.05f}, {0, 1, 2, 3}}, {200.00f, 200.00f, 200.00f, 0.00f, 0.00f, 0.00f, 74.00f, 50.20f, 10.00f,
      111.00f, 127.60f, 249.00f, 202.30f, 51.00f, 232.00f, 190.00f, 185.00f, 215.00f, 222.00f, 71.00f, 152.70f, 3.00f,
      175.20f, 209.00f, 40.00f, 53.80f, 164.00f, 77.00f, 229.00f, 192.60f, 119.70f, 111.00f, 130.00f, 113.00f, 249.00f,
      115.80f}},
    {{{1.0f, 1.0f, 1.0f, -0.5f}, {0, 1, 2, 3}}, {200.00f, 200.00f, 200.00f, 0.00f, 0.00f, 0.00f, 10.00f, 53.00f, 74.00f,
      249.00f, 191.00f, 111.00f, 135.00f, 232.00f, 51.00f, 215.00f, 211.00f, 185.00f, 71.00f, 222.00f, 95.00f, 209.00f,
      3.00f, 31.00f, 164.00f, 113.00f, 40.00f, 229.00f, 77.00f, 159.00f, 127.00f, 130.00f, 111.00f, 211.00f, 113.00f,
      249.00f}},
    {{{0.9f, 1.4f, 0.6f, -0.03f}, {2, 0, 3, 1}}, {205.37f, 205.37f, 205.37f, 0.00f, 0.00f, 0.00f, 30.21f, 0.00f, 0.00f,
      118.32f, 180.95f, 222.65f, 91.35f, 42.65f, 179.48f, 189.37f, 196.48f, 212.05f, 184.63f, 72.88f, 187.03f, 28.33f,
      184.06f, 134.86f, 25.99f, 81.42f, 119.73f, 99.38f, 214.30f, 131.62f, 94.77f, 95.09f, 109.14f, 188.95f, 244.53f,
      141.71f}},
    {{{1.1f, 0.7f, 1.3f, 0.3f}, {3, 1, 0, 2}}, {194.99f, 194.99f, 194.99f, 40.98f, 40.98f, 40.98f, 39.79f, 103.85f,
      48.00f, 252.81f, 114.67f, 200.36f, 240.69f, 120.37f, 59.51f, 211.13f, 181.10f, 191.11f, 216.74f, 210.54f, 65.59f,
      165.36f, 28.42f, 234.63f, 185.35f, 61.23f, 137.10f, 133.18f, 93.54f, 245.69f, 144.14f, 125.12f, 125.92f, 115.57f,
      180.84f, 251.71f}},
};

// Grey, black, and colours.
static void fill_pixels(uint8_t *rgb, int pixels)
{
    for (int i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++) {
            int k = i % PIXELS;
            rgb[3 * i + c] = (uint8_t)(k == 0 ? 200 : k == 1 ? 0 : (37 * k + 11 * c * c + 101 * k * c) % 256);
        }
}

TEST(colours_change_as_torchvisions)
{
    uint8_t few[PIXELS * 3], many[LONG * 3 + 3];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fill_pixels(few, PIXELS);
        jitter_colours(&cases[k].how, few, PIXELS);
        for (int i = 0; i < PIXELS * 3; i++)
            if (fabsf((float)few[i] - cases[k].want[i]) > 0.51f)
                fail_msg("case %zu, value %d is %d, not %.2f", k, i, few[i], (double)cases[k].want[i]);
        // Whole repetitions have the same mean: more blocks than one, the last one in part.
        fill_pixels(many, LONG / PIXELS * PIXELS);
        many[LONG / PIXELS * PIXELS * 3] = 77;
        jitter_colours(&cases[k].how, many, LONG / PIXELS * PIXELS);
        for (int i = 0; i < LONG / PIXELS * PIXELS * 3; i++) assert_true(abs(many[i] - few[i % (PIXELS * 3)]) <= 1);
        assert_int_equal(many[LONG / PIXELS * PIXELS * 3], 77);
    }
}

TEST(no_change_leaves_every_colour)
{
    static const double none[JITTERS] = {0};
    uint8_t rgb[3 * 256], was[3 * 256];
    struct jitter j = jitter_random(1, 2, 3, none);
    for (int i = 0; i < 256; i++) rgb[3 * i] = (uint8_t)i, rgb[3 * i + 1] = (uint8_t)(255 - i), rgb[3 * i + 2] = (uint8_t)(7 * i);
    memcpy(was, rgb, sizeof rgb);
    jitter_colours(&j, rgb, 256);
    assert_memory_equal(rgb, was, sizeof rgb);
}

TEST(draws_are_uniform_and_in_every_order)
{
    enum { DRAWS = 24000 };
    static const double most[JITTERS] = {0.125, 0.5, 1.5, 0.05};
    static const float low[JITTERS] = {0.875f, 0.5f, 0, -0.05f}, high[JITTERS] = {1.125f, 1.5f, 2.5f, 0.05f};
    double sum[JITTERS] = {0};
    int seen[256] = {0}, orders = 0;
    for (int64_t i = 0; i < DRAWS; i++) {
        struct jitter j = jitter_random(9, 1, i, most), again = jitter_random(9, 1, i, most);
        assert_memory_equal(&j, &again, sizeof j);
        for (int k = 0; k < JITTERS; k++) {
            assert_true(j.by[k] >= low[k] && j.by[k] <= high[k]);
            sum[k] += ((double)j.by[k] - (double)low[k]) / ((double)high[k] - (double)low[k]);
        }
        int code = 0;
        for (int k = 0; k < JITTERS; k++) code |= j.order[k] << 2 * k;
        seen[code]++;
    }
    for (int k = 0; k < JITTERS; k++) assert_true(fabs(sum[k] / DRAWS - 0.5) < 0.008);  // 4 sigma
    for (int code = 0; code < 256; code++) {
        if (seen[code] == 0) continue;
        assert_true(seen[code] > 850 && seen[code] < 1150);
        orders++;
    }
    assert_int_equal(orders, 24);
}

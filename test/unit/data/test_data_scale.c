// SPDX-License-Identifier: Apache-2.0
// The resize against a double loop of the same filter, on every instruction set, and consequences of its definition.

#include "data/image/scale.h"
#include "runtime/common/base/isa.h"
#include "runtime/common/base/rng.h"
#include "test/unit/test.h"

static const char *const sets[] = {"base", "avx2", "avx512"};
enum { WIDTH = 210, HEIGHT = 170 };
static uint8_t picture[WIDTH * HEIGHT * 4 + SCALE_SLACK];

static void draw_picture(int contrast)
{
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
        uint32_t r = rng_draw(3, RNG_TEST, 0, (uint32_t)i, 0).v[0];
        picture[i] = (uint8_t)(contrast ? r & 1 ? 255 : 0 : r >> 24);
    }
}

static struct scale_part part_of(int left, int top)
{
    return (struct scale_part){picture + 4 * (top * WIDTH + left), WIDTH * 4, 4, left, top, WIDTH, HEIGHT};
}

// One axis, straight from the definition.
static double filter(double begin, double length, int64_t count, int64_t i, int bound, double weight[])
{
    double step = length / (double)count, reach = fmax(step, 1), centre = begin + ((double)i + 0.5) * step, sum = 0;
    for (int k = 0; k < bound; k++) sum += weight[k] = fmax(0, 1 - fabs(k + 0.5 - centre) / reach);
    return sum;
}

static double exact(const struct area *a, int64_t height, int64_t width, int64_t y, int64_t x, int c)
{
    double down[HEIGHT], across[WIDTH], total = 0;
    double sum = filter(a->top, a->height, height, y, HEIGHT, down) * filter(a->left, a->width, width, x, WIDTH, across);
    for (int v = 0; v < HEIGHT; v++)
        for (int u = 0; u < WIDTH && down[v] > 0; u++)
            if (across[u] > 0) total += down[v] * across[u] * picture[4 * (v * WIDTH + u) + c];
    return total / sum;
}

static uint8_t *resize(const char *set, const struct scale_part *part, struct area a, bool mirror, int64_t height, int64_t width)
{
    uint8_t *into = malloc((size_t)(height * width * 3) + 1);
    assert_non_null(into);
    into[height * width * 3] = 0x5a;
    setenv("DAWN_ISA", set, 1);
    struct scaler *s = scaler_new();
    scale_draw(s, part, &(struct scale_into){&a, mirror, height, width, into});
    scaler_free(s);
    unsetenv("DAWN_ISA");
    assert_int_equal(into[height * width * 3], 0x5a);
    return into;
}

static const struct {
    struct area area;
    int64_t height, width;
} cases[] = {
    {{0, 0, WIDTH, HEIGHT}, 64, 96},   {{10, 20, 100, 90}, 128, 128}, {{10.3, 20.7, 99.9, 61.2}, 37, 41},
    {{0, 0, WIDTH, HEIGHT}, 170, 210}, {{3, 5, 7, 9}, 33, 31},        {{0, 0, 1, 1}, 5, 6},
    {{100, 100, 110, 70}, 1, 1},       {{0, 0, WIDTH, HEIGHT}, 9, 7}, {{0, 0, WIDTH, HEIGHT}, 3, 150},
    {{0, 0, WIDTH, 100}, 160, 2},      {{50, 60, 60.5, 40}, 24, 24},  {{0, 0, WIDTH, HEIGHT}, 112, 112},
};
enum { CASES = sizeof cases / sizeof cases[0] };

TEST(agrees_with_the_definition)
{
    for (int contrast = 0; contrast < 2; contrast++) {
        draw_picture(contrast);
        for (int i = 0; i < CASES; i++) {
            int64_t height = cases[i].height, width = cases[i].width;
            struct scale_part part = part_of(0, 0);
            uint8_t *is = resize("best", &part, cases[i].area, false, height, width);
            for (int64_t at = 0; at < height * width; at += 1 + height * width / 150) {
                for (int c = 0; c < 3; c++) {
                    double want = exact(&cases[i].area, height, width, at / width, at % width, c);
                    if (fabs(is[3 * at + c] - want) > 0.6)
                        fail_msg("case %d, pixel %d: %d, not %g", i, (int)at, is[3 * at + c], want);
                }
            }
            free(is);
        }
    }
}

TEST(all_sets_give_the_same)
{
    draw_picture(0);
    for (int i = 0; i < CASES; i++) {
        for (int mirror = 0; mirror < 2; mirror++) {
            struct scale_part part = part_of(0, 0);
            uint8_t *want = resize("base", &part, cases[i].area, mirror, cases[i].height, cases[i].width);
            for (int s = 1; s <= (int)isa_most(); s++) {
                uint8_t *is = resize(sets[s], &part, cases[i].area, mirror, cases[i].height, cases[i].width);
                if (memcmp(is, want, (size_t)(cases[i].height * cases[i].width * 3))) fail_msg("%s differs, case %d", sets[s], i);
                free(is);
            }
            free(want);
        }
    }
}

// Mirrored, from a part alone, and from three bytes per pixel.
TEST(other_forms_give_the_same)
{
    draw_picture(0);
    static uint8_t packed[WIDTH * HEIGHT * 3 + SCALE_SLACK];
    for (int i = 0; i < WIDTH * HEIGHT; i++) memcpy(packed + 3 * i, picture + 4 * i, 3);
    for (int i = 0; i < CASES; i++) {
        struct area a = cases[i].area;
        int64_t height = cases[i].height, width = cases[i].width;
        struct scale_part whole = part_of(0, 0), three = {packed, WIDTH * 3, 3, 0, 0, WIDTH, HEIGHT};
        int left, top, end;
        scale_reach(a.left, a.width, width, WIDTH, &left, &end);
        assert_true(left >= 0 && left < end && end <= WIDTH && left <= a.left && end >= a.left + a.width);
        scale_reach(a.top, a.height, height, HEIGHT, &top, &end);
        assert_true(top >= 0 && top < end && end <= HEIGHT && top <= a.top && end >= a.top + a.height);
        struct scale_part part = part_of(left, top);
        uint8_t *want = resize("best", &whole, a, false, height, width), *is[3];
        is[0] = resize("best", &part, a, false, height, width);
        is[1] = resize("best", &three, a, false, height, width);
        is[2] = resize("best", &whole, a, true, height, width);
        assert_memory_equal(is[0], want, height * width * 3);
        assert_memory_equal(is[1], want, height * width * 3);
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++)
                assert_memory_equal(is[2] + 3 * (y * width + x), want + 3 * (y * width + width - 1 - x), 3);
        for (int j = 0; j < 3; j++) free(is[j]);
        free(want);
    }
}

TEST(own_size_is_a_copy)
{
    draw_picture(0);
    struct scale_part part = part_of(0, 0);
    for (int s = 0; s <= (int)isa_most(); s++) {
        uint8_t *is = resize(sets[s], &part, (struct area){30, 40, 50, 60}, false, 60, 50);
        for (int i = 0; i < 60 * 50; i++)
            assert_memory_equal(is + 3 * i, picture + 4 * ((40 + i / 50) * WIDTH + 30 + i % 50), 3);
        free(is);
    }
}

TEST(one_colour_stays)
{
    struct scale_part part = part_of(0, 0);
    for (int colour = 0; colour < 256; colour += 15) {
        memset(picture, colour, sizeof picture);
        for (int i = 0; i < CASES; i++) {
            uint8_t *is = resize("best", &part, cases[i].area, false, cases[i].height, cases[i].width);
            for (int64_t k = 0; k < cases[i].height * cases[i].width * 3; k++) assert_int_equal(is[k], colour);
            free(is);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Masks as runs: against the same masks pixel by pixel, and against texts, polygons and boxes that pycocotools.mask printed.
#include "runtime/common/base/rng.h"
#include "tasks/detection/rle.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { MOST = 24 };

// Rectangles and single pixels. Some masks are empty or whole.
static void draw_mask(uint32_t which, int32_t height, int32_t width, uint8_t *mask)
{
    uint32_t at = 0;
    int rectangles = (int)rng_below(rng_draw(7, RNG_TEST, which, at++, 0).v[0], 4);
    memset(mask, which % 9 == 0, (size_t)height * (size_t)width);
    for (int i = 0; i < rectangles; i++) {
        const struct rng4 b = rng_draw(7, RNG_TEST, which, at++, 0);
        int top = (int)rng_below(b.v[0], height), left = (int)rng_below(b.v[1], width);
        int high = (int)rng_below(b.v[2], height - top) + 1, wide = (int)rng_below(b.v[3], width - left) + 1;
        for (int x = left; x < left + wide; x++) memset(mask + x * height + top, which % 5 != 0, (size_t)high);
    }
}

static void assert_runs(const struct rle *r, const uint8_t *mask)
{
    uint8_t got[MOST * MOST];
    rle_decode(r, got);
    assert_memory_equal(got, mask, (size_t)r->height * (size_t)r->width);
    for (int64_t i = 1; i < r->runs; i++) assert_true(r->run[i] > 0);
}

static void compare_pair(uint32_t which, int32_t height, int32_t width)
{
    uint8_t a[MOST * MOST], b[MOST * MOST], both[MOST * MOST], either[MOST * MOST];
    int64_t area = 0, shared = 0, all = 0, box[4] = {width, height, -1, -1};
    draw_mask(2 * which, height, width, a), draw_mask(2 * which + 1, height, width, b);
    for (int i = 0; i < height * width; i++) {
        both[i] = a[i] && b[i], either[i] = a[i] || b[i];
        area += a[i], shared += both[i], all += either[i];
        if (!a[i]) continue;
        if (i / height < box[0]) box[0] = i / height;
        if (i % height < box[1]) box[1] = i % height;
        if (i / height > box[2]) box[2] = i / height;
        if (i % height > box[3]) box[3] = i % height;
    }
    struct rle x = rle_encode(a, height, width), y = rle_encode(b, height, width), again;
    struct rle meet = rle_merge(&x, &y, true), join = rle_merge(&x, &y, false);
    struct text text = {0};
    double got[4];
    assert_runs(&x, a), assert_runs(&meet, both), assert_runs(&join, either);
    assert_int_equal(rle_area(&x), area);
    assert_true(rle_iou(&x, &y, false) == (shared ? (double)shared / (double)all : 0));
    assert_true(rle_iou(&x, &y, true) == (shared ? (double)shared / (double)area : 0));
    rle_box(&x, got);
    for (int i = 0; i < 4; i++) assert_true(got[i] == (double)(area == 0 ? 0 : i < 2 ? box[i] : box[i] - box[i - 2] + 1));
    rle_text(&x, &text);
    OK(rle_parse(text.at, text.length, height, width, &again));
    assert_runs(&again, a);
    text_free(&text);
    rle_free(&x), rle_free(&y), rle_free(&meet), rle_free(&join), rle_free(&again);
}

TEST(runs_are_pixels)
{
    for (uint32_t which = 0; which < 400; which++) {
        const struct rng4 b = rng_draw(9, RNG_TEST, which, 0, 0);
        compare_pair(which, (int32_t)rng_below(b.v[0], MOST) + 1, (int32_t)rng_below(b.v[1], MOST) + 1);
    }
}

static void assert_text(const struct rle *r, const char *expected)
{
    struct text text = {0};
    rle_text(r, &text);
    assert_string_equal(text.at, expected);
    text_free(&text);
}

// Corners that are fractions, at the borders of pixels, outside of the image, and twice the same.
TEST(polygons_equal_pycocotools)
{
    static const struct {
        double xy[8];
        int corners, height, width;
        const char *text;
        double box[4];
    } rows[] = {
        {{3, 3, 20, 4.5, 18.5, 22, -2, 15}, 4, 50, 60, "97Y12M3O2O00001O010O00001O00001O00001O01Dfn1", {0, 3, 20, 19}},
        {{0.3, 0.2, 7.7, 1.1, 2.2, 6.9}, 3, 8, 9, "8443NN1O1N2O`0", {1, 0, 6, 7}},
        {{1, 1, 6, 6, 6, 1, 1, 6}, 4, 8, 8, "945N90G2>", {1, 1, 5, 4}},
        {{-3, -2, 14, 4, 5, 13.5, 0, 9}, 4, 9, 11, "0T11TO00001O00001NN", {0, 0, 11, 9}},
        {{2, 2, 2, 2, 5, 5}, 3, 8, 8, "P2", {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rle r;
        double box[4];
        OK(rle_polygon(rows[i].xy, rows[i].corners, rows[i].height, rows[i].width, &r));
        assert_text(&r, rows[i].text);
        rle_box(&r, box);
        for (int k = 0; k < 4; k++) assert_true(box[k] == rows[i].box[k]);
        rle_free(&r);
    }
}

TEST(runs_without_a_pixel_join)
{
    static const int64_t counts[] = {0, 3, 0, 2, 4, 0, 0, 3};
    struct rle r;
    OK(rle_counts(counts, 8, 4, 3, &r));
    assert_int_equal(r.runs, 4);
    static const uint32_t runs[] = {0, 5, 4, 3};
    assert_memory_equal(r.run, runs, sizeof runs);
    rle_free(&r);
}

TEST(wrong_masks_are_refused)
{
    static const struct {
        const char *text, *why;
    } texts[] = {
        {"", "end 12 pixels before a mask of 3 x 4 pixels"}, {"P", "number 1 is damaged"}, {"5z", "number 2 is damaged"},
        {"5 ", "number 2 is damaged"},                       {"PPPPPPP0", "number 1 is damaged"},
        {"=", "count 1 of its mask is 13, where 12 pixels are left"}, {"O", "count 1 of its mask is -1"},
        {"55O", "count 3 of its mask is -1"},
    };
    struct rle r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        REFUSED(rle_parse(texts[i].text, strlen(texts[i].text), 4, 3, &r), texts[i].why);
    static const double far[] = {0, 0, 4, 0, 4, 8.5}, lost[] = {0, 0, 4, 0, 4, (double)NAN};
    REFUSED(rle_polygon(far, 3, 4, 3, &r), "corner 3 of its polygon, (4, 8.5), is far outside of the 3 x 4 pixels");
    REFUSED(rle_polygon(lost, 3, 4, 3, &r), "corner 3 of its polygon");
}

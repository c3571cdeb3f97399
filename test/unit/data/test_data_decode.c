// SPDX-License-Identifier: Apache-2.0
// Parts of JPEGs: the same pixels as in the whole, in every coding; damaged, foreign and oversized files.
#include "data/image/decoder.h"
#include "data/image/scale.h"
#include "test/unit/test.h"
#include "test/unit/fixture_jpeg.h"
#include "test/unit/must.h"

static struct decoder *decoder;

static void draw_into(const struct jpeg_bytes *b, struct area a, bool mirror, int64_t height, int64_t width, uint8_t *into)
{
    if (decoder_draw(decoder, "it", b->at, b->count,
                     &(struct scale_into){&a, mirror, height, width, into}) < 0) fail_msg("%s", error_text());
}

static uint8_t *draw(const struct jpeg_bytes *b, struct area a, bool mirror, int64_t height, int64_t width)
{
    uint8_t *into = calloc((size_t)(height * width), 3);
    assert_non_null(into);
    draw_into(b, a, mirror, height, width, into);
    return into;
}

// ---- every shape

static const struct jpeg_shape shapes[] = {
    {.width = 120, .height = 90},
    {.width = 120, .height = 90, .across = 2},
    {.width = 121, .height = 93, .across = 2, .down = 2},
    {.width = 121, .height = 93, .down = 2},
    {.width = 121, .height = 93, .across = 4},
    {.width = 97, .height = 131, .across = 2, .down = 2, .progressive = true},
    {.width = 97, .height = 131, .progressive = true},
    {.width = 97, .height = 131, .across = 2, .down = 2, .restart = 3},
    {.width = 97, .height = 131, .across = 2, .down = 2, .arithmetic = true},
    {.width = 97, .height = 131, .rgb = true},
    {.width = 97, .height = 131, .components = 1},
    {.width = 97, .height = 131, .components = 1, .progressive = true, .restart = 5},
    {.width = 97, .height = 131, .components = 4},
    {.width = 97, .height = 131, .components = 4, .ink_as_ycck = true},
    {.width = 97, .height = 131, .components = 4, .ink_as_ycck = true, .across = 2, .down = 2},
    {.width = 1, .height = 1},
    {.width = 1, .height = 40, .across = 2, .down = 2},
    {.width = 40, .height = 1, .across = 2, .down = 2},
    {.width = 17, .height = 17, .across = 2, .down = 2},
    {.width = 3, .height = 5, .components = 1},
};
enum { SHAPES_HERE = sizeof shapes / sizeof shapes[0] };

// The whole picture as libjpeg decodes it, as RGB.
static uint8_t *whole_of(const struct jpeg_bytes *b)
{
    int width, height, components;
    uint8_t *pixels = jpeg_whole(b, &width, &height, &components);
    if (components == 3) return pixels;
    for (int64_t i = 0; i < (int64_t)width * height; i++)
        for (int c = 0; c < 3; c++) pixels[3 * i + c] = (uint8_t)((pixels[4 * i + c] * pixels[4 * i + 3] + 127) / 255);
    return pixels;
}

static void expect_part(const uint8_t *part, const uint8_t *whole, const struct jpeg_shape *s, int left, int top, int width,
                        int height, bool mirror)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const uint8_t *is = part + 3 * (y * width + (mirror ? width - 1 - x : x));
            const uint8_t *want = whole + 3 * ((top + y) * s->width + left + x);
            if (memcmp(is, want, 3) != 0)
                fail_msg("%d x %d + %d + %d of shape %d: pixel %d, %d is %d %d %d, not %d %d %d", width, height, left, top,
                         (int)(s - shapes), x, y, is[0], is[1], is[2], want[0], want[1], want[2]);
        }
    }
}

TEST(parts_are_those_of_the_whole)
{
    for (int i = 0; i < SHAPES_HERE; i++) {
        const struct jpeg_shape *s = &shapes[i];
        struct jpeg_bytes b = jpeg_make(s);
        uint8_t *whole = whole_of(&b);
        int width, height;
        assert_int_equal(decoder_size(decoder, "it", b.at, b.count, &width, &height), 0);
        assert_true(width == s->width && height == s->height);
        for (uint32_t k = 0; k < 60; k++) {
            struct rng4 r = rng_draw(5, RNG_TEST, (uint32_t)i, k, 0);
            int w = 1 + (int)rng_below(r.v[0], (uint32_t)width), h = 1 + (int)rng_below(r.v[1], (uint32_t)height);
            if (k == 0) w = width, h = height;
            int left = (int)rng_below(r.v[2], (uint32_t)(width - w + 1));
            int top = (int)rng_below(r.v[3], (uint32_t)(height - h + 1));
            uint8_t *part = draw(&b, (struct area){left, top, w, h}, k % 2, h, w);
            assert_null(decoder_damage(decoder));
            expect_part(part, whole, s, left, top, w, h, k % 2);
            free(part);
        }
        free(whole);
        free(b.at);
    }
}

// ---- scaled decoding

// The mean and the largest difference between a sample and the exact means of the pixels that each of its own covers.
static double far_from_means(const uint8_t *sample, int side, const uint8_t *whole, int whole_side, int *worst)
{
    double total = 0, step = (double)whole_side / side;
    *worst = 0;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                int n = 0;
                for (int v = (int)(y * step); v < (int)((y + 1) * step); v++)
                    for (int u = (int)(x * step); u < (int)((x + 1) * step); u++) sum += whole[3 * (v * whole_side + u) + c], n++;
                double away = fabs(sum / n - sample[3 * (y * side + x) + c]);
                total += away;
                if (away > *worst) *worst = (int)away;
            }
        }
    }
    return total / (side * side * 3);
}

// Whole factors of 2, 4 and 8: what libjpeg shrinks by itself is close to the means of the pixels.
TEST(shrinking_is_close_to_the_mean)
{
    const struct jpeg_shape s = {.width = 256, .height = 256, .across = 2, .down = 2, .quality = 95};
    struct jpeg_bytes b = jpeg_make(&s);
    uint8_t *whole = whole_of(&b);
    for (int side = 128; side >= 32; side /= 2) {
        int worst;
        uint8_t *sample = draw(&b, (struct area){0, 0, 256, 256}, false, side, side);
        double mean = far_from_means(sample, side, whole, 256, &worst);
        if (mean > 3 || worst > 40) fail_msg("to %d: %g, at most %d", side, mean, worst);
        free(sample);
    }
    free(whole);
    free(b.at);
}

// Where libjpeg may not shrink, the sample is the resize of all pixels.
TEST(whole_pixels_can_be_asked_for)
{
    enum { SIDE = 256, INTO = 60 };
    const struct jpeg_shape s = {.width = SIDE, .height = SIDE, .across = 2, .down = 2};
    struct jpeg_bytes b = jpeg_make(&s);
    struct area a = {3.5, 8, 250, 240};
    uint8_t *whole = whole_of(&b), *pixels = calloc(SIDE * SIDE + SCALE_SLACK, 3), want[INTO * INTO * 3];
    memcpy(pixels, whole, SIDE * SIDE * 3);
    struct scale_part part = {pixels, SIDE * 3, 3, 0, 0, SIDE, SIDE};
    struct scaler *scaler = scaler_new();
    scale_draw(scaler, &part, &(struct scale_into){&a, true, INTO, INTO, want});
    decoder_shrink(decoder, false);
    uint8_t *sample = draw(&b, a, true, INTO, INTO);
    assert_memory_equal(sample, want, sizeof want);
    decoder_shrink(decoder, true);
    draw_into(&b, a, true, INTO, INTO, sample);
    assert_memory_not_equal(sample, want, sizeof want);
    scaler_free(scaler);
    free(sample);
    free(pixels);
    free(whole);
    free(b.at);
}

// A part of a picture that libjpeg shrinks is the same part of the whole that it shrinks.
TEST(parts_of_shrunk_pictures_fit)
{
    const struct jpeg_shape kinds[] = {{.width = 320, .height = 240, .across = 2, .down = 2}, {.width = 320, .height = 240}};
    for (int k = 0; k < 2; k++) {
        struct jpeg_bytes b = jpeg_make(&kinds[k]);
        for (int by = 2; by <= 8; by *= 2) {
            uint8_t *whole = draw(&b, (struct area){0, 0, 320, 240}, false, 240 / by, 320 / by);
            struct area middle = {80, 80, 160, 80};
            uint8_t *part = draw(&b, middle, false, 80 / by, 160 / by);
            for (int y = 0; y < 80 / by; y++)
                assert_memory_equal(part + y * 160 / by * 3, whole + ((80 / by + y) * 320 / by + 80 / by) * 3, 160 / by * 3);
            free(part);
            free(whole);
        }
        free(b.at);
    }
}

TEST(pngs_are_drawn)
{
    enum { HIGH = 12, WIDE = 20 };
    uint8_t pixels[HIGH * WIDE * 3], drawn[HIGH * WIDE * 3];
    struct image image = {HIGH, WIDE, pixels};
    void *png;
    size_t count;
    int width, height;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i % 251);
    assert_int_equal(image_encode_png("it", &image, &png, &count), 0);
    assert_int_equal(decoder_size(decoder, "it", png, count, &width, &height), 0);
    assert_int_equal(width, WIDE);
    assert_int_equal(height, HIGH);
    struct area all = {0, 0, WIDE, HIGH}, part = {5, 3, 7, 4}, outside = {5, 3, 16, 4};
    assert_int_equal(decoder_draw(decoder, "it", png, count, &(struct scale_into){&all, false, HIGH, WIDE, drawn}), 0);
    assert_memory_equal(drawn, pixels, sizeof pixels);
    assert_int_equal(decoder_draw(decoder, "it", png, count, &(struct scale_into){&part, true, 4, 7, drawn}), 0);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 7; x++) assert_memory_equal(drawn + 3 * (7 * y + x), pixels + 3 * (WIDE * (3 + y) + 11 - x), 3);
    assert_null(decoder_damage(decoder));
    assert_fails(decoder_draw(decoder, "it", png, count,
                              &(struct scale_into){&outside, false, 4, 7, drawn}), ERR_INPUT, "it: the area");
    for (size_t n = 8; n < count / 2; n += 7)
        assert_fails(decoder_draw(decoder, "it", png, n,
                                  &(struct scale_into){&all, false, HIGH, WIDE, drawn}), ERR_INPUT, "it: not a valid PNG");
    free(png);
}

// ---- wrong input

static void expect_failure(const uint8_t *bytes, size_t count, const char *part)
{
    uint8_t into[16 * 16 * 3];
    int width, height;
    struct area a = {0, 0, 8, 8};
    assert_true(decoder_draw(decoder, "train 7", bytes, count, &(struct scale_into){&a, false, 16, 16, into}) < 0);
    assert_true(strncmp(error_text(), "train 7", 7) == 0);
    if (strstr(error_text(), part) == NULL) fail_msg("\"%s\" does not say \"%s\"", error_text(), part);
    if (decoder_size(decoder, "train 7", bytes, count, &width, &height) == 0)
        assert_true(strstr(part, "SOF") != NULL || strstr(part, "area") != NULL);
}

TEST(foreign_files_are_refused)
{
    struct jpeg_shape s = {.width = 40, .height = 40};
    struct jpeg_bytes b = jpeg_make(&s);
    size_t frame = jpeg_frame(&b);
    expect_failure(b.at, 0, "is neither a PNG nor a JPEG");
    expect_failure((const uint8_t *)"\x89PNG\r\n\x1a\n", 8, "not a valid PNG");
    expect_failure(b.at, 3, "not a readable JPEG");
    expect_failure(b.at, frame + 4, "not a readable JPEG");
    b.at[frame + 3] = 12;
    expect_failure(b.at, b.count, "12");
    b.at[frame + 3] = 8, b.at[frame] = 0xc3;
    expect_failure(b.at, b.count, "SOF");
    b.at[frame] = 0xc0, b.at[frame + 4] = b.at[frame + 6] = 0xff;  // 65,320 x 65,320
    expect_failure(b.at, b.count, "too large");
    b.at[frame + 4] = b.at[frame + 5] = 0;
    expect_failure(b.at, b.count, "not a readable JPEG");
    free(b.at);
    s.components = 2;
    b = jpeg_make(&s);
    expect_failure(b.at, b.count, "2 components");
    free(b.at);
    s = (struct jpeg_shape){.width = 7, .height = 40};
    b = jpeg_make(&s);
    expect_failure(b.at, b.count, "area");  // of 8 pixels' width
    free(b.at);
}

TEST(limits_can_be_set)
{
    const struct jpeg_shape s = {.width = 40, .height = 30};
    struct jpeg_bytes b = jpeg_make(&s);
    int width, height;
    decoder_limit(decoder, &(struct image_limits){39, 10000});
    assert_true(decoder_size(decoder, "it", b.at, b.count, &width, &height) < 0);
    decoder_limit(decoder, &(struct image_limits){40, 1199});
    assert_true(decoder_size(decoder, "it", b.at, b.count, &width, &height) < 0);
    decoder_limit(decoder, &(struct image_limits){40, 1200});
    assert_int_equal(decoder_size(decoder, "it", b.at, b.count, &width, &height), 0);
    decoder_limit(decoder, &DECODER_LIMITS);
    free(b.at);
}

// A file that is cut off anywhere is refused, or the part before the cut is drawn intact and the damage reported. The next
// picture is not affected.
TEST(cut_files_give_what_there_is)
{
    const struct jpeg_shape kinds[] = {{.width = 90, .height = 70, .across = 2, .down = 2},
                                       {.width = 90, .height = 70, .progressive = true},
                                       {.width = 90, .height = 70, .restart = 4},
                                       {.width = 90, .height = 70, .arithmetic = true}};
    uint8_t whole[70 * 90 * 3], cut[70 * 90 * 3];
    struct area all = {0, 0, 90, 70};
    for (int k = 0; k < 4; k++) {
        struct jpeg_bytes b = jpeg_make(&kinds[k]);
        int drawn = 0;
        draw_into(&b, all, false, 70, 90, whole);
        for (size_t n = 0; n < b.count; n += 61) {
            if (decoder_draw(decoder, "it", b.at, n, &(struct scale_into){&all, false, 70, 90, cut}) < 0) {
                assert_true(strncmp(error_text(), "it", 2) == 0);
                continue;
            }
            assert_non_null(decoder_damage(decoder));
            drawn++;
        }
        assert_true(drawn > 10);
        assert_int_equal(decoder_draw(decoder, "it", b.at, b.count * 9 / 10, &(struct scale_into){&all, false, 70, 90, cut}), 0);
        if (!kinds[k].progressive) assert_memory_equal(cut, whole, 90 * 3 * 30);
        draw_into(&b, all, false, 70, 90, cut);
        assert_null(decoder_damage(decoder));
        assert_memory_equal(cut, whole, sizeof whole);
        free(b.at);
    }
}

// A bit here and there: no crash, and the next picture does not notice.
TEST(flipped_bits_do_no_harm)
{
    uint8_t whole[48 * 48 * 3], now[48 * 48 * 3];
    for (int i = 0; i < SHAPES_HERE; i++) {
        struct jpeg_bytes b = jpeg_make(&shapes[i]), broken = {malloc(b.count), b.count};
        struct area all = {0, 0, shapes[i].width, shapes[i].height};
        draw_into(&b, all, false, 48, 48, whole);
        for (uint32_t k = 0; k < 150; k++) {
            struct rng4 r = rng_draw(6, RNG_TEST, (uint32_t)i, k, 0);
            memcpy(broken.at, b.at, b.count);
            for (int j = 0; j < 3; j++) broken.at[rng_below(r.v[j], (uint32_t)b.count)] ^= (uint8_t)(1 << (r.v[3] >> 3 * j) % 8);
            if (decoder_draw(decoder, "it", broken.at, b.count, &(struct scale_into){&all, k % 2, 48, 48, now}) < 0)
                assert_true(strncmp(error_text(), "it", 2) == 0);
        }
        draw_into(&b, all, false, 48, 48, now);
        assert_memory_equal(now, whole, sizeof whole);
        free(broken.at);
        free(b.at);
    }
}

SETUP(make_decoder)
{
    decoder = decoder_new();
    return 0;
}

SETUP(end_decoder)
{
    decoder_free(decoder);
    decoder_free(NULL);
    return 0;
}

TEST_GROUP(make_decoder, end_decoder)

// SPDX-License-Identifier: Apache-2.0
// Pictures from outside: every accepted kind of PNG and JPEG, and broken ones, which are refused.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <png.h>

#include <jpeglib.h>

#include "data/image/image.h"

enum { SIDE = 12 };

struct bytes {
    uint8_t at[1 << 16];
    size_t count;
};

static void collect(png_structp png, png_bytep from, size_t count)
{
    struct bytes *bytes = png_get_io_ptr(png);
    memcpy(bytes->at + bytes->count, from, count);
    bytes->count += count;
}

static void collected(png_structp png)
{
    (void)png;
}

// A PNG of SIDE x SIDE from rows of `stride` bytes.
static void make_png(struct bytes *bytes, int type, int depth, const uint8_t *rows, int stride,
                     const png_color *palette)
{
    bytes->count = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, bytes, collect, collected);
    png_set_IHDR(png, info, SIDE, SIDE, depth, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (palette != NULL) png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    for (int y = 0; y < SIDE; y++) png_write_row(png, rows + y * stride);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static void make_jpeg(struct bytes *bytes, J_COLOR_SPACE space, int components, int value)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr trouble;
    jpeg.err = jpeg_std_error(&trouble);
    jpeg_create_compress(&jpeg);
    unsigned char *out = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &out, &size);
    jpeg.image_width = jpeg.image_height = SIDE;
    jpeg.input_components = components;
    jpeg.in_color_space = space;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    uint8_t row[SIDE * 4];
    for (int i = 0; i < SIDE * components; i++) row[i] = (uint8_t)(value + 40 * (i % components));
    while (jpeg.next_scanline < SIDE) {
        JSAMPROW at_row = row;
        jpeg_write_scanlines(&jpeg, &at_row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    memcpy(bytes->at, out, size);
    bytes->count = size;
    free(out);
}

static struct image decode(const struct bytes *bytes)
{
    struct image image;
    if (image_decode("it", bytes->at, bytes->count, &IMAGE_LIMITS, &image) != 0) fail_msg("%s", error_text());
    assert_int_equal(image.height, SIDE);
    assert_int_equal(image.width, SIDE);
    return image;
}

static void expect(struct image image, int pixel, int red, int green, int blue)
{
    const uint8_t *p = image.pixels + 3 * pixel;
    if (p[0] != red || p[1] != green || p[2] != blue) {
        fail_msg("pixel %d is %d %d %d, not %d %d %d", pixel, p[0], p[1], p[2], red, green, blue);
    }
}

TEST_WITH(every_kind_of_png, set_up, leave)
{
    struct bytes bytes;
    uint8_t rows[SIDE * SIDE * 8];
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)(i * 5);

    make_png(&bytes, PNG_COLOR_TYPE_RGB, 8, rows, SIDE * 3, NULL);
    struct image image = decode(&bytes);
    assert_memory_equal(image.pixels, rows, SIDE * SIDE * 3);
    image_free(&image);

    make_png(&bytes, PNG_COLOR_TYPE_GRAY, 8, rows, SIDE, NULL);
    image = decode(&bytes);
    for (int i = 0; i < SIDE * SIDE; i++) expect(image, i, rows[i], rows[i], rows[i]);
    image_free(&image);

    uint8_t bits[SIDE * 2];  // 1 bit per pixel: black, white, black, white ...
    memset(bits, 0x55, sizeof bits);
    make_png(&bytes, PNG_COLOR_TYPE_GRAY, 1, bits, 2, NULL);
    image = decode(&bytes);
    expect(image, 0, 0, 0, 0);
    expect(image, 1, 255, 255, 255);
    image_free(&image);

    static const png_color palette[4] = {{1, 2, 3}, {50, 60, 70}, {200, 100, 0}, {255, 255, 255}};
    uint8_t indices[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) indices[i] = (uint8_t)(i % 4);
    make_png(&bytes, PNG_COLOR_TYPE_PALETTE, 8, indices, SIDE, palette);
    image = decode(&bytes);
    expect(image, 1, 50, 60, 70);
    expect(image, 2, 200, 100, 0);
    image_free(&image);

    for (int i = 0; i < SIDE * SIDE; i++) rows[4 * i + 3] = i % 2 == 0 ? 255 : 0;
    make_png(&bytes, PNG_COLOR_TYPE_RGB_ALPHA, 8, rows, SIDE * 4, NULL);
    image = decode(&bytes);
    expect(image, 10, rows[40], rows[41], rows[42]);
    expect(image, 11, 255, 255, 255);  // nothing there: the white below shows
    image_free(&image);

    for (int i = 0; i < SIDE * SIDE * 3; i++)
        rows[2 * i] = rows[2 * i + 1] = (uint8_t)(i * 7);  // v * 257: exactly v in 8 bits
    make_png(&bytes, PNG_COLOR_TYPE_RGB, 16, rows, SIDE * 6, NULL);
    image = decode(&bytes);
    expect(image, 5, 15 * 7, 16 * 7, 17 * 7);
    image_free(&image);
}

TEST_WITH(every_kind_of_jpeg, set_up, leave)
{
    struct bytes bytes;
    make_jpeg(&bytes, JCS_RGB, 3, 80);
    struct image image = decode(&bytes);
    for (int c = 0; c < 3; c++) assert_in_range(image.pixels[3 * 70 + c], 80 + 40 * c - 3, 80 + 40 * c + 3);
    image_free(&image);
    make_jpeg(&bytes, JCS_GRAYSCALE, 1, 90);
    image = decode(&bytes);
    for (int c = 0; c < 3; c++) assert_in_range(image.pixels[3 * 70 + c], 88, 92);
    image_free(&image);
    make_jpeg(&bytes, JCS_CMYK, 4, 20);  // 20, 60, 100 and 140 without the key: a multiple of 140 / 255
    image = decode(&bytes);
    for (int c = 0; c < 3; c++) assert_in_range(image.pixels[c], (20 + 40 * c) * 140 / 255 - 2, (20 + 40 * c) * 140 / 255 + 2);
    image_free(&image);
}

TEST_WITH(limits_hold, set_up, leave)
{
    static struct bytes bytes;
    static uint8_t rows[SIDE * SIDE * 3];
    struct image image;
    struct image_limits side = {SIDE - 1, 1 << 20}, area = {1 << 20, SIDE * SIDE - 1}, just = {SIDE, SIDE * SIDE};
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0) make_png(&bytes, PNG_COLOR_TYPE_RGB, 8, rows, SIDE * 3, NULL);
        if (kind == 1) make_jpeg(&bytes, JCS_RGB, 3, 50);
        assert_fails(image_decode("big", bytes.at, bytes.count, &side, &image), ERR_INPUT,
                     "big: a picture of 12 x 12 pixels");
        assert_null(image.pixels);
        assert_fails(image_decode("big", bytes.at, bytes.count, &area, &image), ERR_INPUT, "143 in all");
        assert_int_equal(image_decode("big", bytes.at, bytes.count, &just, &image), 0);
        image_free(&image);
    }
    // A header with 2^31 - 1 pixels a side is refused before any such memory is requested.
    make_png(&bytes, PNG_COLOR_TYPE_RGB, 8, rows, SIDE * 3, NULL);
    memcpy(bytes.at + 16, "\x7f\xff\xff\xff\x7f\xff\xff\xff", 8);
    assert_int_equal(image_decode("huge", bytes.at, bytes.count, &IMAGE_LIMITS, &image), ERR_INPUT);
}

TEST_WITH(broken_pictures, set_up, leave)
{
    static struct bytes bytes;
    static uint8_t rows[SIDE * SIDE * 3];
    struct image image;
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)(i * i);
    assert_fails(image_decode("none", rows, 0, &IMAGE_LIMITS, &image), ERR_INPUT, "none is neither a PNG nor a JPEG");
    assert_fails(image_decode("text", (const uint8_t *)"GIF89a and more", 15, &IMAGE_LIMITS, &image), ERR_INPUT,
                 "neither");
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0) make_png(&bytes, PNG_COLOR_TYPE_RGB, 8, rows, SIDE * 3, NULL);
        if (kind == 1) make_jpeg(&bytes, JCS_RGB, 3, 50);
        size_t whole = bytes.count - (kind == 0 ? 12 : 2);  // the end mark may be missed, pixels may not
        for (size_t n = 0; n < whole; n++) {  // the edge of its memory: a read past it is seen by the sanitizer
            uint8_t *edge = malloc(n + 1);
            memcpy(edge, bytes.at, n);
            int rc = image_decode("cut", edge, n, &IMAGE_LIMITS, &image);
            free(edge);
            if (rc != ERR_INPUT) fail_msg("kind %d cut at byte %zu of %zu was taken", kind, n, bytes.count);
        }
        int refused = 0;
        for (size_t i = 0; i < bytes.count; i++) {  // it must end, accepted or refused
            bytes.at[i] ^= 0x41;
            int rc = image_decode("bent", bytes.at, bytes.count, &IMAGE_LIMITS, &image);
            if (rc == 0) image_free(&image);
            refused += rc != 0;
            bytes.at[i] ^= 0x41;
        }
        assert_true(refused > 10);
    }
}

TEST_WITH(pictures_fit, set_up, leave)
{
    uint8_t out[8 * 8 * 3], from[16 * 20 * 3];
    for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)(i * 31 % 251);
    struct image same = {8, 8, from};
    image_fit(&same, 8, out);
    assert_memory_equal(from, out, sizeof out);

    struct image wide = {8, 20, from};  // the middle 8 of 20 columns
    image_fit(&wide, 8, out);
    for (int y = 0; y < 8; y++) assert_memory_equal(from + (y * 20 + 6) * 3, out + y * 8 * 3, 8 * 3);

    struct image twice = {16, 16, from};  // means of 2 x 2
    image_fit(&twice, 8, out);
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8 * 3; x++) {
            int a = (2 * y * 16 + x / 3 * 2) * 3 + x % 3;
            int sum = from[a] + from[a + 3] + from[a + 48] + from[a + 51];
            assert_int_equal(out[y * 8 * 3 + x], (sum + 2) / 4);
        }
    }

    for (int side = 1; side <= 20; side++) {  // one colour stays that colour at all sizes
        memset(from, 77, sizeof from);
        struct image plain = {side < 16 ? side : 16, side, from};
        image_fit(&plain, 8, out);
        for (size_t i = 0; i < sizeof out; i++) assert_int_equal(out[i], 77);
    }

    uint8_t ramp[2 * 2 * 3] = {0, 0, 0, 200, 200, 200, 0, 0, 0, 200, 200, 200};
    struct image two = {2, 2, ramp};
    image_fit(&two, 8, out);  // grows: flat at the edges, even steps between
    static const int want[8] = {0, 0, 25, 75, 125, 175, 200, 200};
    for (int x = 0; x < 8; x++) assert_int_equal(out[3 * x], want[x]);
}

TEST_WITH(written_and_read_back, set_up, leave)
{
    uint8_t pixels[5 * 7 * 3];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 3);
    struct image image = {5, 7, pixels}, back;
    assert_int_equal(image_write_png(in("a.png"), &image), 0);
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in("a.png"), 1 << 20, &bytes, &count), 0);
    assert_int_equal(image_decode("a.png", (const uint8_t *)bytes, count, &IMAGE_LIMITS, &back), 0);
    assert_int_equal(back.height, 5);
    assert_int_equal(back.width, 7);
    assert_memory_equal(back.pixels, pixels, sizeof pixels);
    image_free(&back);
    free(bytes);
    assert_fails(image_write_png(in("missing/a.png"), &image), ERR_IO, "missing/a.png");
    assert_true(image_is_named("x.PNG") && image_is_named("a.b.jpeg") && image_is_named("1.jpg"));
    assert_false(image_is_named("png") || image_is_named("a.gif") || image_is_named("a.png.txt"));
}

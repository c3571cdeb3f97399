// SPDX-License-Identifier: Apache-2.0
// PNG by libpng's simplified interface, JPEG by libjpeg.
//
// Invariant: for any bytes, a call returns a complete picture or fails with a sentence, and leaks no memory. Dimensions are
// checked before anything of their size is allocated. Fuzzed: test/fuzz/fuzz_import.c.
// Cost: one decode and one buffer of the picture's size.
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jpeglib.h>

#include "data/image/image.h"
#include "runtime/base/arena.h"
#include "runtime/base/file.h"

enum { JPEG_SCANS_MAX = 100 };  // a progressive file of a few bytes a scan could keep the decoder busy for hours

bool image_is_named(const char *file)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcasecmp(dot, endings[i]) == 0) return true;
    }
    return false;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

static int image_room(const char *name, const struct image_limits *limits, uint64_t height, uint64_t width,
                      struct image *image)
{
    if (height == 0 || width == 0 || height > (uint64_t)limits->side || width > (uint64_t)limits->side ||
        height * width > (uint64_t)limits->pixels) {
        return fail(ERR_INPUT, "%s: a picture of %llu x %llu pixels is too large (at most %d a side, %lld in all)",
                    name, (unsigned long long)width, (unsigned long long)height, limits->side,
                    (long long)limits->pixels);
    }
    image->pixels = malloc(height * width * 3);
    if (image->pixels == NULL) return fail(ERR_MEMORY, "%s: not enough memory for its pixels", name);
    image->height = (int)height, image->width = (int)width;
    return 0;
}

static int decode_png(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                      struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    static const png_color white = {255, 255, 255};
    int rc = 0;
    if (png_image_begin_read_from_memory(&png, bytes, count)) {
        png.format = PNG_FORMAT_RGB;
        png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // reads 16-bit files as sRGB too, not as linear light
        rc = image_room(name, limits, png.height, png.width, image);
        if (rc == 0) png_image_finish_read(&png, &white, image->pixels, 0, NULL);
    }
    // After a warning (a wrong checksum, for one) the picture cannot be trusted.
    if (rc == 0 && png.warning_or_error != 0) rc = fail(ERR_INPUT, "%s: not a valid PNG: %s", name, png.message);
    png_image_free(&png);
    return rc;
}

// libjpeg reports an error by a function that must not return.
struct jpeg_trouble {
    struct jpeg_error_mgr manager;  // first, so that libjpeg's pointer also points to this struct
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
};

_Noreturn static void jpeg_give_up(j_common_ptr jpeg)
{
    struct jpeg_trouble *trouble = (struct jpeg_trouble *)jpeg->err;
    jpeg->err->format_message(jpeg, trouble->text);
    longjmp(trouble->back, 1);
}

// Warnings are errors here: otherwise the rest of a truncated file would be grey.
static void jpeg_warn(j_common_ptr jpeg, int level)
{
    if (level < 0) jpeg_give_up(jpeg);
}

static void jpeg_count_scans(j_common_ptr jpeg)
{
    if (((j_decompress_ptr)jpeg)->input_scan_number <= JPEG_SCANS_MAX) return;
    struct jpeg_trouble *trouble = (struct jpeg_trouble *)jpeg->err;
    snprintf(trouble->text, sizeof trouble->text, "more than %d scans", JPEG_SCANS_MAX);
    longjmp(trouble->back, 1);
}

// Between setjmp and longjmp no local variable changes, so that none becomes indeterminate.
static int jpeg_run(struct jpeg_decompress_struct *jpeg, struct jpeg_trouble *trouble, const char *name,
                    const uint8_t *bytes, size_t count, const struct image_limits *limits, struct image *image)
{
    if (setjmp(trouble->back) != 0) return fail(ERR_INPUT, "%s: not a valid JPEG: %s", name, trouble->text);
    jpeg_create_decompress(jpeg);
    jpeg->progress = &trouble->progress;
    jpeg_mem_src(jpeg, bytes, (unsigned long)count);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->num_components != 1 && jpeg->num_components != 3) {
        return fail(ERR_INPUT, "%s: a JPEG must be grey or colour; got %d components", name,
                    jpeg->num_components);
    }
    TRY(image_room(name, limits, jpeg->image_height, jpeg->image_width, image));
    jpeg->out_color_space = JCS_RGB;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = image->pixels + (size_t)jpeg->output_scanline * (size_t)image->width * 3;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return 0;
}

static int decode_jpeg(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                       struct image *image)
{
    // On the heap, which longjmp leaves unchanged.
    struct jpeg_decompress_struct *jpeg = zalloc(sizeof *jpeg);
    struct jpeg_trouble *trouble = zalloc(sizeof *trouble);
    jpeg->err = jpeg_std_error(&trouble->manager);
    trouble->manager.error_exit = jpeg_give_up;
    trouble->manager.emit_message = jpeg_warn;
    trouble->progress.progress_monitor = jpeg_count_scans;
    int rc = jpeg_run(jpeg, trouble, name, bytes, count, limits, image);
    jpeg_destroy_decompress(jpeg);
    free(trouble);
    free(jpeg);
    return rc;
}

int image_decode(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                 struct image *image)
{
    *image = (struct image){0};
    int rc;
    if (count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) {
        rc = decode_png(name, bytes, count, limits, image);
    } else if (count >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) {
        rc = decode_jpeg(name, bytes, count, limits, image);
    } else {
        rc = fail(ERR_INPUT, "%s is neither a PNG nor a JPEG", name);
    }
    if (rc < 0) image_free(image);
    return rc;
}

// One axis of the resize: the part of [0, n) that output position `at` of `side` covers: two taps if the picture grows, a run
// of whole and partial pixels if it shrinks.
struct span {
    int first, count;
    double head, tail;  // weights of the first and the last pixel; the others have weight 1
};

static struct span span_at(int at, int side, int n)
{
    double scale = (double)n / side;
    if (n < side) {
        double centre = (at + 0.5) * scale - 0.5;
        if (centre < 0) centre = 0;
        if (centre > n - 1) centre = n - 1;
        int first = (int)centre;
        if (first == n - 1) return (struct span){first, 1, 1, 1};
        return (struct span){first, 2, 1 - (centre - first), centre - first};
    }
    double low = at * scale, high = (at + 1) * scale;
    int first = (int)low, last = (int)high;
    if (last >= n || high - last < 1e-9) last--;
    if (last <= first) return (struct span){first, 1, 1, 1};
    return (struct span){first, last - first + 1, first + 1 - low, high - last};
}

static double span_weight(const struct span *span, int i)
{
    if (i == 0) return span->head;
    return i == span->count - 1 ? span->tail : 1;
}

void image_fit(const struct image *image, int side, uint8_t *pixels)
{
    int n = image->height < image->width ? image->height : image->width;
    int top = (image->height - n) / 2, left = (image->width - n) / 2;
    for (int y = 0; y < side; y++) {
        struct span rows = span_at(y, side, n);
        for (int x = 0; x < side; x++) {
            struct span columns = span_at(x, side, n);
            double sum[3] = {0}, weight = 0;
            for (int i = 0; i < rows.count; i++) {
                const uint8_t *row =
                    image->pixels + ((size_t)(top + rows.first + i) * (size_t)image->width + (size_t)left) * 3;
                for (int j = 0; j < columns.count; j++) {
                    double w = span_weight(&rows, i) * span_weight(&columns, j);
                    for (int c = 0; c < 3; c++) sum[c] += w * row[3 * (columns.first + j) + c];
                    weight += w;
                }
            }
            for (int c = 0; c < 3; c++) *pixels++ = (uint8_t)(sum[c] / weight + 0.5);
        }
    }
}

int image_write_png(const char *path, const struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    png.height = (png_uint_32)image->height, png.width = (png_uint_32)image->width;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    void *bytes = malloc(size);
    if (bytes == NULL) return fail(ERR_MEMORY, "not enough memory to write %s", path);
    int rc = 0;
    if (!png_image_write_to_memory(&png, bytes, &size, 0, image->pixels, 0, NULL)) {
        rc = fail(ERR_IO, "cannot encode %s: %s", path, png.message);
    }
    if (rc == 0) rc = file_write(path, bytes, size);
    free(bytes);
    return rc;
}

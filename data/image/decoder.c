// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg-turbo, PNG by png.h. Each JPEG gets a decompressor of its own, which takes 0.1 us to make, because a reused one
// would decode a picture without tables with the previous picture's tables. An error inside jumps back (setjmp), and destroying
// the decompressor frees its memory. Pixels and tables are kept for the next picture.
#include "data/image/decoder.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>  // needs jpeglib.h

#include "data/image/head.h"
#include "data/image/png.h"
#include "runtime/common/base/arena.h"

enum {
    SCANS_MAX = 100,             // limits a progressive file of a few bytes a scan, which could take hours
    WHOLE = 8,                   // eighths of the stored size
    CHANNELS = 4,
    // Margin around the part: the columns and rows whose chroma libjpeg would otherwise guess by repeating the edge, and
    // those that need the row before the first.
    MARGIN = 2,
};

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr manager;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    char error[JMSG_LENGTH_MAX], damage[JMSG_LENGTH_MAX];
    struct image_limits limits;
    bool shrinks;
    struct scaler *scaler;
    uint8_t *buffer, *pixels;
    size_t buffer_bytes, pixels_bytes;
};

// A rectangle of the decoded picture.
struct part {
    int left, top, width, height;
};

struct decoder *decoder_new(void)
{
    struct decoder *d = zalloc(sizeof *d);
    d->limits = DECODER_LIMITS;
    d->shrinks = true;
    d->scaler = scaler_new();
    return d;
}

void decoder_free(struct decoder *d)
{
    if (d == NULL) return;
    scaler_free(d->scaler);
    free(d->buffer);
    free(d->pixels);
    free(d);
}

void decoder_limit(struct decoder *d, const struct image_limits *limits)
{
    d->limits = *limits;
}

void decoder_shrink(struct decoder *d, bool shrinks)
{
    d->shrinks = shrinks;
}

uint8_t *decoder_buffer(struct decoder *d, size_t bytes)
{
    if (bytes > d->buffer_bytes) {
        free(d->buffer);
        d->buffer = zalloc(bytes + bytes / 4);
        d->buffer_bytes = bytes + bytes / 4;
    }
    return d->buffer;
}

const char *decoder_damage(const struct decoder *d)
{
    return d->damage[0] != '\0' ? d->damage : NULL;
}

// ---- callbacks of libjpeg

_Noreturn static void give_up(j_common_ptr jpeg)
{
    struct decoder *d = jpeg->client_data;
    jpeg->err->format_message(jpeg, d->error);
    longjmp(d->back, 1);
}

static void note_damage(j_common_ptr jpeg, int level)
{
    struct decoder *d = jpeg->client_data;
    if (level < 0 && d->damage[0] == '\0') jpeg->err->format_message(jpeg, d->damage);
}

static void count_scans(j_common_ptr jpeg)
{
    struct decoder *d = jpeg->client_data;
    if (d->jpeg.input_scan_number <= SCANS_MAX) return;
    snprintf(d->error, sizeof d->error, "it has more than %d scans", SCANS_MAX);
    longjmp(d->back, 1);
}

// ---- one picture; all functions run below a setjmp

static void begin_picture(struct decoder *d)
{
    memset(&d->jpeg, 0, sizeof d->jpeg);
    d->jpeg.err = jpeg_std_error(&d->manager);
    d->jpeg.client_data = d;
    d->manager.error_exit = give_up;
    d->manager.emit_message = note_damage;
    d->progress.progress_monitor = count_scans;
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.progress = &d->progress;
    d->damage[0] = '\0';
}

static int read_jpeg_header(struct decoder *d, const char *what, const uint8_t *bytes, size_t n)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    begin_picture(d);
    if (n < 3 || memcmp(bytes, "\xff\xd8\xff", 3) != 0) return fail(ERR_INPUT, "%s is neither a PNG nor a JPEG", what);
    jpeg_mem_src(jpeg, bytes, (unsigned long)n);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->data_precision != 8)
        return fail(ERR_INPUT, "%s: a JPEG of %d bits per sample; only 8 are read", what, jpeg->data_precision);
    if (jpeg->num_components != 1 && jpeg->num_components != 3 && jpeg->num_components != 4)
        return fail(ERR_INPUT, "%s: a JPEG is grey, colour or CMYK; this has %d components", what, jpeg->num_components);
    int64_t width = jpeg->image_width, height = jpeg->image_height;
    if (width > d->limits.side || height > d->limits.side || width * height > d->limits.pixels)
        return fail(ERR_INPUT, "%s: a picture of %lld x %lld pixels is too large (at most %d a side, %lld in all)", what,
                    (long long)width, (long long)height, d->limits.side, (long long)d->limits.pixels);
    return 0;
}

static int check_area(const char *what, const struct area *a, double width, double height)
{
    const double slack = 1e-6;
    if (a->left >= -slack && a->top >= -slack && a->width > 0 && a->height > 0 && a->left + a->width <= width + slack &&
        a->top + a->height <= height + slack)
        return 0;
    return fail(ERR_INPUT, "%s: the area %g + %g, %g + %g does not lie in its %g x %g pixels", what, a->left, a->width,
                a->top, a->height, width, height);
}

// CMYK is stored inverted, as Adobe's programs write it.
static void convert_ink(uint8_t *row, int64_t width)
{
    for (int64_t x = 0; x < width; x++)
        for (int c = 0; c < 3; c++) row[4 * x + c] = (uint8_t)((row[4 * x + c] * row[4 * x + 3] + 127) / 255);
}

// The smallest of the scales with fast code in libjpeg that still has at least one pixel per output pixel.
static int choose_eighths(const struct area *a, int64_t height, int64_t width)
{
    int eighths = 1;
    while (eighths < WHOLE && (a->width * eighths < (double)width * WHOLE || a->height * eighths < (double)height * WHOLE))
        eighths *= 2;
    return eighths;
}

// The decoder extends a part to the next block on the left. `part` becomes the decoded part.
static int decode_part(struct decoder *d, const char *what, struct part *part)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    int right = part->left + part->width, bottom = part->top + part->height;
    JDIMENSION left = part->left > MARGIN ? (JDIMENSION)(part->left - MARGIN) : 0;
    JDIMENSION width = (JDIMENSION)right + MARGIN < jpeg->output_width ? (JDIMENSION)right + MARGIN - left
                                                                       : jpeg->output_width - left;
    if (left > 0 || width < jpeg->output_width) jpeg_crop_scanline(jpeg, &left, &width);
    int skip = part->top > MARGIN ? part->top - MARGIN : 0;
    size_t stride = (size_t)width * CHANNELS, bytes = stride * (size_t)(bottom - skip) + SCALE_SLACK;
    if (bytes > d->pixels_bytes) {
        free(d->pixels);
        d->pixels_bytes = 0;
        d->pixels = malloc(bytes + bytes / 4);
        if (d->pixels == NULL) return fail(ERR_MEMORY, "%s: not enough memory for its pixels", what);
        d->pixels_bytes = bytes + bytes / 4;
    }
    if (skip > 0) jpeg_skip_scanlines(jpeg, (JDIMENSION)skip);
    for (uint8_t *to = d->pixels; (int)jpeg->output_scanline < bottom;) {
        JSAMPROW row = to;
        to += stride * jpeg_read_scanlines(jpeg, &row, 1);
    }
    if (jpeg->out_color_space == JCS_CMYK) convert_ink(d->pixels, (int64_t)width * (bottom - skip));
    *part = (struct part){(int)left, skip, (int)width, bottom - skip};
    return 0;
}

static int draw_area(struct decoder *d, const char *what, const struct scale_into *into)
{
    const struct area *area = into->area;
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    TRY(check_area(what, area, jpeg->image_width, jpeg->image_height));
    int eighths = d->shrinks ? choose_eighths(area, into->height, into->width) : WHOLE;
    double scale = eighths / (double)WHOLE;
    jpeg->scale_num = (unsigned)eighths, jpeg->scale_denom = WHOLE;
    jpeg->out_color_space = jpeg->num_components == 4 ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg->do_block_smoothing = FALSE;  // a part must equal the same part of the whole picture
    jpeg_start_decompress(jpeg);
    struct area scaled = {area->left * scale, area->top * scale, area->width * scale, area->height * scale};
    struct part part;
    int right, bottom, all_width = (int)jpeg->output_width, all_height = (int)jpeg->output_height;  // a crop changes them
    scale_reach(scaled.left, scaled.width, into->width, all_width, &part.left, &right);
    scale_reach(scaled.top, scaled.height, into->height, all_height, &part.top, &bottom);
    part.width = right - part.left, part.height = bottom - part.top;
    TRY(decode_part(d, what, &part));
    struct scale_part from = {d->pixels, (int64_t)part.width * CHANNELS, CHANNELS, part.left, part.top, all_width, all_height};
    struct scale_into to = *into;
    to.area = &scaled;
    scale_draw(d->scaler, &from, &to);
    return 0;
}

// ---- PNG: decoded whole

static int draw_png(struct decoder *d, const char *what, const uint8_t *bytes, size_t n, const struct scale_into *into)
{
    struct image all;
    d->damage[0] = '\0';
    TRY(png_read(what, bytes, n, &(struct png_choice){.limits = d->limits, .slack = SCALE_SLACK}, &all));
    int rc = check_area(what, into->area, all.width, all.height);
    const struct scale_part from = {all.pixels, 3 * (int64_t)all.width, 3, 0, 0, all.width, all.height};
    if (rc == 0) scale_draw(d->scaler, &from, into);
    free(all.pixels);
    return rc;
}

static int png_dimensions(const char *what, const uint8_t *bytes, size_t n, int *width, int *height)
{
    struct head head = {0};
    int rc = head_read(what, bytes, n, &head);
    *width = head.width, *height = head.height;
    return rc;
}

// ---- the interface

// The code that may jump. Without `into` it ends after the header. No local variable changes between setjmp and longjmp, so
// none becomes indeterminate.
static int run_decoder(struct decoder *d, const char *what, const uint8_t *bytes, size_t n, const struct scale_into *into)
{
    if (setjmp(d->back) != 0)
        return fail(d->manager.msg_code == JERR_OUT_OF_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s: not a readable JPEG: %s", what,
                    d->error);
    TRY(read_jpeg_header(d, what, bytes, n));
    return into != NULL ? draw_area(d, what, into) : 0;
}

int decoder_size(struct decoder *d, const char *what, const uint8_t *bytes, size_t n, int *width, int *height)
{
    if (png_is(bytes, n)) return png_dimensions(what, bytes, n, width, height);
    int rc = run_decoder(d, what, bytes, n, NULL);
    *width = (int)d->jpeg.image_width, *height = (int)d->jpeg.image_height;
    jpeg_destroy_decompress(&d->jpeg);
    return rc;
}

int decoder_draw(struct decoder *d, const char *what, const uint8_t *bytes, size_t n, const struct scale_into *into)
{
    if (png_is(bytes, n)) return draw_png(d, what, bytes, n, into);
    int rc = run_decoder(d, what, bytes, n, into);
    jpeg_destroy_decompress(&d->jpeg);
    return rc;
}

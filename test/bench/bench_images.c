// SPDX-License-Identifier: Apache-2.0
// The cost of a sample on one core: the JPEGs of a folder, cropped at random, decoded and resized.
//
//   images FOLDER [SIDE [REPEATS [SCALE_LEAST]]]     (128, 5 and 0.25)
//
// Prints samples per second of decoder_draw, and of libjpeg-turbo alone: the same rows and columns at the same scale, decoded
// to RGB and discarded. "out of memory" is a crop of a picture that is in memory already decoded (cache.h). All take turns with
// every picture. The least processor time of all repeats counts, because other programs disturb it least.
#include "data/image/decoder.h"
#include "data/image/scale.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

enum { PICTURES = 20000, LIMIT = 1 << 27 };

struct picture {
    char *bytes;
    size_t n;
    int width, height;
    uint8_t *pixels;
    int64_t plain, drawn, resized;  // ns
};

static struct picture picture[PICTURES];
static int pictures, side = 128, repeats = 5;
static double scale_least = 0.25;

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load(const char *folder, struct decoder *decoder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, by_name);
    if (n < 0) return fail(ERR_MISSING, "%s: no such folder", folder);
    for (int i = 0; i < n && pictures < PICTURES; i++) {
        char path[4096];
        struct picture *p = &picture[pictures];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (!image_is_named(path)) continue;
        TRY(file_read(path, LIMIT, &p->bytes, &p->n));
        if (decoder_size(decoder, path, (uint8_t *)p->bytes, p->n, &p->width, &p->height) < 0) continue;
        p->pixels = zalloc((size_t)p->width * (size_t)p->height * 3 + SCALE_SLACK);
        struct area all = {0, 0, p->width, p->height};
        TRY(decoder_draw(decoder, path, (uint8_t *)p->bytes, p->n,
                         &(struct scale_into){&all, false, p->height, p->width, p->pixels}));
        pictures++;
    }
    return pictures > 0 ? 0 : fail(ERR_MISSING, "%s: no JPEG in it", folder);
}

// The yardstick: nothing but libjpeg-turbo.
static void decode_plain(struct jpeg_decompress_struct *jpeg, const struct picture *p, const struct area *a, uint8_t *rows)
{
    jpeg_mem_src(jpeg, (uint8_t *)p->bytes, (unsigned long)p->n);
    jpeg_read_header(jpeg, TRUE);
    int eighths = 1;
    while (eighths < 8 && (a->width * eighths < side * 8.0 || a->height * eighths < side * 8.0)) eighths *= 2;
    jpeg->scale_num = (unsigned)eighths, jpeg->scale_denom = 8;
    jpeg->out_color_space = jpeg->num_components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(jpeg);
    double scale = eighths / 8.0;
    JDIMENSION left = (JDIMENSION)(a->left * scale), width = (JDIMENSION)ceil(a->width * scale);
    JDIMENSION top = (JDIMENSION)(a->top * scale), bottom = (JDIMENSION)((a->top + a->height) * scale);
    if (left + width > jpeg->output_width) width = jpeg->output_width - left;
    if (bottom > jpeg->output_height) bottom = jpeg->output_height;
    jpeg_crop_scanline(jpeg, &left, &width);
    jpeg_skip_scanlines(jpeg, top);
    JSAMPROW row = rows;
    for (; jpeg->output_scanline < bottom; row += width * (unsigned)jpeg->output_components) jpeg_read_scanlines(jpeg, &row, 1);
    jpeg_abort_decompress(jpeg);
}

static void keep_least(int64_t *least, int64_t since)
{
    int64_t took = processor_ns() - since;
    if (*least == 0 || took < *least) *least = took;
}

static int measure(struct decoder *decoder)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr manager;
    struct scaler *scaler = scaler_new();
    uint8_t *into = zalloc((size_t)side * (size_t)side * 3), *rows = zalloc(1 << 28);
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_decompress(&jpeg);
    for (int r = 0; r < repeats; r++) {
        for (int i = 0; i < pictures; i++) {
            struct picture *p = &picture[i];
            struct area a = crop_random(1, 0, i, p->width, p->height, scale_least, 1);
            int64_t since = processor_ns();
            decode_plain(&jpeg, p, &a, rows);
            keep_least(&p->plain, since);
            since = processor_ns();
            TRY(decoder_draw(decoder, "it", (uint8_t *)p->bytes, p->n, &(struct scale_into){&a, i % 2, side, side, into}));
            keep_least(&p->drawn, since);
            struct scale_part part = {p->pixels, (int64_t)p->width * 3, 3, 0, 0, p->width, p->height};
            since = processor_ns();
            scale_draw(scaler, &part, &(struct scale_into){&a, i % 2, side, side, into});
            keep_least(&p->resized, since);
        }
    }
    jpeg_destroy_decompress(&jpeg);
    scaler_free(scaler);
    free(rows);
    free(into);
    return 0;
}

static int run(int argc, char **argv)
{
    struct decoder *decoder = decoder_new();
    if (argc > 2) side = atoi(argv[2]);
    if (argc > 3) repeats = atoi(argv[3]);
    if (argc > 4) scale_least = atof(argv[4]);
    TRY(load(argv[1], decoder));
    TRY(measure(decoder));
    double plain = 0, drawn = 0, resized = 0, bytes = 0;
    for (int i = 0; i < pictures; i++) {
        plain += 1e-9 * (double)picture[i].plain, drawn += 1e-9 * (double)picture[i].drawn;
        resized += 1e-9 * (double)picture[i].resized, bytes += (double)picture[i].n;
    }
    printf("%d pictures of %.0f kB to %d x %d, one core: %.0f samples/s; libjpeg-turbo alone %.0f/s (%.3f of it)\n", pictures,
           bytes / pictures / 1e3, side, side, pictures / drawn, pictures / plain, plain / drawn);
    printf("out of memory: %.0f samples/s\n", pictures / resized);
    decoder_free(decoder);
    return 0;
}

int main(int argc, char **argv)
{
    int rc = argc < 2 ? fail(ERR_USAGE, "images FOLDER [SIDE [REPEATS [SCALE_LEAST]]]") : run(argc, argv);
    if (rc < 0) fprintf(stderr, "images: %s\n", error_text());
    return error_exit_code(rc);
}

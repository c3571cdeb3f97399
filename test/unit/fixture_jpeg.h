// SPDX-License-Identifier: Apache-2.0
// JPEGs of every shape that libjpeg writes, of drawn pictures: smooth, with edges and a little noise.
#pragma once

#include "test/unit/must.h"

#include <jpeglib.h>

#include "runtime/common/base/rng.h"

struct jpeg_shape {
    int width, height;
    int components;    // 1 grey, 2 nothing known, 3 colour, 4 ink; 0: 3
    int across, down;  // of the luma's sampling; 0: 1
    bool progressive, arithmetic, rgb, ink_as_ycck;
    int restart;       // blocks between markers
    int quality;       // 0: 90
    uint32_t seed;
};

struct jpeg_bytes {
    unsigned char *at;
    unsigned long count;
};

static inline uint8_t jpeg_pixel(const struct jpeg_shape *s, int x, int y, int c)
{
    double wave = sin(0.11 * x + 0.07 * y * (c + 1) + s->seed) + sin(0.031 * (x * (c + 2) - y));
    double edge = (x / 23 + y / 17) % 2 ? 30 : -30;
    int noise = (int)(rng_philox(s->seed, (uint32_t)x, (uint32_t)y, (uint32_t)c, RNG_TEST).v[0] % 13);
    return (uint8_t)fmin(255, fmax(0, 128 + 40 * wave + edge + noise - 6));
}

static inline void jpeg_choose(struct jpeg_compress_struct *jpeg, const struct jpeg_shape *s, int components)
{
    static const J_COLOR_SPACE spaces[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB, JCS_CMYK};
    jpeg->image_width = (JDIMENSION)s->width, jpeg->image_height = (JDIMENSION)s->height;
    jpeg->input_components = components;
    jpeg->in_color_space = spaces[components];
    jpeg_set_defaults(jpeg);
    if (s->rgb) jpeg_set_colorspace(jpeg, JCS_RGB);
    if (s->ink_as_ycck) jpeg_set_colorspace(jpeg, JCS_YCCK);
    jpeg_set_quality(jpeg, s->quality ? s->quality : 90, TRUE);
    jpeg->comp_info[0].h_samp_factor = s->across ? s->across : 1;
    jpeg->comp_info[0].v_samp_factor = s->down ? s->down : 1;
    for (int c = 1; c < components; c++) jpeg->comp_info[c].h_samp_factor = jpeg->comp_info[c].v_samp_factor = 1;
    jpeg->restart_interval = (unsigned)s->restart;
    jpeg->arith_code = s->arithmetic;
    if (s->progressive) jpeg_simple_progression(jpeg);
}

// free() its bytes.
static inline struct jpeg_bytes jpeg_make(const struct jpeg_shape *s)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr trouble;
    struct jpeg_bytes bytes = {NULL, 0};
    int components = s->components ? s->components : 3;
    jpeg.err = jpeg_std_error(&trouble);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes.at, &bytes.count);
    jpeg_choose(&jpeg, s, components);
    jpeg_start_compress(&jpeg, TRUE);
    uint8_t *row = malloc((size_t)s->width * (size_t)components);
    if (row == NULL) abort();
    while (jpeg.next_scanline < jpeg.image_height) {
        for (int x = 0; x < s->width; x++)
            for (int c = 0; c < components; c++) row[x * components + c] = jpeg_pixel(s, x, (int)jpeg.next_scanline, c);
        JSAMPROW at = row;
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    free(row);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return bytes;
}

// The whole picture by libjpeg alone, as RGB (of ink: as it is, four components). free() it.
static inline uint8_t *jpeg_whole(const struct jpeg_bytes *bytes, int *width, int *height, int *components)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr trouble;
    jpeg.err = jpeg_std_error(&trouble);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes->at, bytes->count);
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components < 4) jpeg.out_color_space = JCS_RGB;
    else jpeg.out_color_space = JCS_CMYK;
    jpeg_start_decompress(&jpeg);
    *width = (int)jpeg.output_width, *height = (int)jpeg.output_height, *components = jpeg.output_components;
    size_t stride = (size_t)*width * (size_t)*components;
    uint8_t *pixels = malloc(stride * (size_t)*height);
    if (pixels == NULL) abort();
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = pixels + jpeg.output_scanline * stride;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return pixels;
}

// The position of the frame's marker (its second byte), such as 0xc0.
static inline size_t jpeg_frame(const struct jpeg_bytes *bytes)
{
    for (size_t i = 2; i + 4 < bytes->count;) {
        int marker = bytes->at[i + 1];
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) return i + 1;
        i += 2 + (size_t)(bytes->at[i + 2] << 8 | bytes->at[i + 3]);
    }
    abort();
}

// SPDX-License-Identifier: Apache-2.0
// JPEGs of every kind that a pack has to take, written by libjpeg, and folders of them.
#ifndef DAWN_FIXTURE_IMAGE_FOLDER_H
#define DAWN_FIXTURE_IMAGE_FOLDER_H

#include "test/unit/test_data.h"

#include <jpeglib.h>

#include "data/read/synsets.h"

struct jpeg_wish {
    int width, height, components;  // 1 gray, 3 colour, 4 CMYK
    bool progressive, inks_as_ycc;  // the latter: YCCK
    int shade;                      // pictures of different shades differ
};

// free() what it returns.
static inline unsigned char *make_jpeg(const struct jpeg_wish *wish, unsigned long *count)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr manager;
    unsigned char *bytes = NULL, row[4096];
    *count = 0;
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, count);
    jpeg.image_width = (JDIMENSION)wish->width, jpeg.image_height = (JDIMENSION)wish->height;
    jpeg.input_components = wish->components;
    jpeg.in_color_space = wish->components == 1 ? JCS_GRAYSCALE : wish->components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    if (wish->inks_as_ycc) jpeg_set_colorspace(&jpeg, JCS_YCCK);
    if (wish->progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < wish->height; y++) {
        for (int i = 0; i < wish->width * wish->components; i++) row[i] = (unsigned char)(wish->shade + 2 * y + i);
        JSAMPROW at = row;
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return bytes;
}

// As put, without waiting for the disk, which hundreds of files would do for seconds.
static inline void put_plain(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void put_jpeg(const char *name, const struct jpeg_wish *wish)
{
    unsigned long count;
    unsigned char *bytes = make_jpeg(wish, &count);
    put_plain(name, bytes, count);
    free(bytes);
}

// FOLDER/train/WNID/I.JPEG and FOLDER/val/WNID/I.JPEG for each class of Imagenette: colour, of different sizes.
static inline void make_pictures(const char *name, int train, int val)
{
    for (int s = 0; s < 2; s++) {
        for (int c = 0; c < synsets_imagenette()->count; c++) {
            char path[200];
            snprintf(path, sizeof path, "%s/%s/%s", name, s ? "val" : "train", synsets_imagenette()->wnid[c]);
            make_folder(path);
            for (int i = 0; i < (s ? val : train); i++) {
                snprintf(path, sizeof path, "%s/%s/%s/%d.JPEG", name, s ? "val" : "train", synsets_imagenette()->wnid[c], i);
                put_jpeg(path, &(struct jpeg_wish){24 + c, 20 + i, 3, .shade = s * 128 + c * 8 + i, .progressive = i == 1});
            }
        }
    }
}

#endif

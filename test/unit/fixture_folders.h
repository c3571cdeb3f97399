// SPDX-License-Identifier: Apache-2.0
// Folders of JPEGs, as Imagenette has them.
#pragma once

#include "test/unit/test_data.h"

#include "data/read/imagenet/synsets.h"
#include "test/unit/fixture_jpeg.h"

// As put, without waiting for the disk, which hundreds of files would do for seconds.
static inline void put_plain(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(in(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void put_jpeg(const char *name, const struct jpeg_shape *shape)
{
    struct jpeg_bytes bytes = jpeg_make(shape);
    put_plain(name, bytes.at, bytes.count);
    free(bytes.at);
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
                uint32_t seed = (uint32_t)(s * 128 + c * 8 + i);
                put_jpeg(path, &(struct jpeg_shape){24 + c, 20 + i, .seed = seed, .progressive = i == 1});
            }
        }
    }
}

static inline void assert_same_files(const char *a, const char *b)
{
    char hex[2][DIGEST_HEX];
    assert_int_equal(digest_file(in(a), hex[0]), 0);
    assert_int_equal(digest_file(in(b), hex[1]), 0);
    assert_string_equal(hex[0], hex[1]);
}

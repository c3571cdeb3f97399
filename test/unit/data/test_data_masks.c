// SPDX-License-Identifier: Apache-2.0
// Photographs with masks: a mask's objects, wrong files and their sentences, the data set of files, drawn people.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/image/image.h"
#include "data/kind.h"
#include "data/read/voc/masks.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

#include <png.h>

enum { WIDE = 6, HIGH = 5 };
static const uint8_t mask[HIGH * WIDE] = {
    0, 0, 9, 9, 0, 0,  //
    0, 0, 9, 9, 0, 0,  //
    3, 0, 0, 9, 0, 0,  //
    3, 3, 0, 0, 0, 0,  //
    0, 3, 0, 0, 9, 0,
};

// A PNG of HIGH x WIDE, grey or in colour; free() it.
static void *make_png(const uint8_t *pixels, unsigned format, size_t *count)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDE, .height = HIGH, .format = format};
    png_alloc_size_t size = 1 << 12;
    void *bytes = zalloc(size);
    assert_true(png_image_write_to_memory(&png, bytes, &size, 0, pixels, 0, NULL));
    *count = size;
    return bytes;
}

// ---- one file

TEST(each_value_is_an_object)
{
    static const int32_t expected[2][VOC_MEMBERS] = {{0, 0, 2, 2, 5}, {0, 2, 0, 5, 5}};  // 3, and 9 in two parts
    struct voc voc;
    uint8_t *labels;
    size_t count;
    void *png = make_png(mask, PNG_FORMAT_GRAY, &count);
    assert_int_equal(masks_parse("m.png", png, count, &voc, &labels), 0);
    assert_int_equal(voc.width, WIDE);
    assert_int_equal(voc.height, HIGH);
    assert_int_equal(voc.objects, 2);
    for (int i = 0; i < 2; i++) assert_memory_equal(voc.object[i].at, expected[i], sizeof expected[i]);
    for (int i = 0; i < HIGH * WIDE; i++) assert_int_equal(labels[i], mask[i] == 3 ? 1 : mask[i] == 9 ? 2 : 0);
    voc_free(&voc);
    free(labels), free(png);
}

TEST(wrong_masks_are_named)
{
    struct voc voc;
    uint8_t *labels, colours[3 * HIGH * WIDE] = {1};
    size_t count;
    void *png = make_png(colours, PNG_FORMAT_RGB, &count);
    assert_fails(masks_parse("m.png", png, count, &voc, &labels), ERR_INPUT, "m.png is no grey PNG of 8 bits");
    free(png);
    png = make_png(mask, PNG_FORMAT_GRAY, &count);
    assert_fails(masks_parse("m.png", png, count / 2, &voc, &labels), ERR_INPUT, "m.png: not a valid PNG");
    assert_fails(masks_parse("m.png", (const uint8_t *)"text", 4, &voc, &labels), ERR_INPUT, "m.png: not a valid PNG");
    assert_null(labels);
    assert_null(voc.object);
    free(png);
}

// ---- the data set of files

static void put_png(const char *name, const uint8_t *pixels, unsigned format)
{
    size_t count;
    void *png = make_png(pixels, format, &count);
    put(name, png, count);
    free(png);
}

// Two places: of the first, photographs 1 and 4 are scored, of the second photograph 1.
static void make_files(void)
{
    static const char *const names[] = {"FudanPed00001", "FudanPed00002", "FudanPed00003", "FudanPed00004", "PennPed00001",
                                        "PennPed00002"};
    uint8_t photo[3 * HIGH * WIDE];
    make_folder("pennfudan");
    make_folder("pennfudan/PNGImages");
    make_folder("pennfudan/PedMasks");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        memset(photo, (int)(40 * i), sizeof photo);
        snprintf(name, sizeof name, "pennfudan/PNGImages/%s.png", names[i]);
        put_png(name, photo, PNG_FORMAT_RGB);
        snprintf(name, sizeof name, "pennfudan/PedMasks/%s_mask.png", names[i]);
        put_png(name, mask, PNG_FORMAT_GRAY);
    }
    put("pennfudan/PNGImages/note.txt", "no photograph", 13);
}

TEST_WITH(every_third_photograph_of_both_cities_is_scored, set_up, leave)
{
    static const char *const scored[] = {"FudanPed00001", "FudanPed00004", "PennPed00001"};
    char photograph[64];
    struct dataset *ds;
    enum dataset_verdict verdict;
    struct text name = {0};
    uint8_t labels[HIGH * WIDE];
    int64_t length;
    assert_fails(dataset_open("pennfudan", folder, &ds), ERR_MISSING,
                 "FudanPed00001.png is missing; \"dawn data fetch pennfudan\"");
    make_files();
    assert_int_equal(dataset_open("pennfudan", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 3);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 3);
    for (int i = 0; i < 3; i++) {
        dataset_sample_name(ds, SPLIT_TEST, i, &name);
        snprintf(photograph, sizeof photograph, "PNGImages/%s.png", scored[i]);
        assert_string_equal(name.at, photograph);
        text_free(&name);
    }
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "labels", 2, labels, sizeof labels, &length), 0);
    assert_int_equal(length, HIGH * WIDE);
    assert_int_equal(labels[2], 2);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
}

TEST_WITH(wrong_files_are_named, set_up, leave)
{
    struct dataset *ds;
    uint8_t photo[3 * HIGH * WIDE] = {0};
    make_files();
    put("pennfudan/PNGImages/PennPed00003.png", "no picture", 10);
    assert_fails(dataset_open("pennfudan", folder, &ds), ERR_INPUT, "pennfudan/PNGImages/PennPed00003.png");
    put_png("pennfudan/PNGImages/PennPed00003.png", photo, PNG_FORMAT_RGB);
    assert_fails(dataset_open("pennfudan", folder, &ds), ERR_IO, "PedMasks/PennPed00003_mask.png");
    put_png("pennfudan/PedMasks/PennPed00003_mask.png", photo, PNG_FORMAT_RGB);
    assert_fails(dataset_open("pennfudan", folder, &ds), ERR_INPUT, "pennfudan/PedMasks/PennPed00003_mask.png is no grey PNG");
    struct image other = {HIGH - 1, WIDE, photo};
    assert_int_equal(image_write_png(in("pennfudan/PNGImages/PennPed00003.png"), &other), 0);
    put_png("pennfudan/PedMasks/PennPed00003_mask.png", mask, PNG_FORMAT_GRAY);
    assert_fails(dataset_open("pennfudan", folder, &ds), ERR_INPUT,
                 "pennfudan/PNGImages/PennPed00003.png has 6 x 4 pixels, and its mask, PedMasks/PennPed00003_mask.png, 6 x 5");
}

// ---- for people

TEST_WITH(masks_are_drawn, set_up, leave)
{
    struct dataset *ds;
    char *bytes;
    size_t count;
    make_files();
    assert_int_equal(dataset_open("pennfudan", folder, &ds), 0);
    assert_int_equal(ds->kind->whole(ds, SPLIT_TEST, in("t.json")), 0);
    assert_int_equal(file_read(in("t.json"), 1 << 20, &bytes, &count), 0);
    assert_non_null(strstr(bytes, "{\"id\": 1, \"file_name\": \"FudanPed00001.png\", \"width\": 6, \"height\": 5}"));
    assert_non_null(strstr(bytes, "{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [0, 2, 2, 3], "
                                  "\"segmentation\": {\"size\": [5, 6], \"counts\": [2, 2, 4, 2, 20]}, "
                                  "\"area\": 4, \"iscrowd\": 0}"));
    free(bytes);
    dataset_close(ds);
    assert_int_equal(dataset_open("people", NULL, &ds), 0);
    assert_int_equal(ds->kind->draw(ds, SPLIT_TRAIN, 1, in("p.png")), 0);
    assert_int_equal(file_read(in("p.png"), 1 << 20, &bytes, &count), 0);
    struct image image;
    assert_int_equal(image_decode("p.png", (const uint8_t *)bytes, count, &IMAGE_LIMITS, &image), 0);
    assert_int_equal(image.width, 160);
    image_free(&image);
    free(bytes);
    dataset_close(ds);
}

TEST(people_are_drawn_alike)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    int32_t object[16][VOC_MEMBERS];
    uint8_t *labels = zalloc(160 * 128);
    int64_t length, pixels;
    assert_int_equal(dataset_open("people", NULL, &ds), 0);
    for (int64_t i = 0; i < dataset_facts(ds)->count[SPLIT_TEST]; i++) {
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "objects", i, object, sizeof object, &length), 0);
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "labels", i, labels, 160 * 128, &pixels), 0);
        assert_in_range(length, 1, 4);
        assert_int_equal(pixels, 160 * 128);
        for (int64_t k = 0; k < length; k++) {
            const int32_t *at = object[k];
            assert_true(at[VOC_BOTTOM] - at[VOC_TOP] >= 47 && at[VOC_RIGHT] - at[VOC_LEFT] > 10);
            assert_true(at[VOC_LEFT] >= 0 && at[VOC_RIGHT] <= 160 && at[VOC_BOTTOM] <= 128);
        }
    }
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    dataset_close(ds);
    free(labels);
}

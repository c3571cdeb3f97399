// SPDX-License-Identifier: Apache-2.0
// COCO's instances: what is read of them, wrong ones and their sentences, the data set of files.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/kind.h"
#include "data/read/coco/coco_set.h"
#include "data/read/coco/instances.h"
#include "runtime/common/base/text.h"
#include "test/unit/fixture_folders.h"

TEST(categories_have_cocos_numbers)
{
    static const int numbers[][2] = {{0, 1}, {10, 11}, {11, 13}, {23, 25}, {24, 27}, {25, 28}, {26, 31}, {39, 44}, {40, 46},
                                     {59, 65}, {60, 67}, {61, 70}, {62, 72}, {71, 81}, {72, 82}, {73, 84}, {79, 90}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(instances_category(numbers[i][0]), numbers[i][1]);
    assert_string_equal(instances_classes[79], "toothbrush");
    assert_null(instances_classes[80]);
}

TEST(objects_are_read_by_picture)
{
    static const float expected[3][OBJECT_MEMBERS] = {
        {0, 0, 0, 32, 32, 1024, 0}, {79, 1.5f, 2, 31.75f, 42, 600.5f, 0}, {0, 3, 3, 23, 23, 400, 1}};
    struct instances is;
    char *bytes;
    size_t count;
    assert_int_equal(file_read("test/fuzz/seeds/instances/two", 1 << 20, &bytes, &count), 0);
    assert_int_equal(instances_parse("two", bytes, count, &is), 0);
    free(bytes);
    assert_int_equal(is.pictures, 3);
    assert_int_equal(is.empty, 1);
    assert_int_equal(is.objects, 3);
    assert_memory_equal(is.object, expected, sizeof expected);
    for (int i = 0; i < 3; i++) assert_int_equal(is.picture[i].id, i == 2 ? 9 : 4 + i);
    assert_int_equal(is.picture[1].objects, 0);
    assert_int_equal(is.picture[2].first, 1);
    assert_int_equal(is.picture[2].objects, 2);
    assert_string_equal(is.picture[2].name, "000000000009.jpg");
    instances_free(&is);
}

#define IMAGE(id, name) "{\"id\": " id ", \"file_name\": \"" name "\", \"width\": 64, \"height\": 48}"
#define BOX(image, category, box, area)                                                                                        \
    "{\"id\": 1, \"image_id\": " image ", \"category_id\": " category ", \"bbox\": [" box "], \"area\": " area "}"
#define FILE_OF(images, boxes) "{\"images\": [" images "], \"annotations\": [" boxes "]}"

TEST(wrong_instances_are_named)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"", "a.json: line 1"},
        {"[]", "a.json: it has no list \"images\": these are not COCO's instances"},
        {"{\"images\": []}", "a.json: it has no list \"annotations\""},
        {FILE_OF("{\"id\": 1}", ""), "a.json: image 1: it has no whole number \"width\""},
        {FILE_OF("{\"id\": 1, \"width\": 0, \"height\": 1}", ""), "image 1: \"width\" is 0, not 1 to 65500"},
        {FILE_OF(IMAGE("-1", "a"), ""), "a.json: image 1: \"id\" is -1"},
        {FILE_OF(IMAGE("1", "../a"), ""), "a.json: image 1: it has no \"file_name\" that is a file's name"},
        {FILE_OF(IMAGE("1", ".a"), ""), "a.json: image 1: it has no \"file_name\""},
        {FILE_OF(IMAGE("1", "a") "," IMAGE("1", "b"), ""), "a.json: two images have the id 1"},
        {FILE_OF(IMAGE("1", "a"), BOX("2", "1", "1, 1, 2, 2", "4")), "a.json: annotation 1: there is no image 2"},
        {FILE_OF(IMAGE("1", "a"), BOX("1", "12", "1, 1, 2, 2", "4")), "a.json: annotation 1: COCO has no category 12"},
        {FILE_OF(IMAGE("1", "a"), BOX("1", "1", "1, 1, 2", "4")), "annotation 1: it has no \"bbox\" of four numbers"},
        {FILE_OF(IMAGE("1", "a"), BOX("1", "1", "1, 1, -2, 2", "4")), "annotation 1: its box has the width -2"},
        {FILE_OF(IMAGE("1", "a"), BOX("1", "1", "65, 1, 2, 2", "4")), "annotation 1: its box lies outside of image 1 of 64 x 48"},
        {FILE_OF(IMAGE("1", "a"), BOX("1", "1", "1, 1, 2, 2", "-4")), "annotation 1: \"area\" is -4"},
    };
    struct instances is;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_fails(instances_parse("a.json", rows[i].text, strlen(rows[i].text), &is), ERR_INPUT, rows[i].sentence);
}

// ---- the data set of files

static void make_files(void)
{
    static const char *const folders[] = {"coco", "coco/annotations", "coco/train2017", "coco/val2017"};
    for (int i = 0; i < 4; i++) make_folder(folders[i]);
    put_text("coco/annotations/instances_train2017.json",
             FILE_OF(IMAGE("7", "x.jpg") "," IMAGE("3", "y.jpg"), BOX("7", "90", "1, 2, 30, 40", "1100")));
    put_text("coco/annotations/instances_val2017.json",
             FILE_OF(IMAGE("5", "v.jpg") "," IMAGE("8", "w.jpg"), BOX("5", "1", "1, 2, 30, 40", "1200")));
    static const char *const files[] = {"coco/train2017/x.jpg", "coco/val2017/v.jpg", "coco/val2017/w.jpg"};
    for (int i = 0; i < 3; i++) put_jpeg(files[i], &(struct jpeg_shape){.width = 64, .height = 48});
}

TEST_WITH(files_are_a_data_set, set_up, leave)
{
    static const float expected[OBJECT_MEMBERS] = {79, 1, 2, 31, 42, 1100, 0};
    struct dataset *ds;
    enum dataset_verdict verdict;
    struct text text = {0};
    float object[2][OBJECT_MEMBERS];
    int64_t length;
    char hex[2][DIGEST_HEX];
    uint8_t jpeg[1 << 16];
    assert_fails(dataset_open("coco", folder, &ds), ERR_MISSING, "instances_train2017.json is missing; docs/detection.md");
    make_files();
    assert_int_equal(dataset_open("coco", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 1);  // y.jpg has no box, and no file either
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 2);
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "objects", 0, object, sizeof object, &length), 0);
    assert_int_equal(length, 1);
    assert_memory_equal(object[0], expected, sizeof expected);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "objects", 1, object, sizeof object, &length), 0);
    assert_int_equal(length, 0);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "jpeg", 1, jpeg, sizeof jpeg, &length), 0);
    assert_int_equal(coco_image(ds, SPLIT_TEST, 1), 8);
    assert_int_equal(coco_category(dataset_facts(ds), 79), 90);
    assert_int_equal(coco_class(dataset_facts(ds), 90), 79);
    assert_int_equal(coco_class(dataset_facts(ds), 83), -1);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    ds->kind->remark(ds, SPLIT_TRAIN, &text);
    assert_string_equal(text.at, "train2017: 1 boxes; left out: 1 pictures without one, 0 boxes without an area\n");
    text_free(&text);
    assert_int_equal(ds->kind->show(ds, SPLIT_TRAIN, 1, &text), 0);
    assert_non_null(strstr(text.at, "toothbrush"));
    text_free(&text);
    assert_int_equal(ds->kind->draw(ds, SPLIT_TRAIN, 1, in("x.png")), 0);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex[0]), 0);
    dataset_close(ds);
    put_jpeg("coco/val2017/w.jpg", &(struct jpeg_shape){.width = 64, .height = 50});
    assert_int_equal(dataset_open("coco", in("coco"), &ds), 0);  // the folder itself does, too
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex[1]), 0);
    assert_string_not_equal(hex[0], hex[1]);
    assert_fails(dataset_verify(ds, &verdict), ERR_INPUT, "val2017/w.jpg is no JPEG of 64 x 48");
    put_text("coco/val2017/v.jpg", "short");
    assert_fails(dataset_item(ds, SPLIT_TEST, "jpeg", 0, jpeg, sizeof jpeg, &length), ERR_INPUT, "v.jpg has changed");
    dataset_close(ds);
}

TEST_WITH(missing_files_are_named, set_up, leave)
{
    struct dataset *ds;
    make_files();
    put_text("coco/annotations/instances_val2017.json", FILE_OF(IMAGE("5", "none.jpg"), ""));
    assert_fails(dataset_open("coco", folder, &ds), ERR_MISSING, "coco/val2017/none.jpg is missing");
    put_text("coco/annotations/instances_train2017.json", FILE_OF(IMAGE("5", "x.jpg"), ""));
    assert_fails(dataset_open("coco", folder, &ds), ERR_INPUT, "instances_train2017.json has no picture with a box");
}

// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes: annotations and lists, wrong ones and their sentences, the data set of files, a picture of a person, drawn
// cells.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/image/image.h"
#include "data/kind.h"
#include "data/read/voc/voc.h"
#include "data/read/voc/voc_ask.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "test/unit/fixture_folders.h"

static const char *const classes[] = {"RBC", "WBC", NULL};

static int parse(const char *text, struct voc *voc)
{
    return voc_parse("a.xml", text, strlen(text), classes, voc);
}

static int parse_names(const char *text, struct voc_names *names)
{
    return voc_parse_names("l.txt", text, strlen(text), names);
}

#define SIZE "<size><width>64</width><height>48</height></size>"
#define BOX(a, b, c, d)                                                                                                        \
    "<bndbox><xmin>" #a "</xmin><ymin>" #b "</ymin><xmax>" #c "</xmax><ymax>" #d "</ymax></bndbox>"
#define OBJECT(name, box) "<object><name>" name "</name>" box "</object>\n"
#define ANNOTATION(inside) "<annotation>\n" SIZE "\n" inside "</annotation>\n"

// ---- annotations

TEST(boxes_and_classes_are_read)
{
    char *bytes;
    size_t count;
    struct voc voc;
    assert_int_equal(file_read("test/fuzz/seeds/voc/two", 1 << 20, &bytes, &count), 0);
    assert_int_equal(voc_parse("two", bytes, count, classes, &voc), 0);
    assert_int_equal(voc.width, 64);
    assert_int_equal(voc.height, 48);
    assert_int_equal(voc.objects, 2);
    static const int32_t expected[2][VOC_MEMBERS] = {{0, 3, 4, 30, 48}, {1, 7, 9, 7, 9}};
    for (int i = 0; i < 2; i++) assert_memory_equal(voc.object[i].at, expected[i], sizeof expected[i]);
    assert_int_equal(voc.object[0].line, 6);
    assert_false(voc_is_empty(&voc.object[0]));
    assert_true(voc_is_empty(&voc.object[1]));
    voc_free(&voc);
    free(bytes);
}

TEST(a_picture_may_have_no_object)
{
    struct voc voc;
    assert_int_equal(parse(ANNOTATION(""), &voc), 0);
    assert_int_equal(voc.objects, 0);
    voc_free(&voc);
}

TEST(wrong_annotations_are_named)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"", "a.xml has no <annotation>"},
        {"text", "a.xml:1: a text outside of the annotation"},
        {"<note>\n</note>", "a.xml:1: <note> begins, not <annotation>"},
        {ANNOTATION("<object>\n"), "a.xml:4: </annotation> ends an element that is open as object"},
        {"<annotation>\n", "a.xml:2: the file ends, and <annotation> is open"},
        {"</annotation>", "a.xml:1: </annotation> ends no element"},
        {ANNOTATION("") "<annotation>", "a.xml:4: an element begins after the annotation"},
        {"<annotation>\n<size", "a.xml:2: the tag that begins here has no end"},
        {"<annotation>\n< >", "a.xml:2: a tag without a name"},
        {"<annotation>\n<!-- ", "a.xml:2: what begins here has no -->"},
        {"<!DOCTYPE a [<!ENTITY b 'c'>]>", "a.xml:1: document types, entities and CDATA are not read"},
        {"<annotation></annotation>", "a.xml does not say how large the picture is"},
        {"<annotation><size><width>0</width><height>4</height></size></annotation>", "a.xml does not say how large"},
        {"<annotation>" SIZE SIZE "</annotation>", "a.xml:1: a second <width>"},
        {ANNOTATION(OBJECT("cat", BOX(1, 2, 3, 4))), "a.xml:3: there is no class \"cat\"; the classes are RBC and WBC"},
        {ANNOTATION(OBJECT("R&amp;C", BOX(1, 2, 3, 4))), "a.xml:3: <name> has elements, an entity or more than 60 characters"},
        {ANNOTATION(OBJECT("<b>RBC</b>", BOX(1, 2, 3, 4))), "a.xml:3: <name> has elements, an entity"},
        {ANNOTATION("\n" OBJECT("RBC", "")), "a.xml:4: the object that begins here has no <xmin>"},
        {ANNOTATION(OBJECT("RBC", BOX(1.5, 2, 3, 4))), "a.xml:3: <xmin> is \"1.5\", which is no whole number from 0 to 65500"},
        {ANNOTATION(OBJECT("RBC", BOX(-1, 2, 3, 4))), "a.xml:3: <xmin> is \"-1\", which is no whole number"},
        {ANNOTATION(OBJECT("RBC", BOX(5, 2, 3, 4))), "a.xml:3: the box goes from 5, 2 back to 3, 4"},
        {ANNOTATION(OBJECT("RBC", BOX(5, 2, 65, 4))), "a.xml:3: the box ends at 65, 4, outside of the picture of 64 x 48"},
        {"<annotation>\x1b</annotation>", "a.xml: byte 13 is a control character or not UTF-8"},
        {"<annotation>\xff</annotation>", "a.xml: byte 13 is a control character or not UTF-8"},
    };
    struct voc voc;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_fails(parse(rows[i].text, &voc), ERR_INPUT, rows[i].sentence);
}

TEST(sizes_are_bounded)
{
    struct voc voc;
    struct text text = {0};
    text_add(&text, "<annotation>" SIZE);
    for (int i = 0; i <= VOC_OBJECTS; i++) text_add(&text, "%s", OBJECT("RBC", BOX(1, 2, 3, 4)));
    text_add(&text, "</annotation>");
    assert_fails(parse(text.at, &voc), ERR_INPUT, "a.xml:1001: the picture has more than 1000 objects");
    text.at[0] = '\0', text.length = 0;
    text_add(&text, "<annotation>");
    for (int i = 0; i < 100; i++) text_add(&text, "<deep>");
    assert_fails(parse(text.at, &voc), ERR_INPUT, "a.xml:1: the names of the open elements have more than 254 characters");
    text_free(&text);
    char *long_one = zalloc(VOC_BYTES + 2);
    memset(long_one, ' ', VOC_BYTES + 1);
    assert_fails(parse(long_one, &voc), ERR_INPUT, "a.xml has 4194305 bytes; at most 4194304 are read");
    free(long_one);
}

TEST(names_become_no_paths)
{
    struct voc_names names;
    assert_int_equal(parse_names("a_1\r\n\nb-2.x", &names), 0);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.name[0], "a_1");
    assert_string_equal(names.name[1], "b-2.x");
    voc_names_free(&names);
    assert_fails(parse_names("", &names), ERR_INPUT, "l.txt has no name");
    assert_fails(parse_names("a\n../b\n", &names), ERR_INPUT, "l.txt:2: a name has letters, digits");
    assert_fails(parse_names(".hidden\n", &names), ERR_INPUT, "l.txt:1: a name has letters");
    assert_fails(parse_names("a 1\n", &names), ERR_INPUT, "l.txt:1: a name has letters");
    assert_fails(parse_names("a\nb\na\n", &names), ERR_INPUT, "l.txt has a twice");
}

// ---- the data set of files

static void make_files(void)
{
    static const char *const names[] = {"a", "b", "c"};
    make_folder("bccd");
    make_folder("bccd/ImageSets");
    make_folder("bccd/ImageSets/Main");
    make_folder("bccd/Annotations");
    make_folder("bccd/JPEGImages");
    put_text("bccd/ImageSets/Main/trainval.txt", "a\nb\n");
    put_text("bccd/ImageSets/Main/test.txt", "c\n");
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "bccd/Annotations/%s.xml", names[i]);
        put_text(name, ANNOTATION(OBJECT("Platelets", BOX(5, 2, 5, 9)) OBJECT("WBC", BOX(1, 2, 30, 40))));
        snprintf(name, sizeof name, "bccd/JPEGImages/%s.jpg", names[i]);
        put_jpeg(name, &(struct jpeg_shape){.width = 64, .height = 48});
    }
}

static void assert_objects(struct dataset *ds, enum split split, int64_t index, const int32_t expected[VOC_MEMBERS])
{
    int32_t object[4][VOC_MEMBERS];
    int64_t length;
    assert_int_equal(dataset_item(ds, split, "objects", index, object, sizeof object, &length), 0);
    assert_int_equal(length, 1);
    assert_memory_equal(object[0], expected, sizeof object[0]);
}

TEST_WITH(files_are_a_data_set, set_up, leave)
{
    static const int32_t white[VOC_MEMBERS] = {1, 1, 2, 30, 40};
    struct dataset *ds;
    enum dataset_verdict verdict;
    struct text text = {0};
    char hex[2][DIGEST_HEX];
    int32_t size[2];
    assert_fails(dataset_open("bccd", folder, &ds), ERR_MISSING, "Main/trainval.txt is missing; \"dawn data fetch bccd\"");
    make_files();
    assert_int_equal(dataset_open("bccd", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 2);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 1);
    assert_int_equal(dataset_facts(ds)->classes, 3);
    assert_objects(ds, SPLIT_TRAIN, 1, white);  // the platelet has no area
    assert_objects(ds, SPLIT_TEST, 0, white);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "sizes", 0, 1, size), 0);
    assert_int_equal(size[0], 64);
    assert_int_equal(size[1], 48);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    ds->kind->remark(ds, SPLIT_TRAIN, &text);
    assert_string_equal(text.at, "boxes without an area, left out of trainval: a.xml:3, b.xml:3\n");
    text_free(&text);
    voc_left_out(ds, &text);
    assert_string_equal(text.at, "boxes without an area are left out of trainval: a.xml:3, b.xml:3; "
                                 "boxes without an area are left out of test: c.xml:3");
    text_free(&text);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TRAIN, hex[0]), 0);
    dataset_close(ds);
    put_jpeg("bccd/JPEGImages/b.jpg", &(struct jpeg_shape){.width = 64, .height = 48});
    put_text("bccd/Annotations/b.xml", ANNOTATION(OBJECT("WBC", BOX(1, 2, 30, 41))));
    assert_int_equal(dataset_open("bccd", in("bccd"), &ds), 0);  // the folder itself does, too
    assert_int_equal(dataset_content_digest(ds, SPLIT_TRAIN, hex[1]), 0);
    assert_string_not_equal(hex[0], hex[1]);
    dataset_close(ds);
}

TEST_WITH(wrong_files_are_named, set_up, leave)
{
    struct dataset *ds;
    make_files();
    put_text("bccd/ImageSets/Main/test.txt", "b\n");
    assert_fails(dataset_open("bccd", folder, &ds), ERR_INPUT, "b is in ImageSets/Main/trainval.txt and in ImageSets/Main/");
    put_text("bccd/ImageSets/Main/test.txt", "d\n");
    assert_fails(dataset_open("bccd", folder, &ds), ERR_IO, "Annotations/d.xml");
    put_text("bccd/Annotations/d.xml", ANNOTATION(""));
    assert_fails(dataset_open("bccd", folder, &ds), ERR_IO, "JPEGImages/d.jpg");
    put_text("bccd/JPEGImages/d.jpg", "no picture");
    assert_fails(dataset_open("bccd", folder, &ds), ERR_INPUT, "bccd/JPEGImages/d.jpg");
    put_jpeg("bccd/JPEGImages/d.jpg", &(struct jpeg_shape){.width = 64, .height = 50});
    assert_fails(dataset_open("bccd", folder, &ds), ERR_INPUT,
                 "bccd/JPEGImages/d.jpg has 64 x 50 pixels, and Annotations/d.xml says 64 x 48");
    put_text("bccd/Annotations/d.xml", ANNOTATION(OBJECT("cat", BOX(1, 2, 3, 4))));
    assert_fails(dataset_open("bccd", folder, &ds), ERR_INPUT, "bccd/Annotations/d.xml:3: there is no class \"cat\"");
    put_text("bccd/ImageSets/Main/test.txt", "d d\n");
    assert_fails(dataset_open("bccd", folder, &ds), ERR_INPUT, "bccd/ImageSets/Main/test.txt:1: ");
}

// ---- for people

TEST_WITH(samples_are_drawn, set_up, leave)
{
    struct dataset *ds;
    struct text text = {0};
    char *bytes;
    size_t count;
    make_files();
    assert_int_equal(dataset_open("bccd", folder, &ds), 0);
    assert_int_equal(ds->kind->show(ds, SPLIT_TRAIN, 2, &text), 0);
    assert_non_null(strstr(text.at, "b, 64 x 48"));
    assert_non_null(strstr(text.at, "1, 2 to 30, 40"));
    text_free(&text);
    assert_int_equal(ds->kind->draw(ds, SPLIT_TRAIN, 2, in("b.png")), 0);
    assert_int_equal(file_read(in("b.png"), 1 << 20, &bytes, &count), 0);
    struct image image;
    assert_int_equal(image_decode("b.png", (const uint8_t *)bytes, count, &IMAGE_LIMITS, &image), 0);
    const uint8_t blue[3] = {31, 119, 180};
    assert_memory_equal(image.pixels + 3 * (39 * 64 + 15), blue, 3);  // the lower line
    assert_memory_equal(image.pixels + 3 * (20 * 64 + 1), blue, 3);   // the left one
    assert_memory_not_equal(image.pixels + 3 * (20 * 64 + 40), blue, 3);
    image_free(&image);
    free(bytes);
    assert_int_equal(ds->kind->whole(ds, SPLIT_TEST, in("t.json")), 0);
    assert_int_equal(file_read(in("t.json"), 1 << 20, &bytes, &count), 0);
    assert_non_null(strstr(bytes, "{\"id\": 1, \"file_name\": \"c.jpg\", \"width\": 64, \"height\": 48}"));
    assert_non_null(strstr(bytes, "{\"id\": 1, \"image_id\": 1, \"category_id\": 2, \"bbox\": [1, 2, 29, 38], \"area\": 1102, "
                                  "\"iscrowd\": 0}"));
    free(bytes);
    dataset_close(ds);
}

TEST(a_picture_is_asked)
{
    struct dataset *like, *ds;
    struct jpeg_bytes jpeg = jpeg_make(&(struct jpeg_shape){.width = 70, .height = 50});
    int32_t size[2];
    int64_t length;
    assert_int_equal(dataset_open("cells", NULL, &like), 0);
    assert_int_equal(voc_ask(dataset_facts(like), "x/mine.jpg", (const char *)jpeg.at, jpeg.count, &ds), 0);
    dataset_close(like);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 1);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "sizes", 0, 1, size), 0);
    assert_int_equal(size[0], 70);
    uint8_t *bytes = zalloc(jpeg.count);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "jpeg", 0, bytes, jpeg.count, &length), 0);
    assert_memory_equal(bytes, jpeg.at, jpeg.count);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "objects", 0, bytes, jpeg.count, &length), 0);
    assert_int_equal(length, 0);
    free(bytes);
    dataset_close(ds);
    assert_int_equal(dataset_open("cells", NULL, &like), 0);
    assert_fails(voc_ask(dataset_facts(like), "mine.txt", "text", 4, &ds), ERR_INPUT, "mine.txt");
    dataset_close(like);
    free(jpeg.at);
}

TEST(cells_are_drawn_alike)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    int32_t object[16][VOC_MEMBERS], seen[3] = {0};
    int64_t length;
    assert_int_equal(dataset_open("cells", NULL, &ds), 0);
    for (int64_t i = 0; i < dataset_facts(ds)->count[SPLIT_TEST]; i++) {
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "objects", i, object, sizeof object, &length), 0);
        assert_in_range(length, 3, 16);
        for (int64_t k = 0; k < length; k++) seen[object[k][VOC_CLASS]]++;
    }
    for (int c = 0; c < 3; c++) assert_true(seen[c] > 10);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    dataset_close(ds);
}

// SPDX-License-Identifier: Apache-2.0
// The pure parts below packs: checksums, heads of pictures, classes, ground truth lists.
#include "test/unit/test.h"
#include "test/unit/fixture_folders.h"

#include "data/image/head.h"
#include "data/pack/md5.h"
#include "runtime/common/base/crc32c.h"
#include "data/read/imagenet/truth.h"

TEST_WITH(checksums, set_up, leave)
{
    char many[1000], hex[MD5_HEX];
    struct md5 md5;
    assert_true(crc32c_add(0, "123456789", 9) == 0xe3069283u);  // RFC 3720's check value
    assert_true(crc32c_add(crc32c_add(0, "1234", 4), "56789", 5) == 0xe3069283u);
    assert_true(crc32c_add(0, "", 0) == 0);
    static const struct { const char *text, *hex; } known[] = {  // RFC 1321
        {"", "d41d8cd98f00b204e9800998ecf8427e"}, {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        md5_begin(&md5);
        md5_add(&md5, known[i].text, strlen(known[i].text));
        md5_end(&md5, hex);
        assert_string_equal(hex, known[i].hex);
    }
    for (size_t i = 0; i < sizeof many; i++) many[i] = (char)(i * 7);
    for (size_t step = 1; step < 200; step += 13) {  // in pieces as at once
        char whole[MD5_HEX];
        md5_begin(&md5);
        md5_add(&md5, many, sizeof many);
        md5_end(&md5, whole);
        md5_begin(&md5);
        for (size_t i = 0; i < sizeof many; i += step) md5_add(&md5, many + i, sizeof many - i < step ? sizeof many - i : step);
        md5_end(&md5, hex);
        assert_string_equal(hex, whole);
    }
}

TEST_WITH(heads_of_jpegs, set_up, leave)
{
    static const struct jpeg_shape shapes[] = {{24, 20, 3, .seed = 1}, {17, 65, 1, .seed = 1}, {33, 12, 4, .seed = 3},
                                              {40, 41, 3, .progressive = true}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        unsigned long count;
        struct head head;
        struct jpeg_bytes made = jpeg_make(&shapes[i]);
        unsigned char *bytes = made.at;
        count = made.count;
        assert_int_equal(head_read("p", bytes, count, &head), 0);
        assert_true(head.format == HEAD_JPEG && head.width == shapes[i].width && head.height == shapes[i].height);
        assert_true(head.components == shapes[i].components && head.coding == (shapes[i].progressive ? 0xc2 : 0xc0));
        size_t cut = 0;  // from here on there is enough
        while (head_read("p", bytes, cut, &head) < 0) {
            assert_true(strncmp(error_text(), "p", 1) == 0);
            cut++;
        }
        assert_true(cut > 20 && cut < count);
        free(bytes);
    }
}

// The frame header of a JPEG, with one byte after the other made wrong.
TEST_WITH(heads_that_are_refused, set_up, leave)
{
    struct head head;
    uint8_t j[] = {0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 3, 1, 0x11, 0, 0};
    assert_int_equal(head_read("p", j, sizeof j, &head), 0);
    assert_true(head.width == 30 && head.height == 20);
    j[3] = 0xc3;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "p: a lossless JPEG cannot be decoded");
    j[3] = 0xc5;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "hierarchical");
    j[3] = 0xc1, j[6] = 12;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "p: a JPEG of 12 bits cannot be decoded, only one of 8");
    j[6] = 8, j[11] = 2;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "1, 3 or 4 components; got 2");
    j[11] = 3, j[7] = j[8] = 0;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "30 x 0 pixels");
    j[7] = j[8] = 255;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "30 x 65535 pixels is too large");
    j[7] = j[9] = 250;
    assert_fails(head_read("p", j, sizeof j, &head), ERR_INPUT, "too large (at most 65500 a side, 67108864 in all)");
    assert_fails(head_read("p", j, 0, &head), ERR_INPUT, "p is empty");
    assert_fails(head_read("p", (const uint8_t *)"GIF89a", 6, &head), ERR_INPUT, "p is neither a PNG nor a JPEG");
    // A bomb of a PNG: a header that promises 100,000 x 100,000 pixels.
    uint8_t png[24] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\x86\xa0\0\x01\x86\xa0";
    assert_fails(head_read("p", png, sizeof png, &head), ERR_INPUT, "100000 x 100000 pixels is too large");
    assert_fails(head_read("p", png, 20, &head), ERR_INPUT, "a PNG without its header");
}

TEST_WITH(classes_are_sorted, set_up, leave)
{
    const struct synsets *all = synsets_imagenet(), *ten = synsets_imagenette();
    assert_true(all->count == 1000 && ten->count == 10 && all->wnid[1000] == NULL);
    for (int i = 1; i < all->count; i++) assert_true(strcmp(all->wnid[i - 1], all->wnid[i]) < 0);
    for (int i = 1; i < ten->count; i++) assert_true(strcmp(ten->wnid[i - 1], ten->wnid[i]) < 0);
    assert_string_equal(all->name[0], "n01440764 tench");
    assert_string_equal(all->wnid[999], "n15075141");
    assert_string_equal(ten->name[9], "n03888257 parachute");
    assert_int_equal(synsets_find(all, "n02123045", 9), 281);  // tabby, as everybody knows it
    assert_int_equal(synsets_find(ten, "n02123045", 9), -1);
    assert_int_equal(synsets_find(all, "n0212304", 8), -1);
    assert_int_equal(synsets_of_devkit(490), 65);  // a sea snake, the first validation picture
    assert_int_equal(synsets_of_devkit(361), 970);
    assert_int_equal(synsets_of_devkit(0), -1);
    assert_int_equal(synsets_of_devkit(1001), -1);
    bool seen[1000] = {0};
    for (int i = 1; i <= 1000; i++) seen[synsets_of_devkit(i)] = true;
    for (int i = 0; i < 1000; i++) assert_true(seen[i]);
}

static void expect_labels(const char *text, int n, const int *labels)
{
    struct truth truth;
    if (truth_parse("list", text, strlen(text), synsets_imagenet(), &truth) < 0) fail_msg("%s", error_text());
    assert_int_equal(truth.count, n);
    for (int i = 0; i < n; i++) assert_int_equal(truth.label[i], labels[i]);
    truth_free(&truth);
}

TEST_WITH(lists_in_three_forms, set_up, leave)
{
    expect_labels("490\n361\n1000\n", 3, (int[]){65, 970, synsets_of_devkit(1000)});
    expect_labels("65\r\n970\r\n0", 3, (int[]){65, 970, 0});
    expect_labels("n01440764\n\n  n15075141 \n", 2, (int[]){0, 999});
    expect_labels("x/ILSVRC2012_val_00000002.JPEG 970\nILSVRC2012_val_00000001.JPEG\t65\n", 2, (int[]){65, 970});
    expect_labels("val_1.png n01443537\n", 1, (int[]){1});
    struct truth truth = {2, (int16_t[]){7, 8}};
    assert_int_equal(truth_of(&truth, "ILSVRC2012_val_00000002.JPEG"), 8);
    assert_int_equal(truth_of(&truth, "2"), 8);
    assert_int_equal(truth_of(&truth, "val_00000003.JPEG"), -1);
    assert_int_equal(truth_of(&truth, "tench.JPEG"), -1);
}

TEST_WITH(lists_that_are_refused, set_up, leave)
{
    static const struct { const char *text, *words; } wrong[] = {
        {"", "list has no lines"},
        {"1\n2\n", "neither a class 0 nor a class 1000"},
        {"0\n1000\n", "they count from 0 or from 1"},
        {"0\n1001\n", "line 2: there is no class \"1001\""},
        {"n01440764\nn00000001\n", "line 2: there is no class \"n00000001\""},
        {"a_1.JPEG 5\nb_1.JPEG 6\n", "line 2 names picture 1 a second time"},
        {"a_1.JPEG 5\nb_3.JPEG 6\n", "no class for picture 2"},
        {"a.JPEG 5\n", "line 1 names no picture by a number"},
        {"a_999999999.JPEG 5\n", "line 1 names no picture by a number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct truth truth;
        int rc = truth_parse("list", wrong[i].text, strlen(wrong[i].text), synsets_imagenet(), &truth);
        assert_fails(rc, ERR_INPUT, wrong[i].words);
        assert_null(truth.label);
    }
}

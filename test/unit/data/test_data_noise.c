// SPDX-License-Identifier: Apache-2.0
// A data set's shape without its files: published facts, repeatable noise, never mistaken for real data.
#include "data/image/contact_sheet.h"
#include "runtime/common/base/text.h"
#include "test/unit/test.h"
#include "test/unit/data/fixture_text.h"

// cmocka.h requires those before it

enum { IMAGE = 32 * 32 * 3 };

TEST(test_facts)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    assert_int_equal(dataset_open_noise("cifar10", &ds), 0);
    const struct dataset_facts *f = dataset_facts(ds);
    assert_string_equal(f->name, "cifar10");
    assert_int_equal(f->count[SPLIT_TRAIN], 50000);
    assert_int_equal(f->count[SPLIT_TEST], 10000);
    assert_true(f->height == 32 && f->width == 32 && f->channels == 3 && f->classes == 10);
    assert_true(f->std[0] > 0.2f && f->class_names[9] != NULL && f->folder == NULL);
    assert_true(f->synthetic && !f->official);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    assert_false(f->official);
    char train[DIGEST_HEX], test[DIGEST_HEX];
    assert_int_equal(dataset_digest(ds, SPLIT_TRAIN, train), 0);
    assert_int_equal(dataset_digest(ds, SPLIT_TEST, test), 0);
    assert_string_not_equal(train, test);
    dataset_close(ds);

    assert_int_equal(dataset_open_noise("synthetic", &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 10000);
    dataset_close(ds);
    assert_fails(dataset_open_noise("cifar11", &ds), ERR_USAGE, "cifar10");
    assert_int_equal(dataset_open("noise", NULL, &ds), ERR_USAGE);  // it has no name of its own
}

// An image is the same in every range that it is read in; splits differ; pixels spread over all values.
TEST(test_images)
{
    struct dataset *ds;
    static uint8_t many[300 * IMAGE], one[IMAGE];
    uint8_t labels[300], label;
    assert_int_equal(dataset_open_noise("cifar10", &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 100, 300, many), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 100, 300, labels), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 333, 1, one), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 333, 1, &label), 0);
    assert_memory_equal(one, many + 233 * IMAGE, IMAGE);
    assert_int_equal(label, labels[233]);
    assert_int_equal(label, 3);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 333, 1, one), 0);
    assert_memory_not_equal(one, many + 233 * IMAGE, IMAGE);
    assert_memory_not_equal(many, many + IMAGE, IMAGE);
    int64_t count[256] = {0};
    for (int i = 0; i < 300 * IMAGE; i++) count[many[i]]++;
    for (int v = 0; v < 256; v++) assert_in_range(count[v], 3300, 3900);  // 3,600 each is even; 300 are five sigma
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 9999, 2, labels), ERR_USAGE);
    dataset_close(ds);
}

// A set as SQuAD is: sequences of different lengths, two labels of i32, a fixed row of floats.
TEST(test_ragged_fields)
{
    enum { COUNT = 500, LONGEST = TEXT_LONGEST };
    struct dataset *ds = text_set(COUNT, 3);
    struct text words = {0};
    dataset_samples_text(dataset_facts(ds), &words);
    assert_string_equal(words.at, "samples of tokens, start and row");
    text_free(&words);
    int32_t lengths[COUNT], tokens[LONGEST], start;
    float row[6];
    int64_t length;
    bool seen[LONGEST + 1] = {false};
    int different = 0;
    assert_int_equal(dataset_lengths(ds, SPLIT_TRAIN, "tokens", lengths), 0);
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(lengths[i], 1, LONGEST);
        assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "tokens", i, tokens, sizeof tokens, &length), 0);
        assert_int_equal(length, lengths[i]);
        for (int t = 0; t < length; t++) assert_in_range(tokens[t], 0, TEXT_TOKENS - 1);
        assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "start", i, &start, sizeof start, NULL), 0);
        assert_in_range(start, 0, LONGEST - 1);
        assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "row", i, row, sizeof row, NULL), 0);
        for (int c = 0; c < 6; c++) assert_true(row[c] >= 0 && row[c] < 1);
        different += !seen[lengths[i]];
        seen[lengths[i]] = true;
    }
    assert_int_equal(different, LONGEST);
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "tokens", 0, 1, tokens), ERR_USAGE, "different lengths");
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "tokens", 0, tokens, 0, NULL), ERR_USAGE);
    assert_fails(dataset_item(ds, SPLIT_TEST, "start", 3, &start, 4, NULL), ERR_USAGE, "3 dev samples");
    assert_int_equal(contact_sheet_write(ds, SPLIT_TRAIN, "never.png"), ERR_USAGE);
    assert_string_equal(error_text(), "text has no images to show");
    dataset_close(ds);
}

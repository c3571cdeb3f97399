// SPDX-License-Identifier: Apache-2.0
// MNIST's files: plain and compressed, wrong ones and their sentences; drawn digits: the same bytes always, and classes that
// differ.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <archive.h>
#include <archive_entry.h>

#include "data/dataset.h"
#include "data/kind.h"
#include "data/read/mnist/idx.h"
#include "data/read/mnist/mnist.h"
#include "runtime/common/base/text.h"

enum { TRAIN = 5, TEST = 3 };

static void put_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static uint8_t pixel(int64_t picture, int64_t i)
{
    return (uint8_t)(picture * 31 + i * 7);
}

static size_t make_pictures(uint8_t *bytes, uint32_t count)
{
    put_word(bytes, 0x803), put_word(bytes + 4, count), put_word(bytes + 8, 28), put_word(bytes + 12, 28);
    for (int64_t i = 0; i < (int64_t)count * IDX_PICTURE; i++)
        bytes[IDX_PICTURES_HEAD + i] = pixel(i / IDX_PICTURE, i % IDX_PICTURE);
    return IDX_PICTURES_HEAD + (size_t)count * IDX_PICTURE;
}

static size_t make_labels(uint8_t *bytes, uint32_t count)
{
    put_word(bytes, 0x801), put_word(bytes + 4, count);
    for (uint32_t i = 0; i < count; i++) bytes[IDX_LABELS_HEAD + i] = (uint8_t)((i * 3 + 1) % 10);
    return IDX_LABELS_HEAD + count;
}

static void put_set(void)
{
    uint8_t bytes[IDX_PICTURES_HEAD + TRAIN * IDX_PICTURE];
    put("train-images-idx3-ubyte", bytes, make_pictures(bytes, TRAIN));
    put("train-labels-idx1-ubyte", bytes, make_labels(bytes, TRAIN));
    put("t10k-images-idx3-ubyte", bytes, make_pictures(bytes, TEST));
    put("t10k-labels-idx1-ubyte", bytes, make_labels(bytes, TEST));
}

static void check_set(const char *name, struct dataset *ds, char hex[SPLIT_COUNT][DIGEST_HEX])
{
    uint8_t pictures[TEST * IDX_PICTURE], labels[TRAIN];
    enum dataset_verdict verdict;
    const struct dataset_facts *f = dataset_facts(ds);
    assert_string_equal(f->name, name);
    assert_int_equal(f->count[SPLIT_TRAIN], TRAIN);
    assert_int_equal(f->count[SPLIT_TEST], TEST);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 1, 2, pictures), 0);
    for (int64_t i = 0; i < 2 * IDX_PICTURE; i++)
        assert_int_equal(pictures[i], pixel(1 + i / IDX_PICTURE, i % IDX_PICTURE));
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, TRAIN, labels), 0);
    for (int i = 0; i < TRAIN; i++) assert_int_equal(labels[i], (i * 3 + 1) % 10);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) assert_int_equal(dataset_content_digest(ds, s, hex[s]), 0);
}

// Replaces a file by its compressed form.
static void compress_file(const char *name)
{
    struct archive *out = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    struct text path = {0};
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in(name), 1 << 20, &bytes, &count), 0);
    text_add(&path, "%s.gz", in(name));
    archive_write_add_filter_gzip(out);
    archive_write_set_format_raw(out);
    assert_int_equal(archive_write_open_filename(out, path.at), ARCHIVE_OK);
    archive_entry_set_filetype(entry, AE_IFREG);
    assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(out, bytes, count), (int)count);
    archive_entry_free(entry);
    archive_write_free(out);
    assert_int_equal(unlink(in(name)), 0);
    text_free(&path);
    free(bytes);
}

TEST_WITH(files_are_read_plain_and_compressed, set_up, leave)
{
    static const char *const names[] = {"t10k-labels-idx1-ubyte", "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte"};
    char plain[SPLIT_COUNT][DIGEST_HEX], packed[SPLIT_COUNT][DIGEST_HEX];
    struct dataset *ds;
    put_set();
    assert_int_equal(dataset_open("mnist", folder, &ds), 0);
    assert_int_equal(dataset_field(ds, "images")->shape.rank, 3);
    assert_int_equal(dataset_field(ds, "images")->shape.dim[2], 1);
    check_set("mnist", ds, plain);
    dataset_close(ds);
    for (int i = 0; i < 4; i++) {  // also some of the files alone
        compress_file(names[i]);
        assert_int_equal(dataset_open("mnist", folder, &ds), 0);
        check_set("mnist", ds, packed);
        assert_memory_equal(plain, packed, sizeof plain);
        dataset_close(ds);
    }
    put("t10k-images-idx3-ubyte.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3\1", 11);
    assert_fails(dataset_open("mnist", folder, &ds), ERR_INPUT, "cannot unpack");
    assert_int_equal(unlink(in("t10k-images-idx3-ubyte.gz")), 0);
    assert_fails(dataset_open("mnist", folder, &ds), ERR_MISSING, "t10k-images-idx3-ubyte is missing; \"dawn data fetch");
}

TEST_WITH(files_that_do_not_fit_together_are_refused, set_up, leave)
{
    uint8_t bytes[IDX_PICTURES_HEAD + TRAIN * IDX_PICTURE];
    struct dataset *ds;
    assert_fails(dataset_open("mnist", folder, &ds), ERR_MISSING, "train-images-idx3-ubyte is missing; \"dawn data fetch");
    put_set();
    put("train-labels-idx1-ubyte", bytes, make_labels(bytes, TRAIN - 1));
    assert_fails(dataset_open("mnist", folder, &ds), ERR_INPUT, "train-images-idx3-ubyte has 5 pictures and");
    put("train-images-idx3-ubyte", bytes, make_pictures(bytes, 0));
    put("train-labels-idx1-ubyte", bytes, make_labels(bytes, 0));
    assert_fails(dataset_open("mnist", folder, &ds), ERR_INPUT, "train-images-idx3-ubyte has no picture");
}

TEST(wrong_bytes_are_named)
{
    uint8_t bytes[IDX_PICTURES_HEAD + 2 * IDX_PICTURE];
    struct idx idx;
    const size_t size = make_pictures(bytes, 2);
    assert_int_equal(idx_pictures("f", bytes, size, &idx), 0);
    assert_int_equal(idx.count, 2);
    assert_ptr_equal(idx.at, bytes + IDX_PICTURES_HEAD);
    assert_fails(idx_pictures("f", bytes, size - 1, &idx), ERR_INPUT, "f has 1583 bytes, and its 2 pictures need 1584");
    assert_fails(idx_pictures("f", bytes, size - IDX_PICTURE, &idx), ERR_INPUT, "its 2 pictures need 1584: it was cut");
    put_word(bytes + 4, 1);
    assert_fails(idx_pictures("f", bytes, size, &idx), ERR_INPUT, "its 1 pictures need 800: it is too long");
    put_word(bytes + 4, UINT32_MAX);
    assert_fails(idx_pictures("f", bytes, size, &idx), ERR_INPUT, "its 4294967295 pictures need 3367254359296: it was cut");
    put_word(bytes + 12, 32);
    assert_fails(idx_pictures("f", bytes, size, &idx), ERR_INPUT, "f has pictures of 32 x 28 pixels; MNIST's have 28 x 28");
    for (size_t n = 0; n < IDX_PICTURES_HEAD; n++)
        assert_fails(idx_pictures("f", bytes, n, &idx), ERR_INPUT, "the head of a file of pictures in IDX form has 16");
    put_word(bytes, 0x00000d03);  // f32
    assert_fails(idx_pictures("f", bytes, size, &idx), ERR_INPUT, "f begins with 0x00000d03; a file of pictures");
    assert_fails(idx_labels("f", bytes, size, &idx), ERR_INPUT, "a file of labels in IDX form begins with 0x00000801");
    put_word(bytes, 0x1f8b0800);
    assert_fails(idx_labels("f", bytes, size, &idx), ERR_INPUT, "f is compressed by gzip");
    const size_t labels = make_labels(bytes, 4);
    assert_int_equal(idx_labels("f", bytes, labels, &idx), 0);
    assert_fails(idx_labels("f", bytes, labels - 1, &idx), ERR_INPUT, "f has 11 bytes, and its 4 labels need 12: it was cut");
    bytes[IDX_LABELS_HEAD + 2] = 10;
    assert_fails(idx_labels("f", bytes, labels, &idx), ERR_INPUT, "f: label 3 is 10; labels are 0 to 9");
}

TEST(the_published_set_has_these_facts)
{
    struct dataset *ds;
    assert_int_equal(dataset_open_noise("mnist", &ds), 0);
    const struct dataset_facts *f = dataset_facts(ds);
    assert_int_equal(f->count[SPLIT_TRAIN], 60000);
    assert_int_equal(f->count[SPLIT_TEST], 10000);
    assert_int_equal(f->classes, 10);
    assert_int_equal(f->channels, 1);
    dataset_close(ds);
}

// ---- drawn digits

static double square_distance(const uint8_t *a, const uint8_t *b)
{
    double sum = 0;
    for (int i = 0; i < IDX_PICTURE; i++) sum += (a[i] - b[i]) * (double)(a[i] - b[i]);
    return sum;
}

TEST(drawn_digits_are_the_same_for_all_ranges)
{
    enum { SOME = 300 };
    struct dataset *ds;
    uint8_t *all = malloc(SOME * IDX_PICTURE), one[IDX_PICTURE], labels[SOME], label;
    char hex[SPLIT_COUNT][DIGEST_HEX], digest[DIGEST_HEX];
    enum dataset_verdict verdict;
    assert_int_equal(dataset_open("mnist-drawn", NULL, &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 0, SOME, all), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 0, SOME, labels), 0);
    for (int i = SOME - 1; i >= 0; i -= 13) {
        assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", i, 1, one), 0);
        assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", i, 1, &label), 0);
        assert_memory_equal(one, all + i * IDX_PICTURE, IDX_PICTURE);
        assert_int_equal(label, labels[i]);
    }
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) assert_int_equal(dataset_content_digest(ds, s, hex[s]), 0);
    assert_string_not_equal(hex[0], hex[1]);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    digest_bytes(all, SOME * IDX_PICTURE, digest);
    assert_string_equal(digest, "534b8708b7f4eb9f60b0cfd55b19b7cfd5b6a860d08974446b31ac5d051bb1ec");
    free(all);
    dataset_close(ds);
}

// The nearest of 2,000 training digits has the same label for most, and the means and deviations are those of the facts.
TEST(drawn_digits_have_classes)
{
    enum { NEAR = 2000, ASKED = 200 };
    struct dataset *ds;
    assert_int_equal(dataset_open("mnist-drawn", NULL, &ds), 0);
    const struct dataset_facts *f = dataset_facts(ds);
    const int64_t n = f->count[SPLIT_TRAIN];
    uint8_t *train = malloc((size_t)(n * IDX_PICTURE)), *test = malloc(ASKED * IDX_PICTURE), *labels = malloc((size_t)n),
            asked[ASKED];
    int right = 0, count[10] = {0};
    double sum = 0, squares = 0;
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, n, train), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, n, labels), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 0, ASKED, test), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 0, ASKED, asked), 0);
    for (int i = 0; i < ASKED; i++) {
        int64_t best = 0;
        for (int64_t k = 1; k < NEAR; k++)
            if (square_distance(test + i * IDX_PICTURE, train + k * IDX_PICTURE) <
                square_distance(test + i * IDX_PICTURE, train + best * IDX_PICTURE))
                best = k;
        assert_true(square_distance(test + i * IDX_PICTURE, train + best * IDX_PICTURE) > 0);  // none is a training digit
        right += labels[best] == asked[i];
    }
    assert_in_range(right, 190, ASKED);
    for (int64_t i = 0; i < n; i++) count[labels[i]]++;
    for (int c = 0; c < 10; c++) assert_in_range(count[c], n / 10 - n / 50, n / 10 + n / 50);
    for (int64_t i = 0; i < n * IDX_PICTURE; i++) sum += train[i], squares += train[i] * (double)train[i];
    const double mean = sum / (double)(n * IDX_PICTURE) / 255, square = squares / (double)(n * IDX_PICTURE) / 255 / 255;
    assert_float_equal(f->mean[0], mean, 1e-4);
    assert_float_equal(f->std[0], sqrt(square - mean * mean), 1e-4);
    free(labels);
    free(test);
    free(train);
    dataset_close(ds);
}

TEST(a_digit_is_shown_in_characters)
{
    struct dataset *ds;
    struct text shown = {0};
    uint8_t label;
    char words[32];
    int lines = 0;
    assert_int_equal(dataset_open("mnist-drawn", NULL, &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 6, 1, &label), 0);
    assert_int_equal(ds->kind->show(ds, SPLIT_TRAIN, 7, &shown), 0);
    snprintf(words, sizeof words, "  label      %d\n", label);
    assert_int_equal(strncmp(shown.at, words, strlen(words)), 0);
    for (const char *at = shown.at; *at != '\0'; at++) lines += *at == '\n';
    assert_int_equal(lines, 1 + IDX_SIDE);
    assert_non_null(strstr(shown.at, "@@"));
    text_free(&shown);
    dataset_close(ds);
}

// SPDX-License-Identifier: Apache-2.0
// The reader of CIFAR-10's binary layout: right pixels, right ranges, and a sentence for every way to be wrong.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <fcntl.h>
#include <sodium.h>

#include "data/read/cifar/cifar.h"
#include "data/kind.h"
#include "data/read/planes.h"
#include "data/fetch/source.h"
#include "runtime/common/base/threads.h"

static const char *const batches[CIFAR_FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                                 "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

// The byte at `at` of record `i` of file `f`, for sets made by make_small.
static uint8_t byte_of(int f, int64_t i, int byte)
{
    if (byte == 0) return (uint8_t)((f + i) % 10);
    return (uint8_t)(f * 31 + i * 17 + byte * 7 + byte / 256);
}

static void make_note(const int64_t counts[CIFAR_FILES])
{
    char note[512];
    int n = snprintf(note, sizeof note, "{\"records\": {");
    for (int f = 0; f < CIFAR_FILES; f++) {
        n +=
            snprintf(note + n, sizeof note - (size_t)n, "%s\"%s\": %d", f == 0 ? "" : ", ", batches[f], (int)counts[f]);
    }
    n += snprintf(note + n, sizeof note - (size_t)n, "}}");
    put(CIFAR_IMPORT_NOTE, note, (size_t)n);
}

static void make_small(const int64_t counts[CIFAR_FILES])
{
    for (int f = 0; f < CIFAR_FILES; f++) {
        uint8_t *bytes = malloc((size_t)counts[f] * CIFAR_RECORD + 1);
        for (int64_t i = 0; i < counts[f]; i++) {
            for (int b = 0; b < CIFAR_RECORD; b++) bytes[i * CIFAR_RECORD + b] = byte_of(f, i, b);
        }
        put(batches[f], bytes, (size_t)counts[f] * CIFAR_RECORD);
        free(bytes);
    }
    make_note(counts);
}

// Published sizes, all zeros, sparse on the disk.
static void make_sparse(void)
{
    for (int f = 0; f < CIFAR_FILES; f++) {
        put(batches[f], "", 0);
        assert_int_equal(truncate(in(batches[f]), 30730000), 0);
    }
}

static void poke(const char *name, int64_t offset, uint8_t value)
{
    int fd = open(in(name), O_WRONLY);
    assert_int_equal(pwrite(fd, &value, 1, offset), 1);
    close(fd);
}

static struct dataset *open_here(void)
{
    struct dataset *ds = NULL;
    if (dataset_open("cifar10", folder, &ds) != 0) fail_msg("%s", error_text());
    return ds;
}

TEST_WITH(planes_become_pixels, set_up, leave)
{
    for (int64_t n = 0; n < 70; n++) {
        uint8_t planes[3 * 70] = {0}, pixels[3 * 70 + 1], back[3 * 70];
        for (int64_t i = 0; i < 3 * n; i++) planes[i] = (uint8_t)(i * 37 + 11);
        pixels[3 * n] = 99;
        planes_interleave(planes, n, pixels);
        assert_int_equal(pixels[3 * n], 99);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t c = 0; c < 3; c++) assert_int_equal(pixels[3 * i + c], planes[c * n + i]);
        }
        planes_split(pixels, n, back);
        assert_memory_equal(planes, back, (size_t)(3 * n));
    }
}

static void check_range(struct dataset *ds, const int64_t counts[], int64_t first, int64_t count)
{
    uint8_t *images = malloc((size_t)count * CIFAR_IMAGE + 1), *labels = malloc((size_t)count + 1);
    dataset_want(ds, SPLIT_TRAIN, "images", first, count);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", first, count, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", first, count, labels), 0);
    int file = 0;
    int64_t begins = 0;
    for (int64_t i = 0; i < count; i++) {
        while (first + i >= begins + counts[file]) begins += counts[file++];
        int64_t record = first + i - begins;
        assert_int_equal(labels[i], byte_of(file, record, 0));
        for (int p = 0; p < CIFAR_PIXELS; p++) {
            for (int c = 0; c < 3; c++) {
                if (images[i * CIFAR_IMAGE + 3 * p + c] != byte_of(file, record, 1 + c * CIFAR_PIXELS + p)) {
                    fail_msg("image %d, pixel %d, channel %d", (int)i, p, c);
                }
            }
        }
    }
    free(labels);
    free(images);
}

TEST_WITH(ranges_cross_files, set_up, leave)
{
    const int64_t counts[] = {150, 3, 0, 200, 64, 7};
    make_small(counts);
    struct dataset *ds = open_here();
    const struct dataset_facts *facts = dataset_facts(ds);
    assert_int_equal(facts->count[SPLIT_TRAIN], 417);
    assert_int_equal(facts->count[SPLIT_TEST], 7);
    assert_false(facts->synthetic);
    assert_false(facts->official);
    assert_string_equal(facts->class_names[3], "cat");
    for (int threads = 1; threads <= 3; threads++) {
        threads_set(threads);
        check_range(ds, counts, 0, 417);
        check_range(ds, counts, 149, 6);
        check_range(ds, counts, 0, 0);
        check_range(ds, counts, 416, 1);
        check_range(ds, counts, 100, 300);
    }
    uint8_t label;
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "labels", 417, 1, &label), ERR_USAGE, "417 train samples");
    assert_fails(dataset_read(ds, SPLIT_TEST, "labels", 0, 8, &label), ERR_USAGE, "7 test samples");
    assert_fails(dataset_read(ds, SPLIT_TEST, "labels", -1, 1, &label), ERR_USAGE, "from -1");
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "labels", INT64_MAX, 2, &label), ERR_USAGE, "no range");
    dataset_close(ds);
}

TEST_WITH(samples_have_named_fields, set_up, leave)
{
    const int64_t counts[] = {3, 3, 3, 3, 3, 3};
    make_small(counts);
    struct dataset *ds = open_here();
    const struct field *images = dataset_field(ds, "images"), *labels = dataset_field(ds, "labels");
    assert_true(images->dtype == U8 && shape_equal(&images->shape, &SHAPE(32, 32, 3)) && images->classes == 0);
    assert_true(labels->dtype == U8 && labels->shape.rank == 0 && labels->classes == 10);
    assert_true(images->ragged == FIELD_FIXED && labels->ragged == FIELD_FIXED);
    assert_int_equal(field_bytes(images, 1), CIFAR_IMAGE);
    assert_null(dataset_field(ds, "tokens"));
    uint8_t image[CIFAR_IMAGE], same[CIFAR_IMAGE], label = 99;
    int64_t length = 0;
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "tokens", 0, 1, image), ERR_USAGE,
                 "cifar10 has no field \"tokens\"; it has images and labels");
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 7, 1, image), 0);
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "images", 7, same, sizeof same, &length), 0);
    assert_memory_equal(image, same, sizeof image);
    assert_int_equal(length, 1);
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "labels", 7, &label, 1, NULL), 0);
    assert_int_equal(label, byte_of(2, 1, 0));
    assert_fails(dataset_item(ds, SPLIT_TRAIN, "images", 7, same, 100, NULL), ERR_USAGE,
                 "cifar10: images of train sample 7 has 3072 bytes, and the buffer holds 100");
    assert_fails(dataset_item(ds, SPLIT_TEST, "images", 3, same, sizeof same, NULL), ERR_USAGE, "3 test samples");
    assert_string_equal(dataset_facts(ds)->split_name[SPLIT_TEST], "test");
    dataset_close(ds);
}

TEST_WITH(a_short_batch_names_the_byte, set_up, leave)
{
    make_sparse();
    struct dataset *ds = open_here();
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 50000);
    dataset_close(ds);
    assert_int_equal(truncate(in("data_batch_4.bin"), 30729999), 0);
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT,
                 "data_batch_4.bin is short: it ends at byte 30729999");
    assert_non_null(strstr(error_text(), "begins at byte 30726927"));
    assert_null(ds);
    assert_int_equal(truncate(in("data_batch_4.bin"), 0), 0);
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT, "data_batch_4.bin is short: it ends at byte 0");
    assert_int_equal(truncate(in("data_batch_4.bin"), 30730001), 0);
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT,
                 "data_batch_4.bin is too long: its 10000 records end at byte 30730000");
    assert_int_equal(unlink(in("data_batch_4.bin")), 0);
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT,
                 "data_batch_4.bin is missing; \"dawn data fetch cifar10\"");
    assert_int_equal(mkdir(in("data_batch_4.bin"), 0777), 0);
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT, "data_batch_4.bin is not a file");
}

TEST_WITH(a_bad_label_names_the_byte, set_up, leave)
{
    make_sparse();
    poke("data_batch_3.bin", 5000 * CIFAR_RECORD, 10);
    poke("data_batch_5.bin", 9999 * CIFAR_RECORD, 255);
    struct dataset *ds = open_here();
    enum dataset_verdict verdict;
    for (int threads = 1; threads <= 4; threads++) {  // the first of the two, however the work is shared
        threads_set(threads);
        assert_fails(dataset_verify(ds, &verdict), ERR_INPUT,
                     "data_batch_3.bin: the label at byte 15365000 must be between 0 and 9; got 10");
    }
    dataset_close(ds);
    uint8_t record[CIFAR_RECORD] = {9}, label = 0;
    assert_int_equal(cifar_decode("f", 0, record, sizeof record, 1, NULL, &label), 0);
    assert_int_equal(label, 9);
    assert_fails(cifar_decode("f", 7, record, sizeof record - 1, 1, NULL, NULL), ERR_INPUT,
                 "f is short: the record at byte 7");
}

TEST_WITH(a_file_that_shrinks_is_noticed, set_up, leave)
{
    const int64_t counts[] = {20, 20, 20, 20, 20, 20};
    make_small(counts);
    struct dataset *ds = open_here();
    assert_int_equal(truncate(in("data_batch_2.bin"), 10 * CIFAR_RECORD), 0);
    uint8_t labels[100];
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 100, labels), ERR_INPUT,
                 "data_batch_2.bin is short: it ends at byte 30730 of 61460");
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 30, labels), 0);
    dataset_close(ds);
}

TEST_WITH(digests_are_of_the_files, set_up, leave)
{
    const int64_t counts[] = {20, 1, 20, 20, 20, 5};
    make_small(counts);
    crypto_hash_sha256_state sha;
    crypto_hash_sha256_init(&sha);
    for (int f = 0; f < 5; f++) {
        char *bytes;
        size_t size;
        assert_int_equal(file_read(in(batches[f]), 1 << 20, &bytes, &size), 0);
        crypto_hash_sha256_update(&sha, (const uint8_t *)bytes, size);
        free(bytes);
    }
    uint8_t digest[32];
    char want[DIGEST_HEX], hex[DIGEST_HEX];
    crypto_hash_sha256_final(&sha, digest);
    digest_hex(digest, want);
    struct dataset *ds = open_here();
    assert_int_equal(dataset_digest(ds, SPLIT_TRAIN, hex), 0);
    assert_string_equal(hex, want);
    assert_int_equal(dataset_digest(ds, SPLIT_TEST, hex), 0);
    assert_int_equal(digest_file(in("test_batch.bin"), want), 0);
    assert_string_equal(hex, want);
    dataset_close(ds);
}

static void swap_records(const char *a, const char *b)
{
    char *one, *two, record[CIFAR_RECORD];
    size_t n, m;
    assert_int_equal(file_read(in(a), 1 << 20, &one, &n), 0);
    assert_int_equal(file_read(in(b), 1 << 20, &two, &m), 0);
    memcpy(record, one, sizeof record);
    memcpy(one, two + CIFAR_RECORD, sizeof record);
    memcpy(two + CIFAR_RECORD, record, sizeof record);
    put(a, one, n);
    put(b, two, m);
    free(one);
    free(two);
}

// A test has no published CIFAR-10, so a small set takes its place in a source of its own.
TEST_WITH(verdicts, set_up, leave)
{
    const int64_t counts[] = {20, 20, 20, 20, 20, 20};
    make_small(counts);
    struct source source = *source_find("cifar10");
    char file[CIFAR_FILES][DIGEST_HEX], content[SPLIT_COUNT][DIGEST_HEX], hex[DIGEST_HEX];
    struct dataset *ds = open_here();
    for (int f = 0; f < CIFAR_FILES; f++) {
        assert_int_equal(digest_file(in(batches[f]), file[f]), 0);
        source.file[f].sha256 = file[f], source.file[f].bytes = 20 * CIFAR_RECORD;
    }
    for (int s = 0; s < SPLIT_COUNT; s++) {
        assert_int_equal(dataset_content_digest(ds, s, content[s]), 0);
        source.content[s] = content[s];
    }
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);  // against the real source
    assert_int_equal(verdict, DATASET_CUSTOM);
    assert_false(dataset_facts(ds)->official);
    ds->source = &source;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_OFFICIAL);
    assert_true(dataset_facts(ds)->official);
    dataset_close(ds);

    swap_records("data_batch_1.bin", "data_batch_4.bin");
    ds = open_here();
    ds->source = &source;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_REORDERED);
    assert_true(dataset_facts(ds)->official);
    dataset_close(ds);

    swap_records("data_batch_1.bin", "test_batch.bin");  // a test image among the training images
    ds = open_here();
    ds->source = &source;
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex), 0);
    assert_string_not_equal(hex, content[SPLIT_TEST]);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
}

static void set_times(int64_t seconds)  // of the last change, of all batches
{
    for (int f = 0; f < CIFAR_FILES; f++) {
        struct timespec times[2] = {{seconds, 0}, {seconds, 0}};
        assert_int_equal(utimensat(AT_FDCWD, in(batches[f]), times, 0), 0);
    }
}

static enum dataset_verdict checked(struct dataset *ds, bool remembered)
{
    enum dataset_verdict verdict;
    if (dataset_check(ds, &verdict) < 0) fail_msg("%s", error_text());
    assert_int_equal(dataset_facts(ds)->remembered, remembered);
    return verdict;
}

TEST_WITH(what_did_not_change_is_not_read_again, set_up, leave)
{
    const int64_t counts[] = {20, 20, 20, 20, 20, 20};
    make_small(counts);
    struct source source = *source_find("cifar10");
    char file[CIFAR_FILES][DIGEST_HEX], content[DIGEST_HEX], hex[DIGEST_HEX];
    for (int f = 0; f < CIFAR_FILES; f++) {
        assert_int_equal(digest_file(in(batches[f]), file[f]), 0);
        source.file[f].sha256 = file[f], source.file[f].bytes = 20 * CIFAR_RECORD;
    }
    struct dataset *ds = open_here();
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);  // changed a moment ago: not remembered
    assert_int_equal(dataset_content_digest(ds, SPLIT_TRAIN, content), 0);
    set_times(1000000000);
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);
    assert_int_equal(checked(ds, true), DATASET_CUSTOM);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TRAIN, hex), 0);
    assert_string_equal(hex, content);
    dataset_close(ds);

    ds = open_here();  // another process
    ds->source = &source;
    assert_int_equal(checked(ds, true), DATASET_OFFICIAL);
    assert_true(dataset_facts(ds)->official);
    poke("data_batch_2.bin", 7, 99);
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);  // another time
    poke("data_batch_2.bin", 8, 98);
    set_times(1000000000);
    enum dataset_verdict verdict;
    assert_int_equal(checked(ds, true), DATASET_OFFICIAL);  // the limit: its time was set back
    assert_int_equal(dataset_verify(ds, &verdict), 0);      // which always reads
    assert_int_equal(verdict, DATASET_CUSTOM);
    assert_false(dataset_facts(ds)->remembered);
    assert_int_equal(checked(ds, true), DATASET_CUSTOM);  // and names what it found
    dataset_close(ds);

    make_note((const int64_t[]){20, 20, 20, 20, 20, 19});
    assert_int_equal(truncate(in("test_batch.bin"), 19 * CIFAR_RECORD), 0);
    set_times(1000000000);
    ds = open_here();
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);  // another size
    dataset_close(ds);
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    ds = open_here();
    assert_int_equal(checked(ds, false), DATASET_CUSTOM);  // no folder for it: it is read, and that is all
    dataset_close(ds);
}

TEST_WITH(foreign_notes, set_up, leave)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{\"records\": 3}",
                                      "{\"records\": {\"data_batch_1.bin\": -1}}",
                                      "{\"records\": {\"data_batch_1.bin\": 1e30}}",
                                      "{\"records\": {\"data_batch_1.bin\": \"7\"}}"};
    int64_t records[CIFAR_FILES];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_fails(cifar_parse_note("the note", bad[i], strlen(bad[i]), records), ERR_INPUT, "the note");
    }
    const int64_t counts[] = {2, 2, 2, 2, 2, 2};
    make_small(counts);
    put(CIFAR_IMPORT_NOTE, "{}", 2);
    struct dataset *ds;
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_INPUT, CIFAR_IMPORT_NOTE " does not say how many records");
}

TEST_WITH(where_data_sets_are, set_up, leave)
{
    struct dataset *ds;
    assert_fails(dataset_open("cifar10", folder, &ds), ERR_MISSING, "\"dawn data fetch cifar10\"");
    assert_fails(dataset_open("cifar", folder, &ds), ERR_USAGE, "did you mean \"cifar10\"");
    assert_fails(dataset_open("svhn", folder, &ds), ERR_USAGE, "there is no data set \"svhn\"");
    const int64_t counts[] = {2, 2, 2, 2, 2, 2};
    make_small(counts);
    make_folder("data/dawn/cifar-10-batches-bin");
    for (int f = 0; f < CIFAR_FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "data/dawn/cifar-10-batches-bin/%s", batches[f]);
        assert_int_equal(rename(in(batches[f]), in(name)), 0);
    }
    assert_int_equal(rename(in(CIFAR_IMPORT_NOTE), in("data/dawn/cifar-10-batches-bin/" CIFAR_IMPORT_NOTE)), 0);
    assert_int_equal(dataset_open("cifar10", in("data/dawn"), &ds), 0);  // the parent
    dataset_close(ds);
    assert_int_equal(dataset_open("cifar10", in("data/dawn/cifar-10-batches-bin"), &ds), 0);
    dataset_close(ds);
    unsetenv("DAWN_DATA");
    setenv("XDG_DATA_HOME", in("data"), 1);
    assert_int_equal(dataset_open("cifar10", NULL, &ds), 0);
    dataset_close(ds);
    setenv("DAWN_DATA", in("elsewhere"), 1);  // it wins
    assert_fails(dataset_open("cifar10", NULL, &ds), ERR_MISSING, "elsewhere");
    setenv("DAWN_DATA", "synthetic", 1);  // a data set, no folder
    assert_fails(dataset_open("cifar10", NULL, &ds), ERR_MISSING, "DAWN_DATA names the data set synthetic");
    unsetenv("DAWN_DATA");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/nowhere", 1);
    assert_fails(dataset_open("cifar10", NULL, &ds), ERR_MISSING, "/nowhere/.local/share/dawn");
}

// SPDX-License-Identifier: Apache-2.0
// Folders of pictures become batches that the reader can read, and a failed import leaves nothing behind.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <dirent.h>

#include "data/read/cifar/cifar.h"
#include "data/image/image.h"
#include "data/fetch/import.h"

// A picture of one colour; its first channel identifies it.
static void put_picture(const char *split, const char *class, const char *name, int side, int value)
{
    char path[128];
    snprintf(path, sizeof path, "in/%s/%s", split, class);
    make_folder(path);
    snprintf(path, sizeof path, "in/%s/%s/%s", split, class, name);
    uint8_t *pixels = malloc((size_t)(side * side * 3));
    for (int i = 0; i < side * side * 3; i++) pixels[i] = (uint8_t)(i % 3 == 0 ? value : i % 3);
    struct image image = {side, side, pixels};
    assert_int_equal(image_write_png(in(path), &image), 0);
    free(pixels);
}

// Class c has c % 3 + 1 pictures for training and one for testing.
static void put_pictures(void)
{
    for (int c = 0; c < CIFAR_CLASSES; c++) {
        const char *class = cifar_class_names[c];
        put_picture("train", class, "9.png", 32, 10 * c);
        if (c % 3 >= 1) put_picture("train", class, "10.png", 32, 10 * c + 1);
        if (c % 3 >= 2) put_picture("train", class, "11.PNG", 64, 10 * c + 2);
        put_picture("test", class, "a.png", 20, 100 + c);
    }
}

static int import_here(struct import_report *report)
{
    struct import_options options = {.from = in("in"), .to = in("out")};
    return import_cifar(&options, report);
}

static int files_in(const char *name)
{
    struct dirent **entry;
    int n = scandir(in(name), &entry, NULL, alphasort), files = 0;
    for (int i = 0; i < n; i++) {
        files += entry[i]->d_name[0] != '.';
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return files;
}

TEST_WITH(pictures_become_batches, set_up, leave)
{
    put_pictures();
    put("in/train/cat/notes.txt", "x", 1);
    put("in/readme", "x", 1);
    struct import_report report;
    if (import_here(&report) != 0) fail_msg("%s", error_text());
    assert_int_equal(report.count[SPLIT_TRAIN], 19);  // 4 classes of one, 3 of two, 3 of three
    assert_int_equal(report.count[SPLIT_TEST], 10);
    assert_int_equal(report.resized, 13);
    assert_int_equal(report.passed, 1);
    struct dataset *ds;
    if (dataset_open("cifar10", in("out"), &ds) != 0) fail_msg("%s", error_text());
    uint8_t images[19 * CIFAR_IMAGE], labels[19];
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 19);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, 19, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 19, labels), 0);
    // Classes take turns: the 9.png of all ten, the 10.png of those that have one, the 11.png of the rest.
    static const int first[19] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 11, 21, 41, 51, 71, 81, 22, 52, 82};
    for (int i = 0; i < 19; i++) {
        assert_int_equal(labels[i], first[i] / 10);
        for (int p = 0; p < CIFAR_PIXELS; p++) {
            assert_int_equal(images[i * CIFAR_IMAGE + 3 * p], first[i]);
            assert_int_equal(images[i * CIFAR_IMAGE + 3 * p + 2], 2);
        }
    }
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 0, 10, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 0, 10, labels), 0);
    for (int i = 0; i < 10; i++) assert_true(labels[i] == i && images[i * CIFAR_IMAGE] == 100 + i);
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
    static const int64_t records[CIFAR_FILES] = {4, 4, 4, 4, 3, 10};
    static const char *const names[CIFAR_FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                                   "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
    for (int f = 0; f < CIFAR_FILES; f++) {
        char path[128];
        struct stat st;
        snprintf(path, sizeof path, "out/cifar-10-batches-bin/%s", names[f]);
        assert_int_equal(stat(in(path), &st), 0);
        assert_int_equal(st.st_size, records[f] * CIFAR_RECORD);
    }
    assert_fails(import_here(&report), ERR_USAGE, "exists already");
    assert_int_equal(dataset_open("cifar10", in("out"), &ds), 0);  // and it is still whole
    dataset_close(ds);
    assert_int_equal(files_in("out/cifar-10-batches-bin"), 8);
}

TEST_WITH(classes_must_be_there, set_up, leave)
{
    struct import_report report;
    assert_fails(import_here(&report), ERR_INPUT, "in/train");
    put_pictures();
    assert_int_equal(rename(in("in/train/truck"), in("in/train/trucks")), 0);
    assert_fails(import_here(&report), ERR_INPUT,
                 "in/train/trucks: there is no class of CIFAR-10 \"trucks\"; did you mean \"truck\"?");
    assert_int_equal(rename(in("in/train/trucks"), in("in/elsewhere")), 0);
    assert_fails(import_here(&report), ERR_INPUT, "in/train/truck is missing");
    make_folder("in/train/truck");
    assert_fails(import_here(&report), ERR_INPUT, "in/train/truck has no PNG or JPEG file");
    assert_false(file_exists(in("out")));
}

TEST_WITH(a_broken_picture_leaves_nothing, set_up, leave)
{
    put_pictures();
    put("in/test/truck/b.png", "\x89PNG\r\n\x1a\n and no more", 20);
    struct import_report report;
    assert_fails(import_here(&report), ERR_INPUT, "in/test/truck/b.png: not a valid PNG");
    assert_int_equal(files_in("out/cifar-10-batches-bin"), 0);
    assert_int_equal(unlink(in("in/test/truck/b.png")), 0);
    assert_int_equal(import_here(&report), 0);
}

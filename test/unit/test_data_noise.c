// SPDX-License-Identifier: Apache-2.0
// A data set's shape without its files: published facts, repeatable noise, never taken for the real thing.
#include "data/dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka wants the four before it
#include <cmocka.h>

enum { IMAGE = 32 * 32 * 3 };

static void test_facts(void **state)
{
    (void)state;
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
    assert_int_equal(dataset_open_noise("cifar11", &ds), ERR_USAGE);
    assert_non_null(strstr(error_text(), "cifar10"));
    assert_int_equal(dataset_open("noise", NULL, &ds), ERR_USAGE);  // it has no name of its own
}

// An image is the same whatever range it is read in; splits differ; pixels spread over all values.
static void test_images(void **state)
{
    (void)state;
    struct dataset *ds;
    static uint8_t many[300 * IMAGE], one[IMAGE];
    uint8_t labels[300], label;
    assert_int_equal(dataset_open_noise("cifar10", &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, 100, 300, many, labels), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, 333, 1, one, &label), 0);
    assert_memory_equal(one, many + 233 * IMAGE, IMAGE);
    assert_int_equal(label, labels[233]);
    assert_int_equal(label, 3);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, 333, 1, one, NULL), 0);
    assert_memory_not_equal(one, many + 233 * IMAGE, IMAGE);
    assert_memory_not_equal(many, many + IMAGE, IMAGE);
    int64_t count[256] = {0};
    for (int i = 0; i < 300 * IMAGE; i++) count[many[i]]++;
    for (int v = 0; v < 256; v++) assert_in_range(count[v], 3300, 3900);  // 3,600 each is even; 300 are five sigma
    assert_int_equal(dataset_read(ds, SPLIT_TEST, 9999, 2, NULL, labels), ERR_USAGE);
    dataset_close(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts), cmocka_unit_test(test_images)};
    return cmocka_run_group_tests_name("data_noise", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Synthetic data: the same bytes everywhere and for any number of threads, balanced, and too hard for a linear
// classifier. (That a small convolutional network passes 97% was measured when it was drawn up; `make demo` shows it.)
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/read/synthetic.h"
#include "runtime/common/base/threads.h"

enum { IMAGE = SYNTHETIC_SIDE * SYNTHETIC_SIDE * 3 };

static struct dataset *open_default(void)
{
    struct dataset *ds = NULL;
    assert_int_equal(dataset_open("synthetic", NULL, &ds), 0);
    return ds;
}

TEST_WITH(the_same_bytes_everywhere, set_up, leave)
{
    struct dataset *ds = open_default();
    uint8_t *images = malloc(400 * IMAGE), *piece = malloc(400 * IMAGE), labels[400], piece_labels[400];
    char hex[DIGEST_HEX];
    threads_set(1);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, 400, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 400, labels), 0);
    digest_bytes(images, 400 * IMAGE, hex);
    // If this value changes, the data set has changed: raise SYNTHETIC_VERSION.
    assert_string_equal(hex, "7f1eeaf9038e75a1affaedbd2e7b589209af625b1633cfa58449f84fb4c5b3be");
    threads_set(3);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, 400, piece), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 400, piece_labels), 0);
    assert_memory_equal(images, piece, 400 * IMAGE);
    assert_memory_equal(labels, piece_labels, 400);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 123, 77, piece), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 123, 77, piece_labels), 0);
    assert_memory_equal(images + 123 * IMAGE, piece, 77 * IMAGE);
    assert_memory_equal(labels + 123, piece_labels, 77);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 0, 400, piece), 0);
    for (int i = 0; i < 400; i++) assert_memory_not_equal(images + i * IMAGE, piece + i * IMAGE, IMAGE);
    free(piece);
    free(images);
    dataset_close(ds);
}

TEST_WITH(facts_hold, set_up, leave)
{
    struct dataset *ds = open_default();
    const struct dataset_facts *facts = dataset_facts(ds);
    assert_true(facts->synthetic);
    assert_false(facts->official);
    assert_int_equal(facts->count[SPLIT_TRAIN], 10000);
    assert_int_equal(facts->count[SPLIT_TEST], 2000);
    enum { N = 3000 };
    uint8_t *images = malloc((size_t)N * IMAGE), labels[N];
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, N, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, N, labels), 0);
    int of_class[10] = {0};
    for (int i = 0; i < N; i++) of_class[labels[i]]++;
    for (int c = 0; c < 10; c++) {
        assert_int_equal(of_class[c], N / 10);
        double sum = 0, squares = 0, n = N * IMAGE / 3;
        for (int64_t i = c % 3; i < (int64_t)N * IMAGE; i += 3)
            sum += images[i] / 255.0, squares += images[i] * images[i] / 65025.0;
        assert_true(fabs(sum / n - facts->mean[c % 3]) < 0.01);
        assert_true(fabs(sqrt(squares / n - sum / n * (sum / n)) - facts->std[c % 3]) < 0.01);
    }
    free(images);
    dataset_close(ds);
}

TEST_WITH(digests_name_the_set, set_up, leave)
{
    struct dataset *ds = open_default(), *other = NULL;
    char train[DIGEST_HEX], test[DIGEST_HEX], less[DIGEST_HEX];
    assert_int_equal(dataset_digest(ds, SPLIT_TRAIN, train), 0);
    assert_int_equal(dataset_digest(ds, SPLIT_TEST, test), 0);
    assert_string_not_equal(train, test);
    assert_int_equal(dataset_open_synthetic(9999, 2000, &other), 0);
    assert_int_equal(dataset_facts(other)->count[SPLIT_TRAIN], 9999);
    assert_int_equal(dataset_digest(other, SPLIT_TRAIN, less), 0);
    assert_string_not_equal(train, less);
    assert_int_equal(dataset_digest(other, SPLIT_TEST, less), 0);
    assert_string_equal(test, less);
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    assert_false(dataset_facts(ds)->official);
    dataset_close(other);
    dataset_close(ds);
    assert_fails(dataset_open_synthetic(0, 10, &other), ERR_USAGE, "not 0 and 10");
    assert_fails(dataset_open_synthetic(10, INT64_MAX, &other), ERR_USAGE, "needs 1 to");
}

// Multinomial logistic regression on the pixels, by stochastic gradient descent with a decreasing learning rate.
enum { TRAIN = 2000, TEST_COUNT = 500, EPOCHS = 8, CLASSES = 10 };

static int linear_guess(const float *weights, const uint8_t *image, float p[CLASSES])
{
    int best = 0;
    float sum = 0;
    memcpy(p, weights + IMAGE * CLASSES, CLASSES * sizeof *p);
    for (int i = 0; i < IMAGE; i++) {
        float x = (image[i] - 127.5f) / 64;
        for (int c = 0; c < CLASSES; c++) p[c] += x * weights[i * CLASSES + c];
    }
    for (int c = 1; c < CLASSES; c++) best = p[c] > p[best] ? c : best;
    float most = p[best];
    for (int c = 0; c < CLASSES; c++) sum += p[c] = expf(p[c] - most);
    for (int c = 0; c < CLASSES; c++) p[c] /= sum;
    return best;
}

static void linear_learn(float *weights, const uint8_t *image, int label, float step)
{
    float p[CLASSES];
    linear_guess(weights, image, p);
    p[label] -= 1;
    for (int c = 0; c < CLASSES; c++) weights[IMAGE * CLASSES + c] -= step * p[c];
    for (int i = 0; i < IMAGE; i++) {
        float x = step * (image[i] - 127.5f) / 64;
        for (int c = 0; c < CLASSES; c++) weights[i * CLASSES + c] -= x * p[c];
    }
}

static double linear_accuracy(const float *weights, const uint8_t *images, const uint8_t *labels, int n)
{
    float p[CLASSES];
    int right = 0;
    for (int i = 0; i < n; i++) right += linear_guess(weights, images + (size_t)i * IMAGE, p) == labels[i];
    return (double)right / n;
}

TEST_WITH(a_linear_classifier_stays_low, set_up, leave)
{
    struct dataset *ds = open_default();
    uint8_t *images = malloc((size_t)TRAIN * IMAGE), *tests = malloc((size_t)TEST_COUNT * IMAGE), labels[TRAIN],
            answers[TEST_COUNT];
    float *weights = calloc(IMAGE * CLASSES + CLASSES, sizeof *weights);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, TRAIN, images), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, TRAIN, labels), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "images", 0, TEST_COUNT, tests), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 0, TEST_COUNT, answers), 0);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        float step = 3e-3f * (float)(EPOCHS - epoch) / EPOCHS;
        for (int i = 0; i < TRAIN; i++) linear_learn(weights, images + (size_t)i * IMAGE, labels[i], step);
    }
    double learnt = linear_accuracy(weights, images, labels, TRAIN),
           found = linear_accuracy(weights, tests, answers, TEST_COUNT);
    print_message("linear classifier: %.1f%% of what it learnt from, %.1f%% of new images\n", 100 * learnt,
                  100 * found);
    assert_true(learnt > 0.6);  // it did learn, as far as a linear classifier can
    assert_true(found < 0.6);
    free(weights);
    free(tests);
    free(images);
    dataset_close(ds);
}

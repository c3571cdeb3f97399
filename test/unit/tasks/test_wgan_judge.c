// SPDX-License-Identifier: Apache-2.0
// The score of made pictures: features against plain loops in double, distances to the nearest picture, and a judge of pictures
// that are the test images, the training images or no numbers.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <math.h>

#include "data/dataset.h"
#include "data/read/mnist/idx.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/wgan/lenet.h"
#include "tasks/wgan/nearest.h"
#include "tasks/wgan/wgan.h"

// ---- features: the random weights of lenet_draw, by layer, [in, out]; the first layer holds 8 outputs

static double weight(uint32_t layer, int64_t in, int64_t i, int64_t k, int64_t step)
{
    const struct rng4 r = rng_draw(19981106, RNG_SYNTHETIC, layer, (uint32_t)(i * step + k), 0);
    return (float)(2 / sqrt((double)in) * rng_normal(r));
}

static double pixel_at(const uint8_t *p, double y, double x)
{
    const int top = y < 0 ? 0 : y > 26 ? 26 : (int)y, left = x < 0 ? 0 : x > 26 ? 26 : (int)x;
    const double v = fmin(fmax(y, 0) - top, 1), u = fmin(fmax(x, 0) - left, 1);
    const uint8_t *at = p + top * 28 + left;
    return ((1 - v) * ((1 - u) * at[0] + u * at[1]) + v * ((1 - u) * at[28] + u * at[29])) / 255;
}

static double in_[32][32], p2[14][14][8], p4[5][5][16], c5[120];

static double convolved(int layer, int y, int x, int k)
{
    const int channels = layer == 1 ? 1 : 8, inputs = 25 * channels, step = layer == 1 ? 8 : 16;
    double sum = 0;
    for (int i = 0; i < inputs; i++) {
        const int c = i % channels, s = i / channels % 5, r = i / channels / 5;
        sum += (layer == 1 ? in_[y + r][x + s] : p2[y + r][x + s][c]) * weight((uint32_t)layer, inputs, i, k, step);
    }
    return sum;
}

static double pooled(int layer, int y, int x, int k)
{
    double most = -INFINITY;
    for (int part = 0; part < 4; part++) most = fmax(most, convolved(layer, 2 * y + part / 2, 2 * x + part % 2, k));
    return tanh(most);
}

static void plain_features(const uint8_t *picture, double into[LENET_FEATURES])
{
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++) in_[y][x] = pixel_at(picture, (y + 0.5) * 28 / 32 - 0.5, (x + 0.5) * 28 / 32 - 0.5);
    for (int i = 0; i < 14 * 14 * 6; i++) p2[i / 6 / 14][i / 6 % 14][i % 6] = pooled(1, i / 6 / 14, i / 6 % 14, i % 6);
    for (int i = 0; i < 5 * 5 * 16; i++) p4[i / 16 / 5][i / 16 % 5][i % 16] = pooled(2, i / 16 / 5, i / 16 % 5, i % 16);
    for (int k = 0; k < 120; k++) {
        double sum = 0;
        for (int i = 0; i < 400; i++) sum += p4[i / 16 / 5][i / 16 % 5][i % 16] * weight(3, 400, i, k, 120);
        c5[k] = tanh(sum);
    }
    for (int k = 0; k < LENET_FEATURES; k++) {
        double sum = 0;
        for (int i = 0; i < 120; i++) sum += c5[i] * weight(4, 120, i, k, LENET_FEATURES);
        into[k] = tanh(sum);
    }
}

TEST(features_are_those_of_plain_loops)
{
    enum { COUNT = 2 };
    struct dataset *ds;
    uint8_t pictures[COUNT * LENET_PICTURE];
    float features[COUNT * LENET_FEATURES];
    double plain[LENET_FEATURES];
    struct lenet *net = lenet_draw();
    assert_int_equal(dataset_open("mnist-drawn", NULL, &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 5, COUNT, pictures), 0);
    pictures[0] = pictures[27] = pictures[28 * 27] = pictures[LENET_PICTURE - 1] = 255;  // the corners, too
    lenet_features(net, pictures, COUNT, features);
    for (int i = 0; i < COUNT; i++) {
        plain_features(pictures + i * LENET_PICTURE, plain);
        for (int k = 0; k < LENET_FEATURES; k++) assert_true(fabs(features[i * LENET_FEATURES + k] - plain[k]) < 2e-5);
    }
    lenet_free(net);
    dataset_close(ds);
}

TEST_WITH(other_weights_are_refused, set_up, leave)
{
    struct lenet *net;
    put("lenet.pth", "weights", 7);
    assert_fails(lenet_open(in("lenet.pth"), &net), ERR_INPUT, "lenet.pth has SHA-256 ");
    assert_null(net);
    assert_true(lenet_open(in("none.pth"), &net) < 0);
}

// ---- the nearest picture

static void check_nearest(int64_t of, int64_t among, int64_t bytes)
{
    uint8_t *a = malloc((size_t)(of * bytes)), *b = malloc((size_t)(among * bytes) + 1);
    int32_t *far = malloc((size_t)of * sizeof *far);
    for (int64_t i = 0; i < of * bytes; i++) a[i] = (uint8_t)rng_draw(1, RNG_TEST, 0, (uint32_t)i, 0).v[0];
    for (int64_t i = 0; i < among * bytes; i++) b[i] = (uint8_t)rng_draw(1, RNG_TEST, 1, (uint32_t)i, 0).v[0];
    if (of > 2 && among > 130) memcpy(b + 130 * bytes, a + 2 * bytes, (size_t)bytes);
    assert_int_equal(nearest_distances(&(struct nearest_pictures){a, of}, &(struct nearest_pictures){b, among}, bytes, far), 0);
    for (int64_t i = 0; i < of; i++) {
        int64_t least = INT32_MAX;
        for (int64_t k = 0; k < among; k++) {
            int64_t sum = 0;
            for (int64_t j = 0; j < bytes; j++) {
                const int apart = a[i * bytes + j] - b[k * bytes + j];
                sum += apart * apart;
            }
            least = sum < least ? sum : least;
        }
        assert_int_equal(far[i], least);
    }
    free(far);
    free(b);
    free(a);
}

TEST(the_nearest_picture_is_found)
{
    static const char *const sets[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setenv("DAWN_ISA", sets[i], 1), 0);
        check_nearest(1, 1, 1);
        check_nearest(9, 0, 5);
        check_nearest(7, 300, 784);
        check_nearest(4, 129, 77);
    }
    assert_int_equal(unsetenv("DAWN_ISA"), 0);
}

// ---- the judge

// Gives the judge these images of the drawn set as the generator's pictures.
static void feed_judge(void *state, struct dataset *ds, enum split split, int64_t count)
{
    uint8_t *images = malloc((size_t)(count * LENET_PICTURE));
    float *made = malloc((size_t)(count * LENET_PICTURE) * sizeof *made);
    int32_t *sample = malloc((size_t)count * sizeof *sample);
    assert_int_equal(dataset_read(ds, split, "images", 0, count, images), 0);
    for (int64_t i = 0; i < count * LENET_PICTURE; i++) made[i] = (float)images[i] / 127.5f - 1;
    for (int64_t i = 0; i < count; i++) sample[i] = (int32_t)i;
    struct judged b = {.sample = sample, .count = count};
    b.output[WGAN_PICTURES] = made, b.shape[WGAN_PICTURES] = SHAPE(count, 28, 28, 1);
    assert_int_equal(wgan_judge.batch(state, &b), 0);
    made[2 * LENET_PICTURE + 5] = NAN;
    assert_fails(wgan_judge.batch(state, &b), ERR_INPUT, "the generator made picture 3 with a value that is no number");
    free(sample);
    free(made);
    free(images);
}

static void judge_images(struct dataset *ds, enum split split, int64_t count, int64_t score[METRICS_MAX])
{
    void *state;
    assert_int_equal(wgan_judge.begin(NULL, ds, NULL, &state), 0);
    feed_judge(state, ds, split, count);
    assert_int_equal(wgan_judge.write(state, in("made.idx")), 0);
    assert_int_equal(wgan_judge.end(state, score), 0);
    assert_int_equal(wgan_judge.end(state, NULL), 0);
}

// Nothing is left of the pictures before.
static void judge_after_others(struct dataset *ds, int64_t score[METRICS_MAX])
{
    void *state;
    int64_t others[METRICS_MAX];
    assert_int_equal(wgan_judge.begin(NULL, ds, NULL, &state), 0);
    feed_judge(state, ds, SPLIT_TEST, 1000);
    assert_int_equal(wgan_judge.end(state, others), 0);
    feed_judge(state, ds, SPLIT_TRAIN, LENET_FEATURES - 1);
    assert_int_equal(wgan_judge.end(state, others), 0);
    assert_true(others[WGAN_DISTANCE] == METRIC_NONE);
    feed_judge(state, ds, SPLIT_TRAIN, 1000);
    assert_int_equal(wgan_judge.end(state, score), 0);
    assert_int_equal(wgan_judge.end(state, NULL), 0);
}

TEST_WITH(real_images_have_the_least_distance, set_up, leave)
{
    struct dataset *ds;
    struct text said = {0};
    int64_t test[METRICS_MAX], train[METRICS_MAX], few[METRICS_MAX];
    char *bytes, *images;
    size_t count;
    struct idx idx;
    assert_int_equal(dataset_open("mnist-drawn", NULL, &ds), 0);
    judge_images(ds, SPLIT_TEST, 1000, test);
    assert_true(test[WGAN_DISTANCE] >= 0 && test[WGAN_DISTANCE] < 10);  // millionths
    assert_int_equal(test[WGAN_COPIES], 0);
    judge_images(ds, SPLIT_TRAIN, 1000, train);
    assert_true(train[WGAN_DISTANCE] > 100000 && train[WGAN_DISTANCE] < 1000000);
    assert_int_equal(train[WGAN_COPIES], 1000000);
    judge_after_others(ds, few);
    assert_int_equal(few[WGAN_DISTANCE], train[WGAN_DISTANCE]);
    assert_int_equal(few[WGAN_COPIES], train[WGAN_COPIES]);
    judge_images(ds, SPLIT_TRAIN, LENET_FEATURES - 1, few);
    assert_true(few[WGAN_DISTANCE] == METRIC_NONE && few[WGAN_COPIES] == METRIC_NONE);

    // A file of pictures has the same bytes and the same score.
    assert_fails(wgan_judge.evaluate("mnist-drawn", in("made.idx"), true, &said), ERR_INPUT,
                 "made.idx has 83 samples of 84 features");
    judge_images(ds, SPLIT_TRAIN, 1000, train);
    assert_int_equal(file_read(in("made.idx"), 1 << 20, &bytes, &count), 0);
    assert_int_equal(idx_pictures("made", (const uint8_t *)bytes, count, &idx), 0);
    assert_int_equal(idx.count, 1000);
    images = malloc(1000 * LENET_PICTURE);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "images", 0, 1000, images), 0);
    assert_memory_equal(idx.at, images, 1000 * LENET_PICTURE);
    assert_int_equal(wgan_judge.evaluate("mnist-drawn", in("made.idx"), true, &said), 0);
    double distance = 0;
    assert_int_equal(sscanf(said.at, "{\"metric\": \"FD-random84\", \"distance\": %lf, \"copies\": 1,", &distance), 1);
    assert_true(fabs(distance * 1e6 - (double)train[WGAN_DISTANCE]) <= 1);
    free(images);
    free(bytes);
    text_free(&said);
    dataset_close(ds);
}

TEST_WITH(published_images_need_the_network, set_up, leave)
{
    static uint8_t pictures[IDX_PICTURES_HEAD + 90 * IDX_PICTURE] = {0, 0, 8, 3, 0, 0, 0, 90, 0, 0, 0, 28, 0, 0, 0, 28};
    static uint8_t labels[IDX_LABELS_HEAD + 90] = {0, 0, 8, 1, 0, 0, 0, 90};
    struct dataset *ds;
    void *judging;
    put("train-images-idx3-ubyte", pictures, sizeof pictures);
    put("train-labels-idx1-ubyte", labels, sizeof labels);
    put("t10k-images-idx3-ubyte", pictures, sizeof pictures);
    put("t10k-labels-idx1-ubyte", labels, sizeof labels);
    assert_int_equal(dataset_open("mnist", folder, &ds), 0);
    assert_fails(wgan_judge.begin(NULL, ds, NULL, &judging), ERR_MISSING, "lenet.pth is missing: the network in whose features");
    put("lenet.pth", "other", 5);
    assert_fails(wgan_judge.begin(NULL, ds, NULL, &judging), ERR_INPUT, "the network that scores has e4bed3817dd7723c");
    dataset_close(ds);
    assert_int_equal(dataset_open("synthetic", NULL, &ds), 0);
    assert_fails(wgan_judge.begin(NULL, ds, NULL, &judging), ERR_INPUT, "in gray and with 28 x 28 pixels, not 32 x 32 x 3");
    dataset_close(ds);
    pictures[7] = labels[7] = 50;
    put("t10k-images-idx3-ubyte", pictures, IDX_PICTURES_HEAD + 50 * IDX_PICTURE);
    put("t10k-labels-idx1-ubyte", labels, IDX_LABELS_HEAD + 50);
    assert_int_equal(dataset_open("mnist", folder, &ds), 0);
    assert_fails(wgan_judge.begin(NULL, ds, NULL, &judging), ERR_INPUT, "mnist has 50 test images: a distance in 84 features");
    dataset_close(ds);
}

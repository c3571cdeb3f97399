// SPDX-License-Identifier: Apache-2.0
// The features that FID is measured in, of random weights: batches, other files, and the judge of pictures in colours.
// test_inception holds the network to PyTorch, test/bench/torch_fid.py the whole at full size.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <math.h>

#include "data/dataset.h"
#include "data/read/cifar/cifar.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "tasks/wgan/pool3.h"
#include "tasks/wgan/wgan.h"

static uint8_t *read_pictures(enum split split, int64_t count)
{
    struct dataset *ds;
    uint8_t *pictures = malloc((size_t)(count * POOL3_PICTURE));
    assert_int_equal(dataset_open("synthetic", NULL, &ds), 0);
    assert_int_equal(dataset_read(ds, split, "images", 0, count, pictures), 0);
    dataset_close(ds);
    return pictures;
}

// 500 pictures run at once: the places of others, and what lies behind the last, change nothing.
TEST(features_do_not_depend_on_the_batch)
{
    enum { COUNT = 503 };
    struct pool3 *net;
    uint8_t *pictures = read_pictures(SPLIT_TEST, COUNT);
    float *all = malloc(COUNT * POOL3_DRAWN * sizeof *all), one[POOL3_DRAWN], most = 0;
    assert_int_equal(pool3_draw(NULL, &net), 0);
    assert_int_equal(pool3_features(net, pictures, COUNT, all), 0);
    static const int numbers[] = {0, 7, 499, 500, 502};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(pool3_features(net, pictures + numbers[i] * POOL3_PICTURE, 1, one), 0);
        for (int k = 0; k < POOL3_DRAWN; k++) {
            most = fmaxf(most, one[k]);
            assert_true(fabsf(one[k] - all[numbers[i] * POOL3_DRAWN + k]) <= 1e-5f * fabsf(one[k]) + 1e-6f);
        }
    }
    assert_true(most > 1);
    assert_int_equal(pool3_features(net, NULL, 0, all), 0);
    pool3_free(net);
    free(all);
    free(pictures);
}

TEST_WITH(other_weights_are_refused, set_up, leave)
{
    struct pool3 *net;
    put(POOL3_FILE, "weights", 7);
    assert_fails(pool3_open(in(POOL3_FILE), POOL3_DIGEST, NULL, &net), ERR_INPUT, "the network that scores has 6726825d");
    assert_null(net);
    assert_true(pool3_open(in("none.pth"), POOL3_DIGEST, NULL, &net) < 0);
    assert_fails(pool3_open("test/fuzz/seeds/pth/kinds", NULL, NULL, &net), ERR_INPUT, "kinds does not fit the model");
    assert_null(net);
}

// ---- the judge

static void give_pictures(void *state, const uint8_t *pictures, int64_t count)
{
    float *made = malloc((size_t)(count * POOL3_PICTURE) * sizeof *made);
    int32_t *sample = malloc((size_t)count * sizeof *sample);
    for (int64_t i = 0; i < count * POOL3_PICTURE; i++) made[i] = (float)pictures[i] / 127.5f - 1;
    for (int64_t i = 0; i < count; i++) sample[i] = (int32_t)i;
    struct judged b = {.sample = sample, .count = count};
    b.output[WGAN_PICTURES] = made;
    assert_int_equal(wgan_judge_colours.batch(state, &b), 0);
    free(sample);
    free(made);
}

// All training images are at no distance from themselves; the test images are near. Fewer than all have no score in a training,
// but one as a file.
TEST_WITH(pictures_in_colours_are_scored, set_up, leave)
{
    enum { TRAIN = 900, TEST = 200 };
    struct dataset *ds;
    void *judging;
    int64_t same[METRICS_MAX], few[METRICS_MAX];
    struct text said = {0};
    double distance = 0;
    uint8_t *train = read_pictures(SPLIT_TRAIN, TRAIN), *test = read_pictures(SPLIT_TEST, TEST);
    assert_int_equal(dataset_open_synthetic(TRAIN, TEST, &ds), 0);
    assert_int_equal(wgan_judge_colours.begin(NULL, ds, NULL, &judging), 0);
    give_pictures(judging, train, TRAIN);
    assert_int_equal(wgan_judge_colours.end(judging, same), 0);
    assert_true(same[WGAN_DISTANCE] >= 0 && same[WGAN_DISTANCE] < 20);  // millionths
    assert_int_equal(same[WGAN_COPIES], 1000000);
    give_pictures(judging, test, TEST);
    assert_int_equal(wgan_judge_colours.write(judging, in("made.bin")), 0);
    assert_int_equal(wgan_judge_colours.end(judging, few), 0);
    assert_true(few[WGAN_DISTANCE] == METRIC_NONE);
    assert_int_equal(wgan_judge_colours.end(judging, NULL), 0);
    assert_int_equal(wgan_judge_colours.evaluate("synthetic", in("made.bin"), true, &said), 0);
    assert_int_equal(sscanf(said.at, "{\"metric\": \"FD-random128\", \"distance\": %lf, \"copies\": 0,", &distance), 1);
    assert_true(distance > 1e-4 && distance < 10);
    put("made.bin", train, 100);
    assert_fails(wgan_judge_colours.evaluate("synthetic", in("made.bin"), true, &said), ERR_INPUT, "no multiple of the 3073");
    text_free(&said);
    dataset_close(ds);
    free(train);
    free(test);
}

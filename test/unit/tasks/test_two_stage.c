// SPDX-License-Identifier: Apache-2.0
// The two-stage detector as a task: its tables as values, batches whose boxes and masks follow the pixels, masks in the pixels of
// a picture.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/feed/feed.h"
#include "tasks/detection/detection.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/paste.h"
#include "tasks/detection/photos.h"
#include "tasks/detection/two_stage.h"

TEST(tables_are_those_of_the_host)
{
    struct maskrcnn o = maskrcnn_mini;
    o.rows = 96, o.columns = 128;
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "tables");
    keep(g, "boxes", two_stage_anchors(g, &o));
    keep(g, "numbers", two_stage_levels(g, &o));
    OK(session_add(s, g));
    OK(session_ready(s));
    OK(session_reset(s, 1));
    OK(session_run(s, 0));
    int64_t count = maskrcnn_anchors(&o, NULL), most = maskrcnn_levels(&o, NULL);
    float *want = zalloc((size_t)count * 4 * sizeof *want), *got = read_slot(s, "boxes");
    int32_t *levels = zalloc((size_t)most * sizeof *levels), *found = zalloc((size_t)most * sizeof *found);
    maskrcnn_anchors(&o, want);
    maskrcnn_levels(&o, levels);
    OK(session_get(s, "numbers", found, (size_t)most * sizeof *found));
    assert_memory_equal(got, want, (size_t)count * 4 * sizeof *want);
    assert_memory_equal(found, levels, (size_t)most * sizeof *found);
    free(want), free(got), free(levels), free(found);
    session_done(s);
}

// ---- batches

enum { SIDE_H = 96, SIDE_W = 128, TRUTHS = 16 };
struct sample {
    uint8_t images[SIDE_H * SIDE_W * 3];
    float truth[TRUTHS][4];
    int32_t class[TRUTHS];
    uint8_t masks[TRUTHS][SIDE_H][SIDE_W];
};

// Training samples of the drawn people with this key.
static void fill_samples(struct dataset *data, const char *key, struct sample *sample, int64_t count)
{
    struct recipe recipe;
    OK(recipe_embedded("people", &recipe));
    OK(recipe_set(&recipe, key));
    struct setting setting = {.task = &task_pennfudan, .recipe = &recipe, .model = two_stage_models, .data = dataset_facts(data)};
    struct feed_choice f = {.data = data, .split = SPLIT_TRAIN, .order = {.buckets = 1, .batch = {1}}};
    assert_int_equal(maskrcnn_named(two_stage_models->name)->truths, TRUTHS);
    OK(photos_feed(&setting, FEED_TRAIN, &f));
    OK(f.begin(f.context));
    void *worker = f.worker_new(f.context);
    for (int64_t i = 0; i < count; i++) {
        struct sample *s = &sample[i];
        void *field[] = {s->images, s->truth, s->class, s->masks};
        struct feed_item item = {.split = SPLIT_TRAIN, .index = i, .seed = 5, .epoch = (uint32_t)i, .worker = worker};
        OK(feed_one(&f, worker, &item, field));
    }
    f.worker_free(worker);
    f.end(f.context);
}

// Figures are dark on a light ground. A mask lies in its box and reaches its edges, but for half a pixel; of one that is cut off
// less may be left than of its box. No pixel has two. Returns the number of people that are not cut off.
static int check_masks(const struct sample *s)
{
    int people = 0, whole = 0;
    for (; people < TRUTHS && s->class[people] > 0; people++) {
        const float *box = s->truth[people];
        int left = SIDE_W, top = SIDE_H, right = 0, bottom = 0;
        int64_t pixels = 0, dark = 0;
        assert_int_equal(s->class[people], 1);
        for (int y = 0; y < SIDE_H; y++)
            for (int x = 0; x < SIDE_W; x++) {
                if (!s->masks[people][y][x]) continue;
                const uint8_t *p = s->images + 3 * (y * SIDE_W + x);
                pixels++, dark += p[0] < 180 && p[1] < 190 && p[2] < 175;
                left = x < left ? x : left, right = x + 1 > right ? x + 1 : right;
                top = y < top ? y : top, bottom = y + 1;
                for (int k = 0; k < people; k++) assert_false(s->masks[k][y][x]);
            }
        assert_true(pixels > 40 && dark > pixels * 9 / 10);
        const float is[4] = {(float)left, (float)top, (float)right, (float)bottom};
        bool cut = box[0] <= 0 || box[1] <= 0 || box[2] >= SIDE_W || box[3] >= SIDE_H;
        for (int e = 0; e < 4 && !cut; e++) assert_float_equal(is[e], box[e], 1.01);
        assert_true(is[0] > box[0] - 1.01f && is[1] > box[1] - 1.01f && is[2] < box[2] + 1.01f && is[3] < box[3] + 1.01f);
        whole += !cut;
    }
    for (int k = people; k < TRUTHS; k++)
        for (int e = 0; e < 4; e++) assert_float_equal(s->truth[k][e], 0, 0);
    return whole;
}

TEST(masks_follow_the_pixels)
{
    static const char *const keys[] = {"data.flip=never", "data.flip=random", "data.zoom=1.6,1.6", "data.zoom=0.7,0.7",
                                       "data.cache=100"};
    enum { SAMPLES = 8 };
    struct sample *s = zalloc(SAMPLES * sizeof *s);
    struct dataset *data;
    OK(dataset_open("people", NULL, &data));
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int seen = 0;
        fill_samples(data, keys[k], s, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) seen += check_masks(&s[i]);
        if (seen < 2) fail_msg("%s: %d people", keys[k], seen);
    }
    dataset_close(data);
    free(s);
}

// ---- masks in the pixels of a picture: test/bench/torch_maskrcnn.py printed these

TEST(masks_are_pasted_as_torchvision_does)
{
    enum { SIDE = 28 };
    static const struct {
        float box[4];
        int64_t pixels, sum;
    } rows[] = {
        {{5.3f, 4.2f, 25.7f, 28.9f}, 324, 152301},
        {{-3.5f, -2.25f, 12.5f, 9.75f}, 66, 11139},
        {{30.1f, 20.2f, 40, 30}, 69, 73546},
        {{7, 7, 7.5f, 20}, 15, 3089},
    };
    static const int32_t size[2] = {40, 30};
    float mask[SIDE * SIDE];
    uint8_t inside[40 * 30];
    for (int i = 0; i < SIDE * SIDE; i++) mask[i] = 0.5f + 0.45f * sinf(0.05f * (float)i) * cosf(0.031f * (float)i);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rle r = paste_mask(mask, SIDE, rows[i].box, size);
        int64_t pixels = 0, sum = 0;
        rle_decode(&r, inside);
        for (int k = 0; k < 40 * 30; k++) pixels += inside[k], sum += inside[k] ? k : 0;
        assert_int_equal(pixels, rows[i].pixels);
        assert_int_equal(sum, rows[i].sum);
        rle_free(&r);
    }
}

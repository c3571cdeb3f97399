// SPDX-License-Identifier: Apache-2.0
// The one-stage detector: anchors and their truths, boxes of answers, batches whose boxes follow the pixels, and a training step
// as PyTorch computes it.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/feed/feed.h"
#include "tasks/detection/anchors.h"
#include "data/read/voc/voc.h"
#include "runtime/boxes.h"
#include "tasks/detection/detect.h"
#include "tasks/detection/detection.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"
#include "tasks/detection/overlap_crop.h"

// ---- anchors

TEST(anchors_cover_three_levels)
{
    assert_int_equal(anchors_count(&retina_style, 240, 320), 3 * (30 * 40 + 15 * 20 + 8 * 10));
    struct anchors *a = anchors_new(&retina_style, 240, 320);
    assert_int_equal(a->count, 4740);
    assert_float_equal(a->at[0].x, 4, 0);
    assert_float_equal(a->at[0].width, 16, 0);
    assert_float_equal(a->at[4].x, 12, 0);
    assert_float_equal(a->at[2].height, 25.3984, 1e-4);
    assert_float_equal(a->at[3600].y, 8, 0);  // the second level
    assert_float_equal(a->at[4739].x, 304, 0);
    assert_float_equal(a->at[4739].y, 240, 0);
    anchors_free(a);
}

struct targets {
    int32_t label[8732];
    float delta[8732 * 4];
};

static int64_t match(const struct anchors *a, const float (*box)[4], const int32_t *class, int64_t boxes, struct targets *t)
{
    memset(t, 0, sizeof *t);
    return anchors_match(a, &(struct anchors_truth){box, class, boxes}, &(struct anchors_targets){t->label, t->delta});
}

TEST(anchors_take_the_truths_that_they_cover)
{
    struct anchors *a = anchors_new(&retina_style, 240, 320);
    struct targets *t = zalloc(sizeof *t);
    assert_int_equal(match(a, NULL, NULL, 0, t), 0);
    for (int i = 0; i < 4740; i++) assert_int_equal(t->label[i], -1);  // a picture without objects is all ground

    // A box that is an anchor: 16 x 16 about the cell in row 3 and column 5. Its neighbours overlap by a third: they are ground.
    const float exact[1][4] = {{5.5f * 8 - 8, 3.5f * 8 - 8, 5.5f * 8 + 8, 3.5f * 8 + 8}};
    const int32_t class[2] = {2, 0};
    const int64_t at = (3 * 40 + 5) * 3;
    assert_int_equal(match(a, exact, class, 1, t), 2);  // and the next size there: 0.63
    for (int k = 0; k < 4; k++) assert_float_equal(t->delta[4 * at + k], 0, 1e-6);
    assert_int_equal(t->label[at], 2);
    assert_float_equal(t->delta[4 * (at + 1) + 2], log(16 / 20.1587), 1e-5);
    assert_int_equal(t->label[at + 3], -1);
    assert_int_equal(t->label[at + 2], -1);  // 0.397: ground

    // A flat box that no anchor covers by half still has its best one. Where two share it, the last has it.
    const float flat[2][4] = {{40, 40, 90, 46}, {40, 40, 90, 46}};
    assert_int_equal(match(a, flat, class, 2, t), 1);
    int64_t best = 0;
    while (t->label[best] < 0) best++;
    assert_int_equal(t->label[best], 0);
    float box[4];
    anchors_move(a, best, t->delta + 4 * best, box);
    for (int k = 0; k < 4; k++) assert_float_equal(box[k], flat[0][k], 1e-3);
    free(t);
    anchors_free(a);
}

TEST(overlaps_between_the_bounds_do_not_count)
{
    struct anchors *a = anchors_new(&retina_style, 240, 320);
    struct targets *t = zalloc(sizeof *t);
    const float box[1][4] = {{36, 20, 52, 36}}, wide[1][4] = {{32, 16, 56, 40}};
    const int32_t class[1] = {1};
    match(a, wide, class, 1, t);
    for (int64_t i = 0; i < a->count; i++) {
        const float half = a->at[i].width / 2,
                    is[4] = {a->at[i].x - half, a->at[i].y - half, a->at[i].x + half, a->at[i].y + half};
        float overlap = box_overlap(is, wide[0]);
        assert_int_equal(t->label[i], overlap >= 0.5f ? 1 : overlap < 0.4f ? -1 : -2);
    }
    assert_float_equal(box_overlap(box[0], wide[0]), 256.0 / 576, 1e-6);
    free(t);
    anchors_free(a);
}

static double along(const float *x, int64_t count, int64_t step)  // the sum of x[i step] cos(i)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)x[i * step] * cos((double)i);
    return sum;
}

// As MLPerf's reference has them; test/bench/torch_detectors.py printed these for its rules.
TEST(anchors_of_ssd_and_their_truths)
{
    static const float box[][4] = {{30, 40, 120, 200}, {35, 45, 110, 190}, {5, 5, 9, 12}, {0, 0, 300, 300}, {200, 100, 260, 130}};
    static const int32_t class[] = {0, 1, 2, 0, 1};
    static const double ANCHORS[4] = {2.1668306, 0.96340195, -0.409387703, -1.45474069};
    struct anchors *a = anchors_new(&ssd_style, 300, 300);
    struct targets *t = zalloc(sizeof *t);
    assert_int_equal(a->count, 8732);
    for (int k = 0; k < 4; k++) assert_float_equal(along(&a->at[0].x + k, a->count, 4) / 300, ANCHORS[k], 1e-5);
    assert_int_equal(match(a, box, class, 5, t), 19);
    double labels = 0, deltas = 0;
    for (int64_t i = 0; i < a->count; i++) labels += t->label[i] * cos((double)i);
    for (int k = 0; k < 4; k++) deltas += along(t->delta + k, a->count, 4);
    assert_float_equal(labels, 4.36901943, 1e-6);
    assert_float_equal(deltas, -13.2397534, 1e-4);
    anchors_free(a);
    // There is no space for the last two levels.
    assert_int_equal(anchors_count(&ssd_style, 128, 160), 4 * 16 * 20 + 6 * (8 * 10 + 4 * 5 + 2 * 3));
    assert_int_equal(anchors_count(&efficientdet_style, 512, 512), 49104);
    free(t);
}

// ---- boxes of answers

// Answers of a small input: all logits are low but for those that a test sets.
struct answers {
    struct anchors *anchors;
    float *logits, *deltas;
    int views;
};

static struct answers no_answers(const struct anchors_style *style, int views)
{
    struct answers a = {.anchors = anchors_new(style, 64, 64), .views = views};
    a.logits = zalloc((size_t)(a.anchors->count * views) * 2 * sizeof *a.logits);
    a.deltas = zalloc((size_t)(a.anchors->count * views) * 4 * sizeof *a.deltas);
    for (int64_t i = 0; i < 2 * a.anchors->count * views; i++) a.logits[i] = -9;
    return a;
}

static int detect_in(const struct answers *a, struct detection found[DETECT_MOST])
{
    return detect(a->anchors, &(struct detect_answers){a->logits, a->deltas, 2, a->views, 128, 192}, found);
}

static void answers_free(struct answers *a)
{
    anchors_free(a->anchors);
    free(a->logits), free(a->deltas);
}

TEST(boxes_that_overlap_a_better_one_are_dropped)
{
    struct anchors_style alone = retina_style;
    alone.averaged = 0;
    struct answers a = no_answers(&alone, 1);
    struct detection found[DETECT_MOST];
    assert_int_equal(detect_in(&a, found), 0);
    const int64_t at = (2 * 8 + 3) * 3;
    a.logits[2 * at] = 1, a.logits[2 * (at + 1)] = 2, a.logits[2 * at + 1] = 0.5f;  // 0.63 of each other; another class
    a.logits[2 * (at + 6)] = 1;  // two cells to the right: apart
    assert_int_equal(detect_in(&a, found), 3);
    assert_float_equal(found[0].score, 1 / (1 + exp(-2)), 1e-6);
    assert_float_equal(found[1].score, 1 / (1 + exp(-1)), 1e-6);
    assert_int_equal(found[1].class, 0);
    assert_int_equal(found[2].class, 1);
    // The picture has 192 x 128 pixels, the input 64 x 64; the box ends at its edge.
    assert_float_equal(found[2].box[0], (3.5 * 8 - 8) * 3, 1e-4);
    assert_float_equal(found[2].box[3], (2.5 * 8 + 8) * 2, 1e-4);
    a.deltas[4 * at + 2] = 90, a.logits[2 * at + 1] = 7;  // too wide now to overlap the others by half
    assert_int_equal(detect_in(&a, found), 4);
    assert_int_equal(found[0].class, 1);
    assert_float_equal(found[0].box[0], 0, 0);
    assert_float_equal(found[0].box[2], 192, 0);
    answers_free(&a);
}

// Sides of 16, 20.2 and 25.4 pixels about (28, 20): overlaps of 0.63 and 0.397 with the first.
TEST(a_box_is_averaged_with_worse_ones_that_overlap_it)
{
    struct answers a = no_answers(&retina_style, 1);
    struct detection found[DETECT_MOST];
    const int64_t at = (2 * 8 + 3) * 3;
    a.logits[2 * at] = 1, a.logits[2 * (at + 1)] = 0.5f, a.logits[2 * (at + 2)] = 0.4f;
    a.deltas[4 * (at + 1) + 2] = a.deltas[4 * (at + 1) + 3] = logf(18 / (16 * cbrtf(2)));  // to 18 pixels: 0.79 of the best
    assert_int_equal(detect_in(&a, found), 2);  // the largest overlaps the best by less than half
    const double best = 1 / (1 + exp(-1)), other = 1 / (1 + exp(-0.5)), half = (8 * best + 9 * other) / (best + other);
    assert_float_equal(found[0].score, best, 1e-6);
    assert_float_equal(found[0].box[0], (28 - half) * 3, 1e-4);
    assert_float_equal(found[0].box[3], (20 + half) * 2, 1e-4);
    answers_free(&a);
}

// A box that all views find at its mirrored position is one; without averaging it is the best view's.
TEST(views_are_turned_back)
{
    struct anchors_style alone = retina_style;
    alone.averaged = 0;
    struct answers a = no_answers(&alone, 4);
    struct detection found[DETECT_MOST];
    const int64_t count = a.anchors->count, x[] = {1, 6, 1, 6}, y[] = {2, 2, 5, 5};
    for (int v = 0; v < 4; v++) {
        int64_t at = v * count + (y[v] * 8 + x[v]) * 3;
        a.logits[2 * at] = (float)v, a.deltas[4 * at] = v & 1 ? -0.125f : 0.125f;  // 2 pixels to the right
    }
    assert_int_equal(detect_in(&a, found), 1);
    assert_float_equal(found[0].score, 1 / (1 + exp(-3)), 1e-6);
    const double want[] = {(1.5 * 8 + 2 - 8) * 3, (2.5 * 8 - 8) * 2, (1.5 * 8 + 2 + 8) * 3, (2.5 * 8 + 8) * 2};
    for (int k = 0; k < 4; k++) assert_float_equal(found[0].box[k], want[k], 1e-4);
    answers_free(&a);
}

TEST(a_picture_has_a_hundred_boxes_at_most)
{
    struct answers a = no_answers(&retina_style, 1);
    struct detection found[DETECT_MOST];
    for (int64_t i = 0; i < 64; i++) a.logits[2 * 3 * i] = a.logits[2 * 3 * i + 1] = 1 + 0.001f * (float)i;
    for (int64_t i = 0; i < 3 * 64; i++) a.deltas[4 * i + 2] = a.deltas[4 * i + 3] = -2;  // small ones, all apart
    assert_int_equal(detect_in(&a, found), 100);
    for (int i = 1; i < 100; i++) assert_true(found[i - 1].score >= found[i].score);
    assert_int_equal(found[0].class, 0);  // of equal scores the lower class
    assert_int_equal(found[1].class, 1);
    a.logits[0] = -2.9f, a.logits[1] = -3;  // scores of 0.052 and 0.047
    for (int64_t i = 2; i < 2 * a.anchors->count; i++) a.logits[i] = -9;
    assert_int_equal(detect_in(&a, found), 1);
    answers_free(&a);
}

// ---- batches

enum { SIDE_H = 128, SIDE_W = 160 };
struct sample {
    uint8_t images[SIDE_H * SIDE_W * 3];
    int32_t label[2048];
    float delta[2048 * 4];
};

// A sample of the drawn cells with this key.
static void fill_fields(const char *key, struct feed_item item, void *field[])
{
    struct recipe recipe;
    struct dataset *data;
    OK(recipe_embedded("cells", &recipe));
    OK(recipe_set(&recipe, key));
    OK(dataset_open("cells", NULL, &data));
    struct setting setting = {.task = &task_bccd, .recipe = &recipe, .model = detector_models, .data = dataset_facts(data)};
    struct feed_choice f = {.data = data, .split = item.split, .order = {.buckets = 1, .batch = {1}}};
    OK(task_bccd.feed(&setting, item.split == SPLIT_TRAIN ? FEED_TRAIN : FEED_TEST, &f));
    f.order.batch[0] = 1;
    OK(f.begin(f.context));
    item.worker = f.worker_new(f.context);
    OK(feed_one(&f, item.worker, &item, field));
    f.worker_free(item.worker);
    f.end(f.context);
    dataset_close(data);
}

static void fill_one(const char *key, int64_t index, uint32_t epoch, struct sample *s)
{
    void *field[] = {s->images, s->label, s->delta};
    assert_true(anchors_count(&retina_style, SIDE_H, SIDE_W) <= 2048);
    fill_fields(key, (struct feed_item){.split = SPLIT_TRAIN, .index = index, .seed = 5, .epoch = epoch}, field);
}

// A truth's middle has the colour of its class: blood cells are red, the others more blue than green.
static int check_colours(const struct sample *s)
{
    struct anchors *a = anchors_new(&retina_style, SIDE_H, SIDE_W);
    int seen = 0;
    for (int64_t i = 0; i < a->count; i++) {
        float box[4];
        if (s->label[i] < 0) continue;
        anchors_move(a, i, s->delta + 4 * i, box);
        int x = (int)((box[0] + box[2]) / 2), y = (int)((box[1] + box[3]) / 2);
        assert_true(x >= 0 && x < SIDE_W && y >= 0 && y < SIDE_H);
        if (box[0] < 1 || box[1] < 1 || box[2] > SIDE_W - 1 || box[3] > SIDE_H - 1) continue;  // may be cut off
        const uint8_t *p = s->images + 3 * (y * SIDE_W + x);
        bool red = s->label[i] == 0;
        if (red ? p[0] < p[2] + 30 : p[2] < p[1] + 30)
            fail_msg("at %d, %d a %s cell has the colour %d %d %d", x, y, red ? "red" : "other", p[0], p[1], p[2]);
        seen++;
    }
    anchors_free(a);
    return seen;
}

TEST(boxes_follow_the_pixels)
{
    static const char *const keys[] = {"data.flip=never", "data.zoom=1.4,1.4", "data.zoom=0.7,0.7", "data.zoom=0.7,1.4",
                                       "data.cache=100", "data.jitter=0.1,0.1,0.2,0.02", "data.crop=overlap"};
    struct sample *s = zalloc(sizeof *s);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int seen = 0;
        for (int64_t i = 0; i < 8; i++) {
            memset(s, 0, sizeof *s);
            fill_one(keys[k], i, (uint32_t)i, s);
            seen += check_colours(s);
        }
        assert_true(seen > 20);
    }
    free(s);
}

TEST(a_sample_depends_on_seed_epoch_and_index_alone)
{
    struct sample *s = zalloc(3 * sizeof *s);
    fill_one("data.zoom=0.7,1.4", 3, 1, &s[0]);
    fill_one("data.zoom=0.7,1.4", 3, 1, &s[1]);
    fill_one("data.zoom=0.7,1.4", 3, 2, &s[2]);
    assert_memory_equal(&s[0], &s[1], sizeof *s);
    assert_memory_not_equal(&s[0], &s[2], sizeof *s);
    free(s);
}

TEST(views_of_a_picture_are_mirrored)
{
    static uint8_t one[SIDE_H][SIDE_W][3], all[4][SIDE_H][SIDE_W][3];
    fill_fields("evaluation.views=1", (struct feed_item){.split = SPLIT_TEST, .index = 3}, (void *[]){one});
    fill_fields("evaluation.views=4", (struct feed_item){.split = SPLIT_TEST, .index = 3}, (void *[]){all});
    for (int v = 0; v < 4; v++)
        for (int y = 0; y < SIDE_H; y++)
            for (int x = 0; x < SIDE_W; x++)
                assert_memory_equal(all[v][y][x], one[v & 2 ? SIDE_H - 1 - y : y][v & 1 ? SIDE_W - 1 - x : x], 3);
}

// ---- parts that the boxes overlap, against MLPerf's rule word by word with another generator

struct crops {
    double whole, left, top, width, height, kept;  // sums over the draws
};

static void add_crop(struct crops *c, const struct area *a, const float (*box)[4], int64_t boxes)
{
    c->whole += a->width == 1 && a->height == 1;
    c->left += a->left, c->top += a->top, c->width += a->width, c->height += a->height;
    for (int64_t i = 0; i < boxes; i++) {
        double x = (double)(box[i][0] + box[i][2]) / 2, y = (double)(box[i][1] + box[i][3]) / 2;
        c->kept += x > a->left && x < a->left + a->width && y > a->top && y < a->top + a->height;
    }
}

static double uniform(double low, double high)
{
    return low + (high - low) * (random() / 2147483648.0);
}

static double overlap_with(const float b[4], const struct area *a)
{
    double w = fmin((double)b[2], a->left + a->width) - fmax((double)b[0], a->left);
    double h = fmin((double)b[3], a->top + a->height) - fmax((double)b[1], a->top);
    double both = w > 0 && h > 0 ? w * h : 0;
    return both / ((double)(b[2] - b[0]) * (double)(b[3] - b[1]) + a->width * a->height - both);
}

static struct area mlperf_crop(const float (*box)[4], int64_t boxes)
{
    static const double least[] = {0.1, 0.3, 0.5, 0.7, 0.9, -INFINITY};
    while (true) {
        int mode = (int)(random() % 7);
        if (mode == 6) return (struct area){0, 0, 1, 1};
        double w = uniform(0.3, 1), h = uniform(0.3, 1);
        if (w / h < 0.5 || w / h > 2) continue;
        struct area a = {uniform(0, 1 - w), uniform(0, 1 - h), w, h};
        struct crops inside = {0};
        bool all = true;
        for (int64_t i = 0; i < boxes; i++) all = all && overlap_with(box[i], &a) > least[mode];
        add_crop(&inside, &a, box, boxes);
        if (all && inside.kept > 0) return a;
    }
}

TEST(parts_are_distributed_as_mlperfs)
{
    enum { DRAWS = 20000 };
    static const float box[][4] = {{0.1f, 0.2f, 0.7f, 0.9f}, {0.5f, 0.5f, 0.6f, 0.65f}, {0.05f, 0.1f, 0.95f, 0.8f}};
    for (int64_t boxes = 0; boxes <= 3; boxes++) {
        struct crops is = {0}, want = {0};
        srandom(1);
        for (int i = 0; i < DRAWS; i++) {
            struct area a = overlap_crop(3, (uint32_t)(i / 500), i % 500, box, boxes), b = mlperf_crop(box, boxes);
            assert_true(a.left >= 0 && a.top >= 0 && a.left + a.width <= 1 && a.top + a.height <= 1);
            add_crop(&is, &a, box, boxes);
            add_crop(&want, &b, box, boxes);
        }
        const double gaps[] = {is.whole - want.whole, is.left - want.left, is.top - want.top, is.width - want.width,
                               is.height - want.height, is.kept - want.kept};
        for (int k = 0; k < 6; k++)  // 4 sigma of a difference; kept is up to 3
            if (fabs(gaps[k]) / DRAWS > (k == 5 ? 0.03 : 0.015))
                fail_msg("%d boxes: sum %d differs by %g", (int)boxes, k, gaps[k]);
        assert_true(boxes > 0 || is.whole == DRAWS);
    }
}

TEST(parts_keep_the_boxes_whose_centres_they_have)
{
    static const float box[][4] = {{0.125f, 0.125f, 0.5f, 0.5f}, {0.25f, 0, 0.3f, 1}, {0, 0, 0.75f, 0.125f}};
    const struct area a = {0.3125, 0.125, 0.5, 0.5};
    assert_false(overlap_crop_keeps(&a, box[0]));  // its centre is on the border
    assert_false(overlap_crop_keeps(&a, box[1]));
    assert_false(overlap_crop_keeps(&a, box[2]));
    assert_true(overlap_crop_keeps(&(struct area){0.3, 0.125, 0.5, 0.5}, box[0]));
}

// ---- training steps compared with PyTorch's: test/bench/torch_detectors.py printed these

enum { N = 2, CLASSES = 2, ANSWERS = 4, INPUTS_MOST = N * 300 * 300 * 3, ANCHORS_MOST = N * 8732 };
static const struct network {
    const char *keys[8];
    int height, width;
    double part;  // of the sum of absolute gradients, by which sums may differ
    double loss[2], rows, logits[ANSWERS], deltas[ANSWERS];
    struct golden gradient[32];
    const char *also;  // of the waves
} networks[] = {
    {
        .keys = {"model=retina", "model.widths=4,5,6,7,8", "model.pyramid=6", "data.height=40", "data.width=56",
                 "loss.classes=focal", "loss.boxes=smooth"},
        .height = 40, .width = 56, .part = 1e-5,
        .loss = {121.138318, 67.6861317}, .rows = 28,
        .logits = {-0.192680509, -0.354808468, -0.227734602, -0.289940042},
        .deltas = {0.391448041, -0.287405961, -1.07659318, 0.0226465603},
        .gradient = {{"stem.", 2.88004244}, {"stage1.", 31.5227941}, {"stage2.", 4.54238412},
                     {"stage3.", 8.23118093}, {"stage4.", -3.64839502}, {"pyramid1.", -4.88846759},
                     {"pyramid2.", -0.620554353}, {"pyramid3.", 1.31299862}, {"classes.", -1.68360441},
                     {"boxes.", 0.564310969}},
    },
    {
        .keys = {"model=retina", "model.widths=4,5,6,7,8", "model.pyramid=6", "data.height=40", "data.width=56",
                 "loss.classes=varifocal", "loss.boxes=giou"},
        .height = 40, .width = 56, .part = 1e-5,
        .loss = {122.036553, 32.3262898}, .rows = 28,
        .logits = {-0.192680509, -0.354808468, -0.227734602, -0.289940042},
        .deltas = {0.391448041, -0.287405961, -1.07659318, 0.0226465603},
        .gradient = {{"stem.", 0.502166992}, {"stage1.", 24.0102562}, {"stage2.", 3.92633877},
                     {"stage3.", 7.60014029}, {"stage4.", -1.40814047}, {"pyramid1.", -3.65252356},
                     {"pyramid2.", 0.391994324}, {"pyramid3.", 0.824705897}, {"classes.", -1.51433071},
                     {"boxes.", 0.518306744}},
    },
    {
        .keys = {"model=ssd", "model.widths=8,8,8,8,8", "loss.beta=1", "data.height=300", "data.width=300"},
        .height = 300, .width = 300, .part = 1e-4, .also = "downsample.1",
        .loss = {68.703947, 26.999831}, .rows = 2,
        .logits = {-11.9599884, -0.218010007, 0.0645503456, -0.210361577},
        .deltas = {4.30232039, -0.0778539541, 4.24111675, -0.0775178138},
        .gradient = {{"conv1.", 10.3163543}, {"bn1.", -2.47527456}, {"layer1.", -8.3870757}, {"layer2.", 1.57364382},
                     {"layer3.", 22.0156589}, {"extra1.", 1.30701888}, {"extra2.", 0.00273438262},
                     {"extra3.", 0.00464503503}, {"extra4.", -0.00211937532}, {"extra5.", -2.96029416e-05},
                     {"classes.", -10.2353495}, {"boxes.", -0.399982373}},
    },
    {
        .keys = {"model=efficientdet-d0", "model.widths=4,3,4,5,4,6,5,7", "model.pyramid=6", "loss.gamma=1.5",
                 "data.height=128", "data.width=160", "loss.classes=focal", "loss.boxes=smooth"},
        .height = 128, .width = 160, .part = 1e-4, .also = ".weights",
        .loss = {2368.12593, 514.475087}, .rows = 701,
        .logits = {0.185254204, 0.0498097013, 0.063508657, 0.14177403},
        .deltas = {-0.0460492086, -0.160202602, -0.0689611669, -0.155719969},
        .gradient = {{"stem.", 5.69158666}, {"stage1.", 0.291663945}, {"stage2.", -2.31078809},
                     {"stage3.", -0.9555851}, {"stage4.", -0.127818246}, {"stage5.", -0.264138588},
                     {"stage6.", -0.0107649089}, {"stage7.", 0.186674028}, {"level4.", 0.0265723475},
                     {"cell1.", 0.151028664}, {"cell2.", 0.101499383}, {"cell3.", -0.345163268},
                     {"classes.", 0.13678587}, {"boxes.", 0.157318899}},
    },
};

static void put_inputs(struct session *s, const struct network *n, int anchors, int none)
{
    static float x[INPUTS_MOST], deltas[ANCHORS_MOST * 4];
    static int32_t labels[ANCHORS_MOST], negatives[N];
    const int inputs = N * n->height * n->width * 3, all = N * anchors;
    for (int i = 0; i < inputs; i++) x[i] = (float)sin(0.11 * i + 0.3 * sin(0.013 * i));
    for (int i = 0; i < all; i++) {
        labels[i] = i % 11 == 5 ? none + 1 + i / 11 % CLASSES : i % 7 == 3 && none < 0 ? none - 1 : none;
        if (i % anchors == 0) negatives[i / anchors] = 0;
        negatives[i / anchors] += 3 * (labels[i] > none);
    }
    for (int i = 0; i < all * 4; i++) deltas[i] = (float)(0.3 * sin(0.7 * i));
    OK(session_put(s, "x", x, 0, (size_t)inputs * sizeof *x));
    OK(session_put(s, "labels", labels, 0, (size_t)all * sizeof *labels));
    OK(session_put(s, "deltas", deltas, 0, (size_t)all * 4 * sizeof *deltas));
    if (none == 0) OK(session_put(s, "negatives", negatives, 0, sizeof negatives));
}

static int integers(struct graph *g, const char *name, struct shape shape)
{
    return graph_state(g, name, shape, I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
}

static void check_answers(struct session *s, const char *slot, int count, const double want[ANSWERS])
{
    float *is = read_slot(s, slot);
    for (int64_t k = 1; k <= ANSWERS; k++) assert_float_equal(is[k * (count - 1) / 4], want[k - 1], 1e-4);
    free(is);
}

static void compare_with_pytorch(const struct network *n, const char *device)
{
    static const struct task_program program = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL};
    const struct waves waves = {.norm = "bn", .also = n->also, .scale = 0.2, .weight = 0.3, .rest = 0.1, .angle = 0.37,
                                .square = true};
    struct recipe recipe;
    struct setting setting = {.task = &task_bccd, .data = &(struct dataset_facts){.classes = CLASSES}, .recipe = &recipe,
                              .dtype = F32};
    OK(recipe_embedded("bccd", &recipe));
    int keys = 0;
    while (keys < 8 && n->keys[keys]) keys++;
    OK(recipe_set_all(&recipe, n->keys, keys));
    OK(task_find_model(&task_bccd, recipe.model, &setting.model));
    const struct anchors_style *style = detector_style(setting.model);
    const int anchors = (int)anchors_count(style, n->height, n->width);
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "train");
    struct step step = {.g = g, .setting = &setting, .program = &program, .index = NONE};
    g->trains = ANY;
    int in[MODEL_VALUES] = {input(g, "x", SHAPE(N, n->height, n->width, 3))}, out[MODEL_VALUES];
    struct detector_targets targets = {integers(g, "labels", SHAPE(N, anchors)), input(g, "deltas", SHAPE(N, anchors, 4)), NONE};
    if (style->none == 0) targets.negatives = integers(g, "negatives", SHAPE(N));
    setting.model->forward(&step, in, out);
    struct detector_losses loss = detector_losses(&step, out, &targets);
    OK(graph_check(g));
    keep(g, "class", loss.class), keep(g, "box", loss.box), keep(g, "rows", loss.rows);
    keep(g, "logits", out[0]), keep(g, "moves", out[1]);
    int parameters = keep_gradients(g, g_scale(g, g_add(g, loss.class, loss.box), (float)(1 / n->rows)));
    OK(session_add(s, g));
    start(s);
    put_waves(s, &waves);
    put_inputs(s, n, anchors, style->none);
    OK(session_run(s, 0));
    check_answers(s, "logits", N * anchors * (CLASSES + style->none + 1), n->logits);
    check_answers(s, "moves", N * anchors * 4, n->deltas);
    assert_float_equal(read_one(s, "class"), n->loss[0], 1e-5 * n->loss[0]);
    assert_float_equal(read_one(s, "box"), n->loss[1], 1e-5 * n->loss[1]);
    assert_float_equal(read_one(s, "rows"), n->rows, 0);
    assert_int_equal(compare_gradients(s, n->gradient, n->part, true), parameters);
    session_done(s);
}

TEST(networks_equal_pytorch)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        compare_with_pytorch(&networks[i], "ref");
        compare_with_pytorch(&networks[i], "cpu");
    }
}

TEST(has_as_many_parameters_as_its_peer)
{
    struct bench b;
    bench_choose(&b, &task_bccd, "bccd", (const char *const[]){NULL});
    OK(device_open("null", 1, &b.device));
    OK(dataset_open_noise("bccd", &b.data));
    bench_new(&b);
    assert_int_equal(trainer_parameters(b.trainer), 1301733);
    bench_close(&b);
}

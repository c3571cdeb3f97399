// SPDX-License-Identifier: Apache-2.0
// The one-stage detector: anchors and their truths, boxes of answers, batches whose boxes follow the pixels, and a training step
// as PyTorch computes it.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_network.h"

#include "data/feed/feed.h"
#include "tasks/detection/anchors.h"
#include "tasks/detection/detect.h"
#include "tasks/detection/detection.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/retina.h"

// ---- anchors

TEST(anchors_cover_three_levels)
{
    assert_int_equal(anchors_count(240, 320), 3 * (30 * 40 + 15 * 20 + 8 * 10));
    struct anchors *a = anchors_new(240, 320);
    assert_int_equal(a->count, 4740);
    assert_float_equal(a->at[0].x, 4, 0);
    assert_float_equal(a->at[0].side, 16, 0);
    assert_float_equal(a->at[4].x, 12, 0);
    assert_float_equal(a->at[2].side, 25.3984, 1e-4);
    assert_float_equal(a->at[3600].y, 8, 0);  // the second level
    assert_float_equal(a->at[4739].x, 304, 0);
    assert_float_equal(a->at[4739].y, 240, 0);
    anchors_free(a);
}

struct targets {
    float sign[4740 * 3], delta[4740 * 4], taken[4740 * 4];
};

static void match(const struct anchors *a, const float (*box)[4], const int32_t *class, int64_t boxes, struct targets *t)
{
    memset(t, 0, sizeof *t);
    anchors_match(a, &(struct anchors_truth){box, class, boxes, 3}, &(struct anchors_targets){t->sign, t->delta, t->taken});
}

static int count_taken(const struct targets *t)
{
    int count = 0;
    for (int64_t i = 0; i < 4740; i++) count += t->taken[4 * i] > 0;
    return count;
}

TEST(anchors_take_the_truths_that_they_cover)
{
    struct anchors *a = anchors_new(240, 320);
    struct targets *t = zalloc(sizeof *t);
    match(a, NULL, NULL, 0, t);
    assert_int_equal(count_taken(t), 0);
    for (int i = 0; i < 4740 * 3; i++) assert_float_equal(t->sign[i], 1, 0);  // a picture without objects is all ground

    // A box that is an anchor: 16 x 16 about the cell in row 3 and column 5. Its neighbours overlap by a third: they are ground.
    const float exact[1][4] = {{5.5f * 8 - 8, 3.5f * 8 - 8, 5.5f * 8 + 8, 3.5f * 8 + 8}};
    const int32_t class[2] = {2, 0};
    const int64_t at = (3 * 40 + 5) * 3;
    match(a, exact, class, 1, t);
    assert_int_equal(count_taken(t), 2);  // and the next size there: 0.63
    for (int k = 0; k < 4; k++) assert_float_equal(t->delta[4 * at + k], 0, 1e-6);
    assert_float_equal(t->sign[3 * at + 2], -1, 0);
    assert_float_equal(t->sign[3 * at], 1, 0);
    assert_float_equal(t->delta[4 * (at + 1) + 2], log(16 / 20.1587), 1e-5);
    assert_float_equal(t->sign[3 * (at + 3)], 1, 0);
    assert_float_equal(t->sign[3 * (at + 2) + 1], 1, 0);  // 0.397: ground

    // A flat box that no anchor covers by half still has its best one. Where two share it, the last has it.
    const float flat[2][4] = {{40, 40, 90, 46}, {40, 40, 90, 46}};
    match(a, flat, class, 2, t);
    assert_int_equal(count_taken(t), 1);
    int64_t best = 0;
    while (t->taken[4 * best] == 0) best++;
    assert_float_equal(t->sign[3 * best], -1, 0);
    assert_float_equal(t->sign[3 * best + 2], 1, 0);
    float box[4];
    anchors_move(&a->at[best], t->delta + 4 * best, box);
    for (int k = 0; k < 4; k++) assert_float_equal(box[k], flat[0][k], 1e-3);
    free(t);
    anchors_free(a);
}

TEST(overlaps_between_the_bounds_do_not_count)
{
    struct anchors *a = anchors_new(240, 320);
    struct targets *t = zalloc(sizeof *t);
    const float box[1][4] = {{36, 20, 52, 36}}, wide[1][4] = {{32, 16, 56, 40}};
    const int32_t class[1] = {1};
    match(a, wide, class, 1, t);
    for (int64_t i = 0; i < a->count; i++) {
        const float half = a->at[i].side / 2,
                    is[4] = {a->at[i].x - half, a->at[i].y - half, a->at[i].x + half, a->at[i].y + half};
        float overlap = anchors_overlap(is, wide[0]);
        assert_float_equal(t->taken[4 * i], overlap >= 0.5f, 0);
        assert_float_equal(t->sign[3 * i], overlap >= 0.5f || overlap < 0.4f, 0);
    }
    assert_float_equal(anchors_overlap(box[0], wide[0]), 256.0 / 576, 1e-6);
    free(t);
    anchors_free(a);
}

// ---- boxes of answers

// Answers of a small input: all logits are low but for those that a test sets.
struct answers {
    struct anchors *anchors;
    float *logits, *deltas;
};

static struct answers no_answers(void)
{
    struct answers a = {.anchors = anchors_new(64, 64)};
    a.logits = zalloc((size_t)a.anchors->count * 2 * sizeof *a.logits);
    a.deltas = zalloc((size_t)a.anchors->count * 4 * sizeof *a.deltas);
    for (int64_t i = 0; i < 2 * a.anchors->count; i++) a.logits[i] = -9;
    return a;
}

static int detect_in(const struct answers *a, struct detection found[DETECT_MOST])
{
    return detect(a->anchors, &(struct detect_answers){a->logits, a->deltas, 2, 128, 192}, found);
}

static void answers_free(struct answers *a)
{
    anchors_free(a->anchors);
    free(a->logits), free(a->deltas);
}

TEST(boxes_that_overlap_a_better_one_are_dropped)
{
    struct answers a = no_answers();
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

TEST(a_picture_has_a_hundred_boxes_at_most)
{
    struct answers a = no_answers();
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
    float sign[2048 * 3], delta[2048 * 4], taken[2048 * 4];
};

// A training sample of the drawn cells with these keys.
static void fill_one(const char *key, int64_t index, uint32_t epoch, struct sample *s)
{
    struct recipe recipe;
    struct dataset *data;
    OK(recipe_embedded("cells", &recipe));
    OK(recipe_set(&recipe, key));
    OK(dataset_open("cells", NULL, &data));
    struct setting setting = {.task = &task_bccd, .recipe = &recipe, .model = retina_models, .data = dataset_facts(data)};
    struct feed_choice f = {.data = data, .split = SPLIT_TRAIN, .order = {.buckets = 1, .batch = {1}}};
    OK(task_bccd.feed(&setting, FEED_TRAIN, &f));
    OK(f.begin(f.context));
    void *worker = f.worker_new(f.context), *field[] = {s->images, s->sign, s->delta, s->taken};
    assert_true(anchors_count(SIDE_H, SIDE_W) <= 2048);
    struct feed_item item = {.split = SPLIT_TRAIN, .index = index, .seed = 5, .epoch = epoch, .worker = worker};
    OK(feed_one(&f, worker, &item, field));
    f.worker_free(worker);
    f.end(f.context);
    dataset_close(data);
}

// A truth's middle has the colour of its class: blood cells are red, the others more blue than green.
static int check_colours(const struct sample *s)
{
    struct anchors *a = anchors_new(SIDE_H, SIDE_W);
    int seen = 0;
    for (int64_t i = 0; i < a->count; i++) {
        float box[4];
        if (s->taken[4 * i] == 0) continue;
        anchors_move(&a->at[i], s->delta + 4 * i, box);
        int x = (int)((box[0] + box[2]) / 2), y = (int)((box[1] + box[3]) / 2);
        assert_true(x >= 0 && x < SIDE_W && y >= 0 && y < SIDE_H);
        if (box[0] < 1 || box[1] < 1 || box[2] > SIDE_W - 1 || box[3] > SIDE_H - 1) continue;  // may be cut off
        const uint8_t *p = s->images + 3 * (y * SIDE_W + x);
        bool red = s->sign[3 * i] < 0;
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
                                       "data.cache=100"};
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

// ---- a training step compared with PyTorch's: test/bench/torch_retina.py printed these

enum { N = 2, H = 40, W = 56, CLASSES = 2, ANCHORS = 153 };
static const double LOSSES[2] = {106.976358, 75.8127884}, ROWS = 28;
static const double LOGITS[4] = {0.569541309, -0.245148122, 0.530530585, -0.289940042};
static const double DELTAS[4] = {-1.2310296, 2.27234922, -0.124012624, 0.0226465603};
static const int LOGITS_AT[4] = {0, 100, 301, 611}, DELTAS_AT[4] = {0, 200, 603, 1223};
static const struct golden GRADIENT[] = {
    {"stem.", 3.29911389},
    {"stage1.", 13.8919456},
    {"stage2.", 2.9049514},
    {"stage3.", 3.2924673},
    {"stage4.", -2.43204027},
    {"pyramid1.", -1.77130673},
    {"pyramid2.", 0.36633276},
    {"pyramid3.", -0.334670415},
    {"classes.", -1.27670756},
    {"boxes.", -3.06576908},
    {NULL, 0},
};
static const struct waves WAVES = {.norm = "bn", .scale = 0.2, .weight = 0.3, .rest = 0.1, .angle = 0.37, .square = true};

static void put_inputs(struct session *s)
{
    static float x[N * H * W * 3], signs[N * ANCHORS * CLASSES], deltas[N * ANCHORS * 4], taken[N * ANCHORS * 4];
    for (int i = 0; i < N * H * W * 3; i++) x[i] = (float)sin(0.11 * i + 0.3 * sin(0.013 * i));
    for (int i = 0; i < N * ANCHORS * CLASSES; i++) signs[i] = i * 7 % 5 == 0 ? -1 : i * 3 % 7 == 0 ? 0 : 1;
    for (int i = 0; i < N * ANCHORS * 4; i++) deltas[i] = (float)(0.3 * sin(0.7 * i)), taken[i] = i / 4 % 11 == 0;
    OK(session_put(s, "x", x, 0, sizeof x));
    OK(session_put(s, "signs", signs, 0, sizeof signs));
    OK(session_put(s, "deltas", deltas, 0, sizeof deltas));
    OK(session_put(s, "taken", taken, 0, sizeof taken));
}

static void compare_with_pytorch(const char *device)
{
    static const struct task_program program = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, NULL};
    struct recipe recipe;
    OK(recipe_embedded("bccd", &recipe));
    OK(recipe_set(&recipe, "model.widths=4,5,6,7,8"));
    OK(recipe_set(&recipe, "model.pyramid=6"));
    struct dataset_facts facts = {.classes = CLASSES};
    struct setting setting = {.task = &task_bccd, .model = retina_models, .data = &facts, .recipe = &recipe, .dtype = F32};
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "train");
    struct step step = {.g = g, .setting = &setting, .program = &program, .index = NONE};
    g->trains = ANY;
    int in[MODEL_VALUES] = {input(g, "x", SHAPE(N, H, W, 3))}, out[MODEL_VALUES];
    const struct retina_targets targets = {input(g, "signs", SHAPE(N, ANCHORS, CLASSES)),
                                           input(g, "deltas", SHAPE(N, ANCHORS, 4)), input(g, "taken", SHAPE(N, ANCHORS, 4))};
    retina_models->forward(&step, in, out);
    struct retina_losses loss = retina_losses(&step, out, &targets);
    OK(graph_check(g));
    keep(g, "class", loss.class), keep(g, "box", loss.box), keep(g, "rows", loss.rows);
    keep(g, "logits", out[0]), keep(g, "moves", out[1]);
    int parameters = keep_gradients(g, g_scale(g, g_add(g, loss.class, loss.box), (float)(1 / ROWS)));
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    put_inputs(s);
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "class"), LOSSES[0], 1e-5 * LOSSES[0]);
    assert_float_equal(read_one(s, "box"), LOSSES[1], 1e-5 * LOSSES[1]);
    assert_float_equal(read_one(s, "rows"), ROWS, 0);
    float *logits = read_slot(s, "logits"), *moves = read_slot(s, "moves");
    for (int i = 0; i < 4; i++) {
        assert_float_equal(logits[LOGITS_AT[i]], LOGITS[i], 1e-5);
        assert_float_equal(moves[DELTAS_AT[i]], DELTAS[i], 1e-5);
    }
    free(logits), free(moves);
    assert_int_equal(compare_gradients(s, GRADIENT, 1e-5, true), parameters);
    session_done(s);
}

TEST(equals_pytorch)
{
    compare_with_pytorch("ref");
    compare_with_pytorch("cpu");
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

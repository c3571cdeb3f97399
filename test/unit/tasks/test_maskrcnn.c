// SPDX-License-Identifier: Apache-2.0
// Mask R-CNN: the parameters of torchvision's maskrcnn_resnet50_fpn, its anchors, a narrow network whose five losses and
// gradients on `cpu` equal `ref`'s, with pictures that have no truth, too, and a small one whose losses and gradients are
// torchvision's.
#include "tasks/detection/maskrcnn.h"
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

static const struct maskrcnn narrow = {.classes = 3, .pyramid = maskrcnn_resnet, .levels = 5, .cut = 4, .stride = 4, .size = 32,
                                       .ratio = {0.5, 1, 2}, .side = 112, .width = {4, 4, 4, 4}, .blocks = {1, 1, 1, 1},
                                       .channels = 8, .hidden = 12, .rows = 64, .columns = 96, .best = 60, .proposals = 50,
                                       .anchors_drawn = 800, .boxes_drawn = 16, .kept = 5};
enum { BATCH = 2, TRUTHS = 3 };

static int data(struct graph *g, const char *name, struct shape shape, enum dtype type)
{
    return graph_state(g, name, shape, type, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
}

static struct maskrcnn_batch batch_in(struct graph *g, const struct maskrcnn *o)
{
    return (struct maskrcnn_batch){
        .x = data(g, "x", SHAPE(BATCH, o->rows, o->columns, 3), F32), .sizes = data(g, "sizes", SHAPE(BATCH, 2), F32),
        .anchors = data(g, "anchors", SHAPE(maskrcnn_anchors(o, NULL), 4), F32),
        .levels = data(g, "levels", SHAPE(maskrcnn_levels(o, NULL)), I32),
        .truth = data(g, "truth", SHAPE(BATCH, TRUTHS, 4), F32), .classes = data(g, "classes", SHAPE(BATCH, TRUTHS), I32),
        .masks = data(g, "masks", SHAPE(BATCH, TRUTHS, o->rows, o->columns), U8), .key = data(g, "key", SHAPE(4), I32),
        .counter = data(g, "counter", SHAPE(1), I32)};
}

static const struct task_program train = {.kind = PROGRAM_TRAIN}, evaluate = {.kind = PROGRAM_EVALUATE};

static struct net net_in(struct step *s, struct graph *g, const struct task_program *program)
{
    static const struct task task = {.name = "maskrcnn"};
    static const struct setting setting = {.task = &task};
    *s = (struct step){.g = g, .setting = &setting, .program = program};
    g->trains = program == &train ? 1 : 0;
    return net_of(s);
}

// The means, and their sum.
static int mean_losses(struct net *n, const struct maskrcnn *o, const struct maskrcnn_batch *in, int mean[MASKRCNN_LOSSES])
{
    struct maskrcnn_loss loss[MASKRCNN_LOSSES];
    int sum = NONE;
    maskrcnn_losses(n, o, in, loss);
    OK(graph_check(n->g));
    for (int i = 0; i < MASKRCNN_LOSSES; i++) {
        mean[i] = g_map_of(n->g, MAP_DIV, (int[]){loss[i].sum, loss[i].rows, NONE});
        sum = i ? g_add(n->g, sum, mean[i]) : mean[i];
    }
    return sum;
}

TEST(test_parameters)
{
    const struct maskrcnn *o = &maskrcnn_r50_fpn;
    for (int training = 0; training < 2; training++) {
        struct slot_store *store = slot_store_new();
        struct graph *g = graph_new(store, "maskrcnn");
        struct step s;
        struct net n = net_in(&s, g, training ? &train : &evaluate);
        struct maskrcnn_batch in = batch_in(g, o);
        if (training) {
            int params[PARAMETERS_MOST], grads[PARAMETERS_MOST], loss[MASKRCNN_LOSSES], sum = mean_losses(&n, o, &in, loss);
            // 53 filters less the 11 of conv1 and layer1, and pairs: 8 of the pyramid, 3 + 4 of the heads, 6 of the masks
            assert_int_equal(differentiate(g, sum, params, grads), 42 + 2 * (8 + 3 + 4 + 6));
        } else {
            struct maskrcnn_found f = maskrcnn_found(&n, o, &in, data(g, "class_table", SHAPE(BATCH * 90000), I32));
            OK(graph_check(g));
            char text[SHAPE_TEXT];
            assert_string_equal(shape_text(text, &g->value[f.masks].shape), "2x100x28x28");
        }
        assert_int_equal(count_parameters(store), 44401393);  // torchvision's MaskRCNN_ResNet50_FPN_Weights: num_params
        graph_free(g);
        slot_store_free(store);
    }
}

TEST(test_anchors)
{
    struct maskrcnn o = narrow;
    int64_t n = maskrcnn_anchors(&o, NULL);
    assert_int_equal(n, 3 * (16 * 24 + 8 * 12 + 4 * 6 + 2 * 3 + 1 * 2));
    float *a = zalloc((size_t)n * 4 * sizeof *a);
    maskrcnn_anchors(&o, a);
    // torchvision's AnchorGenerator at 64 x 96: the first cell, the second row of the first level, the last level
    static const float first[3][4] = {{-23, -11, 23, 11}, {-16, -16, 16, 16}, {-11, -23, 11, 23}};
    for (int i = 0; i < 12; i++) {
        assert_true(a[i] == first[i / 4][i % 4]);
        assert_true(a[24 * 12 + i] == first[i / 4][i % 4] + (i % 2 ? 4.0f : 0.0f));
    }
    static const float last[3][4] = {{-362 + 48, -181, 362 + 48, 181}, {-256 + 48, -256, 256 + 48, 256}, {-181 + 48, -362,
                                                                                                          181 + 48, 362}};
    for (int i = 0; i < 12; i++) assert_true(a[(n - 3) * 4 + i] == last[i / 4][i % 4]);
    free(a);
    int32_t levels[300];
    assert_int_equal(maskrcnn_levels(&o, levels), 60 * 3 + 18 + 6);
    assert_int_equal(levels[0], 0);
    assert_int_equal(levels[60 * 3 + 18], 4);
}

static void put_i32(struct session *s, const char *name, const int32_t *x)
{
    OK(session_put(s, name, x, 0, slot_bytes(slot_find(s->store, name))));
}

// The second picture has no truth unless `both`.
static void put_batch(struct session *s, const struct maskrcnn *o, bool both)
{
    static const float sizes[] = {64, 96, 60, 80};
    float truth[BATCH * TRUTHS * 4] = {10, 12, 40, 50, 50, 5, 90, 60};
    static const int32_t classes[BATCH * TRUTHS] = {1, 2, 0, 2, 0, 0}, key[4] = {1, 2, 3, 4}, counter[1] = {5};
    if (both) memcpy(truth + 12, (float[]){20, 8, 60, 44}, 4 * sizeof(float));
    size_t picture = (size_t)(o->rows * o->columns);
    uint8_t *masks = zalloc(BATCH * TRUTHS * picture);
    for (size_t i = 0; i < BATCH * TRUTHS * picture; i++) masks[i] = i % 97 < 50;
    OK(session_put(s, "masks", masks, 0, BATCH * TRUTHS * picture));
    free(masks);
    float *anchors = zalloc((size_t)maskrcnn_anchors(o, NULL) * 4 * sizeof *anchors);
    maskrcnn_anchors(o, anchors);
    OK(session_put(s, "anchors", anchors, 0, slot_bytes(slot_find(s->store, "anchors"))));
    free(anchors);
    int32_t *levels = zalloc((size_t)maskrcnn_levels(o, NULL) * sizeof *levels);
    maskrcnn_levels(o, levels);
    put_i32(s, "levels", levels);
    free(levels);
    OK(session_put(s, "sizes", sizes, 0, sizeof sizes));
    OK(session_put(s, "truth", truth, 0, sizeof truth));
    put_i32(s, "classes", classes), put_i32(s, "key", key), put_i32(s, "counter", counter);
}

struct result {
    float loss[MASKRCNN_LOSSES];
    double gradient[PARAMETERS_MOST];  // sums of squares
    char name[PARAMETERS_MOST][64];
    int gradients;
};

static void train_once(const char *device, bool both, struct result *r)
{
    struct session *session = session_on(device);
    struct graph *g = graph_new(session->store, "losses");
    struct step s;
    struct net n = net_in(&s, g, &train);
    g->trains = 3;  // the stem, too
    struct maskrcnn_batch in = batch_in(g, &narrow);
    int loss[MASKRCNN_LOSSES], params[PARAMETERS_MOST], grads[PARAMETERS_MOST], sum = mean_losses(&n, &narrow, &in, loss);
    char name[64];
    for (int i = 0; i < MASKRCNN_LOSSES; i++) {
        snprintf(name, sizeof name, "loss%d", i);
        keep(g, name, loss[i]);
    }
    r->gradients = differentiate(g, sum, params, grads);
    for (int i = 0; i < r->gradients; i++) {
        snprintf(r->name[i], sizeof r->name[i], "%s", g->value[params[i]].slot->name);
        if (grads[i] == NONE) fail_msg("%s gets no gradient", r->name[i]);
        snprintf(name, sizeof name, "d%d", i);
        keep(g, name, graph_node(g, OP_SQUARES, &grads[i], 1, NULL, NULL));
    }
    int program = session_add(session, g);
    OK(program);
    start(session);
    put_batch(session, &narrow, both);
    put_waves(session, &(struct waves){"bn", NULL, 0.1, 0.15, 0.05, 0.7, 0.3, false});
    OK(session_run(session, program));
    for (int i = 0; i < MASKRCNN_LOSSES; i++) {
        snprintf(name, sizeof name, "loss%d", i);
        r->loss[i] = read_one(session, name);
    }
    for (int i = 0; i < r->gradients; i++) {
        snprintf(name, sizeof name, "d%d", i);
        r->gradient[i] = (double)read_one(session, name);
    }
    session_done(session);
}

TEST(test_losses)
{
    for (int both = 0; both < 2; both++) {
        struct result ref, cpu;
        train_once("ref", both, &ref);
        train_once("cpu", both, &cpu);
        for (int i = 0; i < MASKRCNN_LOSSES; i++) {
            assert_true(ref.loss[i] > 0 && isfinite(ref.loss[i]));
            assert_float_equal(cpu.loss[i], ref.loss[i], 1e-4 * (double)ref.loss[i]);
        }
        for (int i = 0; i < ref.gradients; i++) {
            if (!(ref.gradient[i] > 0 && isfinite(ref.gradient[i]))) fail_msg("%s: gradient %g", ref.name[i], ref.gradient[i]);
            assert_float_equal(cpu.gradient[i], ref.gradient[i], 1e-3 * ref.gradient[i]);
        }
    }
}

// ---- a training step next to torchvision's: test/bench/torch_maskrcnn.py printed these

static const double LOSSES[MASKRCNN_LOSSES] = {0.567892015, 0.00802502712, 1.04626276, 0.340686252, 0.705973724};
static const struct golden GRADIENT[] = {
    {"stem.", 0.332975491},
    {"stage1.", 0.690792634},
    {"stage2.", 0.107131726},
    {"stage3.", 1.06599961},
    {"stage4.", 0.0522994018},
    {"pyramid1.", -0.0371126934},
    {"pyramid2.", 0.179077383},
    {"pyramid3.", 0.120644493},
    {"rpn.head.", 0.503630434},
    {"roi_heads.box_head.", -0.699449862},
    {"roi_heads.box_predictor.", 0.232379106},
    {"roi_heads.mask_head.", 0.0246682946},
    {"roi_heads.mask_predictor.", 0.0297905684},
    {NULL, 0},
};
static const struct waves WAVES = {.norm = "bn", .scale = 0.2, .weight = 0.3, .rest = 0.1, .angle = 0.37, .square = true};

static void compare_with_torchvision(const char *device)
{
    struct maskrcnn o = maskrcnn_mini;
    o.classes = 3, o.channels = 6, o.hidden = 12, o.rows = narrow.rows, o.columns = narrow.columns, o.best = 60, o.proposals = 50;
    o.anchors_drawn = 800, o.boxes_drawn = 240;  // all of them
    for (int i = 0; i < 5; i++) o.width[i] = 4 + i;
    struct session *session = session_on(device);
    struct graph *g = graph_new(session->store, "losses");
    struct step s;
    struct net n = net_in(&s, g, &train);
    struct maskrcnn_batch in = batch_in(g, &o);
    int loss[MASKRCNN_LOSSES], sum = mean_losses(&n, &o, &in, loss);
    static const char *const names[MASKRCNN_LOSSES] = {"loss0", "loss1", "loss2", "loss3", "loss4"};
    for (int i = 0; i < MASKRCNN_LOSSES; i++) keep(g, names[i], loss[i]);
    int parameters = keep_gradients(g, sum);
    OK(session_add(session, g));
    start(session);
    put_batch(session, &o, true);
    put_waves(session, &WAVES);
    int64_t count = BATCH * o.rows * o.columns * 3;
    float *x = zalloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)sin(0.11 * (double)i + 0.3 * sin(0.013 * (double)i));
    OK(session_put(session, "x", x, 0, (size_t)count * sizeof *x));
    free(x);
    OK(session_run(session, 0));
    for (int i = 0; i < MASKRCNN_LOSSES; i++) assert_float_equal(read_one(session, names[i]), LOSSES[i], 1e-4 * LOSSES[i]);
    assert_int_equal(compare_gradients(session, GRADIENT, 1e-4, true), parameters);
    session_done(session);
}

TEST(equals_torchvision)
{
    compare_with_torchvision("ref");
    compare_with_torchvision("cpu");
}

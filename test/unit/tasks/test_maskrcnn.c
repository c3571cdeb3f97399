// SPDX-License-Identifier: Apache-2.0
// Mask R-CNN: the parameters of torchvision's maskrcnn_resnet50_fpn, its anchors, and a narrow network whose five losses and
// gradients on `cpu` equal `ref`'s, with pictures that have no truth, too.
#include "tasks/detection/maskrcnn.h"
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

static const struct maskrcnn narrow = {.classes = 3, .width = {4, 4, 4, 4}, .blocks = {1, 1, 1, 1}, .channels = 8, .hidden = 12,
                                       .rows = 64, .columns = 96, .best = 60, .proposals = 50, .anchors_drawn = 800,
                                       .boxes_drawn = 16, .kept = 5};
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
            int loss[MASKRCNN_LOSSES], params[PARAMETERS_MOST], grads[PARAMETERS_MOST];
            maskrcnn_losses(&n, o, &in, loss);
            OK(graph_check(g));
            int sum = loss[0];
            for (int i = 1; i < MASKRCNN_LOSSES; i++) sum = g_add(g, sum, loss[i]);
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
    int loss[MASKRCNN_LOSSES], params[PARAMETERS_MOST], grads[PARAMETERS_MOST], sum = NONE;
    char name[64];
    maskrcnn_losses(&n, &narrow, &in, loss);
    for (int i = 0; i < MASKRCNN_LOSSES; i++) {
        snprintf(name, sizeof name, "loss%d", i);
        keep(g, name, loss[i]);
        sum = i ? g_add(g, sum, loss[i]) : loss[i];
    }
    OK(graph_check(g));
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
    put_waves(session, &(struct waves){"bn", 0.1, 0.15, 0.05, 0.7, 0.3, false});
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

// SPDX-License-Identifier: Apache-2.0
// The networks: layers and parameters against the literature, plans of the full size, and training steps of narrow
// ones on `ref`, where the loss must fall, and on `cpu`, which must agree.
#include "runtime/fuse.h"
#include "runtime/optim.h"
#include "tasks/common/step/step.h"
#include "tasks/imagenet/blur.h"
#include "tasks/tasks.h"
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

enum { CLASSES = 10 };

static struct recipe plain(const char *name, const char *widths)
{
    struct recipe r;
    char model[64];
    snprintf(model, sizeof model, "model.name=%s", name);
    OK(recipe_embedded(strstr(name, "resnet18") || strstr(name, "resnet50") ? "imagenet" : "resnet", &r));
    OK(recipe_set(&r, model));
    if (*widths) OK(recipe_set(&r, widths));
    return r;
}

static const struct task *task(const char *name)
{
    struct recipe r = plain(name, "");
    const struct task *t;
    OK(task_find(recipe_task(&r), &t));
    return t;
}

static const struct model *model(const char *name)
{
    const struct model *m;
    OK(task_find_model(task(name), name, &m));
    return m;
}

// ImageNet's networks are counted as published, with a thousand classes.
static int classes_at(struct shape shape)
{
    return shape.dim[1] == 224 ? 1000 : CLASSES;
}

static int network(struct graph *g, const char *name, const struct recipe *r, struct shape shape, enum dtype type, bool training)
{
    int x = g_cast(g, graph_state(g, "x", shape, F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0}), type);
    struct dataset_facts facts = {.classes = classes_at(shape)};
    struct setting setting = {.task = task(name), .recipe = r, .model = model(name), .data = &facts, .dtype = type};
    const struct task_program program = {.kind = training ? PROGRAM_TRAIN : PROGRAM_EVALUATE};
    struct step step = {.g = g, .setting = &setting, .program = &program};
    int in[MODEL_VALUES] = {x}, out[MODEL_VALUES] = {NONE};
    g->trains = training ? ANY : 0;
    setting.model->forward(&step, in, out);
    return out[0];
}

// ---- size

static int layers(const struct graph *g)  // as papers count: convolutions and the head, without projections
{
    int n = 0;
    for (int i = 0; i < g->nodes; i++) {
        bool layer = g->node[i].op == OP_CONV || g->node[i].op == OP_MATMUL;
        n += layer && !strstr(g->value[g->node[i].in[1]].slot->name, "shortcut") &&
             !strstr(g->value[g->node[i].in[1]].slot->name, "downsample");
    }
    return n;
}

TEST(test_sizes)
{
    static const struct {
        const char *name;
        int layers, norms;
        int64_t weights;
        double multiplications;  // millions
        int side;
    } rows[] = {
        {"airbench", 8, 6, 1971640, 118, 32},    // KellerJordan/cifar10-airbench: 1.97 M
        {"resnet9", 9, 8, 6573120, 379, 32},   // Page 2018: 6.57 M
        {"resnet56", 56, 55, 855578, 127, 32}, // He et al. 2015: 0.85 M, 127 M; two projections more
        {"resnet164", 164, 163, 1703258, 248, 32}, // He et al. 2016: 1.7 M; 3 x 17 blocks of 4.46 M, 3 first ones, the stem
        {"resnet18", 18, 20, 11689512, 1814, 224},  // torchvision: 11.7 M, 1.81 G
        {"resnet50", 50, 53, 25557032, 4089, 224},  // torchvision: 25.6 M, 4.09 G
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = plain(rows[i].name, "");
        for (int training = 0; training < 2; training++) {
            struct slot_store *s = slot_store_new();
            struct graph *g = graph_new(s, rows[i].name);
            int y = network(g, rows[i].name, &r, SHAPE(1, rows[i].side, rows[i].side, 3), F32, training);
            OK(graph_check(g));
            char text[SHAPE_TEXT];
            assert_string_equal(shape_text(text, &g->value[y].shape), rows[i].side == 32 ? "1x10" : "1x1000");
            assert_int_equal(layers(g), rows[i].layers);
            assert_int_equal(count_op(g, training ? OP_NORM : OP_NORM_INFER), rows[i].norms);
            assert_int_equal(count_op(g, training ? OP_NORM_INFER : OP_NORM), 0);
            assert_int_equal(count_parameters(s), rows[i].weights);
            double flops = 0;
            for (int n = 0; n < g->nodes; n++)
                if (g->node[n].op == OP_CONV || g->node[n].op == OP_MATMUL) flops += node_cost(g, &g->node[n]).flops;
            assert_float_equal(flops / 2e6, rows[i].multiplications, 2.5);
            for (int v = 0; v < g->values; v++)
                if (!training) assert_false(g->value[v].trains);
            graph_free(g);
            slot_store_free(s);
        }
    }
}

TEST(test_winograd_reaches_convolutions)
{
    static const char *const names[] = {"airbench", "resnet9"};
    for (int i = 0; i < 4; i++) {
        struct recipe r = plain(names[i / 2], "");
        if (i % 2) OK(recipe_set(&r, "model.winograd=all"));
        struct slot_store *s = slot_store_new();
        struct graph *g = graph_new(s, "network");
        network(g, names[i / 2], &r, SHAPE(1, 32, 32, 3), F32, true);
        OK(graph_check(g));
        for (int n = 0; n < g->nodes; n++) {
            if (g->node[n].op != OP_CONV || g->value[g->node[n].in[1]].shape.dim[1] != 3) continue;
            assert_int_equal(g->node[n].attr.conv.winograd, i % 2 ? WINOGRAD_ALL : WINOGRAD_NONE);
        }
        graph_free(g);
        slot_store_free(s);
    }
}

TEST(test_names)
{
    static const struct {
        const char *network, *name, *shape;
    } rows[] = {
        {"resnet9", "prep.conv.weight", "64x3x3x3"},
        {"resnet9", "layer3.residual.1.norm.running_var", "512"},
        {"resnet9", "head.weight", "10x512"},
        {"resnet56", "layer2.0.shortcut.weight", "32x1x1x16"},
        {"resnet56", "layer3.8.conv2.weight", "64x3x3x64"},
        {"resnet164", "layer1.0.shortcut.weight", "64x1x1x16"},
        {"resnet164", "layer3.17.norm3.weight", "64"},
        {"resnet164", "fc.bias", "10"},
        {"airbench", "group2.conv1.weight", "256x3x3x64"},
        {"resnet18", "conv1.weight", "64x7x7x3"},
        {"resnet18", "bn1.running_mean", "64"},
        {"resnet18", "layer1.0.conv2.weight", "64x3x3x64"},
        {"resnet18", "layer2.0.downsample.0.weight", "128x1x1x64"},
        {"resnet18", "layer2.0.downsample.1.running_var", "128"},
        {"resnet18", "fc.weight", "10x512"},
        {"resnet50", "layer1.0.downsample.0.weight", "256x1x1x64"},
        {"resnet50", "layer4.2.conv2.weight", "512x3x3x512"},
        {"resnet50", "layer4.2.bn3.bias", "2048"},
        {"resnet50", "fc.bias", "10"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = plain(rows[i].network, "");
        struct slot_store *s = slot_store_new();
        struct graph *g = graph_new(s, "names");
        network(g, rows[i].network, &r, SHAPE(1, 64, 64, 3), F32, true);
        OK(graph_check(g));
        const struct slot *slot = slot_find(s, rows[i].name);
        if (!slot) fail_msg("%s has no %s", rows[i].network, rows[i].name);
        char text[SHAPE_TEXT];
        assert_string_equal(shape_text(text, &slot->shape), rows[i].shape);
        graph_free(g);
        slot_store_free(s);
    }
    const struct model *m;
    REFUSED(task_find_model(task("airbench"), "resnet65", &m), "did you mean \"resnet56\"?");
    REFUSED(task_find_model(task("airbench"), "transformer", &m),
            "CIFAR10: there is no model \"transformer\"; there are airbench, resnet9, resnet56 and resnet164 (\"dawn models\"");
}

TEST(test_wrong_widths)
{
    static const char *const names[] = {"airbench", "resnet9", "resnet56", "resnet164", "resnet18", "resnet50"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct recipe r = plain(names[i], "widths=8,8");
        struct slot_store *s = slot_store_new();
        struct graph *g = graph_new(s, "widths");
        assert_int_equal(network(g, names[i], &r, SHAPE(1, 32, 32, 3), F32, true), NONE);
        REFUSED(graph_check(g), "widths");
        graph_free(g);
        slot_store_free(s);
    }
}

// ---- training

static int train_graph(struct session *s, const char *name, const struct recipe *r, struct shape shape, enum dtype type)
{
    struct graph *g = graph_new(s->store, name);
    int params[PARAMETERS_MOST], grads[PARAMETERS_MOST];
    int labels = graph_state(g, "labels", SHAPE(shape.dim[0]), U8, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int loss = g_xent(g, network(g, name, r, shape, type, true), labels, 0, true);
    OK(fuse_graph(g, FUSE_ALL));
    int count = differentiate(g, loss, params, grads);
    keep(g, "loss", loss);
    g->phase = PHASE_UPDATE;
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.02f});
    struct optim_settings o = {.momentum = 0.9f, .nesterov = true, .clip = NONE};
    for (int i = 0; i < count; i++) {
        if (grads[i] == NONE) fail_msg("%s: nothing flows back to %s", name, g->value[params[i]].slot->name);
        optim_sgd(g, params[i], grads[i], lr, &o);
    }
    return session_add(s, g);
}

// The real sizes are planned, on the device without hardware.
TEST(test_plans)
{
    static const char *const names[] = {"airbench", "resnet9", "resnet56", "resnet164", "resnet18", "resnet50"};
    size_t slab[2];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int batch = 0; batch < 2; batch++) {
            struct recipe r = plain(names[i], "");
            struct session *s = session_on("null");
            int side = i < 4 ? 32 : 224, program = train_graph(s, names[i], &r, SHAPE(batch ? 128 : 64, side, side, 3), BF16);
            OK(program);
            OK(session_plan(s));
            const struct plan *p = s->plan[program];
            size_t sum = 0;
            for (int c = 0; c < MEMORY_CLASSES; c++) sum += p->memory[c];
            assert_int_equal(sum, p->total);
            assert_true(p->memory[MEMORY_WEIGHTS] >= 4 * (size_t)count_parameters(s->store));
            slab[batch] = p->slab_bytes;
            if (batch) assert_true(slab[1] > slab[0] + slab[0] / 4);
            session_done(s);
        }
}

static const struct {
    const char *name, *widths;
    int side;
    float lr;
    const char *more;  // another setting
} NARROW[] = {
    {"airbench", "widths=8,8,8", 17, 0.02f, NULL},
    {"resnet9", "widths=4,8,8,8", 16, 0.4f, NULL},  // its head is scaled down
    {"resnet56", "widths=2,4,4", 8, 0.1f, NULL},
    {"resnet164", "widths=2,2,4", 8, 0.1f, NULL},
    {"resnet18", "widths=2,2,4,4", 32, 0.1f, NULL},
    {"resnet50", "widths=2,2,2,4", 32, 0.1f, NULL},
    {"resnet18", "widths=2,2,4,4", 32, 0.1f, "model.blur=yes"},
    {"resnet50", "widths=2,2,2,4", 32, 0.1f, "model.blur=yes"},
};
enum { NARROWS = sizeof NARROW / sizeof *NARROW, BATCH = 6 };

static struct recipe narrow_recipe(int i)
{
    struct recipe r = plain(NARROW[i].name, NARROW[i].widths);
    if (NARROW[i].more) OK(recipe_set(&r, NARROW[i].more));
    return r;
}

// Filters that begin as the identity copy equal pixels. Which of them a pool takes is then a matter of rounding, and so is the
// gradient: adds a wave to all filters.
static void add_waves(struct session *s)
{
    for (int k = 0; k < s->store->count; k++) {
        const struct slot *slot = s->store->slot[k];
        if (slot->memory != MEMORY_WEIGHTS || slot->shape.rank != 4) continue;
        int64_t count = shape_count(&slot->shape);
        float *w = read_slot(s, slot->name);
        for (int64_t j = 0; j < count; j++) w[j] += 0.01f * sinf((float)(j * j % 1009));
        OK(session_put(s, slot->name, w, 0, (size_t)count * sizeof *w));
        free(w);
    }
}

static struct session *narrow(int i, const char *device)
{
    struct recipe r = narrow_recipe(i);
    struct session *s = session_on(device);
    OK(train_graph(s, NARROW[i].name, &r, SHAPE(BATCH, NARROW[i].side, NARROW[i].side, 3), F32));
    start(s);
    add_waves(s);
    OK(session_put(s, "lr", &NARROW[i].lr, 0, sizeof NARROW[i].lr));
    uint8_t labels[BATCH];
    for (int b = 0; b < BATCH; b++) labels[b] = (uint8_t)(b * 7 % CLASSES);
    OK(session_put(s, "labels", labels, 0, sizeof labels));
    return s;
}

TEST(test_loss_falls)
{
    for (int i = 0; i < NARROWS; i++) {
        struct session *s = narrow(i, "ref");
        float first = 0, last = 0;
        for (int step = 0; step < 14; step++) {
            OK(session_run(s, 0));
            last = read_one(s, "loss");
            if (step == 0) first = last;
            assert_true(isfinite(last));
        }
        assert_true(first > 1 && first < 6);  // ten classes, drawn weights: near ln 10
        if (!(last < 0.7f * first)) fail_msg("%s: the loss went from %g to %g", NARROW[i].name, (double)first, (double)last);
        session_done(s);
    }
}

TEST(test_cpu_agrees)
{
    for (int i = 0; i < NARROWS; i++) {
        struct session *s[2] = {narrow(i, "ref"), narrow(i, "cpu")};
        for (int d = 0; d < 2; d++) OK(session_run(s[d], 0));
        assert_float_equal(read_one(s[0], "loss"), read_one(s[1], "loss"), 1e-4);
        for (int k = 0; k < s[0]->store->count; k++) {
            const struct slot *slot = s[0]->store->slot[k];
            if (slot->dtype != F32 || slot->memory == MEMORY_DATA) continue;
            float *a = read_slot(s[0], slot->name), *b = read_slot(s[1], slot->name), most = 0, off = 0;
            for (int64_t j = 0; j < shape_count(&slot->shape); j++) {
                most = fmaxf(most, fabsf(a[j]));
                off = fmaxf(off, isfinite(b[j]) ? fabsf(a[j] - b[j]) : INFINITY);
            }
            if (off > 2e-3f * most + 1e-4f)
                fail_msg("%s, %s: %g apart where the largest is %g", NARROW[i].name, slot->name, (double)off, (double)most);
            free(a);
            free(b);
        }
        session_done(s[0]);
        session_done(s[1]);
    }
}

// A trained network answers alike with running statistics and with these folded into its filters.
TEST(test_inference)
{
    for (int i = 0; i < NARROWS; i++) {
        struct recipe r = narrow_recipe(i);
        struct session *s = session_on("ref");
        struct shape shape = SHAPE(BATCH, NARROW[i].side, NARROW[i].side, 3);
        OK(train_graph(s, NARROW[i].name, &r, shape, F32));
        int program[2], prepare = -1;
        for (int fold = 0; fold < 2; fold++) {
            struct graph *g = graph_new(s->store, "infer"), *p = graph_new(s->store, "prepare");
            keep(g, fold ? "folded" : "plain", network(g, NARROW[i].name, &r, shape, F32, false));
            OK(fuse_graph(g, FUSE_ALL));
            if (fold) OK(fuse_fold(g, p));
            OK(prepare = session_add(s, p));
            OK(program[fold] = session_add(s, g));
        }
        start(s);
        for (int step = 0; step < 3; step++) OK(session_run(s, 0));
        OK(session_run(s, prepare));
        OK(session_run(s, program[0]));
        OK(session_run(s, program[1]));
        float *a = read_slot(s, "plain"), *b = read_slot(s, "folded"), most = 0;
        for (int j = 0; j < BATCH * CLASSES; j++) most = fmaxf(most, fabsf(a[j]));
        for (int j = 0; j < BATCH * CLASSES; j++) assert_float_equal(a[j], b[j], 1e-3 * (double)most);
        assert_true(most > 0);
        free(a);
        free(b);
        session_done(s);
    }
}

// A pixel of x[H,W] whose border is reflected.
static double pixel(const float *x, int64_t h, int64_t w, int64_t row, int64_t column)
{
    row = row < 0 ? -row : row >= h ? 2 * h - 2 - row : row;
    column = column < 0 ? -column : column >= w ? 2 * w - 2 - column : column;
    return x[row * w + column];
}

// Against the filter of 3x3 as it is published, at every second pixel; even and odd sizes.
TEST(test_blur)
{
    static const int64_t sizes[][2] = {{6, 8}, {7, 6}, {5, 5}, {2, 3}};
    static const double tap[3] = {0.25, 0.5, 0.25};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t h = sizes[i][0], w = sizes[i][1], p = (h + 1) / 2, q = (w + 1) / 2;
        struct session *s = session_on("ref");
        struct graph *g = graph_new(s->store, "blur");
        int y = blur_halve(g, input(g, "x", SHAPE(1, h, w, 1)));
        keep(g, "y", y);
        assert_true(shape_equal(&g->value[y].shape, &SHAPE(1, p, q, 1)));
        OK(session_add(s, g));
        start(s);
        OK(session_run(s, 0));
        float *a = read_slot(s, "x"), *b = read_slot(s, "y");
        for (int64_t at = 0; at < p * q; at++) {
            double sum = 0;
            for (int k = 0; k < 9; k++)
                sum += tap[k / 3] * tap[k % 3] * pixel(a, h, w, at / q * 2 + k / 3 - 1, at % q * 2 + k % 3 - 1);
            assert_float_equal(b[at], sum, 1e-6);
        }
        free(a), free(b);
        session_done(s);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Inception-v3: size and names as torchvision's, logits and gradients as PyTorch computes them, recipe keys of its second head.
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "tasks/common/layers/net_inception.h"
#include "tasks/imagenet/imagenet.h"
#include "tasks/imagenet/imagenet_networks.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { CLASSES = 10, MOST = 512 };
#define SECOND 0.4f

static const struct model *model(void)
{
    const struct model *m = imagenet_models;
    while (strcmp(m->name, "inception-v3") != 0) m++;
    return m;
}

static void write_network(struct graph *g, struct shape shape, int64_t classes, const struct recipe *r, bool training, int out[])
{
    struct dataset_facts facts = {.classes = classes};
    struct setting setting = {.task = &task_imagenet, .recipe = r, .model = model(), .data = &facts, .dtype = F32};
    const struct task_program program = {.kind = training ? PROGRAM_TRAIN : PROGRAM_EVALUATE};
    struct step step = {.g = g, .setting = &setting, .program = &program};
    int in[MODEL_VALUES] = {input(g, "x", shape)};
    out[0] = out[1] = NONE;
    g->trains = training ? ANY : 0;
    setting.model->forward(&step, in, out);
}

static struct recipe plain_recipe(const char *setting)
{
    struct recipe r;
    OK(recipe_embedded("inception-v3", &r));
    OK(recipe_set(&r, "model.dropout=0"));
    if (setting) OK(recipe_set(&r, setting));
    return r;
}

// ---- size and names

static void assert_size(const char *setting, bool training, int64_t weights, double multiplications)
{
    struct recipe r = plain_recipe(setting);
    struct slot_store *s = slot_store_new();
    struct graph *g = graph_new(s, "network");
    int out[MODEL_VALUES];
    int64_t n = 0;
    double flops = 0;
    write_network(g, SHAPE(1, 299, 299, 3), 1000, &r, training, out);
    OK(graph_check(g));
    for (int i = 0; i < s->count; i++) n += role_is_parameter(s->slot[i]->role) ? shape_count(&s->slot[i]->shape) : 0;
    for (int i = 0; i < g->nodes; i++)
        if (g->node[i].op == OP_CONV || g->node[i].op == OP_MATMUL) flops += node_cost(g, &g->node[i]).flops;
    assert_int_equal(n, weights);
    assert_float_equal(flops / 2e6, multiplications, 0.5);
    graph_free(g);
    slot_store_free(s);
}

// torchvision: 27,161,264 parameters, and 5.713 G multiplications without the second head.
TEST(has_the_published_size)
{
    assert_size(NULL, true, 27161264, 5719);
    assert_size("model.second_head=0", true, 23834568, 5713);
    assert_size(NULL, false, 23834568, 5713);
}

TEST(has_torchvisions_names)
{
    static const char *const rows[][2] = {
        {"Conv2d_1a_3x3.conv.weight", "32x3x3x3"},          {"Conv2d_3b_1x1.bn.running_var", "80"},
        {"Mixed_5b.branch5x5_2.conv.weight", "64x5x5x48"},  {"Mixed_5c.branch_pool.bn.bias", "64"},
        {"Mixed_6a.branch3x3.conv.weight", "384x3x3x288"},  {"Mixed_6b.branch7x7_2.conv.weight", "128x1x7x128"},
        {"Mixed_6e.branch7x7dbl_4.conv.weight", "192x7x1x192"}, {"Mixed_7a.branch7x7x3_4.bn.weight", "192"},
        {"Mixed_7b.branch3x3_2a.conv.weight", "384x1x3x384"},   {"Mixed_7c.branch3x3dbl_3b.conv.weight", "384x3x1x384"},
        {"AuxLogits.conv1.conv.weight", "768x5x5x128"},     {"AuxLogits.fc.bias", "1000"}, {"fc.weight", "1000x2048"},
    };
    struct recipe r = plain_recipe(NULL);
    struct slot_store *s = slot_store_new();
    struct graph *g = graph_new(s, "network");
    int out[MODEL_VALUES];
    write_network(g, SHAPE(1, 299, 299, 3), 1000, &r, true, out);
    OK(graph_check(g));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct slot *slot = slot_find(s, rows[i][0]);
        char text[SHAPE_TEXT];
        if (!slot) fail_msg("there is no %s", rows[i][0]);
        assert_string_equal(shape_text(text, &slot->shape), rows[i][1]);
    }
    graph_free(g);
    slot_store_free(s);
}

TEST(keys_that_do_not_fit_are_refused)
{
    struct recipe r = plain_recipe(NULL);
    REFUSED(recipe_set(&r, "model.stem=deep"), "inception-v3 has no residual stages: \"model.stem\" does not apply");
    OK(recipe_set(&r, "evaluation.side=298"));
    REFUSED(recipe_check(&r), "\"model.second_head\" needs training images of 299 pixels or more, not 298");
    OK(recipe_set(&r, "data.resolution=299"));
    OK(recipe_check(&r));
    OK(recipe_embedded("imagenet", &r));
    REFUSED(recipe_set(&r, "model.second_head=0.4"), "resnet50 has no second head");
}

// ---- what PyTorch computes: test/bench/torch_inception.py printed these
static const double LOGITS[2][CLASSES] = {
    {0.867716584, 0.462930145, 0.049891058, 0.765044735, -0.026838331,
     -0.067517402, -0.076233947, 0.034309913, 0.306808823, -0.274557607},
    {0.836822390, 0.424399216, -0.005001791, 0.741838299, -0.024333298,
     -0.035890752, -0.084260346, 0.012131699, 0.305920260, -0.302520848},
};
struct golden {
    const char *block;
    double along, allowed;  // the sum of gradient[i] cos(i) of each of its parameters; its error over the gradient's length
};
static const double LOSS = 2.598312402, LOSSES[2] = {2.248999809, 1.831926617};
static const struct golden GRADIENTS[] = {
    {"Conv2d_", 32.2950814, 1e-4}, {"Mixed_5b.", -30.1661371, 1e-4}, {"Mixed_5c.", 3.10207975, 1e-4},
    {"Mixed_5d.", -11.7624002, 1e-4}, {"Mixed_6a.", -12.8590494, 1e-4}, {"Mixed_6b.", 5.46565141, 1e-4},
    {"Mixed_6c.", 3.98958408, 1e-4}, {"Mixed_6d.", -18.4382612, 1e-4}, {"Mixed_6e.", -1.5252713, 1e-4},
    {"Mixed_7a.", -1.16777097, 1e-4}, {"Mixed_7b.", 4.93925769, 1e-4}, {"Mixed_7c.", 2.41824646, 1e-4},
    {"fc.", 1.86433801, 1e-4},
};
// The second head's norm over three values magnifies roundings: PyTorch's own gradients in f32 are off by 1.1e-3 in the stem.
static const struct golden GRADIENTS_OF_BOTH[] = {
    {"Conv2d_", 5.29908592, 5e-3}, {"Mixed_5b.", -6.35136479, 5e-3}, {"Mixed_5c.", 4.8336667, 5e-3},
    {"Mixed_5d.", -3.04419722, 5e-3}, {"Mixed_6a.", -3.29516493, 5e-3}, {"Mixed_6b.", -21.3669096, 5e-3},
    {"Mixed_6c.", 12.8447433, 5e-3}, {"Mixed_6d.", 5.19482218, 5e-3}, {"Mixed_6e.", -1.15397858, 5e-3},
    {"Mixed_7a.", 0.235597109, 1e-4}, {"Mixed_7b.", 2.21776366, 1e-4}, {"Mixed_7c.", 1.93013942, 1e-4},
    {"AuxLogits.", 3.54316457, 1e-4}, {"fc.", 0.386471586, 1e-4},
};

// In [-1, 1).
static double noise(const char *name, uint32_t i)
{
    uint32_t key = 0;
    for (const char *c = name; *c; c++) key = key * 31 + (unsigned char)*c;
    uint32_t h = (i + 1) * 2654435761u ^ key;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return (h ^ h >> 16) / 2147483648.0 - 1;
}

static double value_of(const struct slot *slot, int64_t i)
{
    double x = noise(slot->name, (uint32_t)i);
    int64_t fan_in = shape_count(&slot->shape) / slot->shape.dim[0];
    if (!strcmp(slot->name, "x")) return x;
    if (slot->shape.rank > 1) return x * sqrt((slot->shape.rank == 4 ? 6.0 : 3.0) / (double)fan_in);
    if (strstr(slot->name, "running_var")) return 1 + 0.5 * x;
    return x * 0.25 + (strstr(slot->name, "bn.weight") != NULL);
}

static void put_noise(struct session *s)
{
    for (int k = 0; k < s->store->count; k++) {
        const struct slot *slot = s->store->slot[k];
        bool statistic = strstr(slot->name, "running_") != NULL;
        if (!role_is_parameter(slot->role) && !statistic && strcmp(slot->name, "x") != 0) continue;
        int64_t n = shape_count(&slot->shape);
        float *x = zalloc((size_t)n * sizeof *x);
        for (int64_t i = 0; i < n; i++) x[i] = (float)value_of(slot, i);
        OK(session_put(s, slot->name, x, 0, slot_bytes(slot)));
        free(x);
    }
}

static void compare_logits(const char *device)
{
    struct recipe r = plain_recipe(NULL);
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "evaluate");
    int out[MODEL_VALUES];
    double most = 0, off = 0;
    write_network(g, SHAPE(2, 75, 75, 3), CLASSES, &r, false, out);
    OK(fuse_graph(g, FUSE_ALL));
    keep(g, "logits", out[0]);
    OK(session_add(s, g));
    start(s);
    put_noise(s);
    OK(session_run(s, 0));
    float *got = read_slot(s, "logits");
    for (int i = 0; i < 2 * CLASSES; i++) {
        most = fmax(most, fabs(LOGITS[i / CLASSES][i % CLASSES]));
        off = fmax(off, fabs((double)got[i] - LOGITS[i / CLASSES][i % CLASSES]));
    }
    if (!(off < 1e-5 * most)) fail_msg("%s: logits are off by %g where the largest is %g", device, off, most);
    free(got);
    session_done(s);
}

TEST(logits_equal_pytorchs)
{
    compare_logits("ref");
    compare_logits("cpu");
}

// The network of 2015 that FID reads: the sums over a picture's features of feature[i] cos(i). 107 pixels leave 2 x 2 places in
// the last block, whose two kinds of pools then differ.
TEST(features_of_fids_network_equal_pytorchs)
{
    static const double along[2] = {-10.733073054, -14.756756774};
    const struct net_inception how = {.divisor = 1, .of_2015 = true};
    const struct task_program program = {.kind = PROGRAM_EVALUATE};
    struct session *s = session_on("cpu");
    struct step step = {.g = graph_new(s->store, "evaluate"), .program = &program};
    struct net n = net_of(&step);
    n.act = ACT_RELU;
    keep(step.g, "features", net_inception(&n, input(step.g, "x", SHAPE(2, 107, 107, 3)), &how, NULL));
    OK(fuse_graph(step.g, FUSE_ALL));
    OK(session_add(s, step.g));
    start(s);
    put_noise(s);
    OK(session_run(s, 0));
    float *got = read_slot(s, "features");
    for (int k = 0; k < 2; k++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 2048; i++) {
            const double x = (double)got[k * 2048 + i];
            sum += x * cos(i), squares += x * x;
        }
        if (!(fabs(sum - along[k]) < 1e-6 * sqrt(squares))) fail_msg("%d: %.9f, of length %g", k, sum, sqrt(squares));
    }
    free(got);
    session_done(s);
}

static int compare_gradient(struct session *s, const struct golden *row)
{
    double sum = 0, squares = 0;
    int slots = 0;
    for (int i = 0; i < s->store->count; i++) {
        const struct slot *slot = s->store->slot[i];
        if (!role_is_parameter(slot->role) || strncmp(slot->name, row->block, strlen(row->block)) != 0) continue;
        char name[96];
        snprintf(name, sizeof name, "d.%s", slot->name);
        float *g = read_slot(s, name);
        for (int64_t k = 0; k < shape_count(&slot->shape); k++)
            sum += (double)g[k] * cos((double)k), squares += (double)g[k] * (double)g[k];
        free(g);
        slots++;
    }
    if (!(fabs(sum - row->along) < row->allowed * sqrt(squares)))
        fail_msg("%s: %.9g, not %.9g, of a gradient of length %g", row->block, sum, row->along, sqrt(squares));
    return slots;
}

// Silu, because rounding puts values on either side of the kink of relu.
static void compare_step(int64_t images, int64_t side, const double *losses, const struct golden *row, size_t rows)
{
    bool both = side == 299;
    struct recipe r = plain_recipe(both ? NULL : "model.second_head=0");
    struct session *s = session_on("cpu");
    struct graph *g = graph_new(s->store, "train");
    int out[MODEL_VALUES], params[MOST], grads[MOST], count = 0, slots = 0;
    OK(recipe_set(&r, "model.activation=silu"));
    write_network(g, SHAPE(images, side, side, 3), CLASSES, &r, true, out);
    int labels = graph_state(g, "labels", SHAPE(images), U8, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int first = g_xent(g, out[0], labels, 0, true), loss = first;
    keep(g, "first", first);
    if (both) {
        int second = g_xent(g, out[1], labels, 0, true);
        loss = g_add(g, first, g_scale(g, second, SECOND));
        keep(g, "second", second);
    }
    OK(fuse_graph(g, FUSE_ALL));
    for (int v = 0; v < g->values; v++)
        if (g->value[v].slot && g->value[v].trains) params[count++] = v;
    OK(grad_of(g, loss, params, count, grads));
    for (int i = 0; i < count; i++) keep(g, arena_text(&g->arena, "d.%s", g->value[params[i]].slot->name), grads[i]);
    OK(session_add(s, g));
    start(s);
    put_noise(s);
    OK(session_put(s, "labels", (const uint8_t[]){0, 7, 4, 1}, 0, (size_t)images));
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "first"), losses[0], 1e-4);
    if (both) assert_float_equal(read_one(s, "second"), losses[1], 1e-4);
    for (size_t i = 0; i < rows; i++) slots += compare_gradient(s, &row[i]);
    assert_int_equal(slots, count);
    session_done(s);
}

TEST(gradients_equal_pytorchs)
{
    compare_step(4, 107, &LOSS, GRADIENTS, sizeof GRADIENTS / sizeof *GRADIENTS);
    compare_step(3, 299, LOSSES, GRADIENTS_OF_BOTH, sizeof GRADIENTS_OF_BOTH / sizeof *GRADIENTS_OF_BOTH);
}

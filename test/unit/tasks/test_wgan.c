// SPDX-License-Identifier: Apache-2.0
// WGAN: parameters as published; the critic's penalty and the generator's loss with their gradients as PyTorch computes them; the
// penalty and its gradient as plain loops in double and their finite differences give them.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

#include "tasks/wgan/wgan_keys.h"
#include "tasks/wgan/wgan_networks.h"

const struct recipe_table *const recipe_tables[] = {NULL};

enum { COUNT = 3, PIXELS = WGAN_SIDE * WGAN_SIDE, NOISE = 3 };

// A step of the model that writes into one graph.
struct written {
    struct recipe recipe;
    struct setting setting;
    struct task_program program;
    struct step step;
};

static void write_step(struct written *w, const struct model *model, struct graph *g, struct wgan_keys keys)
{
    *w = (struct written){.program = {.kind = PROGRAM_TRAIN}};
    *(struct wgan_keys *)(void *)w->recipe.own = keys;
    w->setting = (struct setting){.model = model, .recipe = &w->recipe, .dtype = F32};
    w->step = (struct step){.g = g, .setting = &w->setting, .program = &w->program, .is = {.batch = COUNT}};
    g->trains = ROLES(GROUP_CRITIC) | ROLES(GROUP_GENERATOR);
}

// ---- as published

static void hold_parameters(const struct model *model, struct wgan_keys keys, int64_t channels, const int64_t wanted[2])
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "network");
    struct written w;
    write_step(&w, model, g, keys);
    const struct wgan_network *network = model->own;
    int made = network->generate(&w.step, input(g, "noise", SHAPE(COUNT, keys.noise)), channels);
    const struct shape picture = SHAPE(COUNT, WGAN_SIDE, WGAN_SIDE, channels), number = SHAPE(COUNT, 1);
    OK(graph_check(g));
    assert_true(shape_equal(&g->value[made].shape, &picture));
    assert_int_equal(count_parameters(store), wanted[0]);
    int judged = network->criticise(&w.step, made);
    OK(graph_check(g));
    assert_true(shape_equal(&g->value[judged].shape, &number));
    assert_int_equal(count_parameters(store), wanted[0] + wanted[1]);
    graph_free(g);
    slot_store_free(store);
}

// Of the published generators without the biases before their norms, which do nothing.
TEST(parameters_are_as_published)
{
    hold_parameters(&wgan_models[0], (struct wgan_keys){.width = 32, .noise = 128}, 1,
                    (int64_t[]){128 * 2048 + 2 * 2048 + 25 * (128 * 64 + 64 * 32 + 32) + 2 * (64 + 32) + 1,
                                25 * (32 + 32 * 64 + 64 * 128) + 32 + 64 + 128 + 2048 + 1});
    hold_parameters(&wgan_models[1], (struct wgan_keys){.width = 128, .noise = 128}, 3,
                    (int64_t[]){129 * 2048 + 3 * (2 * 9 * 128 * 128 + 128 * 128 + 2 * 128 + 4 * 128) + 2 * 128 + 9 * 128 * 3 + 3,
                                9 * 3 * 128 + 3 * 128 + 7 * 9 * 128 * 128 + 128 * 128 + 10 * 128 + 129});
}

// ---- as PyTorch's: test/bench/torch_wgan.py printed the figures

static const struct golden OF_PLAIN[] = {
    {"critic.conv1.weight", -43.05024039},
    {"critic.conv1.bias", -7.80472324},
    {"critic.conv2.weight", 6.08138333},
    {"critic.conv2.bias", -8.21773450},
    {"critic.conv3.weight", -25.93659075},
    {"critic.conv3.bias", -2.05947357},
    {"critic.dense.weight", 29.56029787},
    {"critic.dense.bias", -3.00000000},
    {"generator.dense.weight", 9.96382266},
    {"generator.norm0.weight", 3.39348333},
    {"generator.norm0.bias", 4.80564895},
    {"generator.deconv1.weight", -1.67142636},
    {"generator.norm1.weight", -0.04002668},
    {"generator.norm1.bias", -4.55343104},
    {"generator.deconv2.weight", 31.00012439},
    {"generator.norm2.weight", -10.99229808},
    {"generator.norm2.bias", -8.76939770},
    {"generator.deconv3.weight", 45.10397442},
    {"generator.deconv3.bias", -0.61228783},
    {NULL, 0},
};
static const struct golden OF_RESIDUAL[] = {
    {"critic.block1.conv1.weight", 0.39925890},
    {"critic.block1.conv1.bias", -0.00996984},
    {"critic.block1.conv2.weight", -0.20139378},
    {"critic.block1.conv2.bias", -0.60539520},
    {"critic.block1.shortcut.weight", -0.29418806},
    {"critic.block1.shortcut.bias", -0.60539520},
    {"critic.block2.conv1.weight", -0.10831621},
    {"critic.block2.conv1.bias", -1.02041964},
    {"critic.block2.conv2.weight", -0.12191784},
    {"critic.block2.conv2.bias", -0.35056690},
    {"critic.block2.shortcut.weight", 0.81784169},
    {"critic.block2.shortcut.bias", -0.35056690},
    {"critic.block3.conv1.weight", -0.02083140},
    {"critic.block3.conv1.bias", 0.18283515},
    {"critic.block3.conv2.weight", 0.11700944},
    {"critic.block3.conv2.bias", -0.42012989},
    {"critic.block4.conv1.weight", -0.00785632},
    {"critic.block4.conv1.bias", 0.37996209},
    {"critic.block4.conv2.weight", -0.01809375},
    {"critic.block4.conv2.bias", -0.36796527},
    {"critic.dense.weight", 0.86902934},
    {"critic.dense.bias", -3.00000000},
    {"generator.dense.weight", -0.00345894},
    {"generator.dense.bias", -0.01121989},
    {"generator.block1.norm1.weight", 0.00672175},
    {"generator.block1.norm1.bias", 0.00615482},
    {"generator.block1.conv1.weight", 0.02221708},
    {"generator.block1.norm2.weight", 0.00404945},
    {"generator.block1.norm2.bias", 0.00092736},
    {"generator.block1.conv2.weight", 0.01889388},
    {"generator.block1.conv2.bias", 0},
    {"generator.block1.shortcut.weight", 0.01277641},
    {"generator.block1.shortcut.bias", 0},
    {"generator.block2.norm1.weight", -0.01024993},
    {"generator.block2.norm1.bias", -0.01202521},
    {"generator.block2.conv1.weight", -0.00410337},
    {"generator.block2.norm2.weight", -0.00301161},
    {"generator.block2.norm2.bias", -0.00031059},
    {"generator.block2.conv2.weight", -0.00246852},
    {"generator.block2.conv2.bias", 0},
    {"generator.block2.shortcut.weight", -0.00528803},
    {"generator.block2.shortcut.bias", 0},
    {"generator.block3.norm1.weight", 0.00448934},
    {"generator.block3.norm1.bias", 0.00213389},
    {"generator.block3.conv1.weight", -0.02308047},
    {"generator.block3.norm2.weight", -0.00084999},
    {"generator.block3.norm2.bias", -0.00329557},
    {"generator.block3.conv2.weight", -0.00287006},
    {"generator.block3.conv2.bias", 0},
    {"generator.block3.shortcut.weight", -0.00759486},
    {"generator.block3.shortcut.bias", 0},
    {"generator.norm.weight", 0.01579962},
    {"generator.norm.bias", 0.02224717},
    {"generator.last.weight", 0.01337189},
    {"generator.last.bias", -0.13713030},
    {NULL, 0},
};
static const struct {
    const struct golden *gradient;
    double penalty, generator;
} GOLDEN[] = {
    {OF_PLAIN, 104.80693045, -13.66767228},
    {OF_RESIDUAL, 2.98165588, -0.14358061},
};
static const struct waves WAVES = {.norm = "norm", .scale = 0.5, .weight = 0.3, .rest = 0.3, .angle = 0.37,
                                   .square = true};

static float pictures[COUNT][PIXELS];

static void put_pictures(struct session *s)
{
    for (int b = 0; b < COUNT; b++)
        for (int i = 0; i < PIXELS; i++) pictures[b][i] = (float)sin(0.9 * (b + 1) + 0.31 * (i + 1) * (b + 1));
    OK(session_put(s, "pictures", pictures, 0, sizeof pictures));
}

static void compare_with_pytorch(const char *device, int row)
{
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "both");
    struct written w;
    write_step(&w, &wgan_models[row], g, (struct wgan_keys){.width = 4, .noise = NOISE});
    const struct wgan_network *network = w.setting.model->own;
    int penalty = wgan_penalty(&w.step, input(g, "pictures", SHAPE(COUNT, WGAN_SIDE, WGAN_SIDE, 1)));
    int made = network->generate(&w.step, input(g, "noise", SHAPE(COUNT, NOISE)), 1);
    int judged = g_reshape(g, g_reduce(g, network->criticise(&w.step, made), 3u, false, F32), SHAPE(1));
    int generator = g_map(g, MAP_NEG, judged, 0, 0);
    OK(graph_check(g));
    int parameters = keep_gradients(g, g_add(g, penalty, generator));
    keep(g, "penalty", penalty), keep(g, "generator", generator);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    float z[COUNT * NOISE];
    for (int i = 0; i < COUNT * NOISE; i++) z[i] = (float)sin(1.7 * (i + 1));
    put_pictures(s);
    OK(session_put(s, "noise", z, 0, sizeof z));
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "penalty"), GOLDEN[row].penalty, 1e-5 * fabs(GOLDEN[row].penalty));
    assert_float_equal(read_one(s, "generator"), GOLDEN[row].generator, 1e-5 * fabs(GOLDEN[row].generator));
    assert_int_equal(compare_gradients(s, GOLDEN[row].gradient, 1e-5, true), parameters);
    session_done(s);
}

TEST(equals_pytorch)
{
    for (int row = 0; row < 2; row++) compare_with_pytorch("ref", row), compare_with_pytorch("cpu", row);
}

// ---- as differences in double: the penalty of the critic of DCGAN's type, one picture and one layer after the other

enum { LAYERS = 3, WIDTH = 4 };
struct critic {
    double *weight[LAYERS], *bias[LAYERS], *dense;
};

static int side_of(int layer) { return WGAN_SIDE >> layer; }  // of its input; layer LAYERS is the dense one
static int channels_of(int layer) { return layer == 0 ? 1 : WIDTH << (layer - 1); }
static int64_t size_of(int layer) { return side_of(layer) * side_of(layer) * channels_of(layer); }

// y += the convolution of x; back: x += the filters times y.
static void convolve(int layer, const double *w, double *x, double *y, bool back)
{
    const int side = side_of(layer), half = side / 2, in = channels_of(layer), out = channels_of(layer + 1);
    for (int at = 0; at < half * half * 25; at++) {
        const int row = at / 25 / half, column = at / 25 % half, r = at / 5 % 5, s = at % 5;
        const int high = 2 * row + r - 2, wide = 2 * column + s - 2;
        if (high < 0 || high >= side || wide < 0 || wide >= side) continue;
        double *from = x + (high * side + wide) * in, *to = y + (row * half + column) * out;
        for (int k = 0; k < out; k++)
            for (int c = 0; c < in; c++) {
                const double factor = w[((k * 5 + r) * 5 + s) * in + c];
                if (back) from[c] += factor * to[k];
                else to[k] += factor * from[c];
            }
    }
}

static double slope_of_leaky(double x) { return x > 0 ? 1 : 0.2; }

static double penalty_at(const struct critic *n, const float *picture)
{
    double x[LAYERS + 1][PIXELS] = {{0}}, slope[LAYERS + 1][PIXELS], dx[LAYERS + 1][PIXELS] = {{0}}, square = 1e-12;
    for (int i = 0; i < PIXELS; i++) x[0][i] = (double)picture[i];
    for (int l = 0; l < LAYERS; l++) {
        for (int64_t i = 0; i < size_of(l + 1); i++) x[l + 1][i] = n->bias[l][i % channels_of(l + 1)];
        convolve(l, n->weight[l], x[l], x[l + 1], false);
        for (int64_t i = 0; i < size_of(l + 1); i++) {
            slope[l + 1][i] = slope_of_leaky(x[l + 1][i]);
            x[l + 1][i] *= slope[l + 1][i];
        }
    }
    for (int64_t i = 0; i < size_of(LAYERS); i++) dx[LAYERS][i] = n->dense[i];
    for (int l = LAYERS - 1; l >= 0; l--) {
        for (int64_t i = 0; i < size_of(l + 1); i++) dx[l + 1][i] *= slope[l + 1][i];
        convolve(l, n->weight[l], dx[l], dx[l + 1], true);
    }
    for (int i = 0; i < PIXELS; i++) square += dx[0][i] * dx[0][i];
    return (sqrt(square) - 1) * (sqrt(square) - 1);
}

static double penalty_of_all(const struct critic *n)
{
    double sum = 0;
    for (int b = 0; b < COUNT; b++) sum += penalty_at(n, pictures[b]);
    return sum;
}

// Of a critic that is linear between its bends, the penalty does not depend on a bias.
static void hold_to_differences(struct session *s, const struct critic *n, const char *slot_name, double *value)
{
    const int64_t count = shape_count(&slot_find(s->store, slot_name)->shape);
    char name[64];
    snprintf(name, sizeof name, "d.%s", slot_name);
    float *got = slot_find(s->store, name) ? read_slot(s, name) : zalloc((size_t)count * sizeof *got);
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs((double)got[i]));
    assert_true(strstr(slot_name, "bias") ? most == 0 : most > 1);
    for (int64_t i = 0; i < count; i += 1 + count / 16) {
        const double was = value[i], step = 1e-6;
        value[i] = was + step;
        const double above = penalty_of_all(n);
        value[i] = was - step;
        const double wanted = (above - penalty_of_all(n)) / (2 * step);
        value[i] = was;
        if (!(fabs((double)got[i] - wanted) <= 1e-6 * fmax(most, 1)))
            fail_msg("%s[%d]: %.9g, not %.9g", name, (int)i, (double)got[i], wanted);
    }
    free(got);
}

static double *read_doubles(struct session *s, const char *name)
{
    const int64_t count = shape_count(&slot_find(s->store, name)->shape);
    float *from = read_slot(s, name);
    double *to = zalloc((size_t)count * sizeof *to);
    for (int64_t i = 0; i < count; i++) to[i] = (double)from[i];
    free(from);
    return to;
}

TEST(the_penalty_equals_plain_loops_and_their_differences_in_double)
{
    static const char *const weights[] = {"critic.conv1.weight", "critic.conv2.weight", "critic.conv3.weight"};
    static const char *const biases[] = {"critic.conv1.bias", "critic.conv2.bias", "critic.conv3.bias"};
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "penalty");
    struct written w;
    struct critic n;
    write_step(&w, &wgan_models[0], g, (struct wgan_keys){.width = WIDTH, .noise = NOISE});
    int penalty = wgan_penalty(&w.step, input(g, "pictures", SHAPE(COUNT, WGAN_SIDE, WGAN_SIDE, 1)));
    OK(graph_check(g));
    keep_gradients(g, penalty);
    keep(g, "penalty", penalty);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    put_pictures(s);
    OK(session_run(s, 0));
    n.dense = read_doubles(s, "critic.dense.weight");
    for (int l = 0; l < LAYERS; l++) n.weight[l] = read_doubles(s, weights[l]), n.bias[l] = read_doubles(s, biases[l]);
    assert_float_equal(read_one(s, "penalty"), penalty_of_all(&n), 1e-6 * penalty_of_all(&n));
    hold_to_differences(s, &n, "critic.dense.weight", n.dense);
    for (int l = 0; l < LAYERS; l++) {
        hold_to_differences(s, &n, weights[l], n.weight[l]);
        hold_to_differences(s, &n, biases[l], n.bias[l]);
    }
    for (int l = 0; l < LAYERS; l++) free(n.weight[l]), free(n.bias[l]);
    free(n.dense);
    session_done(s);
}

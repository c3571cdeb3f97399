// SPDX-License-Identifier: Apache-2.0
// The network of connect4: parameters as published, outputs and gradients as PyTorch computes them.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

#include "tasks/play/play_keys.h"
#include "tasks/play/play_network.h"

const struct recipe_table *const recipe_tables[] = {NULL};

enum { COUNT = 3, BOARD = 84, MOVES = 7 };

struct written {
    struct recipe recipe;
    struct setting setting;
    struct task_program program;
    struct step step;
};

static struct play_outputs write_network(struct written *w, struct graph *g, int64_t width, int64_t blocks)
{
    *w = (struct written){.program = {.kind = PROGRAM_TRAIN}};
    *(struct play_keys *)(void *)w->recipe.own = (struct play_keys){.width = width, .blocks = blocks};
    w->setting = (struct setting){.model = &play_models[0], .recipe = &w->recipe, .dtype = F32};
    w->step = (struct step){.g = g, .setting = &w->setting, .program = &w->program, .is = {.batch = COUNT}};
    g->trains = ANY;
    return play_network(&w->step, input(g, "boards", SHAPE(COUNT, 6, 7, 2)));
}

// Convolutions without biases, a scale and a bias for each norm, two dense layers of the value and one of the policy.
TEST(parameters_are_counted)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "network");
    struct written w;
    write_network(&w, g, 32, 4);
    OK(graph_check(g));
    assert_int_equal(count_parameters(store), 9 * 2 * 32 + 64 + 4 * 2 * (9 * 32 * 32 + 64) + (32 * 2 + 4 + 84 * 7 + 7) +
                                                  (32 + 2 + 42 * 32 + 32 + 32 + 1));
    graph_free(g);
    slot_store_free(store);
}

// ---- as PyTorch's: test/bench/torch_play.py printed the figures

static const double LOSS = -6.61501514;
static const struct golden GOLDEN[] = {
    {"stem.conv.weight", -12.28538595},
    {"stem.norm.weight", -0.09881974},
    {"stem.norm.bias", -0.62083188},
    {"block0.0.conv.weight", -21.05921874},
    {"block0.0.norm.weight", -0.82603570},
    {"block0.0.norm.bias", -0.87436758},
    {"block0.1.conv.weight", -83.22020926},
    {"block0.1.norm.weight", -0.42183541},
    {"block0.1.norm.bias", -3.50449640},
    {"block1.0.conv.weight", -25.65577540},
    {"block1.0.norm.weight", -3.75154897},
    {"block1.0.norm.bias", 0.15411785},
    {"block1.1.conv.weight", 0.76640607},
    {"block1.1.norm.weight", -0.32739020},
    {"block1.1.norm.bias", -0.79990708},
    {"policy.conv.weight", 10.47057335},
    {"policy.norm.weight", -4.85396913},
    {"policy.norm.bias", -5.69856171},
    {"policy.dense.weight", -13.39745019},
    {"policy.dense.bias", 7.50562519},
    {"value.conv.weight", -5.65211815},
    {"value.norm.weight", -0.35538075},
    {"value.norm.bias", 0.65463130},
    {"value.hidden.weight", -14.44372362},
    {"value.hidden.bias", 1.04640855},
    {"value.dense.weight", -1.67023062},
    {"value.dense.bias", 1.85512913},
    {NULL, 0},
};
static const struct waves WAVES = {.norm = "norm", .scale = 0.5, .weight = 0.3, .rest = 0.3, .angle = 0.37, .square = true};

static void compare_with_pytorch(const char *device)
{
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "network");
    struct written w;
    const struct play_outputs out = write_network(&w, g, 4, 2);
    int weighed = g_mul(g, out.policy, input(g, "cosines", SHAPE(COUNT, MOVES)));
    int loss = g_add(g, g_reshape(g, g_reduce(g, weighed, 3u, false, F32), SHAPE(1)),
                     g_reshape(g, g_reduce(g, out.value, 3u, false, F32), SHAPE(1)));
    OK(graph_check(g));
    int parameters = keep_gradients(g, loss);
    keep(g, "loss", loss);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    float boards[COUNT * BOARD], cosines[COUNT * MOVES];
    for (int i = 0; i < COUNT * BOARD; i++) boards[i] = i * i % 7 < 3;
    for (int i = 0; i < COUNT * MOVES; i++) cosines[i] = (float)cos(i);
    OK(session_put(s, "boards", boards, 0, sizeof boards));
    OK(session_put(s, "cosines", cosines, 0, sizeof cosines));
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "loss"), LOSS, 1e-5 * fabs(LOSS));
    assert_int_equal(compare_gradients(s, GOLDEN, 1e-4, true), parameters);
    session_done(s);
}

TEST(equals_pytorch)
{
    compare_with_pytorch("ref");
    compare_with_pytorch("cpu");
}

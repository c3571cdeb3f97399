// SPDX-License-Identifier: Apache-2.0
// The networks of connect4 and minigo-9: parameters as published, outputs and gradients as PyTorch computes them.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_network.h"

#include "tasks/play/game.h"
#include "tasks/play/play_keys.h"
#include "tasks/play/play_network.h"

const struct recipe_table *const recipe_tables[] = {NULL};

enum { COUNT = 3 };

struct written {
    struct recipe recipe;
    struct setting setting;
    struct task_program program;
    struct step step;
};

static struct play_outputs write_network(struct written *w, struct graph *g, const struct model *m, int64_t width, int64_t blocks)
{
    const struct game *of = m->own;
    *w = (struct written){.program = {.kind = PROGRAM_TRAIN}};
    *(struct play_keys *)(void *)w->recipe.own = (struct play_keys){.width = width, .blocks = blocks};
    w->setting = (struct setting){.model = m, .recipe = &w->recipe, .dtype = F32};
    w->step = (struct step){.g = g, .setting = &w->setting, .program = &w->program, .is = {.batch = COUNT}};
    g->trains = ANY;
    return play_network(&w->step, input(g, "boards", SHAPE(COUNT, of->rows, of->columns, of->planes)));
}

// Convolutions without biases, a scale and a bias for each norm, two dense layers of the value and one of the policy.
TEST(parameters_are_counted)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "network");
    struct written w;
    write_network(&w, g, &play_models[0], 32, 4);
    OK(graph_check(g));
    assert_int_equal(count_parameters(store), 9 * 2 * 32 + 64 + 4 * 2 * (9 * 32 * 32 + 64) + (32 * 2 + 4 + 84 * 7 + 7) +
                                                  (32 + 2 + 42 * 32 + 32 + 32 + 1));
    graph_free(g);
    slot_store_free(store);
}

// ---- as PyTorch's: test/bench/torch_play.py printed the figures

static const double LOSS = -6.61501514, GO_LOSS = 5.72063062;
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
static const struct golden GO_GOLDEN[] = {
    {"stem.conv.weight", -2.06882407},
    {"stem.norm.weight", -4.96930642},
    {"stem.norm.bias", -2.07404418},
    {"block0.0.conv.weight", -19.49189388},
    {"block0.0.norm.weight", 40.94401851},
    {"block0.0.norm.bias", 23.49101161},
    {"block0.1.conv.weight", 120.31249369},
    {"block0.1.norm.weight", 11.96618619},
    {"block0.1.norm.bias", 15.04552473},
    {"block1.0.conv.weight", -37.66301112},
    {"block1.0.norm.weight", -7.66221137},
    {"block1.0.norm.bias", -20.52762230},
    {"block1.1.conv.weight", 23.54582274},
    {"block1.1.norm.weight", 10.44547791},
    {"block1.1.norm.bias", 4.59370537},
    {"policy.conv.weight", -15.92999211},
    {"policy.norm.weight", 7.78903440},
    {"policy.norm.bias", 3.85803758},
    {"policy.dense.weight", 14.91120531},
    {"policy.dense.bias", 113.39607731},
    {"value.conv.weight", 1.04287217},
    {"value.norm.weight", -0.69882596},
    {"value.norm.bias", 0.08003328},
    {"value.hidden.weight", 0.57587255},
    {"value.hidden.bias", -0.15648240},
    {"value.dense.weight", 2.44773239},
    {"value.dense.bias", 0.62237246},
    {NULL, 0},
};
static const struct waves WAVES = {.norm = "norm", .scale = 0.5, .weight = 0.3, .rest = 0.3, .angle = 0.37, .square = true};

static void compare_with_pytorch(const char *device, const struct model *m, double expected, const struct golden *golden)
{
    const struct game *of = m->own;
    const int64_t cells = COUNT * game_bytes(of), answers = COUNT * of->moves;
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "network");
    struct written w;
    const struct play_outputs out = write_network(&w, g, m, 4, 2);
    int weighed = g_mul(g, out.policy, input(g, "cosines", SHAPE(COUNT, of->moves)));
    int loss = g_add(g, g_reshape(g, g_reduce(g, weighed, 3u, false, F32), SHAPE(1)),
                     g_reshape(g, g_reduce(g, out.value, 3u, false, F32), SHAPE(1)));
    OK(graph_check(g));
    int parameters = keep_gradients(g, loss);
    keep(g, "loss", loss);
    OK(session_add(s, g));
    start(s);
    put_waves(s, &WAVES);
    float *boards = zalloc((size_t)cells * sizeof *boards), *cosines = zalloc((size_t)answers * sizeof *cosines);
    for (int64_t i = 0; i < cells; i++) boards[i] = i * i % 7 < 3;
    for (int64_t i = 0; i < answers; i++) cosines[i] = (float)cos((double)i);
    OK(session_put(s, "boards", boards, 0, (size_t)cells * sizeof *boards));
    OK(session_put(s, "cosines", cosines, 0, (size_t)answers * sizeof *cosines));
    OK(session_run(s, 0));
    assert_float_equal(read_one(s, "loss"), expected, 1e-5 * fabs(expected));
    assert_int_equal(compare_gradients(s, golden, 1e-4, true), parameters);
    free(boards), free(cosines);
    session_done(s);
}

TEST(equals_pytorch)
{
    for (int i = 0; i < 2; i++) {
        compare_with_pytorch(i ? "cpu" : "ref", &play_models[0], LOSS, GOLDEN);
        compare_with_pytorch(i ? "cpu" : "ref", &minigo_models[0], GO_LOSS, GO_GOLDEN);
    }
}

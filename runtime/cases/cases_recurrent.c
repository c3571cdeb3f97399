// SPDX-License-Identifier: Apache-2.0
// Cases of recurrent layers: one direction and two, with and without lengths (some samples are empty), a skip input and dropout,
// hidden units that do not fill vectors, more samples than a block takes.
#include "runtime/cases/cases.h"

// p: samples, words, hidden units, directions, lengths, with a skip input, act, dropout in percent
static void build_sru(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype t = b->options.type;
    bool back = b->row->op == OP_SRU_GRAD;
    int parts = p[5] ? 3 : 4, lengths = NONE, key = NONE, step = NONE, wide = p[2] * p[3];
    struct shape units = SHAPE(p[0], p[1], wide);
    union attr a = {.recurrent = {.directions = p[3], .act = (enum act)p[6], .p = (float)p[7] / 100.0f, .site = 6}};
    int u = case_param(b, "u", SHAPE(p[0], p[1], parts * wide), t, DRAW_NORMAL, 1.0);
    int x = p[5] ? case_param(b, "x", units, t, DRAW_NORMAL, 1.0) : NONE;
    int bias = case_param(b, "bias", SHAPE(2 * wide), F32, DRAW_NORMAL, 0.5);
    if (p[4]) lengths = case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[1] + 2);
    if (p[7]) case_dropout(b, &key, &step);
    if (!back) {
        case_node(b, (int[]){u, x, bias, lengths, key, step}, 6, &a, NULL);
        return;
    }
    int dh = case_input(b, "dh", units, t, DRAW_NORMAL, 1.0), c = case_input(b, "c", units, t, DRAW_NORMAL, 0.5);
    case_node(b, (int[]){dh, u, x, bias, c, lengths, key, step}, 8, &a, NULL);
}

// p: samples, words, hidden units, directions, lengths, initial states; backward also: gradients of final ones and not of h
static void build_lstm(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype t = b->options.type;
    int wide = p[2] * p[3], lengths = NONE, h0 = NONE, c0 = NONE;
    struct shape units = SHAPE(p[0], p[1], wide), parts = SHAPE(p[0], p[1], 4 * wide), state = SHAPE(p[0], wide);
    union attr a = {.recurrent = {.directions = p[3]}};
    bool back = b->row->op == OP_LSTM_GRAD;
    int first = back ? case_input(b, "gates", parts, t, DRAW_POSITIVE, 0.5) : case_param(b, "x", parts, t, DRAW_NORMAL, 1.0);
    int w = NONE, dh = NONE, dh_last = NONE, dc_last = NONE;
    if (p[1] > 1) w = case_param(b, "w", SHAPE(4 * wide, p[2]), F32, DRAW_NORMAL, 1.0 / (2.0 + p[2] / 16));
    if (p[4]) lengths = case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[1] + 2);
    if (p[5] && w != NONE) h0 = case_param(b, "h0", state, t, DRAW_NORMAL, 0.5);
    if (p[5]) c0 = case_param(b, "c0", state, F32, DRAW_NORMAL, 0.5);
    if (!back) {
        case_node(b, (int[]){first, w, lengths, h0, c0}, 5, &a, NULL);
        return;
    }
    int h = case_input(b, "h", units, t, DRAW_NORMAL, 0.5), c = case_input(b, "c", units, t, DRAW_NORMAL, 0.5);
    if (p[5] < 2) dh = case_input(b, "dh", units, t, DRAW_NORMAL, 1.0);
    if (p[5]) dh_last = case_input(b, "dh_last", state, t, DRAW_NORMAL, 1.0);
    if (p[5]) dc_last = case_input(b, "dc_last", state, F32, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){first, w, h, c, lengths, h0, c0, dh, dh_last, dc_last}, 10, &a, NULL);
}

// p: samples, words, hidden units, directions, lengths, bias, the original reset gate
static void build_gru(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype t = b->options.type;
    int wide = p[2] * p[3], lengths = NONE, bias = NONE;
    struct shape units = SHAPE(p[0], p[1], wide);
    union attr a = {.recurrent = {.directions = p[3], .original = p[6]}};
    bool back = b->row->op == OP_GRU_GRAD;
    int first = back ? case_input(b, "kept", SHAPE(p[0], p[1], 4 * wide), t, DRAW_POSITIVE, 0.5)
                     : case_param(b, "x", SHAPE(p[0], p[1], 3 * wide), t, DRAW_NORMAL, 1.0);
    int w = case_param(b, "w", SHAPE(3 * wide, p[2]), F32, DRAW_NORMAL, 1.0 / (2.0 + p[2] / 16));
    if (p[4]) lengths = case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[1] + 2);
    if (!back) {
        if (p[5]) bias = case_param(b, "bias", SHAPE(3 * wide), F32, DRAW_NORMAL, 0.5);
        case_node(b, (int[]){first, w, bias, lengths}, 4, &a, NULL);
        return;
    }
    int h = case_input(b, "h", units, t, DRAW_NORMAL, 0.5), dh = case_input(b, "dh", units, t, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){first, w, h, lengths, dh}, 5, &a, NULL);
}

#define HALF (CASE_HALF | CASE_INSIDE)
#define LARGE (CASE_HALF | CASE_LARGE)
#define BOTH(name, op, build, flags, ...)                                                                              \
    {name, OP_##op, build, (flags), {__VA_ARGS__}, 64},                                                                \
    {name ", backward", OP_##op##_GRAD, build, (flags) & ~CASE_GRADIENT, {__VA_ARGS__}, 128}
#define SRU(name, flags, ...) BOTH("sru " name, SRU, build_sru, flags, __VA_ARGS__)
#define LSTM(name, flags, ...) BOTH("lstm " name, LSTM, build_lstm, flags, __VA_ARGS__)
#define GRU(name, flags, ...) BOTH("gru " name, GRU, build_gru, flags, __VA_ARGS__)

const struct op_case cases_recurrent[] = {
    //                                                     B   T  H    D  len skip act       drop
    SRU("of one direction",        HALF | CASE_GRADIENT,   2,  5, 3,   1, 0,  0,  ACT_TANH,  0),
    SRU("of two directions",       HALF | CASE_GRADIENT,   3,  4, 5,   2, 1,  0,  ACT_TANH,  0),
    SRU("with a skip input",       HALF | CASE_GRADIENT,   3,  5, 4,   2, 1,  1,  ACT_NONE,  0),
    SRU("with dropout",            HALF | CASE_GRADIENT,   2,  4, 6,   2, 1,  1,  ACT_TANH,  30),
    SRU("with relu",               HALF,                   4,  6, 17,  1, 1,  0,  ACT_RELU,  20),
    SRU("of one word",             HALF,                   3,  1, 8,   2, 0,  1,  ACT_TANH,  0),
    SRU("of 125 units",            HALF,                   4,  9, 125, 2, 1,  0,  ACT_TANH,  20),
    SRU("of 300 units",            HALF,                   1,  3, 300, 2, 0,  1,  ACT_TANH,  0),
    SRU("of many samples",         HALF,                   21, 4, 33,  2, 1,  1,  ACT_TANH,  10),
    SRU("of 32 x 400, 2 x 128",    LARGE,                  32, 400, 128, 2, 0, 0, ACT_TANH,  20),
    LSTM("of one direction",       HALF | CASE_GRADIENT,   2,  5, 3,   1, 0,  0),
    LSTM("of two directions",      HALF | CASE_GRADIENT,   3,  4, 4,   2, 1,  0),
    LSTM("of one word",            HALF,                   3,  1, 8,   2, 0,  0),
    LSTM("of one unit",            HALF,                   2,  4, 1,   2, 1,  0),
    LSTM("of 33 units",            HALF,                   7,  6, 33,  2, 1,  0),
    LSTM("of 125 units",           HALF,                   5,  4, 125, 2, 1,  0),
    LSTM("of 260 units",           HALF | CASE_SLOW,       2,  3, 260, 1, 0,  0),
    LSTM("of 400 units",           HALF | CASE_SLOW,       3,  3, 400, 2, 1,  0),
    LSTM("of many samples",        HALF,                   29, 3, 16,  2, 1,  0),
    LSTM("with states",            HALF | CASE_GRADIENT,   3,  4, 4,   2, 1,  1),
    LSTM("with final states alone", HALF,                  15, 3, 5,   2, 1,  2),
    LSTM("with states, one word",  HALF | CASE_GRADIENT,   26, 1, 19,  1, 0,  1),
    LSTM("with states, 260 units", HALF | CASE_SLOW,       3,  3, 260, 2, 1,  1),
    LSTM("with states, 400 units", HALF | CASE_SLOW,       9,  2, 400, 2, 1,  1),
    LSTM("of 400 units, final states alone", HALF,         15, 2, 400, 1, 1,  2),
    LSTM("past the caches",        0,                      13, 214, 64, 2, 1,  1),
    LSTM("of 128 x 8, 1024",       LARGE,                  128, 8, 1024, 1, 0, 0),
    LSTM("of 32 x 400, 2 x 128",   LARGE,                  32, 400, 128, 2, 0, 0),
    LSTM("of 64 x 24, 256",        LARGE,                  64, 24, 256, 1, 1, 1),
    //                                                     B   T  H    D  len bias original
    GRU("of one direction",        HALF | CASE_GRADIENT,   2,  5, 3,   1, 0,  0,  0),
    GRU("of two directions",       HALF | CASE_GRADIENT,   3,  4, 4,   2, 1,  1,  0),
    GRU("of one word",             HALF,                   3,  1, 8,   2, 0,  1,  0),
    GRU("of one unit",             HALF,                   2,  4, 1,   2, 1,  1,  0),
    GRU("of 33 units",             HALF,                   7,  6, 33,  2, 1,  1,  0),
    GRU("of 260 units",            HALF | CASE_SLOW,       2,  3, 260, 1, 0,  1,  0),
    GRU("of many samples",         HALF,                   29, 3, 16,  2, 1,  1,  0),
    GRU("original, one direction", HALF | CASE_GRADIENT,   2,  5, 3,   1, 0,  0,  1),
    GRU("original, two directions", HALF | CASE_GRADIENT,  3,  4, 4,   2, 1,  1,  1),
    GRU("original, of 33 units",   HALF,                   15, 6, 33,  2, 1,  1,  1),
    GRU("original, of 16 units",   HALF,                   3,  5, 16,  2, 1,  1,  1),
    GRU("past the caches",         0,                      16, 294, 64, 2, 1, 1,  0),
    GRU("past the caches, 16 bits", HALF | CASE_SLOW,      41, 460, 32, 2, 1, 1,  0),
    GRU("of 16 x 160, 2 x 256",    LARGE,                  16, 160, 256, 2, 0, 1, 0),
    {0},
};

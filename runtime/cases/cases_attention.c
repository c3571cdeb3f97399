// SPDX-License-Identifier: Apache-2.0
// Cases of attention: with and without lengths and dropout, rows that do not fill vectors or blocks, a sample without a token.
#include "runtime/cases/cases.h"

// p: samples, tokens, heads, channels a head, lengths (1: drawn, 2: shorter than a query block), dropout in percent
static void build_attention(struct case_build *b)
{
    const int *p = b->row->p;
    bool back = b->row->op == OP_ATTENTION_GRAD;
    enum dtype t = b->options.type;
    struct shape whole = SHAPE(p[0], p[1], 3 * p[2] * p[3]), part = SHAPE(p[0], p[1], p[2] * p[3]);
    union attr a = {.attention = {p[2], (float)p[5] / 100.0f, 4}};
    int qkv = case_param(b, "qkv", whole, t, DRAW_NORMAL, 1.0), lengths = NONE, key = NONE, step = NONE;
    if (p[4]) lengths = case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[4] == 2 ? 17 : p[1] + 2);
    if (p[5]) case_dropout(b, &key, &step);
    if (!back) {
        case_node(b, (int[]){qkv, lengths, key, step}, 4, &a, NULL);
        return;
    }
    int dy = case_input(b, "dy", part, t, DRAW_NORMAL, 1.0), y = case_input(b, "y", part, t, DRAW_NORMAL, 0.5);
    int lse = case_input(b, "lse", SHAPE(p[0], p[2], p[1]), F32, DRAW_POSITIVE, 8.0);
    case_node(b, (int[]){dy, qkv, y, lse, lengths, key, step}, 7, &a, NULL);
}

#define HALF (CASE_HALF | CASE_INSIDE)
#define LARGE (CASE_HALF | CASE_LARGE)
#define BOTH(name, flags, ...)                                                                                         \
    {"attention " name, OP_ATTENTION, build_attention, (flags), {__VA_ARGS__}, 64},                                    \
    {"attention_grad " name, OP_ATTENTION_GRAD, build_attention, (flags) & ~CASE_GRADIENT, {__VA_ARGS__}, 256}

const struct op_case cases_attention[] = {
    //                                              B  T    H  D   len drop
    BOTH("of one head",      HALF | CASE_GRADIENT,  2, 5,   1, 4,  0, 0),
    BOTH("of three heads",   HALF | CASE_GRADIENT,  2, 7,   3, 5,  0, 0),
    BOTH("lengths",          HALF | CASE_GRADIENT,  5, 6,   2, 4,  1, 0),
    BOTH("dropout",          HALF | CASE_GRADIENT,  2, 6,   2, 4,  0, 30),
    BOTH("of one token",     HALF,                  3, 1,   2, 8,  0, 0),
    BOTH("of 32 channels",   HALF,                  2, 50,  2, 32, 1, 0),
    BOTH("of 64 channels",   HALF,                  2, 131, 2, 64, 1, 10),
    BOTH("of short samples", HALF,                  7, 130, 1, 64, 2, 10),
    BOTH("of 48 channels",   HALF,                  1, 97,  2, 48, 0, 50),
    BOTH("of 80 channels",   HALF,                  1, 40,  1, 80, 0, 0),
    BOTH("of 300 tokens",    HALF,                  1, 300, 1, 32, 0, 10),
    BOTH("of 35 channels",   HALF,                  2, 139, 2, 35, 1, 20),
    BOTH("of 32 x 384, 12 x 64",            LARGE, 32, 384, 12, 64, 0, 0),
    BOTH("of 32 x 384, 12 x 64, dropout",   LARGE, 32, 384, 12, 64, 0, 10),
    BOTH("of 32 x 256, 12 x 32",            LARGE, 32, 256, 12, 32, 0, 0),
    BOTH("of 32 x 256, 12 x 32, dropout",   LARGE, 32, 256, 12, 32, 0, 10),
    {0},
};

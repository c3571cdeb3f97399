// SPDX-License-Identifier: Apache-2.0
// Cases of attention: with and without lengths and dropout, causal, to the keys of another sequence; rows that do not fill
// vectors or blocks, a sample without a token, queries that see no key. Cases of rotary positions.
#include "runtime/cases/cases.h"

// p: samples, queries, heads, channels a head, lengths (1: drawn, 2: shorter than a query block, 3: of the keys alone), dropout
// in percent, causal, keys (0: one tensor holds all)
static void build_attention(struct case_build *b)
{
    const int *p = b->row->p;
    bool back = b->row->op == OP_ATTENTION_GRAD, apart = p[7] > 0;
    enum dtype t = b->options.type;
    int width = p[2] * p[3], keys = apart ? p[7] : p[1];
    struct shape part = SHAPE(p[0], p[1], width);
    union attr a = {.attention = {p[2], (float)p[5] / 100.0f, 4, p[6]}};
    int in[9], at = 0, key = NONE, step = NONE;
    if (back) in[at++] = case_input(b, "dy", part, t, DRAW_NORMAL, 1.0);
    in[at++] = case_param(b, apart ? "q" : "qkv", apart ? part : SHAPE(p[0], p[1], 3 * width), t, DRAW_NORMAL, 1.0);
    in[at++] = apart ? case_param(b, "kv", SHAPE(p[0], keys, 2 * width), t, DRAW_NORMAL, 1.0) : NONE;
    if (back) in[at++] = case_input(b, "y", part, t, DRAW_NORMAL, 0.5);
    if (back) in[at++] = case_input(b, "lse", SHAPE(p[0], p[2], p[1]), F32, DRAW_POSITIVE, 8.0);
    in[at++] = p[4] ? case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[4] == 2 ? 17 : keys + 2) : NONE;
    in[at++] = apart && p[4] && p[4] != 3 ? case_input(b, "q_lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[1] + 2) : NONE;
    if (p[5]) case_dropout(b, &key, &step);
    in[at++] = key, in[at++] = step;
    case_node(b, in, at, &a, NULL);
}

// p: samples, tokens, heads, channels per head, positions (1: one, 2: one per sample), their bound, base, inverse
static void build_rotary(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[1], p[2], p[3]), b->options.type, DRAW_NORMAL, 1.0);
    int at = p[4] ? case_input(b, "at", SHAPE(p[4] == 1 ? 1 : p[0]), I32, DRAW_INDEX, p[5]) : NONE;
    case_node(b, (int[]){x, at}, 2, &(union attr){.rotary = {(float)p[6], p[7]}}, NULL);
}

#define HALF (CASE_HALF | CASE_INSIDE)
#define LARGE (CASE_HALF | CASE_LARGE)
#define BOTH(name, flags, ...)                                                                                         \
    {"attention " name, OP_ATTENTION, build_attention, (flags), {__VA_ARGS__}, 64},                                    \
    {"attention_grad " name, OP_ATTENTION_GRAD, build_attention, (flags) & ~CASE_GRADIENT, {__VA_ARGS__}, 256}
#define ROTARY(name, flags, ...) {"rotary " name, OP_ROTARY, build_rotary, CASE_HALF | (flags), {__VA_ARGS__}, 8}

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
    //                                                                 causal
    BOTH("causal",           HALF | CASE_GRADIENT,  2, 7,   2, 4,  0, 0,  1),
    BOTH("causal, lengths",  HALF | CASE_GRADIENT,  5, 6,   2, 4,  1, 0,  1),
    BOTH("causal, dropout",  HALF | CASE_GRADIENT,  2, 6,   2, 4,  0, 30, 1),
    BOTH("causal, of 131 tokens", HALF,             2, 131, 2, 64, 0, 0,  1),
    BOTH("causal, lengths, of 147 tokens", HALF,    3, 147, 2, 32, 1, 10, 1),
    BOTH("causal, of 300 tokens",    HALF,          1, 300, 1, 35, 0, 10, 1),
    //                                                                       keys
    BOTH("to other keys",            HALF | CASE_GRADIENT, 2, 5, 2, 4, 0, 0, 0, 9),
    BOTH("to fewer keys, lengths",   HALF | CASE_GRADIENT, 5, 8, 2, 3, 1, 0, 0, 4),
    BOTH("to other keys, dropout",   HALF | CASE_GRADIENT, 2, 6, 2, 4, 3, 30, 0, 7),
    BOTH("causal, to more keys",     HALF | CASE_GRADIENT, 2, 4, 2, 4, 0, 0, 1, 9),
    BOTH("causal, to fewer keys",    HALF | CASE_GRADIENT, 2, 9, 2, 4, 0, 0, 1, 4),
    BOTH("causal, lengths of the keys", HALF | CASE_GRADIENT, 6, 3, 2, 4, 3, 0, 1, 8),
    BOTH("of one query to 40 keys",  HALF, 3, 1, 2, 32, 3, 0, 0, 40),
    BOTH("of one query to 300 keys", HALF, 2, 1, 2, 64, 3, 0, 1, 300),
    BOTH("of 140 queries to 50 keys",   HALF, 3, 140, 2, 64, 1, 10, 0, 50),
    BOTH("of 50 queries to 140 keys",   HALF, 3, 50, 2, 48, 1, 10, 0, 140),
    BOTH("of 50 queries to 51 keys in rows of 4 KB", HALF, 2, 50, 8, 64, 1, 10, 0, 51),
    BOTH("causal, of 70 queries to 211 keys", HALF, 2, 70, 2, 64, 1, 0, 1, 211),
    BOTH("causal, of 211 queries to 70 keys", HALF, 2, 211, 1, 64, 0, 10, 1, 70),
    BOTH("of 32 x 384, 12 x 64",            LARGE, 32, 384, 12, 64, 0, 0),
    BOTH("of 32 x 384, 12 x 64, dropout",   LARGE, 32, 384, 12, 64, 0, 10),
    BOTH("of 32 x 256, 12 x 32",            LARGE, 32, 256, 12, 32, 0, 0),
    BOTH("of 32 x 256, 12 x 32, dropout",   LARGE, 32, 256, 12, 32, 0, 10),
    BOTH("causal, of 32 x 384, 12 x 64",    LARGE, 32, 384, 12, 64, 0, 0, 1),
    BOTH("of 32 x 384 to 128, 12 x 64",     LARGE, 32, 384, 12, 64, 0, 0, 0, 128),
    {"attention of 32 x 1 to 512, 12 x 64", OP_ATTENTION, build_attention, LARGE, {32, 1, 12, 64, 0, 0, 0, 512}, 0},
    //                                            B  T  H  D   at   base
    ROTARY("from the start",       CASE_GRADIENT, 2, 5, 3, 8,  0, 0, 100),
    ROTARY("at one position",      CASE_GRADIENT, 3, 4, 2, 6,  1, 50, 100),
    ROTARY("at one per sample",     CASE_GRADIENT, 3, 4, 1, 2,  2, 50, 100),
    ROTARY("inverse",              CASE_GRADIENT, 2, 4, 2, 10, 1, 50, 100, 1),
    ROTARY("of 64 channels, far",  0, 5, 7, 6, 64,  2, 8192, 10000),
    ROTARY("of one token",         0, 9, 1, 5, 128, 2, 8192, 10000),
    ROTARY("of 8192 tokens",       0, 1, 8192, 1, 16, 0, 0, 10000),
    ROTARY("of 256 channels",      0, 2, 70, 1, 256, 0, 0, 500000),
    ROTARY("of 34 channels",       0, 2, 9, 5, 34, 1, 1000000, 10000, 1),
    ROTARY("of 32 x 512, 12 x 64", CASE_LARGE, 32, 512, 12, 64, 0, 0, 10000),
    ROTARY("of 32 x 512, 6 x 128", CASE_LARGE, 32, 512, 6, 128, 1, 99, 10000),
    {0},
};

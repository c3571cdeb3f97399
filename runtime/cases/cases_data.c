// SPDX-License-Identifier: Apache-2.0
// Cases of data on the device: windows of an order, augmentation, tables and counters.
#include "runtime/cases/cases.h"

// p: samples, batch, cursor
static void build_window(struct case_build *b)
{
    const int *p = b->row->p;
    int order = case_input(b, "order", SHAPE(p[0]), I32, DRAW_INDEX, p[0]);
    int cursor = case_input(b, "cursor", SHAPE(1), I32, DRAW_CONSTANT, p[2]);
    case_node(b, (int[]){order, cursor}, 2, &(union attr){.augment = {.batch = p[1]}}, NULL);
}

// p: images, rows, columns, channels, batch (0: no index), flip, pad, jitter in percent, view flip, view dy, view dx, key
static void build_augment(struct case_build *b)
{
    const int *p = b->row->p;
    int images = case_input(b, "images", SHAPE(p[0], p[1], p[2], p[3]), U8, DRAW_INDEX, 256);
    int index = p[4] ? case_input(b, "index", SHAPE(p[4]), I32, DRAW_INDEX, p[0]) : NONE;
    int key = p[11] ? case_input(b, "key", SHAPE(4), I32, DRAW_WHOLE, 0) : NONE;
    union attr a = {.augment = {.flip = (enum flip)p[5], .pad = p[6], .brightness = (float)p[7] / 100.0f,
                                .contrast = (float)p[7] / 90.0f, .view_flip = p[8], .view_dy = p[9], .view_dx = p[10],
                                .mean = {0.4914f, 0.4822f, 0.4465f, 0.5f}, .std = {0.247f, 0.2435f, 0.2616f, 0.25f},
                                .to = b->options.type, .batch = p[4]}};
    case_node(b, (int[]){images, index, key}, 3, &a, NULL);
}

// p: length of the table, step
static void build_pick(struct case_build *b)
{
    int table = case_input(b, "table", SHAPE(b->row->p[0]), F32, DRAW_NORMAL, 1.0);
    int step = case_input(b, "step", SHAPE(1), I32, DRAW_CONSTANT, b->row->p[1]);
    case_node(b, (int[]){table, step}, 2, NULL, NULL);
}

// p: by how much; whether there is a clip, and its value
static void build_tick(struct case_build *b)
{
    int counter = case_input(b, "counter", SHAPE(1), I32, DRAW_CONSTANT, 12);
    int clip = b->row->p[1] ? case_input(b, "clip", SHAPE(1), F32, DRAW_CONSTANT, b->row->p[2]) : NONE;
    case_node(b, (int[]){counter, clip}, 2, &(union attr){.tick = {b->row->p[0]}}, &counter);
}

#define AUGMENT(name, ...) {"augment " name, OP_AUGMENT, build_augment, CASE_HALF, {__VA_ARGS__}, 32}

const struct op_case cases_data[] = {
    {"window", OP_WINDOW, build_window, 0, {50, 7, 13}, 0},
    {"window past the end", OP_WINDOW, build_window, 0, {50, 20, 41}, 0},
    {"window in the third epoch", OP_WINDOW, build_window, 0, {50, 50, 120}, 0},
    //                               n  h   w   c  b  flip            pad jit view     key
    AUGMENT("plain, no key",         5, 8,  9,  3, 4, FLIP_NEVER,     0,  0,  0, 0, 0, 0),
    AUGMENT("mirrored view",         5, 8,  9,  3, 4, FLIP_NEVER,     0,  0,  1, 0, 0, 0),
    AUGMENT("shifted views",         5, 8,  9,  3, 4, FLIP_NEVER,     0,  0,  0, 1, -1, 0),
    AUGMENT("mirrored, shifted",     5, 7,  6,  3, 6, FLIP_NEVER,     0,  0,  1, -1, 1, 0),
    AUGMENT("all in order",          5, 8,  9,  3, 0, FLIP_NEVER,     0,  0,  0, 0, 0, 0),
    AUGMENT("all, mirrored, shifted", 5, 7, 6,  3, 0, FLIP_NEVER,     0,  0,  1, -1, 1, 0),
    AUGMENT("random flip",           9, 8,  8,  3, 17, FLIP_RANDOM,   0,  0,  0, 0, 0, 1),
    AUGMENT("alternate flip, crop",  9, 32, 32, 3, 8, FLIP_ALTERNATE, 2,  0,  0, 0, 0, 1),
    AUGMENT("everything",            9, 16, 12, 3, 9, FLIP_ALTERNATE, 4,  14, 0, 0, 0, 1),
    AUGMENT("jitter alone, gray",    3, 5,  5,  1, 7, FLIP_NEVER,     0,  20, 0, 0, 0, 1),
    AUGMENT("four channels",         3, 5,  6,  4, 5, FLIP_RANDOM,    1,  10, 0, 0, 0, 1),
    AUGMENT("many images",           50, 32, 32, 3, 40, FLIP_ALTERNATE, 2, 14, 0, 0, 0, 1),
    {"pick", OP_PICK, build_pick, 0, {10, 4}, 0},
    {"pick past the end", OP_PICK, build_pick, 0, {10, 25}, 0},
    {"tick", OP_TICK, build_tick, 0, {1}, 0},
    {"tick by a batch", OP_TICK, build_tick, 0, {2000}, 0},
    {"tick of a clipped step", OP_TICK, build_tick, 0, {1, 1, 1}, 0},
    {"tick of a skipped step", OP_TICK, build_tick, 0, {1, 1, -1}, 0},
    {"augment 2000 images", OP_AUGMENT, build_augment, CASE_HALF | CASE_LARGE,
     {10000, 32, 32, 3, 2000, FLIP_ALTERNATE, 2, 14, 0, 0, 0, 1}, 0},
    {"augment 32 images in order", OP_AUGMENT, build_augment, CASE_HALF | CASE_LARGE,
     {32, 224, 224, 3, 0, FLIP_NEVER, 0, 0, 0, 0, 0, 0}, 0},
    {0},
};

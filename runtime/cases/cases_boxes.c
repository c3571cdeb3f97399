// SPDX-License-Identifier: Apache-2.0
// Cases of boxes in fixed numbers: coded, suppressed, matched, drawn, and slices by class. One box in eight does not exist.
#include "runtime/cases/cases.h"

// p: pictures, anchors, boxes per anchor, anchors are shared, sizes
static void build_decode(struct case_build *b)
{
    const int *p = b->row->p;
    int codes = case_input(b, "codes", SHAPE(p[0], p[1], 4 * p[2]), b->options.type, DRAW_NORMAL, 4.0);
    int anchors = p[3] ? case_input(b, "anchors", SHAPE(p[1], 4), F32, DRAW_BOX, 100)
                       : case_input(b, "anchors", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, 100);
    int sizes = p[4] ? case_input(b, "sizes", SHAPE(p[0], 2), F32, DRAW_POSITIVE, 80) : NONE;
    case_node(b, (int[]){codes, anchors, sizes}, 3, &(union attr){.boxes = {.weight = {10, 5}}}, NULL);
}

// p: pictures, boxes
static void build_encode(struct case_build *b)
{
    const int *p = b->row->p;
    int boxes = case_input(b, "truth", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, 100);
    int anchors = case_input(b, "anchors", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, 100);
    case_node(b, (int[]){boxes, anchors}, 2, &(union attr){.boxes = {.encode = true, .weight = {10, 5}}}, NULL);
}

// p: pictures, boxes, k, classes (0: one), of each picture, different scores (0: all differ), threshold in percent, least score
// in percent, least side
static void build_nms(struct case_build *b)
{
    const int *p = b->row->p;
    int boxes = case_input(b, "boxes", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, 60);
    int scores = case_input(b, "scores", SHAPE(p[0], p[1]), F32, p[5] ? DRAW_INDEX : DRAW_NORMAL, p[5] ? p[5] : 1.0);
    int classes = !p[3] ? NONE
                  : p[4] ? case_input(b, "classes", SHAPE(p[0], p[1]), I32, DRAW_INDEX, p[3])
                         : case_input(b, "classes", SHAPE(p[1]), I32, DRAW_INDEX, p[3]);
    union attr a = {.nms = {.k = p[2], .iou = (float)p[6] / 100.0f, .score = (float)p[7] / 100.0f, .side = (float)p[8]}};
    case_node(b, (int[]){boxes, scores, classes}, 3, &a, NULL);
}

// p: pictures, boxes, truths, boxes are shared, classes, low and high in percent, rescue
static void build_match(struct case_build *b)
{
    const int *p = b->row->p;
    int boxes = p[3] ? case_input(b, "boxes", SHAPE(p[1], 4), F32, DRAW_BOX, 60)
                     : case_input(b, "boxes", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, 60);
    int truth = case_input(b, "truth", SHAPE(p[0], p[2], 4), F32, DRAW_BOX, 60);
    int classes = p[4] ? case_input(b, "classes", SHAPE(p[0], p[2]), I32, DRAW_INDEX, p[4]) : NONE;
    union attr a = {.match = {.low = (float)p[5] / 100.0f, .high = (float)p[6] / 100.0f, .rescue = p[7]}};
    case_node(b, (int[]){boxes, truth, classes}, 3, &a, NULL);
}

// p: pictures, boxes, different labels, k, most positive ones, different random numbers (0: all differ)
static void build_sample(struct case_build *b)
{
    const int *p = b->row->p;
    int labels = case_input(b, "labels", SHAPE(p[0], p[1]), I32, DRAW_INDEX, p[2]);
    int random = case_input(b, "random", SHAPE(p[0], p[1]), F32, p[5] ? DRAW_INDEX : DRAW_NORMAL, p[5] ? p[5] : 1.0);
    case_node(b, (int[]){labels, random}, 2, &(union attr){.sample = {p[3], p[4]}}, NULL);
}

// p: four dimensions, rank of the index, axis
static void build_slice(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[1], p[2], p[3]), b->options.type, DRAW_NORMAL, 1.0);
    struct shape shape = p[4] == 1 ? SHAPE(p[0]) : SHAPE(p[0], p[1]);
    int index = case_input(b, "index", shape, I32, DRAW_INDEX, p[p[5]] + 1);  // one is outside
    case_node(b, (int[]){x, index}, 2, &(union attr){.move = {.axis = p[5]}}, NULL);
}

static void build_class_slice_grad(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = p[4] == 1 ? SHAPE(p[0]) : SHAPE(p[0], p[1]), y = {.rank = 0};
    for (int i = 0; i < 4; i++)
        if (i != p[5]) y.dim[y.rank++] = p[i];
    int index = case_input(b, "index", shape, I32, DRAW_INDEX, p[p[5]] + 1);
    int dy = case_input(b, "dy", y, b->options.type, DRAW_NORMAL, 1.0);
    union attr a = {.move = {.shape = SHAPE(p[0], p[1], p[2], p[3]), .axis = p[5]}};
    case_node(b, (int[]){index, dy}, 2, &a, NULL);
}

#define NMS(name, flags, ...) {"nms " name, OP_NMS, build_nms, flags, {__VA_ARGS__}, 0}
#define MATCH(name, flags, ...) {"match " name, OP_MATCH, build_match, flags, {__VA_ARGS__}, 0}
#define SAMPLE(name, flags, ...) {"sample " name, OP_SAMPLE, build_sample, flags, {__VA_ARGS__}, 0}
#define SLICE(name, ...)                                                                                              \
    {"class_slice " name, OP_CLASS_SLICE, build_slice, CASE_HALF | CASE_GRADIENT, {__VA_ARGS__}, 0}, \
    {"class_slice_grad " name, OP_CLASS_SLICE_GRAD, build_class_slice_grad, CASE_HALF, {__VA_ARGS__}, 0}

const struct op_case cases_boxes[] = {
    {"boxes decoded", OP_BOXES, build_decode, CASE_HALF, {2, 33, 1, 0, 0}, 128},
    {"boxes of shared anchors, cut", OP_BOXES, build_decode, CASE_HALF, {3, 20, 1, 1, 1}, 128},
    {"boxes of several classes, cut", OP_BOXES, build_decode, CASE_HALF, {2, 9, 5, 0, 1}, 128},
    {"boxes encoded", OP_BOXES, build_encode, 0, {2, 40}, 128},
    //                                n  boxes k  classes each scores iou score side
    NMS("of one class", 0,            2, 50,   20, 0, 0, 0,    50, -900, 0),
    NMS("of equal scores", 0,         2, 60,   60, 0, 0, 3,    30, -900, 0),
    NMS("of shared classes", 0,       3, 70,   30, 4, 0, 0,    40, -900, 0),
    NMS("of classes, few", 0,         2, 80,   80, 3, 1, 7,    20, 300, 4),
    NMS("of no candidates", 0,        2, 10,   5,  0, 0, 0,    50, 900, 0),
    NMS("of some tiles", 0,           1, 700,  600, 5, 1, 90,  60, -900, 0),
    NMS("of one box", 0,              2, 1,    1,  0, 0, 0,    0,  -900, 0),
    //                                 n  boxes truths shared classes low high rescue
    MATCH("of proposals", 0,           2, 60, 7,  0, 5, 50, 50, 0),
    MATCH("of anchors, rescued", 0,    2, 90, 6,  1, 0, 30, 70, 1),
    MATCH("between the thresholds", 0, 1, 300, 12, 0, 3, 20, 60, 1),
    MATCH("of one truth", 0,           3, 20, 1,  1, 0, 30, 70, 1),
    //                                n  boxes labels k positive random
    SAMPLE("of two labels", 0,        2, 50,   2, 16, 4,  0),
    SAMPLE("of equal numbers", 0,     3, 300,  4, 64, 40, 5),
    SAMPLE("of too few", 0,           2, 20,   2, 64, 32, 0),
    SAMPLE("of no negative one", 0,   1, 20,   1, 30, 0,  0),
    SLICE("of the second", 6, 5, 3, 4, 1, 1),
    SLICE("of the third", 4, 5, 3, 4, 2, 2),
    SLICE("of the last", 7, 2, 3, 6, 1, 3),
    NMS("5000 boxes, 1000 kept", CASE_LARGE, 2, 5000, 1000, 5, 0, 0, 70, -900, 0),
    MATCH("200000 anchors, 20 truths", CASE_LARGE, 2, 200000, 20, 1, 0, 30, 70, 1),
    SAMPLE("256 of 200000", CASE_LARGE, 2, 200000, 2, 256, 128, 0),
    {"boxes 200000 decoded", OP_BOXES, build_decode, CASE_HALF | CASE_LARGE, {2, 200000, 1, 1, 1}, 0},
    {0},
};

// SPDX-License-Identifier: Apache-2.0
// Cases of softmax, cross-entropy and the counters of an evaluation.
#include "runtime/cases/cases.h"

// p: rows, classes
static void build_softmax(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = SHAPE(p[0], p[1]);
    if (b->row->op == OP_SOFTMAX) {
        int x = case_param(b, "x", shape, b->options.type, DRAW_NORMAL, 3.0);
        case_node(b, &x, 1, NULL, NULL);
        return;
    }
    int y = case_param(b, "y", shape, b->options.type, DRAW_POSITIVE, 1.0 / p[1]);
    int dy = case_param(b, "dy", shape, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){y, dy}, 2, NULL, NULL);
}

// p: rows, classes, type of labels (F32: probabilities), smoothing in percent, mean, deviation of the logits, labels that are not
// classes, weights of the rows, the losses of the rows are the result (of XENT_GRAD: they have a gradient, too), masked classes
static void build_xent(struct case_build *b)
{
    const int *p = b->row->p;
    bool soft = p[2] == F32, back = b->row->op == OP_XENT_GRAD;
    struct shape shape = SHAPE(p[0], p[1]);
    int x = case_param(b, "logits", shape, b->options.type, DRAW_NORMAL, p[5]);
    if (p[9]) {
        int first = case_input(b, "first", SHAPE(p[0]), I32, DRAW_CONSTANT, p[9]);
        x = g_mask(b->g, x, first, case_input(b, "length", SHAPE(p[0]), I32, DRAW_CONSTANT, p[1]));
    }
    int labels = case_input(b, "labels", soft ? shape : SHAPE(p[0]), (enum dtype)p[2], soft ? DRAW_POSITIVE : DRAW_INDEX,
                            soft ? 1.0 / p[1] : p[1] + p[6]);
    int weights = p[7] ? case_input(b, "row_weights", SHAPE(p[0]), F32, DRAW_POSITIVE, 1.0) : NONE;
    union attr a = {.loss = {.smoothing = (float)p[3] / 100.0f, .mean = p[4]}};
    int in[] = {x, labels, weights}, out[3];
    if (!back && p[8]) {
        g_xent_full(b->g, in, a.loss.smoothing, a.loss.mean, out);
        case_result(b, out[1]);
        return;
    }
    if (!back) {
        case_node(b, in, 3, &a, NULL);
        return;
    }
    int count = p[4] ? case_input(b, "count", SHAPE(1), F32, DRAW_CONSTANT, 3.0) : NONE;
    int kept = case_input(b, "kept", SHAPE(p[0], 3), F32, DRAW_POSITIVE, 1.0);
    int dloss = case_input(b, "dloss", SHAPE(1), F32, DRAW_CONSTANT, 0.75);
    int drows = p[8] ? case_input(b, "drows", SHAPE(p[0]), F32, DRAW_NORMAL, 1.0) : NONE;
    case_node(b, (int[]){x, labels, weights, count, kept, dloss, drows}, 7, &a, NULL);
}

// p: rows, classes, type of labels, k, all logits equal
static void build_correct(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_input(b, "logits", SHAPE(p[0], p[1]), b->options.type, p[4] ? DRAW_CONSTANT : DRAW_NORMAL, 1.0);
    int labels = case_input(b, "labels", SHAPE(p[0]), (enum dtype)p[2], DRAW_INDEX, p[1]);
    int counter = case_input(b, "counter", SHAPE(1), I32, DRAW_CONSTANT, 1000);
    case_node(b, (int[]){x, labels, counter}, 3, &(union attr){.loss = {.k = p[3]}}, &counter);
}

// p: samples, positions, classes, k
static void build_correct_words(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_input(b, "logits", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    int labels = case_input(b, "labels", SHAPE(p[0], p[1]), I32, DRAW_INDEX, p[2]);
    int counter = case_input(b, "counter", SHAPE(1), I32, DRAW_CONSTANT, 1000);
    case_node(b, (int[]){x, labels, counter}, 3, &(union attr){.loss = {.k = p[3]}}, &counter);
}

// p: type of the total
static void build_accumulate(struct case_build *b)
{
    enum dtype type = (enum dtype)b->row->p[0];
    bool through = b->options.through;
    b->options.through = false;  // the total is overwritten: it must be the slot
    int total = case_input(b, "total", SHAPE(1), type, DRAW_CONSTANT, 41);
    b->options.through = through;
    int x = case_input(b, "x", SHAPE(1), type, DRAW_CONSTANT, 2);
    case_node(b, (int[]){total, x}, 2, NULL, &total);
}

#define HG (CASE_HALF | CASE_GRADIENT)
#define LARGE (CASE_HALF | CASE_LARGE)
#define XENT(name, ...)                                                                                                \
    {"xent " name, OP_XENT, build_xent, HG, {__VA_ARGS__}, 48},                                                        \
    {"xent_grad " name, OP_XENT_GRAD, build_xent, CASE_HALF, {__VA_ARGS__}, 64}

const struct op_case cases_loss[] = {
    {"softmax 10", OP_SOFTMAX, build_softmax, HG, {7, 10}, 32},
    {"softmax 33", OP_SOFTMAX, build_softmax, HG, {5, 33}, 32},
    {"softmax of one", OP_SOFTMAX, build_softmax, HG, {3, 1}, 32},
    {"softmax_grad 10", OP_SOFTMAX_GRAD, build_softmax, HG, {7, 10}, 48},
    {"softmax_grad 33", OP_SOFTMAX_GRAD, build_softmax, HG, {5, 33}, 48},
    XENT("10, bytes, smoothed sum", 13, 10, U8, 20, 0, 2),
    XENT("10, mean", 9, 10, I32, 0, 1, 2),
    XENT("100, smoothed mean", 5, 100, I32, 9, 1, 4),
    XENT("one row", 1, 10, U8, 9, 0, 1),
    XENT("large logits", 6, 10, U8, 20, 0, 40),
    XENT("ignored labels, mean", 23, 10, I32, 0, 1, 2, 9),
    XENT("ignored bytes, smoothed sum", 17, 10, U8, 20, 0, 2, 5),
    XENT("weights, mean", 23, 10, I32, 20, 1, 2, 9, 1),
    XENT("losses of the rows", 7, 10, I32, 20, 0, 2, 3, 0, 1),
    XENT("losses of the rows, weights", 7, 10, U8, 0, 1, 2, 3, 1, 1),
    XENT("probabilities", 9, 10, F32, 0, 1, 2),
    XENT("probabilities, smoothed, weights", 9, 33, F32, 20, 0, 2, 0, 1),
    XENT("probabilities, losses of the rows", 5, 12, F32, 10, 1, 2, 0, 1, 1),
    {"xent losses of the rows, a mask", OP_XENT, build_xent, CASE_HALF, {7, 100, I32, 0, 0, 2, 0, 0, 1, 1}, 48},
    {"xent losses of the rows, a mask of 33", OP_XENT, build_xent, CASE_HALF, {5, 70, I32, 0, 0, 2, 0, 0, 1, 33}, 48},
    {"softmax 64", OP_SOFTMAX, build_softmax, CASE_HALF, {77, 64}, 32},
    {"softmax 384", OP_SOFTMAX, build_softmax, CASE_HALF, {50, 384}, 32},
    {"softmax_grad 384", OP_SOFTMAX_GRAD, build_softmax, CASE_HALF, {50, 384}, 48},
    {"softmax_grad 1001", OP_SOFTMAX_GRAD, build_softmax, CASE_HALF, {9, 1001}, 48},
    {"xent 1000 classes", OP_XENT, build_xent, CASE_HALF, {37, 1000, I32, 10, 1, 3}, 48},
    {"xent_grad 1000 classes", OP_XENT_GRAD, build_xent, CASE_HALF, {37, 1000, I32, 10, 1, 3}, 48},
    {"xent 9001 classes", OP_XENT, build_xent, CASE_HALF, {5, 9001, I32, 10, 1, 4}, 48},
    {"xent_grad 9001 classes", OP_XENT_GRAD, build_xent, CASE_HALF, {5, 9001, I32, 10, 1, 4}, 64},
    {"xent 4097 probabilities", OP_XENT, build_xent, CASE_HALF, {3, 4097, F32, 10, 1, 4}, 48},
    {"xent_grad 4097 probabilities", OP_XENT_GRAD, build_xent, CASE_HALF, {3, 4097, F32, 10, 1, 4}, 64},
    {"softmax, many rows", OP_SOFTMAX, build_softmax, CASE_HALF, {5003, 10}, 32},
    {"xent, many rows", OP_XENT, build_xent, CASE_HALF, {5003, 10, U8, 20, 0, 2}, 200},
    {"xent_grad, many rows", OP_XENT_GRAD, build_xent, CASE_HALF, {5003, 10, U8, 20, 1, 2}, 48},
    {"correct, many rows", OP_CORRECT, build_correct, CASE_HALF, {5003, 10, U8, 1, 0}, 0},
    {"correct top 1", OP_CORRECT, build_correct, CASE_HALF, {57, 10, U8, 1, 0}, 0},
    {"correct top 5", OP_CORRECT, build_correct, CASE_HALF, {57, 33, I32, 5, 0}, 0},
    {"correct of 1000", OP_CORRECT, build_correct, CASE_HALF, {61, 1000, I32, 5, 0}, 0},
    {"correct with equal logits", OP_CORRECT, build_correct, CASE_HALF, {40, 10, U8, 3, 1}, 0},
    {"correct of words", OP_CORRECT, build_correct_words, CASE_HALF, {9, 7, 33, 2}, 0},
    {"accumulate f32", OP_ACCUMULATE, build_accumulate, 0, {F32}, 0},
    {"accumulate i32", OP_ACCUMULATE, build_accumulate, 0, {I32}, 0},
    {"softmax 100000 x 10", OP_SOFTMAX, build_softmax, LARGE, {100000, 10}, 0},
    {"xent 100000 x 10", OP_XENT, build_xent, LARGE, {100000, 10, U8, 20, 0, 2}, 0},
    {"xent 2048 x 32768", OP_XENT, build_xent, LARGE, {2048, 32768, I32, 10, 1, 2}, 0},
    {"xent_grad 2048 x 32768", OP_XENT_GRAD, build_xent, LARGE, {2048, 32768, I32, 10, 1, 2}, 0},
    {0},
};

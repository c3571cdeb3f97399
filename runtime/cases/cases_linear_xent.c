// SPDX-License-Identifier: Apache-2.0
// Cases of an output layer with its cross-entropy. Logits and their gradients may be rounded to the type of the activations.
#include "runtime/cases/cases.h"

// p: rows, classes, channels, smoothing in percent, mean, cap in tenths, bias, weights of the rows, labels that are not classes,
// bytes as labels, the losses of the rows are the result, gradients without a gradient of the losses,
// bytes of logits (0: the usual number)
static void build_linear_xent(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    int w = case_param(b, "w", SHAPE(p[1], p[2]), F32, DRAW_NORMAL, p[2] > 64 ? 0.1 : 0.4);
    int bias = p[6] ? case_param(b, "bias", SHAPE(p[1]), F32, DRAW_NORMAL, 0.5) : NONE;
    int labels = case_input(b, "labels", SHAPE(p[0]), p[9] ? U8 : I32, DRAW_INDEX, p[1] + p[8]);
    int weights = p[7] ? case_input(b, "row_weights", SHAPE(p[0]), F32, DRAW_POSITIVE, 1.0) : NONE;
    struct linear_xent l = {.x = x, .w = w, .bias = bias, .labels = labels, .weights = weights, .smoothing = (float)p[3] / 100.0f,
                            .cap = (float)p[5] / 10.0f, .mean = p[4]};
    if (p[10]) {  // and the loss, so that both have a gradient
        int out[3];
        g_linear_xent(b->g, &l, out);
        case_result(b, b->g->error ? NONE : g_concat(b->g, (int[]){out[0], out[1]}, 2, 0));
        return;
    }
    for (int i = 0; i < 3 && p[11] && !b->g->error; i++)
        if ((int[]){x, w, bias}[i] != NONE) b->g->value[(int[]){x, w, bias}[i]].trains = true;
    union attr a = {.linear_xent = {.smoothing = l.smoothing, .cap = l.cap, .mean = l.mean,
                                    .bytes = p[12] ? p[12] : LINEAR_XENT_BYTES}};
    case_node(b, (int[]){x, w, labels, bias, weights}, 5, &a, NULL);
}

// p: elements, type is f32, count, dloss in hundredths
static void build_linear_xent_grad(struct case_build *b)
{
    const int *p = b->row->p;
    int d = case_input(b, "d", SHAPE(p[0]), p[1] ? F32 : b->options.type, DRAW_NORMAL, 1.0);
    int dloss = case_input(b, "dloss", SHAPE(1), F32, DRAW_CONSTANT, p[3] / 100.0);
    int count = p[2] ? case_input(b, "count", SHAPE(1), F32, DRAW_CONSTANT, p[2] - 1) : NONE;
    case_node(b, (int[]){d, dloss, count}, 3, NULL, NULL);
}

#define HALF (CASE_HALF | CASE_INSIDE)
#define LARGE (CASE_HALF | CASE_LARGE)
// The loss with its gradients by finite differences, and the operator with all that it makes, at once and in pieces.
#define EACH(name, ...)                                                                                                \
    {"linear_xent " name, OP_LINEAR_XENT, build_linear_xent, HALF | CASE_GRADIENT, {__VA_ARGS__}, 128},                \
    {"linear_xent, trained, " name, OP_LINEAR_XENT, build_linear_xent, HALF, {__VA_ARGS__, [11] = 1}, 128},                 \
    {"linear_xent, in pieces, " name, OP_LINEAR_XENT, build_linear_xent, HALF, {__VA_ARGS__, [11] = 1, [12] = 100}, 128}

const struct op_case cases_linear_xent[] = {
    EACH("10", 7, 10, 8, 0, 0),
    EACH("10, mean", 9, 10, 12, 0, 1),
    EACH("33, smoothed mean, bias", 5, 33, 17, 10, 1, 0, 1),
    EACH("cap", 6, 12, 10, 0, 0, 15),
    EACH("cap, bias, smoothed, weights, mean", 11, 13, 9, 20, 1, 20, 1, 1),
    EACH("ignored labels, mean", 23, 10, 8, 0, 1, 0, 0, 0, 9),
    EACH("bytes, weights, ignored labels, mean, bias", 17, 10, 5, 20, 1, 0, 1, 1, 6, 1),
    EACH("one row", 1, 7, 4, 0, 1),
    EACH("one class", 3, 1, 4, 0, 0, 0, 1),
    {"linear_xent losses of the rows", OP_LINEAR_XENT, build_linear_xent, HALF | CASE_GRADIENT,
     {7, 10, 8, 20, 0, 0, 1, 0, 3, 0, 1}, 128},
    {"linear_xent losses of the rows, weights, cap, mean", OP_LINEAR_XENT, build_linear_xent,
     HALF | CASE_GRADIENT, {7, 10, 8, 0, 1, 15, 0, 1, 3, 0, 1}, 128},
    {"linear_xent of words", OP_LINEAR_XENT, build_linear_xent, HALF, {70, 1001, 64, 10, 1, 0, 1, 1, 40, 0, 0, 1}, 128},
    {"linear_xent of capped words", OP_LINEAR_XENT, build_linear_xent, HALF, {70, 301, 64, 10, 1, 15, 1, 1, 40, 0, 0, 1}, 128},
    {"linear_xent_grad", OP_LINEAR_XENT_GRAD, build_linear_xent_grad, CASE_HALF, {333, 0, 0, 75}, 32},
    {"linear_xent_grad, count", OP_LINEAR_XENT_GRAD, build_linear_xent_grad, CASE_HALF, {70001, 0, 8, 75}, 32},
    {"linear_xent_grad, f32, count", OP_LINEAR_XENT_GRAD, build_linear_xent_grad, CASE_HALF, {77, 1, 4, 75}, 32},
    {"linear_xent_grad of no rows", OP_LINEAR_XENT_GRAD, build_linear_xent_grad, CASE_HALF, {33, 0, 1, 75}, 32},
    {"linear_xent_grad of 1", OP_LINEAR_XENT_GRAD, build_linear_xent_grad, CASE_HALF, {33, 0, 0, 100}, 32},
    {"linear_xent 4096 x 50257", OP_LINEAR_XENT, build_linear_xent, LARGE, {4096, 50257, 768, 0, 1, 0, 0, 0, 0, 0, 0, 1}, 0},
    {0},
};

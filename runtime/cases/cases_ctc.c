// SPDX-License-Identifier: Apache-2.0
// Cases of CTC: with and without lengths, labels that repeat, samples without labels, with too few frames and with labels that
// are no classes, alignments whose probabilities no float holds.
#include "runtime/cases/cases.h"

// p: samples, frames, classes, labels, lengths, numbers of labels, labels are bytes, some are no classes, deviation of the
// logits, the losses of the samples are the result, a gradient is made without one of the loss
static void build_ctc(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "logits", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_NORMAL, p[8]), lengths = NONE, counts = NONE;
    if (p[4]) lengths = case_input(b, "lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[1] + 3);
    int labels = case_input(b, "labels", SHAPE(p[0], p[3]), p[6] ? U8 : I32, p[7] ? DRAW_INDEX : DRAW_POSITIVE,
                            p[7] ? p[2] + 1 : 2.0 * (p[2] - 1) / 3.0);
    if (p[5]) counts = case_input(b, "label_lengths", SHAPE(p[0]), I32, DRAW_INDEX, p[3] + 2);
    int in[] = {x, lengths, labels, counts}, out[3];
    if (p[9]) {  // and the loss, so that both have a gradient
        g_ctc(b->g, in, out);
        case_result(b, b->g->error ? NONE : g_concat(b->g, (int[]){out[0], out[1]}, 2, 0));
        return;
    }
    if (p[10] && !b->g->error) b->g->value[x].trains = true;
    case_node(b, in, 4, NULL, NULL);
}

#define LARGE (CASE_HALF | CASE_LARGE)
// The loss with its gradient by finite differences, and the operator with its gradient.
#define EACH(name, ...)                                                                                                \
    {"ctc " name, OP_CTC, build_ctc, CASE_HALF | CASE_GRADIENT, {__VA_ARGS__}, 64},                                    \
    {"ctc, trained, " name, OP_CTC, build_ctc, CASE_HALF, {__VA_ARGS__, [10] = 1}, 64}

const struct op_case cases_ctc[] = {
    //                          B  T   K   L  len counts u8 odd deviation
    EACH("of one label",        3, 4,  5,  1, 0,  0,     0, 0,  1),
    EACH("with lengths",        9, 12, 6,  4, 1,  1,     0, 0,  1),
    EACH("with two classes",    7, 9,  2,  4, 1,  1,     1, 0,  1),
    EACH("with odd labels",     9, 11, 4,  3, 0,  1,     0, 1,  2),
    EACH("of bytes",            5, 17, 29, 8, 1,  1,     1, 0,  2),
    EACH("of 20 labels",        3, 50, 29, 20, 0, 0,     0, 0,  1),
    {"ctc losses of the samples", OP_CTC, build_ctc, CASE_HALF | CASE_GRADIENT, {5, 9, 7, 3, 1, 1, 0, 0, 1, 1}, 64},
    {"ctc of large logits", OP_CTC, build_ctc, CASE_HALF, {4, 21, 11, 9, 0, 1, 0, 0, 40, 0, 1}, 64},
    {"ctc of 90 labels", OP_CTC, build_ctc, CASE_HALF, {3, 300, 29, 90, 1, 1, 0, 0, 3, 0, 1}, 256},
    {"ctc of 700 classes", OP_CTC, build_ctc, CASE_HALF, {2, 40, 700, 12, 1, 1, 0, 0, 1, 0, 1}, 64},
    {"ctc of 16 x 160, 29", OP_CTC, build_ctc, LARGE, {16, 160, 29, 30, 1, 1, 0, 0, 2, 0, 1}, 0},
    {"ctc of 16 x 800, 29", OP_CTC, build_ctc, LARGE, {16, 800, 29, 250, 0, 0, 0, 0, 2, 0, 1}, 0},
    {0},
};

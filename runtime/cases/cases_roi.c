// SPDX-License-Identifier: Apache-2.0
// Cases of ROIAlign. Boxes reach past all sides of a picture.
#include "runtime/cases/cases.h"

#include <stdio.h>

// p: pictures, boxes of each, side of the picture, channels, levels, bins, samples (0: adaptive), aligned, rows
static union attr roi_attr_of(const int *p)
{
    union attr a = {.roi = {.levels = p[4], .bins = p[5], .sampling = p[6], .aligned = p[7], .side = (float)p[2] / 4.0f}};
    for (int l = 0; l < p[4]; l++) {
        a.roi.scale[l] = p[4] == 1 && p[8] ? 1.0f : 0.5f / (float)(1 << l);
        a.roi.h[l] = p[4] == 1 && p[8] ? p[2] : p[2] / (2 << l);
        a.roi.w[l] = a.roi.h[l] + 1;
    }
    return a;
}

static void build_roi_align(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = roi_attr_of(p);
    int in[7] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE}, masks = p[8];
    in[0] = case_input(b, "boxes", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, p[2]);
    if (masks) in[1] = case_input(b, "rows", SHAPE(p[0], p[1]), I32, DRAW_INDEX, masks + 1);  // the last is none
    for (int l = 0; l < p[4]; l++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", l);
        struct shape shape = SHAPE(masks ? masks : p[0], a.roi.h[l], a.roi.w[l], p[3]);
        in[2 + l] = masks ? case_input(b, name, shape, U8, DRAW_INDEX, 2)
                          : case_param(b, name, shape, b->options.type, DRAW_NORMAL, 1.0);
    }
    case_node(b, in, 2 + p[4], &a, NULL);
}

static void build_roi_align_grad(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = roi_attr_of(p);
    int boxes = case_input(b, "boxes", SHAPE(p[0], p[1], 4), F32, DRAW_BOX, p[2]);
    int dy = case_input(b, "dy", SHAPE(p[0], p[1], p[5], p[5], p[3]), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){boxes, dy}, 2, &a, NULL);
}

#define HG (CASE_HALF | CASE_GRADIENT | CASE_SUM)
#define ALIGN(name, flags, ...) {"roi_align " name, OP_ROI_ALIGN, build_roi_align, flags, {__VA_ARGS__}, 32}
#define BACK(name, flags, ...) {"roi_align_grad " name, OP_ROI_ALIGN_GRAD, build_roi_align_grad, flags, {__VA_ARGS__}, 64}

const struct op_case cases_roi[] = {
    //                      n  r   side c  l  bins s  aligned rows
    ALIGN("one level", HG,  2, 5,  32,  3, 1, 2,   2, 0, 0),
    ALIGN("aligned", HG,    2, 5,  32,  8, 1, 3,   2, 1, 0),
    ALIGN("adaptive", HG,   1, 7,  64,  5, 1, 4,   0, 0, 0),
    ALIGN("adaptive, aligned", HG, 1, 7, 64, 5, 1, 4, 0, 1, 0),
    ALIGN("of a pyramid", HG, 2, 9, 64, 4, 4, 2,   2, 0, 0),
    ALIGN("of five levels", CASE_HALF | CASE_SUM, 2, 40, 256, 16, 5, 3, 2, 0, 0),
    ALIGN("of masks", 0,    2, 9,  24,  1, 1, 28,  0, 0, 5),
    ALIGN("of wide masks", 0, 1, 300, 32, 2, 1, 7, 1, 1, 3),
    BACK("one level", CASE_HALF | CASE_SUM, 2, 5, 32, 3, 1, 2, 2, 0, 0),
    BACK("aligned", CASE_HALF | CASE_SUM, 2, 5, 32, 8, 1, 3, 2, 1, 0),
    BACK("of a pyramid", CASE_HALF | CASE_SUM, 2, 40, 128, 16, 4, 3, 2, 0, 0),
    BACK("of many boxes", CASE_HALF | CASE_SUM, 1, 600, 64, 8, 2, 2, 0, 0, 0),
    ALIGN("512 boxes, 4 levels", CASE_HALF | CASE_LARGE, 1, 512, 768, 256, 4, 7, 2, 0, 0),
    BACK("512 boxes, 4 levels", CASE_HALF | CASE_LARGE, 1, 512, 768, 256, 4, 7, 2, 0, 0),
    {0},
};

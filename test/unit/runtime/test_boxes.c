// SPDX-License-Identifier: Apache-2.0
// Boxes on `ref`: ROIAlign and what a two-stage network does with boxes, by hand and as torchvision 0.29.2 computes it.
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_hand.h"

// ---- ROIAlign: torchvision's roi_align and its gradient. One box lies across the left edge, one across the lower right corner,
// one is smaller than a pixel, and the last does not exist.

enum { ROWS = 5, COLUMNS = 6, BOXES = 5 };
#define SOME_BOXES 0.5, 1, 9, 7, -3, -2, 4, 3.5, 2, 2, 2.5, 2.5, 8, 6, 14, 12, 3, 3, 3, 5

static int picture(void)  // x[h,w] = (7 h + 3 w) mod 11 - 4
{
    double x[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (7 * (i / COLUMNS) + 3 * (i % COLUMNS)) % 11 - 4;
    return in_typed(SHAPE(1, ROWS, COLUMNS, 1), F32, x);
}

TEST_WITH(test_roi_align, begin, end)
{
    int boxes = IN(F32, SHAPE(1, BOXES, 4), SOME_BOXES), x = picture(), y[4];
    for (int i = 0; i < 4; i++)
        y[i] = out(g_roi_align(g, boxes, NONE, &x, &(struct roi_attr){.levels = 1, .bins = 2, .sampling = i & 1 ? 2 : 0,
                                                                       .aligned = i & 2, .scale = {0.5f}}));
    run();
    WANT(y[0], 2.21831584, 0.959201157, 1.20746529, -0.10894084, -1.9453125, -0.563964844, 0.6015625, 2.54785156, 3.6875,
         1.0625, 3.0625, 3.1875, 2.875, 1.90625, 2.53125, 1.5, 0, 0, 0, 0);
    WANT(y[1], 2.34960938, 1.140625, 1.08691406, -0.293945312, -1.9453125, -0.563964844, 0.6015625, 2.54785156, 3.6875,
         1.0625, 3.0625, 3.1875, 2.875, 1.90625, 2.53125, 1.5, 0, 0, 0, 0);
    WANT(y[2], 1.80642354, 1.26345479, 1.55946195, 0.419704765, -1, -1.0625, -0.03125, 1.61914062, 1.625, 2, 2.5, 2.875,
         -0.3828125, 0.71875, 1.875, 1.5, 0, 0, 0, 0);
    WANT(y[3], 1.81835938, 1.2109375, 1.5546875, 0.485351562, -1, -1.0625, -0.03125, 1.61914062, 1.625, 2, 2.5, 2.875,
         -0.3828125, 0.71875, 1.875, 1.5, 0, 0, 0, 0);
}

TEST_WITH(test_roi_align_grad, begin, end)
{
    double dy[BOXES * 4];
    for (int i = 0; i < BOXES * 4; i++) dy[i] = i % 7 - 2;
    int boxes = IN(F32, SHAPE(1, BOXES, 4), SOME_BOXES), d = in_typed(SHAPE(1, BOXES, 2, 2, 1), F32, dy), dx[2];
    for (int i = 0; i < 2; i++) {
        union attr a = {.roi = {.levels = 1, .bins = 2, .sampling = 2 * i, .aligned = i, .scale = {0.5f}, .h = {ROWS},
                                .w = {COLUMNS}}};
        dx[i] = out(node(OP_ROI_ALIGN_GRAD, (int[]){boxes, d}, 2, &a, NULL));
    }
    run();
    WANT(dx[0], 1.66661239, 1.44911027, 0.692003012, -0.0277777854, -0.0269097202, -0.00303819776, 0.965440512,
         -1.50010848, -0.700575113, -0.277777851, -0.269097209, -0.0303819776, 0.260308146, 0.252387166,
         0.866644979, -0.00434030592, 7.4505806e-09, 0, 0, 0, 0.0564235933, 0.269097239, 0.562065959, 1.29991317,
         0, 0, 0.00564235961, 0.0269097239, 0.358940959, 1.85850692);
    WANT(dx[1], 1.54492188, 0.41796875, -0.180664062, -0.146484375, -0.0732421875, 0, 0.703125, -0.203125, -0.416992188,
         -0.263671875, -0.131835938, 0, -0.044921875, -0.05859375, 0.145507812, 0.275390625, 0.249023438,
         0.18359375, 0, 0, 0.0927734375, 0.263671875, 1.24511719, 1.8359375, 0, 0, 0, -0.00390625, -0.0390625,
         0.35546875);
}

// Each level holds its number. torchvision's LevelMapper: areas of less than 112^2, and up to 224^2, 448^2, 896^2.
TEST_WITH(test_levels, begin, end)
{
    int boxes = IN(F32, SHAPE(1, 8, 4), 0, 0, 111, 112, 0, 0, 112, 112, 8, 8, 120, 231, 0, 0, 224, 224, 0, 0, 448, 447, 0,
                   0, 448, 448,
                   0, 0, 900, 900, 5, 5, 6, 6);
    int x[4];
    double level[4] = {0};
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < 4; i++) level[i] = l;
        x[l] = in_typed(SHAPE(1, 2, 2, 1), F32, level);
    }
    struct roi_attr a = {.levels = 4, .bins = 1, .sampling = 1, .scale = {0.001f, 0.001f, 0.001f, 0.001f}, .side = 112};
    int y = out(g_roi_align(g, boxes, NONE, x, &a));
    run();
    WANT(y, 0, 1, 1, 2, 2, 3, 3, 0);
}

// Of the rows' own pictures; row 2 does not exist. torchvision's project_masks_on_boxes.
TEST_WITH(test_masks, begin, end)
{
    int boxes = IN(F32, SHAPE(1, 3, 4), 0.5, 0.25, 3.5, 2.75, 1, 0, 4, 3, 0, 0, 4, 3), rows = IN(I32, SHAPE(1, 3), 1, 0, 2);
    int x = IN(U8, SHAPE(2, 3, 4, 1), 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, /**/ 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0);
    int y = out(g_roi_align(g, boxes, rows, &x, &(struct roi_attr){.levels = 1, .bins = 2, .scale = {1}}));
    run();
    WANT(y, 0.263671875, 0.8671875, 0.369140625, 0.376953125, 0.51171875, 0.078125, 0.37109375, 0.87890625, 0, 0, 0, 0);
}

// ---- codes

TEST_WITH(test_codes, begin, end)
{
    int anchors = IN(F32, SHAPE(3, 4), 0, 0, 10, 20, 5, 5, 5, 9, 8, 4, 12, 20), sizes = IN(F32, SHAPE(1, 2), 15, 12);
    int codes = IN(F32, SHAPE(1, 3, 4), 1, 0.5, 5 * log(2.0), 0, 1, 1, 1, 1, 0, 0, 100, -5 * log(2.0));
    const float weight[2] = {10, 5};
    int plain = g_boxes_decode(g, codes, anchors, NONE, weight);
    int cut = out(g_boxes_decode(g, codes, anchors, sizes, weight)), boxes = out(plain);
    int again = out(g_boxes_encode(g, plain, g_reshape(g, anchors, SHAPE(1, 3, 4)), weight));
    run();
    WANT(boxes, -4, 1, 16, 21, 0, 0, 0, 0, -115, 8, 135, 16);  // 4 times 1000 / 16 at most
    WANT(cut, 0, 1, 12, 15, 0, 0, 0, 0, 0, 8, 12, 15);
    WANT(again, 1, 0.5, 5 * log(2.0), 0, 0, 0, 0, 0, 0, 0, 5 * log(62.5), -5 * log(2.0));
}

// ---- non-maximum suppression

TEST_WITH(test_nms, begin, end)
{
    // The second overlaps the first by 9 / 11, the fourth wholly; then one without area, and a narrow one.
    int boxes = IN(F32, SHAPE(1, 6, 4), 0, 0, 10, 10, 1, 0, 11, 10, 20, 20, 30, 30, 0, 0, 10, 10, 5, 5, 5, 9, 50, 0, 50.5, 10);
    int scores = IN(F32, SHAPE(1, 6), 0.9, 0.8, 0.9, 0.5, 1, 0.95), classes = IN(I32, SHAPE(6), 0, 0, 0, 1, 0, 0);
    struct nms how = {boxes, scores, NONE, 4, 0.5, 0.1f, 1};
    struct nms_kept one = g_nms(g, &how);
    int at = out(one.at), count = out(one.count), kept = out(one.boxes), best = out(one.scores);
    how.classes = classes;
    struct nms_kept each = g_nms(g, &how);
    int at_each = out(each.at), count_each = out(each.count);
    how.classes = NONE, how.k = 1, how.side = 0;
    int first = out(g_nms(g, &how).at);
    how.k = 6, how.iou = 0.9, how.score = 0.85f, how.side = 1;
    int few = out(g_nms(g, &how).count);
    run();
    WANT(at, 0, 2, 0, 0);
    WANT(count, 2);
    WANT(kept, 0, 0, 10, 10, 20, 20, 30, 30, 0, 0, 0, 0, 0, 0, 0, 0);
    WANT(best, 0.9f, 0.9f, 0, 0);
    WANT(at_each, 0, 2, 3, 0);
    WANT(count_each, 3);
    WANT(first, 5);
    WANT(few, 2);
}

// An overlap of exactly the threshold keeps both boxes, and the threshold is the double's: 0.7 in f32 is below it, 0.1
// above.
TEST_WITH(test_threshold_of_nms, begin, end)
{
    int half = IN(F32, SHAPE(1, 2, 4), 0, 0, 2, 1, 0, 0, 1, 1), tenth = IN(F32, SHAPE(1, 2, 4), 0, 0, 10, 1, 0, 0, 1, 1);
    int seven = IN(F32, SHAPE(1, 2, 4), 0, 0, 10, 1, 0, 0, 7, 1), scores = IN(F32, SHAPE(1, 2), 1, 0.5);
    int of_half = out(g_nms(g, &(struct nms){half, scores, NONE, 2, 0.5, 0, 0}).count);
    int of_tenth = out(g_nms(g, &(struct nms){tenth, scores, NONE, 2, 0.1, 0, 0}).count);
    int of_seven = out(g_nms(g, &(struct nms){seven, scores, NONE, 2, 0.7, 0, 0}).count);
    run();
    WANT(of_half, 2);
    WANT(of_tenth, 1);  // (double)0.1f > 0.1, as torchvision compares on a processor
    WANT(of_seven, 2);
}

// ---- matching and drawing

TEST_WITH(test_match, begin, end)
{
    // Overlaps: 1; 0.4; 0.2; 0.5, which is the most that the second truth gets; no box.
    int boxes = IN(F32, SHAPE(5, 4), 0, 0, 10, 10, 0, 0, 10, 4, 0, 5, 10, 25, 20, 0, 30, 20, 7, 7, 7, 7);
    int truth = IN(F32, SHAPE(2, 3, 4), 0, 0, 10, 10, 20, 0, 30, 10, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    int classes = IN(I32, SHAPE(2, 3), 3, 4, 5, 6, 7, 8), at;
    int labels = out(g_match(g, boxes, truth, classes, &(struct match_attr){0.3f, 0.7f, true}, &at)), rows = out(at);
    int plain = out(g_match(g, boxes, truth, NONE, &(struct match_attr){0.3f, 0.7f, false}, NULL));
    run();
    WANT(labels, 3, -1, 0, 4, -1, 0, 0, 0, 0, -1);
    WANT(rows, 0, 0, 0, 1, 0, 3, 3, 3, 3, 3);
    WANT(plain, 1, -1, 0, -1, -1, 0, 0, 0, 0, -1);
}

TEST_WITH(test_sample, begin, end)
{
    int labels = IN(I32, SHAPE(2, 8), 1, 0, 4, 0, -1, 0, 2, 0, /**/ -1, -1, -1, 0, -1, -1, -1, -1);
    int random = IN(F32, SHAPE(2, 8), 0.5, 0.1, 0.2, 0.9, 0, 0.3, 0.1, 0.4, /**/ 0, 0, 0, 0, 0, 0, 0, 0);
    struct sampled s = g_sample(g, labels, random, &(struct sample_attr){5, 2});
    int at = out(s.at), drawn = out(s.labels), positive = out(s.positive);
    run();
    WANT(at, 2, 6, 1, 5, 7, 11, 8, 8, 8, 8);
    WANT(drawn, 4, 2, 0, 0, 0, 0, -1, -1, -1, -1);
    WANT(positive, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
}

TEST_WITH(test_class_slice, begin, end)
{
    int x = IN(F32, SHAPE(3, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), index = IN(I32, SHAPE(3), 1, 0, 2);
    int middle = out(g_class_slice(g, x, index, 1)), last = out(g_class_slice(g, x, index, 2)), dy = IN(F32, SHAPE(3, 2),
                                                                                                        1, 2, 3, 4, 5, 6);
    union attr a = {.move = {.shape = SHAPE(3, 2, 2), .axis = 2}};
    int back = out(node(OP_CLASS_SLICE_GRAD, (int[]){index, dy}, 2, &a, NULL));
    run();
    WANT(middle, 3, 4, 5, 6, 0, 0);
    WANT(last, 2, 4, 5, 7, 0, 0);
    WANT(back, 0, 1, 0, 2, 3, 0, 4, 0, 0, 0, 0, 0);
}

// ---- refusals

TEST_WITH(test_refusals, begin, end)
{
    static const double zeros[MOST];
    int boxes = in_typed(SHAPE(2, 3, 4), F32, zeros), x = in_typed(SHAPE(2, 2, 2, 1), F32, zeros);
    int scores = in_typed(SHAPE(2, 3), F32, zeros), labels = in_typed(SHAPE(2, 3), I32, zeros);
    int flat = in_typed(SHAPE(6, 4), F32, zeros), other = in_typed(SHAPE(3, 2, 2, 1), F32, zeros);
    const struct roi_attr one = {.levels = 1, .bins = 2, .scale = {1}}, none = {.levels = 1, .bins = 0, .scale = {1}};
    const float zero[2] = {1, 0};
    static const struct roi_attr two = {.levels = 2, .bins = 2, .scale = {1, 0.5f}};
#define REFUSES(call, word)                                                                                            \
    do {                                                                                                               \
        call;                                                                                                          \
        REFUSED(graph_check(g), word);                                                                                 \
        g->error = 0;                                                                                                  \
    } while (0)
    REFUSES(g_roi_align(g, flat, NONE, &x, &one), "f32 boxes[B,R,4]");
    REFUSES(g_roi_align(g, boxes, NONE, &x, &none), "1 to 64 bins");
    REFUSES(g_roi_align(g, boxes, NONE, &other, &one), "as many pictures");
    REFUSES(g_roi_align(g, boxes, NONE, (int[]){x, x}, &two), "side of the second");
    REFUSES(g_boxes_decode(g, boxes, scores, NONE, zero), "f32 anchors");
    REFUSES(g_boxes_decode(g, boxes, boxes, NONE, zero), "weights above 0");
    REFUSES(g_nms(g, &(struct nms){boxes, labels, NONE, 3, 0.5, 0, 0}), "one f32 score per box");
    REFUSES(g_nms(g, &(struct nms){boxes, scores, NONE, 4, 0.5, 0, 0}), "not 4");
    REFUSES(g_nms(g, &(struct nms){boxes, scores, NONE, 3, -1, 0, 0}), "0 or more");
    REFUSES(g_match(g, boxes, flat, NONE, &(struct match_attr){0, 1, false}, NULL), "f32 truth[B,G,4]");
    REFUSES(g_match(g, boxes, boxes, NONE, &(struct match_attr){1, 0, false}, NULL), "low <= high");
    REFUSES(g_sample(g, labels, scores, &(struct sample_attr){2, 3}), "3 of them positive, not 2");
    REFUSES(g_class_slice(g, boxes, labels, 1), "before its axis");
    graph_free(g);
}

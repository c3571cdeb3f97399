// SPDX-License-Identifier: Apache-2.0
// Mask R-CNN (He et al. 2017) on a feature pyramid: on a ResNet, as torchvision's maskrcnn_resnet50_fpn, with its names of
// tensors, or on a smaller backbone. Everything is nodes of fixed shape: boxes without area fill empty rows, so no step
// reads a number on the host.
#pragma once

#include "tasks/common/layers/net.h"

enum {
    MASKRCNN_LEVELS = 5,   // of anchors, at most
    MASKRCNN_RATIOS = 3,   // anchors at each position
    MASKRCNN_STEM = 1,     // group of the parameters that do not train (conv1, layer1); the others are in group 0
    MASKRCNN_MASK = 28,    // side of a mask
};

struct maskrcnn {
    int64_t classes;               // with the background, class 0
    // Writes the levels of x, of strides stride, 2 stride, ..; boxes are cut from the first `cut`, and a level after these has
    // every second position of the one before.
    void (*pyramid)(struct net *, const struct maskrcnn *, int x, int level[MASKRCNN_LEVELS]);
    int levels, cut;
    int64_t stride;
    double size, ratio[MASKRCNN_RATIOS];  // of the first level's anchors: root of the area, which doubles; rows per column
    float side;                    // root of the area from which boxes are cut from the second level; it doubles
    int64_t width[5], blocks[NET_STAGES];
    int64_t channels, hidden;      // of the pyramid; of the head for boxes
    int64_t rows, columns;         // of a picture: multiples of 32
    int64_t best, proposals;       // boxes per level by score; boxes that remain of all levels
    int64_t anchors_drawn, boxes_drawn;  // per picture, for the losses: half and a quarter of them positive
    int64_t kept;                  // boxes that are found
    int64_t truths;                // objects of a picture beyond these do not train
    int64_t mask_side;             // masks of the truth are of their boxes, of this side; 0: of the whole picture
};
extern const struct maskrcnn maskrcnn_r50_fpn;  // as published, for COCO at 800 x 1344
extern const struct maskrcnn maskrcnn_mini;     // for two processor cores: the backbone and pyramid of retina.h
void maskrcnn_resnet(struct net *, const struct maskrcnn *, int x, int level[MASKRCNN_LEVELS]);  // their pyramids
void maskrcnn_retina(struct net *, const struct maskrcnn *, int x, int level[MASKRCNN_LEVELS]);

// Values of a batch: x[B,rows,columns,3], normalised; sizes f32[B,2]: rows and columns of each picture within it; the tables
// below.
struct maskrcnn_batch {
    int x, sizes, anchors, levels;
    int truth, classes, masks;  // training: f32[B,G,4], i32[B,G], u8[B,G,rows,columns] or u8[B,G,mask_side,mask_side]
    int key, counter;           // training: of the draws
};
const struct maskrcnn *maskrcnn_named(const char *model);  // NULL: it is another network
int64_t maskrcnn_side(const struct maskrcnn *, int64_t side, int level);  // rows or columns of a level, of an input's
int64_t maskrcnn_anchors(const struct maskrcnn *, float *into);    // boxes f32[N,4]; into NULL: only their number
int64_t maskrcnn_levels(const struct maskrcnn *, int32_t *into);   // of the boxes that remain of each level

// Losses as sums and what they are divided by, f32[1]: is it an object, where; of which class, where; the mask.
enum { MASKRCNN_LOSSES = 5 };
struct maskrcnn_loss {
    const char *name;
    int sum, rows;
};
void maskrcnn_losses(struct net *, const struct maskrcnn *, const struct maskrcnn_batch *,
                     struct maskrcnn_loss loss[MASKRCNN_LOSSES]);

// f32[B,kept,4], f32[B,kept], i32[B,kept], f32[B,kept,28,28], i32[B]. class_table: i32[B * proposals * (classes - 1)], which
// repeats 1 .. classes - 1. The second line holds what they come from, which only a comparison reads: logits and codes of the
// anchors, f32[B,N], f32[B,N,4]; proposals f32[B,R,4]; their logits and codes, f32[BR,classes], f32[BR,4 classes].
struct maskrcnn_found {
    int boxes, scores, classes, masks, count;
    int anchor_logits, anchor_codes, proposals, class_logits, class_codes;
};
struct maskrcnn_found maskrcnn_found(struct net *, const struct maskrcnn *, const struct maskrcnn_batch *, int class_table);

// SPDX-License-Identifier: Apache-2.0
// What one-stage detectors share: layers of their networks, and their losses.
//
// A network has in[0]: x[N,H,W,3], normalised; out[0]: logits[N,A,..] of its A anchors, in f32, a column per class, or one more
// before them for none (anchors_style.none); out[1]: deltas[N,A,4], f32. Its style is the member `own` of its struct model.
#pragma once

#include "tasks/common/layers/net.h"
#include "tasks/detection/anchors.h"

enum { PART_PYRAMID = 1, PART_FOCAL = 2, PART_BOX = 4 };
extern const struct model detector_models[];  // ends with name NULL

static inline const struct anchors_style *detector_style(const struct model *m)
{
    return m->own;
}
void retina_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void ssd_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void efficientdet_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
extern const struct anchors_style retina_style, ssd_style, efficientdet_style;

// ---- layers
struct detector_layer {  // a convolution with a bias
    int64_t k;
    int side, stride, pad;
    struct init weight;
    float bias;
};
int detector_layer(struct net *, const char *name, int x, const struct detector_layer *);
int detector_unit(struct net *, const char *name, int x, struct net_conv how);  // NAME.conv and NAME.bn, without an activation
int detector_double(struct net *, int x, int like);  // x, twice as high and wide, cut to the size of `like`
// An answer of a level, [N,H,W,sizes * columns] -> [N,H*W*sizes,columns]; and the answers of all levels as one, in f32.
int detector_rows(struct graph *, int x, int64_t columns);
int detector_join(struct graph *, const int answer[], int levels);

// ---- losses of a batch, as sums over it, and the number that both are divided by, each f32[1]
struct detector_targets {
    int labels, deltas;  // of anchors.h, a row per sample: i32[N,A], f32[N,A,4]
    int negatives;       // i32[N]: anchors without a truth that count, at most; only with a label for none
};
struct detector_losses {
    int class, box, rows;
};
enum { DETECTOR_NEGATIVES = 3 /* per anchor with a truth */, DETECTOR_NEGATIVES_MOST = 4096 /* per picture */ };
struct detector_losses detector_losses(struct step *, const int answer[MODEL_VALUES], const struct detector_targets *);

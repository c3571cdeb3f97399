// SPDX-License-Identifier: Apache-2.0
// A small one-stage detector: a residual backbone, a pyramid of features (Lin et al. 2017a) and two heads that all levels share,
// as RetinaNet has them (Lin et al. 2017b). in[0]: x[N,H,W,3], normalised; out[0]: logits[N,A,classes], out[1]: deltas[N,A,4] of
// the anchors (anchors.h), both in f32.
#pragma once

#include "tasks/common/layers/net.h"
#include "tasks/detection/anchors.h"

extern const struct model retina_models[];  // ends with name NULL

// Backbone and pyramid alone, and their widths as the recipe has them.
enum { RETINA_WIDTHS = 5 };
struct retina_widths {
    int64_t width[RETINA_WIDTHS], pyramid;  // channels of the stem and of the four stages; of the pyramid
};
struct retina_widths retina_widths(struct net *);
void retina_pyramid(struct net *, int x, const struct retina_widths *, int level[ANCHOR_LEVELS]);

// The losses of a batch, as sums over it, and the number of anchors that have a truth, each f32[1].
struct retina_targets {
    int signs, deltas, taken;  // of anchors.h, a row per sample
};
struct retina_losses {
    int class, box, rows;
};
struct retina_losses retina_losses(struct step *, const int answer[MODEL_VALUES], const struct retina_targets *);

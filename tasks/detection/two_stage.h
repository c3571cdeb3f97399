// SPDX-License-Identifier: Apache-2.0
// The steps of a two-stage detector, on photographs with masks (photos.h).
#pragma once

#include "tasks/detection/maskrcnn.h"

extern const struct model two_stage_models[], two_stage_large[];  // end with name NULL

void two_stage_train(struct step *);
void two_stage_evaluate(struct step *);  // outputs of detection_judge.h
// The tables of maskrcnn.h as values.
int two_stage_anchors(struct graph *, const struct maskrcnn *);
int two_stage_levels(struct graph *, const struct maskrcnn *);

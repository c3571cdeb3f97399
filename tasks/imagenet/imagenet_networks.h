// SPDX-License-Identifier: Apache-2.0
// The networks of ImageNet and Imagenette. Each is a function that writes the network into a graph. in[0]: x[N,H,W,3],
// normalised; out[0]: logits[N,classes] in f32; out[1]: logits of a second head, or left as it is. Parameters have torchvision's
// names.
#pragma once

#include "tasks/common/step/step.h"

enum { PART_STAGES = 1, PART_SECOND_HEAD = 2 };
extern const struct model imagenet_models[];  // ends with name NULL

void resnet18_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void resnet50_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void inception_v3_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);

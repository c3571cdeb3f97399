// SPDX-License-Identifier: Apache-2.0
// The models that answer questions. Each is a function that reads its own samples (step_input) and writes the network into a
// graph. out[0] and out[1] are scores f32[B,T]: the places where an answer begins and ends.
#pragma once

#include "tasks/common/step/step.h"

extern const struct model squad_models[];  // ends with name NULL

// Groups of parameters. The head has its own learning rate.
enum squad_group { GROUP_ENCODER, GROUP_HEAD };

void bert_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void drqa_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void fusion_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);

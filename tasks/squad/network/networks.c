// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/network/networks.h"

#include "tasks/squad/network/layers.h"

// Checkpoints of whole models put the encoder below a name. The head of the task is trained anew if a file lacks it.
static const char *const prefixes[] = {"bert.", NULL};
static const char *const fresh[] = {"qa_outputs.", NULL};

const struct model squad_models[] = {
    {.name = "bert", .about = "an encoder of BERT's architecture, from trained weights (--weights, --vocab)",
     .forward = encoder_forward, .prefixes = prefixes, .fresh = fresh},
    {.name = "encoder", .about = "the same architecture from random weights, on a vocabulary of the training texts",
     .recipe = "stories", .forward = encoder_forward, .prefixes = prefixes, .fresh = fresh},
    {.name = "fastfusionnet", .about = "recurrent, from random weights, on words: SRU and fully-aware attention (--vectors)",
     .recipe = "fastfusionnet", .forward = fusion_forward, .begin = layers_begin},
    {.name = "drqa", .about = "recurrent, from random weights, on words: three layers of LSTM (--vectors)",
     .recipe = "drqa", .forward = drqa_forward, .begin = layers_begin},
    {0},
};

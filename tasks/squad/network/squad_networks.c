// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/network/squad_networks.h"

#include "tasks/squad/squad_keys.h"
#include "tasks/squad/network/layers.h"
#include "tasks/squad/sample/encode.h"
#include "tasks/squad/sample/passages.h"

// Checkpoints of whole models put the encoder below a name. The head of the task starts from random values if a file lacks it.
static const char *const prefixes[] = {"bert.", NULL};
static const char *const fresh[] = {"qa_outputs.", NULL};

const struct model squad_models[] = {
    {.name = "bert", .about = "an encoder of BERT's architecture, from trained weights (--weights, --vocab)",
     .parts = PART_ENCODER, .forward = bert_forward, .prefixes = prefixes, .fresh = fresh, .own = &encode_reader},
    {.name = "encoder", .about = "the same architecture from random weights, on a vocabulary of the training texts",
     .recipe = "stories", .parts = PART_ENCODER | PART_WORDS, .forward = bert_forward, .prefixes = prefixes, .fresh = fresh,
     .own = &encode_reader},
    {.name = "fastfusionnet", .about = "recurrent, from random weights, on words: SRU and fully-aware attention (--vectors)",
     .recipe = "fastfusionnet", .parts = PART_WORDS | PART_RECURRENT, .forward = fusion_forward, .begin = layers_begin,
     .own = &passages_reader},
    {.name = "drqa", .about = "recurrent, from random weights, on words: three layers of LSTM (--vectors)",
     .recipe = "drqa", .parts = PART_WORDS | PART_RECURRENT, .forward = drqa_forward, .begin = layers_begin,
     .own = &passages_reader},
    {0},
};

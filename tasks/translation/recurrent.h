// SPDX-License-Identifier: Apache-2.0
// Translators of LSTM layers with additive attention. No decoder here reads the attention of the word before (input feeding), so
// a training reads whole targets with one call per layer. docs/decisions/translation-networks.md says what was chosen and why.
#ifndef DAWN_TRANSLATION_RECURRENT_H
#define DAWN_TRANSLATION_RECURRENT_H

#include "tasks/translation/translator.h"

struct recurrent {
    struct translator translator;
    const char *first, *attention;  // names of the first layer of the decoder, and of the attention
    bool bidirectional;  // the first layer of the encoder
    bool normalised;     // attention
    // The attention's query is the output of the last layer of the decoder, and a linear layer joins both for the output layer,
    // which has no bias. Else the first layer asks, and all later layers read the answer.
    bool asks_late;
    bool passes;         // the decoder begins with the final states of the encoder, layer by layer; else with zeros
};
extern const struct recurrent recurrent_gnmt, recurrent_seq2seq;

#endif

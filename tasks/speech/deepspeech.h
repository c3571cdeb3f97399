// SPDX-License-Identifier: Apache-2.0
// Deep Speech 2 (Amodei et al. 2016): utterances as spectra become logits of letters.
#pragma once

#include "tasks/common/step/step.h"

enum { SPEECH_BODY, SPEECH_HEAD };  // groups of parameters
// Inputs: frames[B,T,161] (f32); the frames of each utterance behind the first and the second convolution, i32[B].
// Output: logits[B,T',29] (f32).
enum { DEEPSPEECH_FRAMES, DEEPSPEECH_HALF, DEEPSPEECH_STEPS };

extern const struct model deepspeech_models[];  // ends with name NULL
// The frames that a convolution with stride 2 makes of these.
static inline int64_t deepspeech_half(int64_t frames)
{
    return (frames - 1) / 2 + 1;
}
int64_t deepspeech_steps(const struct setting *, int64_t frames);  // behind both convolutions

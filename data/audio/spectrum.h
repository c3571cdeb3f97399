// SPDX-License-Identifier: Apache-2.0
// The features of Deep Speech 2: log(1 + |STFT|) over windows of 20 ms, every 10 ms, at 16 kHz.
//
// x[T,161], T = 1 + samples / 160. A periodic Hamming window of 320 samples is centred on sample 160 * t; outside of the sound
// there are zeros. Equal to librosa 0.11: stft(n_fft=320, hop_length=160, window="hamming", center=True), test_audio.
// Invariant: the same bytes on every thread; a function of the samples alone. Cost: a real DFT of 320 points per frame.
#pragma once

#include "runtime/common/base/error.h"

enum { SPECTRUM_RATE = 16000, SPECTRUM_WINDOW = 320, SPECTRUM_HOP = 160, SPECTRUM_BINS = SPECTRUM_WINDOW / 2 + 1 };

static inline int64_t spectrum_frames(int64_t samples)
{
    return 1 + samples / SPECTRUM_HOP;
}
void spectrum_make(const float *samples, int64_t count, float *into);  // log(1 + |STFT|), not yet normalised
// Mean 0 and deviation 1 (n - 1) over all frames and bins. Fails if all values are equal, as in silence of zeros; the caller
// names the sample.
int spectrum_normalise(float *x, int64_t frames) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Augments a spectrum (spectrum.h, not normalised) for training: changes its gain and tempo, normalises it, and sets bands of
// frequency and stretches of time to the mean (SpecAugment).
//
// Tempo stretches the spectrum in time, linearly, not the sound: no pitch changes, and the spectrum of a sound is made once
// (docs/decisions/audio.md). Gain multiplies the magnitudes before the logarithm. Invariant: a function of choice, key and
// spectrum alone (rng.h: RNG_JITTER). Cost: a pass over the spectrum; with gain an exp and a log per value.
#pragma once

#include "runtime/common/base/error.h"

struct augment_choice {  // all zero: nothing is drawn
    double tempo;        // 0.15: 0.85 to 1.15 times as many frames
    double gain;         // in dB: -gain to +gain, evenly
    int bands, band;             // bands of frequency, each of 0 to `band` bins
    int stretches, stretch;      // stretches of time, each of 0 to `stretch` frames, at most a tenth of the frames
};
struct augment_key {
    uint64_t seed;
    uint32_t epoch, sample;
};

int64_t augment_most(const struct augment_choice *, int64_t frames);  // the most frames that the tempo can make, for buckets
int64_t augment_frames(const struct augment_choice *, const struct augment_key *, int64_t frames);
// Writes augment_frames() x SPECTRUM_BINS values. NULL as the choice: only normalised, and `key` may be NULL. Fails on silence
// as spectrum_normalise does.
int augment_fill(const struct augment_choice *, const struct augment_key *, const float *spectrum, int64_t frames,
                 float *into) MUST_CHECK;

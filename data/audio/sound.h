// SPDX-License-Identifier: Apache-2.0
// Recorded sound: NIST sphere, WAV and FLAC become samples of one channel.
//
// Invariant: pure parsers with limits; any other form is an error whose sentence starts with `name` and says what it found.
// Channels are averaged, as librosa and deepspeech.pytorch do. Samples are integers / 2^(bits - 1), so they lie in [-1, 1).
// Cost: one copy of the samples as f32.
#pragma once

#include "runtime/common/base/error.h"

enum { SOUND_BYTES = 1 << 28, SOUND_RATE_LEAST = 4000, SOUND_RATE_MOST = 384000, SOUND_CHANNELS = 8 };

struct sound_head {
    const char *form;  // "sphere", "WAV", "FLAC"
    int rate, channels, bits;
    bool real;         // the samples are floating point
    int64_t samples;   // of each channel
};
struct sound {
    int rate;
    int64_t count;
    float *at;
};

bool sound_is_named(const char *file);  // has the ending of such a file: .sph, .wav, .flac
// Reads the head alone. `bytes` may be the beginning of a file of `size` bytes: SOUND_HEAD of them suffice, unless long chunks
// lie before the samples of a WAV.
enum { SOUND_HEAD = 4096 };
int sound_head(const char *name, const uint8_t *bytes, size_t count, size_t size, struct sound_head *) MUST_CHECK;
int sound_decode(const char *name, const uint8_t *bytes, size_t count, struct sound *) MUST_CHECK;  // sound_free ends it
// Converts to another rate by a windowed sinc, which removes frequencies above the lower rate's limit.
int sound_resample(struct sound *, int rate) MUST_CHECK;
void sound_free(struct sound *);

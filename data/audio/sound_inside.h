// SPDX-License-Identifier: Apache-2.0
// What the forms share. A form reads its head, says where the samples lie and how they are stored.
#pragma once

#include "data/audio/sound.h"

enum sound_code { SOUND_INTEGER, SOUND_UNSIGNED, SOUND_FLOAT, SOUND_FLAC };
struct sound_layout {
    struct sound_head head;
    enum sound_code code;
    int bytes;           // of a stored sample
    bool big;            // the first byte is the highest
    size_t at;           // of the first sample in the file
};

// Each returns 0 and *place untouched beyond the form's own members, or fails with a sentence without a name. `size`: of the
// file.
int sound_sphere(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *) MUST_CHECK;
int sound_wav(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *) MUST_CHECK;
int sound_flac(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *) MUST_CHECK;
int sound_flac_decode(const uint8_t *bytes, size_t count, const struct sound_head *, float *into) MUST_CHECK;

// Checks what no form may exceed.
int sound_check(const struct sound_head *) MUST_CHECK;

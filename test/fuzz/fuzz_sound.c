// SPDX-License-Identifier: Apache-2.0
// Any bytes as a sound: they are refused with a sentence that names the file, or samples that are numbers. The head says what the
// decoder finds.
#include "data/audio/sound.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct sound_head head;
    struct sound sound;
    const int seen = sound_head("a.wav", bytes, count < SOUND_HEAD ? count : SOUND_HEAD, count, &head);
    const int rc = sound_decode("a.wav", bytes, count, &sound);
    if (rc < 0) {
        BUG_IF(strncmp(error_text(), "a.wav", 5) != 0 || sound.at != NULL);
        return 0;
    }
    BUG_IF(sound.count < 1 || sound.rate < SOUND_RATE_LEAST || sound.rate > SOUND_RATE_MOST);
    BUG_IF(seen == 0 && (head.samples != sound.count || head.rate != sound.rate));
    for (int64_t i = 0; i < sound.count; i++) BUG_IF(!isfinite(sound.at[i]));
    if (sound.count < 5000) {  // longer ones take too long here
        const int64_t samples = sound.count, rate = sound.rate, other = 16000;
        BUG_IF(sound_resample(&sound, (int)other) < 0 || sound.count != (samples * other + rate - 1) / rate);
        for (int64_t i = 0; i < sound.count; i++) BUG_IF(!isfinite(sound.at[i]));
    }
    sound_free(&sound);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Utterances for people.
#include "data/audio/portrait.h"
#include "data/read/speech/speech_set.h"

int speech_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    struct sound sound;
    struct text name = {0};
    TRY(speech_sound(ds, split, number - 1, &sound));
    speech_sample_name(ds, split, number - 1, &name);
    text_entry(into, "utterance", "%s, %.2f s", name.at, (double)sound.count / SPEECH_RATE);
    text_entry(into, "text", "%s", speech_text(ds, split, number - 1));
    int rc = portrait_print(&sound, into);
    text_free(&name);
    sound_free(&sound);
    return rc;
}

int speech_draw(struct dataset *ds, enum split split, int64_t number, const char *path)
{
    struct sound sound;
    TRY(speech_sound(ds, split, number - 1, &sound));
    int rc = portrait_draw(&sound, speech_text(ds, split, number - 1), path);
    sound_free(&sound);
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
// The recipe keys of speech. What is scored is no key: the letters and both error rates are the task's.
#include "tasks/speech/speech_keys.h"

#include "data/audio/spectrum.h"
#include "data/feed/order.h"
#include "tasks/speech/deepspeech.h"
#include "tasks/speech/letter_search.h"

static const char *const also[] = {"librispeech-100", "librispeech", NULL};

#define OWN(field) RECIPE_OWN(struct speech_keys, field)
_Static_assert(sizeof(struct speech_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.buckets", NULL, KEY_WHOLE, OWN(buckets), 1, ORDER_BUCKETS, NULL, "6",
     .about = "lengths to which the utterances of a batch are padded; each has two batches or more"},
    {"data.tempo", NULL, KEY_NUMBER, OWN(tempo), 0, 0.5, NULL, "0",
     .about = "the largest share by which an utterance becomes longer or shorter, drawn for each"},
    {"data.gain", NULL, KEY_NUMBER, OWN(gain), 0, 40, NULL, "0", .about = "largest change of loudness, in dB, drawn for each"},
    {"data.bands", NULL, KEY_WHOLE, OWN(bands), 0, 16, NULL, "0", .about = "bands of frequency that are set to the mean"},
    {"data.band", NULL, KEY_WHOLE, OWN(band), 0, SPECTRUM_BINS, NULL, "20", .about = "bins of the widest of them, of 161"},
    {"data.stretches", NULL, KEY_WHOLE, OWN(stretches), 0, 16, NULL, "0", .about = "stretches of time that are set to the mean"},
    {"data.stretch", NULL, KEY_WHOLE, OWN(stretch), 0, 1000, NULL, "20",
     .about = "frames of 10 ms of the longest of them; at most a tenth of the utterance"},

    {"model.channels", NULL, KEY_WHOLE, OWN(channels), 0, 1024, NULL, "0",
     .about = "of both convolutions; 0: as the model is published"},
    {"model.stride", NULL, KEY_WHOLE, OWN(stride), 0, 4, NULL, "0",
     .about = "frames per step of the recurrent layers, 2 or 4; 0: as published"},
    {"model.layers", NULL, KEY_WHOLE, OWN(layers), 0, 16, NULL, "0", .about = "recurrent layers; 0: as published"},
    {"model.width", NULL, KEY_WHOLE, OWN(width), 0, 8192, NULL, "0",
     .about = "units of each direction of a recurrent layer; 0: as published"},

    {"search.batch", NULL, KEY_WHOLE, OWN(batch), 1, 1024, NULL, "16", .about = "utterances of a batch of an evaluation",
     .decodes = true},
    {"search.beam", NULL, KEY_WHOLE, OWN(beam), 1, LETTER_BEAM, NULL, "1",
     .about = "prefixes that are kept at each step; 1: the best letter of each step", .decodes = true},
    {.path = NULL},
};

static int check_speech(const char *where, const struct recipe *r)
{
    const int64_t stride = speech_keys(r)->stride;
    if (r->label_smoothing > 0) return fail(ERR_USAGE, "%s: speech has no \"loss.label_smoothing\": it must be 0", where);
    if (stride != 0 && stride != 2 && stride != 4)
        return fail(ERR_USAGE, "%s: \"model.stride\" is 2 or 4, not %lld", where, (long long)stride);
    return 0;
}

const struct recipe_table recipe_table_speech = {
    .task = "an4", .also = also, .models = deepspeech_models, .keys = keys, .check = check_speech,
};

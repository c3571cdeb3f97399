// SPDX-License-Identifier: Apache-2.0
// Facts of utterances for tasks, besides their fields.
//
// A set of utterances (an4, an4-val, chords, librispeech-100, ...) has the fields
//   "spectrum" f32[T,161], ragged: data/audio/spectrum.h, not normalised. Reading it decodes the sound on the calling thread
//   "letters"  i32[n], ragged: data/audio/letters.h
//   "sound"    u8[n], ragged: the file
#pragma once

#include "data/dataset.h"

enum { SPEECH_SPECTRUM, SPEECH_LETTERS, SPEECH_SOUND, SPEECH_FIELDS };

const char *speech_text(const struct dataset *, enum split, int64_t index);  // its words: "HELLO WORLD"; lives as the data set
int64_t speech_samples(const struct dataset *, enum split, int64_t index);   // of its sound, at 16 kHz
// A sound of a person as a data set of one test sample without letters. Other rates become 16 kHz. `name` names the file in
// errors.
int speech_ask(const struct dataset_facts *like, const char *name, const char *bytes, size_t count, struct dataset **) MUST_CHECK;

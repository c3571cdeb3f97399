// SPDX-License-Identifier: Apache-2.0
// LibriSpeech (Panayotov et al. 2015): PART/SPEAKER/CHAPTER/SPEAKER-CHAPTER.trans.txt has a line "ID TEXT" per utterance, whose
// sound is ID.flac next to it.
#pragma once

#include "data/read/speech/speech_lines.h"
#include "data/read/speech/speech_set.h"

// Pure. Adds the utterances of one list; `folder` is theirs, below the set's.
int librispeech_parse(const struct speech_list *, const char *folder, struct speech_split *) MUST_CHECK;

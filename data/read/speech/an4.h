// SPDX-License-Identifier: Apache-2.0
// AN4's lists (Carnegie Mellon, 1991): an4_train.fileids has one name per line, "an4_clstk/fash/an251-fash-b", the file below
// wav/ without .sph; an4_train.transcription has "YES (an251-fash-b)", in some copies "<s> YES </s> (an251-fash-b)", one line
// per name.
#pragma once

#include "data/read/speech/speech_lines.h"
#include "data/read/speech/speech_set.h"

// Pure. The utterances in the order of `names`. speech_split_free ends them, after a failure, too.
int an4_parse(const struct speech_list *names, const struct speech_list *texts, struct speech_split *) MUST_CHECK;
// Moves the utterances of the last `speakers` speakers by name (the second part of a file's name from the end).
void an4_hold_out(struct speech_split *from, int speakers, struct speech_split *into);

// SPDX-License-Identifier: Apache-2.0
// A sound for people: its wave above its spectrum, low tones below.
#pragma once

#include "data/audio/sound.h"
#include "runtime/common/base/text.h"

int portrait_print(const struct sound *, struct text *) MUST_CHECK;  // in letters of ASCII, for a terminal
int portrait_draw(const struct sound *, const char *caption, const char *path) MUST_CHECK;  // as a PNG

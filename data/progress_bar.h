// SPDX-License-Identifier: Apache-2.0
// Progress of a long command, for people. A terminal gets one line that is redrawn, other outputs a plain line every tenth.
// It goes to standard error, because standard output carries only results.
#pragma once

#include "runtime/common/base/error.h"

struct progress_bar {
    const char *what;
    bool terminal, bytes;
    int64_t first, first_ns;  // begin of this bar: earlier progress does not count as speed
    int tenths;               // tenths printed so far, if plain
    bool open;                // the terminal's line is unfinished
};

struct progress_bar progress_bar_start(const char *what, bool bytes);  // bytes: true if it counts bytes
// For use as callbacks, with the progress bar as context.
void progress_bar_show(void *bar, int64_t have, int64_t total);
void progress_bar_note(void *bar, const char *sentence);  // a line of its own
void progress_bar_end(struct progress_bar *);
void progress_bar_erase(struct progress_bar *);  // ends the bar and erases the terminal's line

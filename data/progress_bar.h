// SPDX-License-Identifier: Apache-2.0
// Progress of a long command, for people. A terminal gets one line that is redrawn, other outputs a plain line every tenth. It
// goes to standard error, so that standard output holds results alone.
#ifndef DAWN_DATA_PROGRESS_BAR_H
#define DAWN_DATA_PROGRESS_BAR_H

#include "runtime/base/error.h"

struct progress_bar {
    const char *what;
    bool terminal, bytes;
    int64_t first, first_ns;  // where this bar began: earlier progress does not count as speed
    int tenths;               // printed so far, when plain
    bool open;                // a line of the terminal is unfinished
};

struct progress_bar progress_bar_start(const char *what, bool bytes);  // counts bytes, or things
// With these two as callbacks, the progress is their context.
void progress_bar_show(void *bar, int64_t have, int64_t total);
void progress_bar_note(void *bar, const char *sentence);  // a line of its own
void progress_bar_end(struct progress_bar *);
void progress_bar_erase(struct progress_bar *);  // instead: the line of the terminal disappears

#endif

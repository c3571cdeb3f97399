// SPDX-License-Identifier: Apache-2.0
// Irregularities in an entry's files, one line each. Every parser of the folder reports here, so this file calls none of them.
#include <stdarg.h>
#include <stdio.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"

void dawnbench_quirk(struct dawnbench_entry *e, const char *file, const char *format, ...)
{
    char sentence[600];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    text_add(&e->quirks, "%s: %s\n", file, sentence);
}

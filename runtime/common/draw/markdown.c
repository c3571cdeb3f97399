// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/draw/markdown.h"

#include <string.h>

void markdown_add(struct text *into, const char *words)
{
    for (; *words; words++) {
        unsigned char c = (unsigned char)*words;
        if (c == '<' || c == '>' || c == '&') text_add(into, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
        else if (strchr("\\`*_{}[]#|!~", c)) text_add(into, "\\%c", c);
        else text_add(into, "%c", c < 0x20 || c == 0x7f ? '?' : c);
    }
}

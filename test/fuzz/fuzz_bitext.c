// SPDX-License-Identifier: Apache-2.0
// Any bytes as lines of parallel text: they are either refused with their place, or cut so that nothing is lost but line ends.
#include "data/read/bitext/bitext.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *text = (const char *)bytes, *end = text;
    struct bitext_lines lines;
    if (bitext_parse("lines", text, count, &lines) < 0) {
        BUG_IF(strncmp(error_text(), "lines", 5) != 0 || lines.line != NULL);
        return 0;
    }
    BUG_IF(lines.lines < 1);
    for (int64_t i = 0; i < lines.lines; i++) {
        const struct bitext_line *l = &lines.line[i];
        BUG_IF(l->at != end || l->length < 1 || l->length > lines.longest || memchr(l->at, '\n', (size_t)l->length) != NULL);
        end = l->at + l->length;
        if (end < text + count && *end == '\r') end++;
        if (end < text + count) BUG_IF(*end++ != '\n');
    }
    BUG_IF(end != text + count);
    free(lines.line);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as a text of characters: refused with their place, or every byte has a number that stands for it.
#include "data/read/text/corpus.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct corpus_symbols s;
    if (corpus_parse("text", (const char *)bytes, count, &s) < 0) {
        BUG_IF(strncmp(error_text(), "text", 4) != 0);
        return 0;
    }
    BUG_IF(s.count < 1 || s.count > CORPUS_SYMBOLS);
    for (int i = 1; i < s.count; i++) BUG_IF(s.symbol[i - 1] >= s.symbol[i]);
    for (size_t i = 0; i < count; i++) BUG_IF(s.id[bytes[i]] < 0 || (uint8_t)s.symbol[s.id[bytes[i]]] != bytes[i]);
    return 0;
}

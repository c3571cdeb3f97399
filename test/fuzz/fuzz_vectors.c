// SPDX-License-Identifier: Apache-2.0
// Any bytes as published vectors, and as a pack from the cache. All numbers are finite; words without a vector have zeros.
#include "data/text/vectors_cache.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const words[] = {"the", "The", "a", "caf\xc3\xa9", "well-known", "x"};
    struct vocabulary *vocabulary = vocabulary_new();
    for (int i = 0; i < 6; i++) vocabulary_add(vocabulary, words[i], strlen(words[i]));
    for (int64_t dimension = 1; dimension < 4; dimension++) {
        struct vectors v;
        if (vectors_parse("vectors", (const char *)bytes, count, vocabulary, dimension, &v) < 0) {
            BUG_IF(v.row != NULL || v.found != NULL || strncmp(error_text(), "vectors", 7) != 0);
            continue;
        }
        for (int64_t i = 0; i < 6 * dimension; i++)
            BUG_IF(!isfinite(v.row[i]) || (v.found[i / dimension] == VECTORS_NONE && v.row[i] != 0));
        (void)!vectors_cache_parse((const char *)bytes, count, &v);
        for (int i = 0; i < 6; i++) BUG_IF(v.found[i] > VECTORS_STRIPPED);
        vectors_free(&v);
    }
    vocabulary_free(vocabulary);
    return 0;
}

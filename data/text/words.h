// SPDX-License-Identifier: Apache-2.0
// Splits a text into words by Unicode's classes: a run of letters, marks and numbers, or one other character except spaces.
//
// Within a word a point, comma or colon between two digits is kept (1,000.5 and 10:30). Contractions are cut as in the
// corpora of published word vectors: Bob 's, they 're, do n't, with ' or U+2019. Any bytes are text; bytes that are not
// UTF-8 are words of one byte. Cost: about 150 MB of English per second and core.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Word i is the bytes [begin[i], end[i]) of the text.
struct words {
    int32_t *begin, *end;
    int64_t count, capacity;
};
void words_free(struct words *);
void words_split(const char *text, size_t n, struct words *);  // appends; n is at most INT32_MAX

// SPDX-License-Identifier: Apache-2.0
// How both halves of BPE spell words.
#ifndef DAWN_DATA_TEXT_BPE_INSIDE_H
#define DAWN_DATA_TEXT_BPE_INSIDE_H

#include <string.h>

#include "data/text/bpe.h"
#include "data/text/unicode.h"

#define BPE_HEADER "#version: 0.2"
#define BPE_END "</w>"
enum { BPE_END_BYTES = sizeof BPE_END - 1, BPE_LAST = UNICODE_BYTES + BPE_END_BYTES };

// The symbol of the last character of a word; changes its length.
static inline const char *bpe_last_character(const char *character, size_t *n, char into[BPE_LAST])
{
    memcpy(into, character, *n);
    memcpy(into + *n, BPE_END, BPE_END_BYTES);
    *n += BPE_END_BYTES;
    return into;
}

#endif

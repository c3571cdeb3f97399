// SPDX-License-Identifier: Apache-2.0
#include "data/text/python.h"

#include <stdlib.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

enum { CAPITAL_SIGMA = 0x3A3, SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, CAPITAL_DOTTED_I = 0x130, DOT_ABOVE = 0x307 };

bool python_is_space(int32_t code)
{
    return unicode_is_space(code) || (code >= 0x1C && code <= 0x1F);
}

// A sigma is final if a cased letter precedes it and none follows it, apart from ignorable characters.
static int32_t lower_sigma(const int32_t *code, size_t n, size_t i)
{
    size_t before = i, after = i + 1;
    while (before > 0 && unicode_is_case_ignorable(code[before - 1])) before--;
    if (before == 0 || !unicode_is_cased(code[before - 1])) return SIGMA;
    while (after < n && unicode_is_case_ignorable(code[after])) after++;
    return after < n && unicode_is_cased(code[after]) ? SIGMA : FINAL_SIGMA;
}

int32_t *python_codes(const char *text, size_t bytes, bool lower, size_t *count)
{
    size_t n = 0, lowered = 0;
    int32_t *code = grow(NULL, (bytes + 1) * sizeof *code);
    for (size_t at = 0; at < bytes;) code[n++] = unicode_next(text, bytes, &at);
    *count = n;
    if (!lower) return code;
    int32_t *low = grow(NULL, (2 * n + 1) * sizeof *low);
    for (size_t i = 0; i < n; i++) {
        if (code[i] == CAPITAL_SIGMA) {
            low[lowered++] = lower_sigma(code, n, i);
        } else if (code[i] == CAPITAL_DOTTED_I) {  // the only character whose lower case has two characters
            low[lowered++] = 'i';
            low[lowered++] = DOT_ABOVE;
        } else {
            low[lowered++] = unicode_lower(code[i]);
        }
    }
    free(code);
    *count = lowered;
    return low;
}

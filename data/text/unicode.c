// SPDX-License-Identifier: Apache-2.0
// Derives all properties from utf8proc's category of a code point.
#include "data/text/unicode.h"

#include <utf8proc.h>

int32_t unicode_next(const char *text, size_t n, size_t *at)
{
    const uint8_t *bytes = (const uint8_t *)text + *at;
    utf8proc_int32_t code;
    size_t left = n - *at;
    if (bytes[0] < 0x80) {
        (*at)++;
        return bytes[0];
    }
    utf8proc_ssize_t took = utf8proc_iterate(bytes, left < UNICODE_BYTES ? (utf8proc_ssize_t)left : UNICODE_BYTES, &code);
    if (took <= 0) took = 1, code = UNICODE_REPLACEMENT;
    *at += (size_t)took;
    return code;
}

size_t unicode_valid(const char *text, size_t n)
{
    for (size_t at = 0, before = 0; at < n; before = at)
        if (unicode_next(text, n, &at) == UNICODE_REPLACEMENT && at == before + 1) return before;
    return n;
}

int unicode_put(int32_t code, char into[UNICODE_BYTES])
{
    return (int)utf8proc_encode_char(code, (utf8proc_uint8_t *)into);
}

bool unicode_is_space(int32_t code)
{
    if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool unicode_is_word(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

bool unicode_is_digit(int32_t code)
{
    return utf8proc_category(code) == UTF8PROC_CATEGORY_ND;
}

bool unicode_is_number(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool unicode_is_punctuation(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool unicode_is_symbol(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
}

bool unicode_is_currency(int32_t code)
{
    return utf8proc_category(code) == UTF8PROC_CATEGORY_SC;
}

bool unicode_is_mark(int32_t code)
{
    return utf8proc_category(code) == UTF8PROC_CATEGORY_MN;
}

bool unicode_is_other(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool unicode_is_letter_or_number(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

// Properties that utf8proc's categories lack: Other_Lowercase and Other_Uppercase of characters that are not ignorable, and
// the marks inside words (Word_Break of MidLetter, MidNumLet, Single_Quote). Unicode 15.
bool unicode_is_cased(int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT) || code == 0xAA || code == 0xBA ||
           (code >= 0x2160 && code <= 0x217F) || (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
           (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

bool unicode_is_case_ignorable(int32_t code)
{
    static const uint16_t inside[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                      0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: break;
    }
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        if (code == inside[i]) return true;
    return false;
}

int32_t unicode_lower(int32_t code)
{
    return utf8proc_tolower(code);
}

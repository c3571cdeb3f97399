// SPDX-License-Identifier: Apache-2.0
// The names of the checks, and the list of findings. Invariant: a finding's text consists of whole characters and fits. A finding
// that does not fit the list is still counted.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/check/check.h"

static const struct {
    const char *code, *what;
    enum check_level level;
} checks[] = {
#define CHECK(name, code, level, what) {code, what, CHECK_##level},
    CHECK_LIST
#undef CHECK
};

const char *check_code(enum check check)
{
    BUG_IF(check >= CHECKS);
    return checks[check].code;
}

enum check_level check_level(enum check check)
{
    BUG_IF(check >= CHECKS);
    return checks[check].level;
}

const char *check_what(enum check check)
{
    BUG_IF(check >= CHECKS);
    return checks[check].what;
}

// Cuts a sentence that is too long between two characters.
static void cut(char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    text[length] = 0;
}

void finding_add(struct findings *f, enum check check, const char *format, ...)
{
    char text[FINDING_TEXT + 4];  // long enough to detect a cut sentence and the beginning of its last character
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    BUG_IF(length < 0);
    if (length >= FINDING_TEXT) cut(text, FINDING_TEXT - 1);
    BUG_IF(strlen(text) >= FINDING_TEXT);
    *(check_level(check) == CHECK_REJECT ? &f->rejects : &f->flags) += 1;
    if (f->count < FINDINGS_MAX) {
        f->at[f->count].check = check;
        memcpy(f->at[f->count].text, text, strlen(text) + 1);
    }
    f->count++;
}

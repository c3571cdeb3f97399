// SPDX-License-Identifier: Apache-2.0
// One sentence for each thread, in a buffer of fixed size: failing needs no memory and so cannot fail itself.
#include "runtime/common/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char sentence[ERROR_TEXT_MAX];

// Bytes of the UTF-8 character at c; 0: there is none.
static int utf8_length(const unsigned char *c)
{
    int n = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    bool surrogate = *c == 0xed && c[1] > 0x9f, too_high = *c == 0xf4 && c[1] > 0x8f;
    bool too_long = (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xf0 && c[1] < 0x90);
    return surrogate || too_high || too_long ? 0 : n;
}

// Replaces what could steer a terminal (C0, DEL and C1), and bytes that are not UTF-8, which a record cannot hold. A sentence
// may have a name out of a file from outside, and a name may have been cut.
static void tame_sentence(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != 0;) {
        int n = utf8_length(c);
        if (*c == '\n' || *c == '\t') *c = ' ';
        if (n == 0 || *c < 0x20 || *c == 0x7f) *c = '?';
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) c[0] = c[1] = '?';
        c += n ? n : 1;
    }
}

// Formats into another buffer first, because the arguments and the end may be the kept sentence itself.
static void keep_sentence(const char *format, va_list args, const char *between, const char *after)
{
    char fresh[ERROR_TEXT_MAX];
    int length = vsnprintf(fresh, sizeof fresh, format, args);
    if (length < 0) length = 0, fresh[0] = 0;
    if ((size_t)length < sizeof fresh) snprintf(fresh + length, sizeof fresh - (size_t)length, "%s%s", between, after);
    tame_sentence(fresh);
    memcpy(sentence, fresh, strlen(fresh) + 1);
}

int fail(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep_sentence(format, args, "", "");
    va_end(args);
    BUG_IF(code >= 0 || code <= -ERROR_END);
    return code;
}

int fail_prefix(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep_sentence(format, args, "", sentence);
    va_end(args);
    BUG_IF(code >= 0 || code <= -ERROR_END);
    return code;
}

int fail_errno(int code, int errno_value, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    keep_sentence(format, args, ": ", strerror_r(errno_value, reason, sizeof reason));  // the GNU form: it returns the text
    va_end(args);
    BUG_IF(code >= 0 || code <= -ERROR_END);
    return code;
}

const char *error_text(void)
{
    return sentence;
}

int error_exit_code(int code)
{
    switch (code) {
#define ERROR(name, exit_code, text)                                                                                   \
    case ERR_##name: return exit_code;
        ERROR_LIST
#undef ERROR
    }
    return code < 0 ? 1 : 0;
}

const char *error_program = "dawn";

void bug_at(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s: a fault in the program itself (%s:%d): %s\n", error_program, file, line, what);
    abort();
}

void error_no_memory(size_t bytes)
{
    fprintf(stderr, "%s: not enough memory for %zu bytes more\n", error_program, bytes);
    _exit(error_exit_code(ERR_MEMORY));
}

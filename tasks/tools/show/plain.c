// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/show/plain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submit/format/score/curve.h"

int plain_columns(const char *text)
{
    int n = 0;
    for (; *text != 0; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

// Replaces C0, DEL, and C1 in its UTF-8 form.
void plain_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != 0; c++) {
        if (*c < 0x20 || *c == 0x7f) *c = '?';
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) c[0] = c[1] = '?';
    }
}

static bool is_own_code(const char *at, const struct plain_style *style)
{
    return style->bold && (strncmp(at, "\033[1m", 4) == 0 || strncmp(at, "\033[0m", 4) == 0);
}

void plain_page(struct text *t, const struct plain_style *style)
{
    for (char *at = t->at; at != NULL && *at != 0; at++) {
        char kept = 0, *end = at + strcspn(at, "\n\033");
        if (*end != 0) kept = *end, *end = 0;
        plain_tame(at);
        if (kept == 0) return;
        at = end;
        *at = kept;
        if (kept == '\033' && !is_own_code(at, style)) *at = '?';
    }
}

#define TAME_WORDS(words, format)                                                                                       \
    do {                                                                                                               \
        va_list values;                                                                                                \
        va_start(values, format);                                                                                      \
        vsnprintf(words, sizeof words, format, values);                                                                \
        va_end(values);                                                                                                \
        plain_tame(words);                                                                                             \
    } while (0)

void plain_add(struct text *t, const char *format, ...)
{
    char words[512];
    TAME_WORDS(words, format);
    text_add(t, "%s", words);
}

void plain_heading(struct text *t, const struct plain_style *style, const char *format, ...)
{
    char words[512];
    TAME_WORDS(words, format);
    text_add(t, style->bold ? "\n\033[1m%s\033[0m\n" : "\n%s\n", words);
}

void plain_line(struct text *t, const char *label, const char *format, ...)
{
    char words[2048];
    TAME_WORDS(words, format);
    plain_add(t, "  %-*s", PLAIN_LABEL, label);
    int column = PLAIN_LABEL + 2;
    bool first = true;
    for (char *rest, *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int wide = plain_columns(word);
        if (!first && column + 1 + wide > PLAIN_WIDTH) {
            text_add(t, "\n%*s", PLAIN_LABEL + 2, "");
            column = PLAIN_LABEL + 2;
            first = true;
        }
        text_add(t, "%s%s", first ? "" : " ", word);
        column += wide + !first;
        first = false;
    }
    text_add(t, "\n");
}

char *plain_when(char into[32], int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    gmtime_r(&seconds, &day);
    strftime(into, 32, "%Y-%m-%d %H:%M", &day);
    return into;
}

char *plain_span(char into[TEXT_FIGURE], int64_t ns)
{
    return text_span(into, (double)ns / 1e9);
}

char *plain_loss(char into[TEXT_FIGURE], const json_t *point, const char *name)
{
    double loss = curve_loss(point, name);
    snprintf(into, TEXT_FIGURE, isnan(loss) ? "-" : "%.4f", loss);
    return into;
}

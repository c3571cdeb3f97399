// SPDX-License-Identifier: Apache-2.0
// Text is never built in an inner loop, so clarity comes before speed.
#include "runtime/common/base/text.h"

#include "runtime/common/base/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static void reserve_bytes(struct text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (wanted <= text->capacity) return;
    size_t capacity = text->capacity ? text->capacity * 2 : 64;
    if (capacity < wanted) capacity = wanted;
    text->at = grow(text->at, capacity);
    text->capacity = capacity;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_IF(length < 0);
    reserve_bytes(text, (size_t)length);
    vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void text_bytes(struct text *text, const void *bytes, size_t count)
{
    reserve_bytes(text, count);
    if (count) memcpy(text->at + text->length, bytes, count);
    text->length += count;
    text->at[text->length] = 0;
}

void text_free(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

void text_wrap(struct text *into, const char *words, int column, int indent)
{
    bool fresh = true;
    while (*words) {
        if (*words == '\n') {
            text_add(into, "\n%*s", words[1] && words[1] != '\n' ? indent : 0, "");
            column = indent, fresh = true, words++;
            continue;
        }
        size_t blanks = strspn(words, " "), length = strcspn(words + blanks, " \n");
        if (length == 0) {
            words += blanks;
            continue;
        }
        if (!fresh && column + (int)(blanks + length) >= TEXT_WIDTH) {
            text_add(into, "\n%*s", indent, "");
            column = indent, blanks = 0, words += strspn(words, " ");
        }
        text_bytes(into, words, blanks + length);
        column += (int)(blanks + length);
        words += blanks + length;
        fresh = false;
    }
}

void text_list(struct text *into, const char *const *words, int count, const char *last)
{
    for (int i = 0; i < count; i++) text_add(into, "%s%s", i == 0 ? "" : i == count - 1 ? last : ", ", words[i]);
}

// A spreadsheet would run such a cell as a formula. Some read the full-width forms of = + - @ (U+FF1D, FF0B, FF0D, FF20) as they
// read the signs themselves.
static bool is_formula(const char *cell)
{
    static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(cell, wide[i], 3) == 0) return true;
    return *cell != 0 && strchr("=+-@|\t\r\n", *cell) != NULL && strcmp(cell, "-") != 0;
}

void text_csv(struct text *text, const char *cell)
{
    const char *mark = is_formula(cell) ? "'" : "";
    if (strpbrk(cell, ",\"\r\n") == NULL) {
        text_bytes(text, mark, strlen(mark));
        text_bytes(text, cell, strlen(cell));
        return;
    }
    text_add(text, "\"%s", mark);
    for (; *cell != 0; cell++) text_add(text, *cell == '"' ? "\"\"" : "%c", *cell);
    text_bytes(text, "\"", 1);
}

void text_plain(struct text *text, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i], next = i + 1 < n ? (unsigned char)bytes[i + 1] : 0;
        bool pair = c == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
        text_bytes(text, c < ' ' || c == 0x7F || pair ? " " : bytes + i, 1);
        i += pair;
    }
}

void text_quote(struct text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,{}-";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(t, "%s", word);
        return;
    }
    text_add(t, "'");
    for (; *word; word++) {
        if (*word == '\'') text_add(t, "'\\''");
        else text_bytes(t, word, 1);
    }
    text_add(t, "'");
}

void text_entry(struct text *into, const char *label, const char *format, ...)
{
    enum { COLUMN = 13 };
    char *words;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&words, format, args);
    va_end(args);
    BUG_IF(length < 0);
    text_add(into, "  %-*s", COLUMN - 2, label);
    text_wrap(into, words, COLUMN, COLUMN);
    text_add(into, "\n");
    free(words);
}

// Number of edits (insert, delete, replace, swap neighbours) between two words, ignoring case.
enum { LONGEST_NAME = 63 };
static int distance(const char *a, int n, const char *b, int m)
{
    int row[3][LONGEST_NAME + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    for (int j = 0; j <= m; j++) last[j] = j, before[j] = 0;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            int best = last[j - 1] + (x != y);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
        int *spare = before;
        before = last, last = now, now = spare;
    }
    return last[m];
}

const char *text_nearest(const char *word, const char *const names[])
{
    const char *best = NULL;
    int best_distance = LONGEST_NAME;
    size_t n = strlen(word);
    if (n > LONGEST_NAME) return NULL;
    for (; *names; names++) {
        size_t m = strlen(*names);
        if (m > LONGEST_NAME) continue;
        int far = distance(word, (int)n, *names, (int)m);
        int enough = (int)(n > m ? n : m) / 3 + (n > 1 && m > 1 && n < 3 && m < 4);  // a third of the letters
        if (n >= 3 && m > n && strncasecmp(word, *names, n) == 0 && far > enough) far = enough;  // a beginning of the name
        if (far <= enough && far < best_distance) best = *names, best_distance = far;
    }
    return best;
}

int fail_unknown(int code, const char *what, const char *word, const char *const names[], const char *hint)
{
    enum { FEW = 16 };
    const char *near = text_nearest(word, names);
    struct text said = {0};
    int count = 0;
    while (names[count] != NULL) count++;
    text_add(&said, "there is no %s \"%.80s\"", what, word);
    if (near != NULL) {
        text_add(&said, "; did you mean \"%s\"?", near);
    } else if (count > 0 && count <= FEW) {
        text_add(&said, count == 1 ? "; there is only " : "; there are ");
        text_list(&said, names, count, " and ");
    }
    if (hint != NULL) text_add(&said, " (%s)", hint);
    int rc = fail(code, "%s", said.at);
    text_free(&said);
    return rc;
}

// Three significant digits: 1.50, 15.0, 150.
static void three_figures(char into[TEXT_FIGURE], double value, const char *prefix, const char *unit)
{
    double size = fabs(value);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    snprintf(into, TEXT_FIGURE, "%.*f %s%s", decimals, value, prefix, unit);
}

static char *with_prefix(char into[TEXT_FIGURE], double value, const char *unit, bool whole)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t step = 0;
    while (fabs(value) >= 999.5 && step + 1 < sizeof prefix / sizeof *prefix && isfinite(value)) value /= 1000, step++;
    if (whole && step == 0) {
        snprintf(into, TEXT_FIGURE, "%.0f %s", value, unit);
    } else {
        three_figures(into, value, prefix[step], unit);
    }
    return into;
}

char *text_size(char into[TEXT_FIGURE], double bytes)
{
    return with_prefix(into, bytes, "B", true);
}

char *text_si(char into[TEXT_FIGURE], double value, const char *unit)
{
    return with_prefix(into, value, unit, false);
}

double text_up(double value)
{
    return fmax(0, ceil(value - 1e-9 * fmax(1, value)));
}

char *text_span(char into[TEXT_FIGURE], double seconds)
{
    if (seconds < 0) {
        char positive[TEXT_FIGURE];
        snprintf(into, TEXT_FIGURE, "-%.*s", TEXT_FIGURE - 2, text_span(positive, -seconds));
    } else if (!(seconds < 1e12)) {
        snprintf(into, TEXT_FIGURE, "%g s", seconds);
    } else if (text_up(seconds * 1e6) < 1000) {
        snprintf(into, TEXT_FIGURE, "%.0f us", text_up(seconds * 1e6));
    } else if (text_up(seconds * 1e5) < 1000) {
        snprintf(into, TEXT_FIGURE, "%.2f ms", text_up(seconds * 1e5) / 100);
    } else if (text_up(seconds * 1e3) < 1000) {
        snprintf(into, TEXT_FIGURE, "%.0f ms", text_up(seconds * 1e3));
    } else if (text_up(seconds * 10) < 600) {
        snprintf(into, TEXT_FIGURE, "%.1f s", text_up(seconds * 10) / 10);
    } else if (text_up(seconds) < 3600) {
        int64_t whole = (int64_t)text_up(seconds);
        snprintf(into, TEXT_FIGURE, "%d min %02d s", (int)(whole / 60), (int)(whole % 60));
    } else {
        int64_t minutes = (int64_t)text_up(seconds / 60);
        snprintf(into, TEXT_FIGURE, "%lld h %02d min", (long long)(minutes / 60), (int)(minutes % 60));
    }
    return into;
}

char *text_moment(char into[TEXT_FIGURE], int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    if (gmtime_r(&seconds, &day) == NULL || strftime(into, TEXT_FIGURE, "%Y-%m-%d %H:%M:%S UTC", &day) == 0)
        snprintf(into, TEXT_FIGURE, "(no date)");
    return into;
}

char *text_count(char into[TEXT_FIGURE], int64_t n)
{
    char digits[TEXT_FIGURE];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        into[at++] = digits[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') into[at++] = ',';
    }
    into[at] = 0;
    return into;
}

// strtoll and strtod skip leading blanks; a strict reader must not.
static bool starts_number(const char *word)
{
    if (*word == '-' || *word == '+') word++;
    return isdigit((unsigned char)*word) || (*word == '.' && isdigit((unsigned char)word[1]));
}

int text_to_int(const char *word, int64_t low, int64_t high, int64_t *into)
{
    char *end = NULL;
    errno = 0;
    long long value = starts_number(word) ? strtoll(word, &end, 10) : 0;
    if (!end || end == word || *end) return fail(ERR_INPUT, "must be a whole number; got \"%.60s\"", word);
    if (errno == ERANGE) return fail(ERR_INPUT, "%.60s is too large", word);
    if (value < low || value > high) {
        if (high == INT64_MAX) return fail(ERR_INPUT, "must be at least %lld; got %lld", (long long)low, value);
        if (low == INT64_MIN) return fail(ERR_INPUT, "must be at most %lld; got %lld", (long long)high, value);
        return fail(ERR_INPUT, "must be between %lld and %lld; got %lld", (long long)low, (long long)high, value);
    }
    *into = value;
    return 0;
}

int text_to_double(const char *word, double low, double high, double *into)
{
    char *end = NULL;
    bool hexadecimal = strpbrk(word, "xX") != NULL;
    double value = starts_number(word) && !hexadecimal ? strtod(word, &end) : 0;
    if (!end || end == word || *end) return fail(ERR_INPUT, "must be a number; got \"%.60s\"", word);
    if (!isfinite(value)) return fail(ERR_INPUT, "%.60s is too large", word);
    if (value < low || value > high) {
        if (isinf(high)) return fail(ERR_INPUT, "must be at least %g; got %g", low, value);
        if (isinf(low)) return fail(ERR_INPUT, "must be at most %g; got %g", high, value);
        return fail(ERR_INPUT, "must be between %g and %g; got %g", low, high, value);
    }
    *into = value;
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Compares a JSON value with the table of its members. Invariant: after 0, every member has the kind and the bounds of the table,
// and there is no other member. Workload: payloads of up to 1 MiB from anybody. Cost: one walk. Paths are built in a buffer of
// fixed size, so nothing is allocated.
#include "submit/format/fields.h"

#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 160 };

// The position of the walk: ": points[3].k", or "" for a value without a name.
struct walk {
    const char *what;
    char path[PATH_MAX_BYTES];
};

static size_t enter(struct walk *w, const char *name)
{
    size_t before = strlen(w->path);
    snprintf(w->path + before, sizeof w->path - before, "%s%s", before > 0 ? "." : ": ", name);
    return before;
}

static size_t enter_item(struct walk *w, size_t i)
{
    size_t before = strlen(w->path);
    snprintf(w->path + before, sizeof w->path - before, "[%zu]", i);
    return before;
}

static int wrong(const struct walk *w, const char *what)
{
    return fail(ERR_INPUT, "%s%s %s", w->what, w->path, what);
}

static int check_int(const struct walk *w, const json_t *value, int64_t low, int64_t high)
{
    if (!json_is_integer(value)) return wrong(w, "must be a whole number");
    int64_t n = json_integer_value(value);
    if (n >= low && n <= high) return 0;
    if (low == high) return fail(ERR_INPUT, "%s%s must be %lld; got %lld", w->what, w->path, (long long)low, (long long)n);
    return fail(ERR_INPUT, "%s%s must be between %lld and %lld; got %lld", w->what, w->path, (long long)low,
                (long long)high, (long long)n);
}

static int check_length(const struct walk *w, size_t length, int64_t low, int64_t high, const char *unit)
{
    if (length >= (size_t)low && length <= (size_t)high) return 0;
    if (length == 0 && low != high) return wrong(w, "must not be empty");
    if (low == high)
        return fail(ERR_INPUT, "%s%s must have %lld %s; got %zu", w->what, w->path, (long long)low, unit, length);
    return fail(ERR_INPUT, "%s%s must have %lld to %lld %s; got %zu", w->what, w->path, (long long)low, (long long)high,
                unit, length);
}

static int check_letters(const struct walk *w, const char *text, const char *allowed, const char *said)
{
    size_t good = strspn(text, allowed);
    if (text[good] == 0) return 0;
    return fail(ERR_INPUT, "%s%s may hold %s only, but its character %zu is another one", w->what, w->path, said, good + 1);
}

static int check_word(const struct walk *w, const char *text, size_t length, int64_t low, int64_t high)
{
    TRY(check_length(w, length, low, high, "characters"));
    return check_letters(w, text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", "a-z A-Z 0-9 . _ + -");
}

static int check_handle(const struct walk *w, const char *text, size_t length, int64_t low, int64_t high)
{
    TRY(check_word(w, text, length, low, high));
    return strchr("._+-", *text) == NULL ? 0 : wrong(w, "must begin with a letter or digit");
}

static int check_words(const struct walk *w, const char *text, size_t length, const struct field *f)
{
    TRY(check_length(w, length, f->low, f->high, "bytes"));
    if ((f->kind == FIELD_TEXT ? canonical_check_text : canonical_check_words)(text, length) == 0) return 0;
    return fail_prefix(ERR_INPUT, "%s%s cannot be shown: ", w->what, w->path);
}

static int check_url(const struct walk *w, const char *text, size_t length, int64_t high)
{
    TRY(check_length(w, length, 0, high, "bytes"));
    if (length == 0 || canonical_check_url(text, length) == 0) return 0;
    return fail_prefix(ERR_INPUT, "%s%s cannot be published: ", w->what, w->path);
}

static int digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = 10 * value + text[i] - '0';
    }
    return value;
}

static int check_date(const struct walk *w, const char *text, size_t length)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (length != 10 || text[4] != '-' || text[7] != '-') return wrong(w, "must be a date as YYYY-MM-DD");
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year < 0 || month < 0 || day < 0) return wrong(w, "must be a date as YYYY-MM-DD");
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1] + (month == 2 && leap))
        return wrong(w, "is a day that does not exist");
    return 0;
}

static int check_one_of(const struct walk *w, const char *text, size_t length, const char *words)
{
    for (const char *at = words; *at != 0; at += *at == '|') {
        size_t here = strcspn(at, "|");
        if (here == length && memcmp(at, text, length) == 0) return 0;
        at += here;
    }
    return fail(ERR_INPUT, "%s%s must be one of %s", w->what, w->path, words);
}

static const struct field tag = {NULL, FIELD_WORD, 1, 32, 0, NULL, NULL, NULL};

static int check_tags(struct walk *w, const json_t *value, const struct field *f)
{
    if (!json_is_array(value)) return wrong(w, "must be a list");
    TRY(check_length(w, json_array_size(value), f->low, f->high, "entries"));
    const char *before = NULL;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        size_t back = enter_item(w, i);
        if (!json_is_string(item)) return wrong(w, "must be text");
        const char *text = json_string_value(item);
        TRY(check_word(w, text, json_string_length(item), tag.low, tag.high));
        if (before != NULL && strcmp(before, text) >= 0)
            return wrong(w, "must come after the entry before it: sorted, each once");
        before = text;
        w->path[back] = 0;
    }
    return 0;
}

static int check_members(struct walk *w, const struct field *fields, const json_t *value);

static int check_list(struct walk *w, const json_t *value, const struct field *f)
{
    if (!json_is_array(value)) return wrong(w, "must be a list");
    TRY(check_length(w, json_array_size(value), f->low, f->high, "entries"));
    for (size_t i = 0; i < json_array_size(value); i++) {
        size_t back = enter_item(w, i);
        TRY(check_members(w, f->members, json_array_get(value, i)));
        w->path[back] = 0;
    }
    return 0;
}

static int check_value(struct walk *w, const struct field *f, const json_t *value)
{
    switch (f->kind) {
    case FIELD_INT: return check_int(w, value, f->low, f->high);
    case FIELD_YES: return check_int(w, value, 0, 1);
    case FIELD_OBJECT: return check_members(w, f->members, value);
    case FIELD_LIST: return check_list(w, value, f);
    case FIELD_TAGS: return check_tags(w, value, f);
    default: break;
    }
    if (!json_is_string(value)) return wrong(w, "must be text");
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (strlen(text) != length) return wrong(w, "holds a NUL");
    switch (f->kind) {
    case FIELD_WORD: return check_word(w, text, length, f->low, f->high);
    case FIELD_HANDLE: return check_handle(w, text, length, f->low, f->high);
    case FIELD_WORDS:
    case FIELD_TEXT: return check_words(w, text, length, f);
    case FIELD_URL: return check_url(w, text, length, f->high);
    case FIELD_HEX:
        TRY(check_length(w, length, f->low, f->low, "digits"));
        return check_letters(w, text, "0123456789abcdef", "digits and a to f");
    case FIELD_DATE: return check_date(w, text, length);
    case FIELD_ONE_OF: return check_one_of(w, text, length, f->words);
    default: BUG("a field of no kind");
    }
}

static const struct field *find(const struct field *fields, const char *name)
{
    for (; fields->name != NULL; fields++)
        if (strcmp(fields->name, name) == 0) return fields;
    return NULL;
}

static int check_members(struct walk *w, const struct field *fields, const json_t *value)
{
    if (!json_is_object(value)) {
        if (w->path[0] == 0) return fail(ERR_INPUT, "%s must be an object", w->what);
        return wrong(w, "must be an object");
    }
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)value, key, item)
    {
        if (find(fields, key) != NULL) continue;
        bool plain = strlen(key) <= 64 && canonical_check_words(key, strlen(key)) == 0;  // bytes of a stranger
        enter(w, plain ? key : "(a name that cannot be shown)");
        return wrong(w, "is a member nobody knows");
    }
    for (const struct field *f = fields; f->name != NULL; f++) {
        const json_t *member = json_object_get(value, f->name);
        if (member == NULL && f->presence == FIELD_OPTIONAL) continue;
        size_t back = enter(w, f->name);
        if (member == NULL) return wrong(w, "is missing");
        TRY(check_value(w, f, member));
        w->path[back] = 0;
    }
    return 0;
}

int fields_check(const char *what, const struct field *fields, const json_t *value)
{
    struct walk w = {.what = what};
    return check_members(&w, fields, value);
}

int fields_check_typed(const char *what, const struct field *fields, const char *name, const char *text)
{
    struct walk w = {.what = what};
    const struct field *f = find(fields, name);
    BUG_IF(f == NULL);
    if (f->kind == FIELD_TAGS) f = &tag;
    json_t *value = json_string_nocheck(text);  // bytes that are no UTF-8 have a sentence of their own
    int rc = check_value(&w, f, value);
    json_decref(value);
    if (rc == 0 && canonical_check_marks(text, strlen(text)) < 0)
        rc = fail_prefix(ERR_INPUT, "%s cannot be shown: ", what);
    return rc < 0 ? fail(ERR_USAGE, "%s", error_text()) : 0;
}

// SPDX-License-Identifier: Apache-2.0
// Values of recipe keys: parsed from JSON or from the command line, checked against their bounds, printed in one form.
#include "tasks/common/recipe/recipe_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- reading

static int set_number(const char *where, const char *name, const struct recipe_key *k, const json_t *v, double *into)
{
    if (!json_is_number(v)) return fail(ERR_USAGE, "%s: \"%s\" must be a number", where, name);
    double x = json_number_value(v);
    if (!(x >= k->low && x <= k->high))
        return fail(ERR_USAGE, "%s: \"%s\" must be between %.10g and %.10g; got %g", where, name, k->low, k->high, x);
    *into = x;
    return 0;
}

static int set_whole(const char *where, const char *name, const struct recipe_key *k, const json_t *v, int64_t *into)
{
    double x = 0;
    TRY(set_number(where, name, k, v, &x));
    if (x != floor(x)) return fail(ERR_USAGE, "%s: \"%s\" must be a whole number; got %g", where, name, x);
    *into = (int64_t)x;
    return 0;
}

static int set_choice(const char *where, const char *name, const struct recipe_key *k, const json_t *v, int *into)
{
    const char *word = json_string_value(v);
    if (!word) return fail(ERR_USAGE, "%s: \"%s\" must be a word", where, name);
    for (int i = 0; k->choices[i]; i++)
        if (!strcmp(k->choices[i], word)) {
            *into = i;
            return 0;
        }
    if (text_nearest(word, k->choices)) {
        fail_unknown(ERR_USAGE, name, word, k->choices, NULL);
        return fail_prefix(ERR_USAGE, "%s: ", where);
    }
    struct text range = {0};
    recipe_add_range(&range, k);
    int rc = fail(ERR_USAGE, "%s: \"%s\" must be %s; got \"%.60s\"", where, name, range.at, word);
    text_free(&range);
    return rc;
}

static int set_list(const char *where, const char *name, const struct recipe_key *k, const json_t *v, struct recipe_list *into)
{
    if (!json_is_array(v) || json_array_size(v) > RECIPE_LIST_MAX)
        return fail(ERR_USAGE, "%s: \"%s\" must be a list of at most %d numbers", where, name, RECIPE_LIST_MAX);
    struct recipe_list list = {.count = (int)json_array_size(v)};
    for (int i = 0; i < list.count; i++) TRY(set_number(where, name, k, json_array_get(v, (size_t)i), &list.at[i]));
    *into = list;
    return 0;
}

static int set_text(const char *where, const char *name, const json_t *v, char into[RECIPE_TEXT_MAX])
{
    if (!json_is_string(v) || json_string_length(v) >= RECIPE_TEXT_MAX)
        return fail(ERR_USAGE, "%s: \"%s\" must be text of fewer than %d bytes", where, name, RECIPE_TEXT_MAX);
    memset(into, 0, RECIPE_TEXT_MAX);
    memcpy(into, json_string_value(v), json_string_length(v));
    return 0;
}

int recipe_set_value(const char *where, const char *name, struct recipe *r, const struct recipe_key *k, const json_t *v)
{
    void *at = (char *)r + k->offset;
    switch (k->kind) {
    case KEY_TEXT: return set_text(where, name, v, at);
    case KEY_NUMBER: return set_number(where, name, k, v, at);
    case KEY_WHOLE: return set_whole(where, name, k, v, at);
    case KEY_CHOICE: return set_choice(where, name, k, v, at);
    case KEY_LIST: return set_list(where, name, k, v, at);
    }
    BUG("no such kind of key");
}

// A text that is not a number stays a text, so that the setter's error names the key.
static json_t *number_from_text(const char *text)
{
    double x;
    return text_to_double(text, -INFINITY, INFINITY, &x) == 0 ? json_real(x) : json_string(text);
}

static json_t *list_from_text(const char *text)
{
    json_t *list = json_array();
    char *copy = copy_text(text), *rest = copy;
    for (char *item; *text && (item = strsep(&rest, ",")) != NULL;) {
        while (*item == ' ') item++;
        size_t length = strlen(item);
        while (length > 0 && item[length - 1] == ' ') item[--length] = 0;
        json_array_append_new(list, number_from_text(item));
    }
    free(copy);
    return list;
}

json_t *recipe_value_from_text(const struct recipe_key *k, const char *text)
{
    if (k->kind == KEY_LIST) return list_from_text(text);
    return k->kind == KEY_TEXT || k->kind == KEY_CHOICE ? json_string(text) : number_from_text(text);
}

void recipe_defaults(const struct recipe_table *t, struct recipe *r)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    memset(r, 0, sizeof *r);
    for (int i = recipe_keys(t, keys) - 1; i >= 0; i--) {
        json_t *v = recipe_value_from_text(keys[i], keys[i]->absent);
        if (recipe_set_value("a default", keys[i]->path, r, keys[i], v) < 0) BUG(error_text());
        json_decref(v);
    }
}

// ---- printing

// The shortest digits that parse to the same number.
static void add_number(struct text *t, double x)
{
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, x == 0 ? 0 : x);  // no -0
        if (strtod(digits, NULL) == x) break;
    }
    text_add(t, "%s", digits);
}

static void add_number_list(struct text *t, const struct recipe_list *list, bool json)
{
    text_add(t, json ? "[" : "");
    for (int i = 0; i < list->count; i++) {
        text_add(t, i == 0 ? "" : json ? ", " : ",");
        add_number(t, list->at[i]);
    }
    text_add(t, json ? "]" : "");
}

static void add_text(struct text *t, const char *words, bool json)
{
    json_t *s = json ? json_string(words) : NULL;
    char *quoted = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
    text_add(t, "%s", quoted ? quoted : json ? "\"\"" : words);
    free(quoted);
    json_decref(s);
}

void recipe_add_value(struct text *t, const struct recipe *r, const struct recipe_key *k, bool json)
{
    const void *at = (const char *)r + k->offset;
    switch (k->kind) {
    case KEY_TEXT: add_text(t, at, json); break;
    case KEY_NUMBER: add_number(t, *(const double *)at); break;
    case KEY_WHOLE: text_add(t, "%lld", (long long)*(const int64_t *)at); break;
    case KEY_CHOICE: add_text(t, k->choices[*(const int *)at], json); break;
    case KEY_LIST: add_number_list(t, at, json); break;
    }
}

bool recipe_is_default(const struct recipe *r, const struct recipe_key *k)
{
    struct text value = {0};
    recipe_add_value(&value, r, k, false);
    bool same = !strcmp(value.at ? value.at : "", k->absent);
    text_free(&value);
    return same;
}

void recipe_add_range(struct text *t, const struct recipe_key *k)
{
    int count = 0;
    switch (k->kind) {
    case KEY_TEXT: text_add(t, "text"); break;
    case KEY_NUMBER: text_add(t, "%.10g to %.10g", k->low, k->high); break;
    case KEY_WHOLE: text_add(t, "a whole number, %.10g to %.10g", k->low, k->high); break;
    case KEY_LIST: text_add(t, "a list of numbers, each %.10g to %.10g", k->low, k->high); break;
    case KEY_CHOICE:
        while (k->choices[count]) count++;
        text_list(t, k->choices, count, " or ");
        break;
    }
}

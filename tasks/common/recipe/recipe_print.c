// SPDX-License-Identifier: Apache-2.0
// Recipes as text: in sections for people and records, in canonical form for comparisons.
#include "tasks/common/recipe/recipe_keys.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 100 };

// The keys of a recipe that apply, each section together, and the number of printed ones.
struct printing {
    const struct recipe *recipe;
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    int count, at;
};

// True while the next key is in the section that the first `length` bytes of `path` name.
static bool in_section(const struct printing *p, const char *path, size_t length)
{
    return p->at < p->count && !strncmp(p->keys[p->at]->path, path, length);
}

// Adds {"lr": 0.1, "momentum": 0.6} if the section is flat and fits behind `column`. Otherwise adds nothing.
static bool add_on_one_line(struct printing *p, struct text *t, size_t section, int column)
{
    const char *path = p->keys[p->at]->path;
    struct text line = {0};
    int first = p->at;
    bool fits = true;
    for (; fits && in_section(p, path, section); p->at++) {
        const char *name = p->keys[p->at]->path + section;
        text_add(&line, "%s\"%s\": ", p->at == first ? "{" : ", ", name);
        recipe_add_value(&line, p->recipe, p->keys[p->at], true);
        fits = !strchr(name, '.') && column + (int)line.length + 2 <= LINE_WIDTH;
    }
    if (fits) text_add(t, "%s}", line.at);
    else p->at = first;
    text_free(&line);
    return fits;
}

static void add_members(struct printing *p, struct text *t, size_t section, int indent)
{
    const char *path = p->keys[p->at]->path;
    for (bool first = true; in_section(p, path, section); first = false) {
        const char *name = p->keys[p->at]->path + section, *dot = strchr(name, '.');
        int length = dot ? (int)(dot - name) : (int)strlen(name);
        text_add(t, "%s%*s\"%.*s\": ", first ? "\n" : ",\n", indent, "", length, name);
        if (!dot) {
            recipe_add_value(t, p->recipe, p->keys[p->at++], true);
        } else if (!section || !add_on_one_line(p, t, section + (size_t)length + 1, indent + length + 4)) {
            text_add(t, "{");
            add_members(p, t, section + (size_t)length + 1, indent + 4);
            text_add(t, "\n%*s}", indent, "");
        }
    }
}

char *recipe_json(const struct recipe *r)
{
    struct printing p = {.recipe = r};
    struct text t = {0};
    p.count = recipe_keys_applying(r, p.keys);
    text_add(&t, "{");
    add_members(&p, &t, 0, 4);
    text_add(&t, "\n}\n");
    return t.at;
}

// Removes the blanks between JSON tokens in place. Inside a string only quotes and backslashes matter.
static char *without_blanks(char *json)
{
    char *to = json;
    bool inside = false;
    for (const char *c = json; *c; c++) {
        if (!inside && strchr(" \n", *c)) continue;
        if (*c == '"') inside = !inside;
        *to++ = *c;
        if (inside && *c == '\\') *to++ = *++c;
    }
    *to = 0;
    return json;
}

char *recipe_line(const struct recipe *r)
{
    return without_blanks(recipe_json(r));
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(const struct recipe_key *const *)a)->path, (*(const struct recipe_key *const *)b)->path);
}

char *recipe_canonical(const struct recipe *r)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    int count = recipe_keys_applying(r, keys), printed = 0;
    struct text t = {0};
    qsort(keys, (size_t)count, sizeof *keys, by_path);
    text_add(&t, "{");
    for (int i = 0; i < count; i++) {
        bool label = keys[i]->offset == RECIPE_AT(name) || keys[i]->offset == RECIPE_AT(about);
        if (label || recipe_is_default(r, keys[i])) continue;
        text_add(&t, "%s\"%s\":", printed++ ? "," : "", keys[i]->path);
        recipe_add_value(&t, r, keys[i], true);
    }
    text_add(&t, "}");
    return without_blanks(t.at);
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/cli/json_text.h"

#include <stdio.h>
#include <stdlib.h>

// JSON may hold DEL and C1 as they are, and a terminal obeys them.
static void add_escaped(struct text *into, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        const bool c1 = *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        if (c1 || *c == 0x7f) text_add(into, "\\u%04x", c1 ? *++c : *c);
        else text_bytes(into, c, 1);
    }
    text_add(into, "\n");
}

static int add_value(json_t *value, size_t form, struct text *into)
{
    char *text = value ? json_dumps(value, form | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(value);
    if (!text) return fail(ERR_INPUT, "the answer cannot be written as JSON: a text in it is not UTF-8, or memory is short");
    add_escaped(into, text);
    free(text);
    return 0;
}

static int print_value(json_t *value, size_t form, FILE *to)
{
    struct text text = {0};
    TRY(add_value(value, form, &text));
    fputs(text.at, to);
    text_free(&text);
    return 0;
}

int json_text_add(struct text *into, json_t *value)
{
    return add_value(value, JSON_INDENT(2), into);
}

int json_text_print(json_t *value)
{
    return print_value(value, JSON_INDENT(2), stdout);
}

int json_text_line(json_t *value)
{
    return print_value(value, JSON_COMPACT, stdout);
}

void json_text_row(json_t **list, json_t *row)
{
    if (json_array_append_new(*list, row) == 0) return;
    json_decref(*list);
    *list = NULL;
}

void json_text_error(json_t *value)
{
    if (print_value(value, JSON_COMPACT, stderr) < 0) fprintf(stderr, "{}\n");
}

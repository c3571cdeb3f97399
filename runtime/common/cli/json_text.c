// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/cli/json_text.h"

#include <stdio.h>
#include <stdlib.h>

static int write_value(json_t *value, size_t form, struct text *into)
{
    char *text = value ? json_dumps(value, form | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(value);
    if (!text) return fail(ERR_INPUT, "the answer cannot be written as JSON: a text in it is not UTF-8, or memory is short");
    if (into) text_add(into, "%s\n", text);
    else puts(text);
    free(text);
    return 0;
}

int json_text_add(struct text *into, json_t *value)
{
    return write_value(value, JSON_INDENT(2), into);
}

int json_text_print(json_t *value)
{
    return write_value(value, JSON_INDENT(2), NULL);
}

int json_text_line(json_t *value)
{
    return write_value(value, JSON_COMPACT, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Problems in the form of RFC 9457. Pure: turns a problem and its findings into JSON.
#include "scoreboard/store/problem.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/text.h"

static const struct {
    int status;
    const char *code, *title;
} problems[PROBLEMS] = {
#define PROBLEM(name, status, code, title) {status, code, title},
    PROBLEM_LIST
#undef PROBLEM
};

int problem_status(enum problem problem)
{
    BUG_IF((unsigned)problem >= PROBLEMS);
    return problems[problem].status;
}

const char *problem_code(enum problem problem)
{
    BUG_IF((unsigned)problem >= PROBLEMS);
    return problems[problem].code;
}

const char *problem_title(enum problem problem)
{
    BUG_IF((unsigned)problem >= PROBLEMS);
    return problems[problem].title;
}

int problem_rule(struct ruling *out, enum problem problem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->detail, sizeof out->detail, format, args);
    va_end(args);
    out->problem = problem;
    return RULED;
}

// A detail may quote outside bytes; text that is not UTF-8 is left out.
static json_t *text_of(const char *text)
{
    json_t *value = json_string(text != NULL ? text : "");
    return value != NULL ? value : json_string("");
}

static json_t *checks_of(const struct findings *findings)
{
    json_t *list = json_array();
    int count = findings != NULL ? findings->count : 0;
    for (int i = 0; i < count && i < FINDINGS_MAX; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "code", json_string(check_code(findings->at[i].check)));
        json_object_set_new(row, "level", json_string(check_level(findings->at[i].check) == CHECK_REJECT ? "reject" : "flag"));
        json_object_set_new(row, "text", text_of(findings->at[i].text));
        json_array_append_new(list, row);
    }
    return list;
}

void problem_write(enum problem problem, const char *detail, const struct findings *findings, struct text *into)
{
    json_t *value = json_object();
    json_object_set_new(value, "type", json_string("about:blank"));
    json_object_set_new(value, "title", json_string(problem_title(problem)));
    json_object_set_new(value, "status", json_integer(problem_status(problem)));
    json_object_set_new(value, "code", json_string(problem_code(problem)));
    json_object_set_new(value, "detail", text_of(detail));
    json_object_set_new(value, "checks", checks_of(findings));
    char *bytes = json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER);
    if (bytes == NULL) BUG("a problem that is no JSON");
    text_add(into, "%s\n", bytes);
    free(bytes);
    json_decref(value);
}

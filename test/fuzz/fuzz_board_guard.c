// SPDX-License-Identifier: Apache-2.0
// Any bytes as the head of a request: a first line "METHOD TARGET", then lines "Name: value" and an empty one, then a value
// of If-None-Match. An accepted head has a path without control characters, dot segments or NUL, which finds a route or none. Its
// body is announced within the limit.
#include "scoreboard/http/http_guard.h"
#include "scoreboard/routes.h"

#include <stdlib.h>
#include <string.h>

static void check_path(const char *path)
{
    char word[REQUEST_WORDS][256];
    bool others;
    BUG_IF(path[0] != '/' || strlen(path) > GUARD_PATH);
    BUG_IF(strstr(path, "/../") != NULL || strstr(path, "/./") != NULL);
    for (const unsigned char *at = (const unsigned char *)path; *at != 0; at++) BUG_IF(*at < ' ' || *at == 127 || *at == '\\');
    (void)route_find(route_table, "GET", path, word, &others);
    (void)route_find(route_table, "POST", path, word, &others);
}

static char *take(char **rest, const char *until)
{
    char *at = *rest;
    size_t count = strcspn(at, until);
    *rest = at[count] != 0 ? at + count + 1 : at + count;
    at[count] = 0;
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = malloc(count + 1), *rest = text, path[GUARD_PATH + 1];
    const char *query, *detail = NULL;
    struct guard guard = {0};
    size_t body, head = strlen("\r\n");
    if (text == NULL) return 0;
    memcpy(text, bytes, count);
    text[count] = 0;
    const char *method = take(&rest, " "), *target = take(&rest, "\n");
    head += strlen(method) + strlen(target) + strlen("  HTTP/1.1\r\n");
    while (*rest != 0 && *rest != '\n') {
        char *line = take(&rest, "\n"), *value = line;
        const size_t name = strcspn(line, ":");
        value += name + (line[name] != 0) + (line[name] != 0 && line[name + 1] == ' ');
        guard_line(&guard, line, name, value, strlen(value));
        head += strlen(line) + 2;
    }
    if (guard_head(&guard, method, target, head, &detail) == PROBLEM_NONE) {
        BUG_IF(guard.hosts != 1 || guard.lengths > 1 || guard.codings != 0 || head > GUARD_HEAD);
        BUG_IF(guard_bodiless(method) && guard.lengths != 0);
    } else {
        BUG_IF(detail == NULL);
    }
    if (guard_target(target, path, &query, &detail) == PROBLEM_NONE) check_path(path);
    else BUG_IF(detail == NULL);
    BUG_IF(guard_body(&guard, &body, &detail) == PROBLEM_NONE ? body > GUARD_BODY : body != 0);
    (void)guard_matches(rest, "\"0123456789abcdef0123456789abcdef\"");
    free(text);
    return 0;
}

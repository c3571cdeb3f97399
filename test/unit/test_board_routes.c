// SPDX-License-Identifier: Apache-2.0
// The table of addresses: what matches, which pattern wins, and that the part below /api/v1 and docs/api/openapi.json
// say the same, both ways.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail

#include <jansson.h>

#include "runtime/base/embed.h"
#include "scoreboard/routes.h"

static char word[REQUEST_WORDS][256];
static bool others;

static const char *found(const char *method, const char *path)
{
    const struct route *route = route_find(route_table, method, path, word, &others);
    return route != NULL ? route->pattern : "";
}

static void finds_plain_addresses(void **state)
{
    (void)state;
    assert_string_equal(found("GET", "/"), "/");
    assert_string_equal(found("GET", "/api/v1"), "/api/v1");
    assert_string_equal(found("GET", "/feed.atom"), "/feed.atom");
    assert_string_equal(found("GET", "/api/v1/"), "");
    assert_string_equal(found("GET", ""), "");
    assert_string_equal(found("GET", "/style.cs"), "");
    assert_string_equal(found("GET", "/style.csss"), "");
    assert_string_equal(found("GET", "//"), "");
    assert_false(others);
}

static void takes_words(void **state)
{
    (void)state;
    assert_string_equal(found("GET", "/boards/cifar10/training-time"), "/boards/{task}/{board}");
    assert_string_equal(word[0], "cifar10");
    assert_string_equal(word[1], "training-time");
    assert_string_equal(word[2], "");
    assert_string_equal(found("GET", "/archive/cifar10/train/a.b c"), "/archive/{task}/{kind}/{stem}");
    assert_string_equal(word[2], "a.b c");
    assert_string_equal(found("GET", "/boards//training-time"), "");
    assert_string_equal(found("GET", "/boards/cifar10/"), "");
    assert_string_equal(found("GET", "/runs/1/2"), "");
}

static void most_literal_wins(void **state)
{
    (void)state;
    assert_string_equal(found("GET", "/boards/cifar10/feed.atom"), "/boards/{task}/feed.atom");
    assert_string_equal(found("GET", "/boards/cifar10/pareto"), "/boards/{task}/pareto");
    assert_string_equal(found("GET", "/boards/cifar10/training-time.csv"), "/boards/{task}/{board}.csv");
    assert_string_equal(word[1], "training-time");
    assert_string_equal(found("GET", "/boards/cifar10/.csv"), "/boards/{task}/{board}");
    assert_string_equal(word[1], ".csv");
    assert_string_equal(found("GET", "/boards/cifar10/x.csv.csv"), "/boards/{task}/{board}.csv");
    assert_string_equal(word[1], "x.csv");
    assert_string_equal(found("GET", "/api/v1/openapi.json"), "/api/v1/openapi.json");
}

static void tells_other_methods(void **state)
{
    (void)state;
    assert_string_equal(found("POST", "/api/v1/statements"), "/api/v1/statements");
    assert_true(others);
    assert_string_equal(found("POST", "/"), "");
    assert_true(others);
    assert_string_equal(found("POST", "/nowhere"), "");
    assert_false(others);
}

static void words_have_limits(void **state)
{
    char path[400] = "/runs/";
    (void)state;
    memset(path + 6, 'a', 255);
    path[261] = 0;
    assert_string_equal(found("GET", path), "/runs/{id}");
    assert_int_equal(strlen(word[0]), 255);
    path[261] = 'a', path[262] = 0;
    assert_string_equal(found("GET", path), "");
}

// Every address of the API finds itself, so none is hidden behind another.
static void every_route_is_reached(void **state)
{
    (void)state;
    for (const struct route *route = route_table; route->method != NULL; route++) {
        char path[256] = "";
        size_t length = 0;
        for (const char *at = route->pattern; *at != 0; at++) {
            if (*at == '{') at = strchr(at, '}'), path[length++] = 'x';
            else path[length++] = *at;
        }
        path[length] = 0;
        const struct route *reached = route_find(route_table, route->method, path, word, &others);
        if (reached != route) printf("%s leads to %s\n", path, reached != NULL ? reached->pattern : "nothing");
        assert_ptr_equal(reached, route);
    }
}

// ---- the description of the API ----------------------------------------------------------------------------------
static json_t *openapi(void)
{
    const struct embedded *file = embedded_find("docs/api/openapi.json");
    json_error_t error;
    assert_non_null(file);
    json_t *json = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) printf("openapi.json:%d: %s\n", error.line, error.text);
    assert_non_null(json);
    return json;
}

static const char *lower(const char *method)
{
    return strcmp(method, "GET") == 0 ? "get" : strcmp(method, "POST") == 0 ? "post" : "other";
}

static void every_route_is_described(void **state)
{
    json_t *json = openapi();
    int count = 0;
    (void)state;
    for (const struct route *route = route_table; route->method != NULL; route++) {
        if (strncmp(route->pattern, "/api/v1", 7) != 0) continue;
        json_t *path = json_object_get(json_object_get(json, "paths"), route->pattern);
        json_t *operation = json_object_get(path, lower(route->method));
        if (operation == NULL) printf("%s %s is not in openapi.json\n", route->method, route->pattern);
        assert_non_null(operation);
        count++;
    }
    assert_true(count > 10);
    json_decref(json);
}

static bool is_route(const char *path, const char *method)
{
    for (const struct route *route = route_table; route->method != NULL; route++)
        if (strcmp(route->pattern, path) == 0 && strcmp(lower(route->method), method) == 0) return true;
    return false;
}

static void every_description_has_a_route(void **state)
{
    json_t *json = openapi(), *methods, *operation;
    const char *path, *method;
    (void)state;
    json_object_foreach(json_object_get(json, "paths"), path, methods)
    {
        json_object_foreach(methods, method, operation)
        {
            if (!is_route(path, method)) printf("%s %s is described, and there is no such route\n", method, path);
            assert_true(is_route(path, method));
            assert_true(json_object_size(json_object_get(operation, "responses")) > 3);
        }
    }
    json_decref(json);
}

// A path's {names} are parameters of the description, and every reference leads somewhere.
static void check_references(const json_t *root, const json_t *value)
{
    const char *key, *target = json_string_value(json_object_get(value, "$ref"));
    json_t *member;
    size_t i;
    if (target != NULL) {
        char room[256], *rest = room, *name;
        assert_memory_equal(target, "#/", 2);
        snprintf(room, sizeof room, "%s", target + 2);
        const json_t *at = root;
        while ((name = strsep(&rest, "/")) != NULL) at = json_object_get(at, name);
        if (at == NULL) printf("%s leads nowhere\n", target);
        assert_non_null(at);
    }
    json_object_foreach((json_t *)value, key, member) check_references(root, member);
    json_array_foreach(value, i, member) check_references(root, member);
}

static void every_reference_leads_somewhere(void **state)
{
    json_t *json = openapi();
    (void)state;
    check_references(json, json);
    json_decref(json);
}

static void every_problem_is_described(void **state)
{
    json_t *json = openapi(), *value, *codes = json_object_get(json, "components");
    size_t i;
    (void)state;
    static const char *const way[] = {"schemas", "Problem", "properties", "code", "enum"};
    for (size_t w = 0; w < sizeof way / sizeof way[0]; w++) codes = json_object_get(codes, way[w]);
    assert_int_equal(json_array_size(codes), PROBLEMS - 1);
    for (int problem = 1; problem < PROBLEMS; problem++) {
        bool there = false;
        json_array_foreach(codes, i, value) there = there || strcmp(json_string_value(value), problem_code(problem)) == 0;
        if (!there) printf("%s is not in openapi.json\n", problem_code(problem));
        assert_true(there);
    }
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_plain_addresses),
        cmocka_unit_test(takes_words),
        cmocka_unit_test(most_literal_wins),
        cmocka_unit_test(tells_other_methods),
        cmocka_unit_test(words_have_limits),
        cmocka_unit_test(every_route_is_reached),
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_description_has_a_route),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(every_problem_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// The table of addresses: what matches, which pattern wins; and the document made of its part below /api/v1. (That answers
// have the document's shapes is tested in test_board_api.c.)

#include <jansson.h>

#include "scoreboard/api/api.h"
#include "scoreboard/routes.h"
#include "test/unit/test.h"

static char word[REQUEST_WORDS][256];
static bool others;

static const char *found(const char *method, const char *path)
{
    const struct route *route = route_find(route_table, method, path, word, &others);
    return route != NULL ? route->pattern : "";
}

TEST(finds_plain_addresses)
{
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

TEST(takes_words)
{
    assert_string_equal(found("GET", "/boards/cifar10/training-time"), "/boards/{task}/{board}");
    assert_string_equal(word[0], "cifar10");
    assert_string_equal(word[1], "training-time");
    assert_string_equal(word[2], "");
    assert_string_equal(found("GET", "/archive/cifar10/train/a.b c"), "/archive/{task}/{kind}/{stem}");
    assert_string_equal(word[2], "a.b c");
    assert_string_equal(found("GET", "/boards//training-time"), "");
    assert_string_equal(found("GET", "/boards/cifar10/"), "");
    assert_string_equal(found("GET", "/runs/1/2"), "");
    assert_string_equal(found("GET", "/log/tile/0/x001/234.p/5"), "/log/tile/{tile*}");
    assert_string_equal(word[0], "0/x001/234.p/5");
    assert_string_equal(found("GET", "/log/tile/"), "");
}

TEST(most_literal_wins)
{
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

TEST(tells_other_methods)
{
    assert_string_equal(found("POST", "/api/v1/statements"), "/api/v1/statements");
    assert_true(others);
    assert_string_equal(found("POST", "/"), "");
    assert_true(others);
    assert_string_equal(found("POST", "/nowhere"), "");
    assert_false(others);
}

TEST(words_have_limits)
{
    char path[400] = "/runs/";
    memset(path + 6, 'a', 255);
    path[261] = 0;
    assert_string_equal(found("GET", path), "/runs/{id}");
    assert_int_equal(strlen(word[0]), 255);
    path[261] = 'a', path[262] = 0;
    assert_string_equal(found("GET", path), "");
}

// Every address of the API finds itself, so none is hidden behind another.
TEST(every_route_is_reached)
{
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
    struct answer answer = {0};
    assert_int_equal(api_openapi(&(struct request){0}, &answer), 0);
    json_t *json = json_loadb(answer.body.at, answer.body.length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    text_free(&answer.body);
    return json;
}

// Two addresses never share a method and a pattern: the second would be lost in the document.
TEST(every_address_is_described)
{
    json_t *json = openapi(), *methods;
    const char *path;
    size_t described = 0, there = 0;
    for (const struct route *route = route_table; route->method != NULL; route++)
        there += strncmp(route->pattern, "/api/v1", 7) == 0 || strncmp(route->pattern, "/log/", 5) == 0;
    json_object_foreach(json_object_get(json, "paths"), path, methods) described += json_object_size(methods);
    assert_true(there > 10);
    assert_int_equal(described, there);
    json_decref(json);
}

// Every reference leads somewhere.
static void check_references(const json_t *root, const json_t *value)
{
    const char *key, *target = json_string_value(json_object_get(value, "$ref"));
    json_t *member;
    size_t i;
    if (target != NULL) {
        char buffer[256], *rest = buffer, *name;
        assert_memory_equal(target, "#/", 2);
        snprintf(buffer, sizeof buffer, "%s", target + 2);
        const json_t *at = root;
        while ((name = strsep(&rest, "/")) != NULL) at = json_object_get(at, name);
        if (at == NULL) printf("%s leads nowhere\n", target);
        assert_non_null(at);
    }
    json_object_foreach((json_t *)value, key, member) check_references(root, member);
    json_array_foreach(value, i, member) check_references(root, member);
}

TEST(every_reference_leads_somewhere)
{
    json_t *json = openapi();
    check_references(json, json);
    json_decref(json);
}

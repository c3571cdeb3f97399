// SPDX-License-Identifier: Apache-2.0
// The pure rules of a request's head: targets, header lines, announced bodies, If-None-Match.

#include "scoreboard/http/http_guard.h"
#include "test/unit/test.h"

static char path[GUARD_PATH + 1];
static const char *query, *detail;

static const char *decoded(const char *target)
{
    return guard_target(target, path, &query, &detail) == PROBLEM_NONE ? path : NULL;
}

TEST(targets_are_decoded)
{
    assert_string_equal(decoded("/"), "/");
    assert_null(query);
    assert_string_equal(decoded("/a%20b/%e2%82%AC?x=%zz&y"), "/a b/\xe2\x82\xac");
    assert_string_equal(query, "x=%zz&y");  // the query is its reader's business
    assert_string_equal(decoded("/a?"), "/a");
    assert_string_equal(query, "");
    assert_string_equal(decoded("/SHA256:a%2Fb+c%2fd"), "/SHA256:a%2Fb+c%2Fd");
    assert_string_equal(decoded("/...//.a/a."), "/...//.a/a.");
    assert_string_equal(decoded("/%F0%9F%98%80"), "/\xf0\x9f\x98\x80");
}

TEST(bad_targets_are_refused)
{
    static const char *const bad[] = {
        "", "a", "*", "http://test/", "?", "/%", "/%a", "/%zz", "/%4", "/a%00b", "/a%0Ab", "/a%7f", "/%c2%85", "/a\\b", "/%5C",
        "/.", "/..", "/a/../b", "/a/%2e%2E/b", "/a/.", "/%ff", "/%c3", "/%c0%af", "/%ed%a0%80", "/%f5%80%80%80", "/%f4%90%80%80",
        "/%e0%80%80", "/%f0%80%80%80", "/\xc3\xa4", "/a b", "/?a b", "/?\x01", "/?\xff", "/?a#b", "/\x7f",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (decoded(bad[i]) != NULL) printf("\"%s\" was taken\n", bad[i]);
        assert_null(decoded(bad[i]));
        assert_non_null(detail);
    }
}

TEST(targets_have_limits)
{
    char long_one[GUARD_PATH + GUARD_QUERY + 8];
    memset(long_one, 'a', sizeof long_one);
    long_one[0] = '/', long_one[GUARD_PATH] = 0;
    assert_non_null(decoded(long_one));
    long_one[GUARD_PATH] = 'a', long_one[GUARD_PATH + 1] = 0;
    assert_null(decoded(long_one));
    long_one[1] = '?', long_one[GUARD_PATH + 1] = 'a', long_one[2 + GUARD_QUERY] = 0;
    assert_non_null(decoded(long_one));
    long_one[2 + GUARD_QUERY] = 'a', long_one[3 + GUARD_QUERY] = 0;
    assert_null(decoded(long_one));
}

// ---- heads -------------------------------------------------------------------------------------------------------
// Reads "Name: value\n" lines as a server without faults would, and asks.
static enum problem head(const char *method, const char *lines, int hidden, struct guard *guard)
{
    size_t bytes = strlen(method) + strlen("/  HTTP/1.1\r\n\r\n");
    *guard = (struct guard){0};
    for (const char *line = lines; *line != 0;) {
        const size_t count = strcspn(line, "\n"), name = strcspn(line, ":");
        const size_t skip = name + (line[name + 1] == ' ' ? 2 : 1);
        guard_line(guard, line, name, line + skip, count - skip);
        bytes += count + 2;
        line += count + 1;
    }
    return guard_head(guard, method, "/", (size_t)((long)bytes + hidden), &detail);
}

TEST(heads_are_judged)
{
    static const struct {
        const char *method, *lines;
        enum problem problem;
    } cases[] = {
        {"GET", "Host: test\n", PROBLEM_NONE},
        {"GET", "host: [::1]:80\nAccept: */*\nX-Empty: \nX-Bare:\n", PROBLEM_NONE},
        {"POST", "Host: test\nContent-Length: 5\n", PROBLEM_NONE},
        {"POST", "Host: test\n", PROBLEM_NONE},
        {"GET", "", PROBLEM_MALFORMED},
        {"GET", "Host: a\nHost: a\n", PROBLEM_MALFORMED},
        {"GET", "Host: a\nhOsT: b\n", PROBLEM_MALFORMED},
        {"GET", "Host:\n", PROBLEM_MALFORMED},
        {"GET", "Host: a b\n", PROBLEM_MALFORMED},
        {"GET", "Host: a/b\n", PROBLEM_MALFORMED},
        {"GET", "Host: a@b\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nContent-Length: 0\n", PROBLEM_MALFORMED},
        {"HEAD", "Host: test\nContent-Length: 3\n", PROBLEM_MALFORMED},
        {"POST", "Host: test\nContent-Length: 5\nContent-Length: 5\n", PROBLEM_MALFORMED},
        {"POST", "Host: test\nContent-Length: 5\ncontent-length: 6\n", PROBLEM_MALFORMED},
        {"POST", "Host: test\nTransfer-Encoding: chunked\n", PROBLEM_MALFORMED},
        {"POST", "Host: test\nContent-Length: 5\nTransfer-Encoding: chunked\n", PROBLEM_MALFORMED},
        {"POST", "Host: test\ntransfer-encoding: identity\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\n X: folded\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nX Y: a\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nX\x01: a\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nX: a\x02\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nX: a\rY: b\n", PROBLEM_MALFORMED},
        {"GET", "Host: test\nX:tight\n", PROBLEM_MALFORMED},
    };
    struct guard guard;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum problem problem = head(cases[i].method, cases[i].lines, 0, &guard);
        if (problem != cases[i].problem) printf("%s %s: %s\n", cases[i].method, cases[i].lines, problem_code(problem));
        assert_int_equal(problem, cases[i].problem);
    }
}

// Bytes that the server's parser swallowed belong to no line; a missing CR shows as missing bytes.
TEST(hidden_bytes_are_noticed)
{
    struct guard guard;
    assert_int_equal(head("GET", "Host: test\nX: a\n", 1, &guard), PROBLEM_MALFORMED);
    assert_int_equal(head("GET", "Host: test\nX: a\n", 4, &guard), PROBLEM_MALFORMED);
    assert_int_equal(head("GET", "Host: test\nX: a\n", -1, &guard), PROBLEM_MALFORMED);
    assert_int_equal(head("GET", "Host: test\n", GUARD_HEAD, &guard), PROBLEM_HEADERS);
}

static enum problem body(const char *length, const char *type, size_t *count)
{
    struct guard guard = {0};
    if (length != NULL) guard_line(&guard, "Content-Length", 14, length, strlen(length));
    if (type != NULL) guard_line(&guard, "Content-Type", 12, type, strlen(type));
    return guard_body(&guard, count, &detail);
}

TEST(bodies_are_judged)
{
    static const char json[] = "application/json";
    size_t count;
    assert_int_equal(body("5", json, &count), PROBLEM_NONE);
    assert_int_equal(count, 5);
    assert_int_equal(body("1048576", "Application/JSON; charset=utf-8", &count), PROBLEM_NONE);
    assert_int_equal(count, 1048576);
    assert_int_equal(body(NULL, json, &count), PROBLEM_LENGTH);
    static const char *const odd[] = {"", "-1", "+5", "5 ", " 5", "0x5", "5,5", "5.0", "five"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) assert_int_equal(body(odd[i], json, &count), PROBLEM_MALFORMED);
    static const char *const large[] = {"1048577", "5000000000", "18446744073709551616", "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        assert_int_equal(body(large[i], json, &count), PROBLEM_TOO_LARGE);
        assert_int_equal(count, 0);
    }
    static const char *const types[] = {"text/plain", "application/jsonp", "application/json5", "multipart/form-data", ""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) assert_int_equal(body("5", types[i], &count), PROBLEM_MEDIA);
    assert_int_equal(body("5", NULL, &count), PROBLEM_MEDIA);
}

TEST(tags_are_compared)
{
    assert_true(guard_matches("\"abc\"", "\"abc\""));
    assert_true(guard_matches("W/\"abc\"", "\"abc\""));
    assert_true(guard_matches("\"x\", \"y,z\" ,W/\"abc\"", "\"abc\""));
    assert_true(guard_matches("*", "\"abc\""));
    assert_false(guard_matches("", "\"abc\""));
    assert_false(guard_matches("abc", "\"abc\""));
    assert_false(guard_matches("\"ab\"", "\"abc\""));
    assert_false(guard_matches("\"abcd\"", "\"abc\""));
    assert_false(guard_matches("\"xabc\"", "\"abc\""));
    assert_false(guard_matches("\"x", "\"abc\""));
    assert_false(guard_matches("\"\"\"\",,,\"", "\"abc\""));
}

// SPDX-License-Identifier: Apache-2.0
// Reading canonical JSON: only the one byte string of a value is accepted, and it is written back unchanged.

#include "runtime/common/base/arena.h"
#include "submit/format/canonical.h"
#include "test/unit/test.h"

static const char *const taken[] = {
    "{}", "[]", "1", "\"\"", "-7", "{\"a\":1,\"b\":[1,\"\xc3\xa9\"]}", "{\"B\":1,\"a\":2}",
    "[9223372036854775807,-9223372036854775808]",
    "\"quote \\\" and \\\\ and /\"", "[[[[[[[1]]]]]]]",
};
static const struct {
    const char *bytes, *why;
} refused[] = {
    {"", "nothing"},
    {"{", "half"},
    {"{} ", "a blank behind"},
    {" {}", "a blank before"},
    {"{}\n", "a line end"},
    {"{\"b\":1,\"a\":2}", "keys out of order"},
    {"{\"a\":1,\"a\":1}", "a key twice"},
    {"{\"a\": 1}", "a blank inside"},
    {"[1.0]", "a fraction"},
    {"[1e3]", "an exponent"},
    {"[-0]", "minus nothing"},
    {"[01]", "a zero before"},
    {"[9223372036854775808]", "too large"},
    {"[null]", "null"},
    {"[true]", "a boolean"},
    {"\"\\u0041\"", "an escape that is not needed"},
    {"\"\\/\"", "an escaped slash"},
    {"\"\\u00e9\"", "an escaped letter"},
    {"\"\\n\"", "a control character"},
    {"\"\x7f\"", "a delete"},
    {"\"\\u0000\"", "a NUL"},
    {"\"\xff\"", "a byte that is not UTF-8"},
    {"\"\xc0\xaf\"", "an overlong slash"},
    {"\"\xed\xa0\x80\"", "a surrogate"},
    {"\"\xf4\x90\x80\x80\"", "beyond Unicode"},
    {"{\"\xc3\xa9\":1}", "a key that is not ASCII"},
    {"{\"a b\":1}", "a key with a blank"},
    {"{\"\":1}{}", "two values"},
    {"[[[[[[[[1]]]]]]]]", "too deep"},
};

TEST(read_gives_back_what_was_written)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_t *value;
        char *bytes;
        size_t count;
        if (canonical_read(taken[i], strlen(taken[i]), &value) < 0) fail_msg("%s: %s", taken[i], error_text());
        assert_int_equal(canonical_write(value, &bytes, &count), 0);
        assert_string_equal(bytes, taken[i]);
        free(bytes);
        json_decref(value);
    }
}

TEST(anything_else_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        json_t *value;
        if (canonical_read(refused[i].bytes, strlen(refused[i].bytes), &value) != ERR_INPUT)
            fail_msg("taken: %s", refused[i].why);
        assert_null(value);
    }
    json_t *value;
    assert_int_equal(canonical_read("\"a\0b\"", 5, &value), ERR_INPUT);
    assert_int_equal(canonical_read("{}\0", 3, &value), ERR_INPUT);
}

TEST(depth_and_size_have_limits)
{
    enum { LEVELS = 100000 };
    json_t *value;
    char *deep = zalloc(2 * LEVELS), *large = zalloc(CANONICAL_MAX + 3);
    memset(deep, '[', LEVELS);
    memset(deep + LEVELS, ']', LEVELS);
    assert_int_equal(canonical_read(deep, 2 * LEVELS, &value), ERR_INPUT);
    memset(large, 'a', CANONICAL_MAX + 2);
    large[0] = '"', large[CANONICAL_MAX - 1] = '"';
    assert_int_equal(canonical_read(large, CANONICAL_MAX, &value), 0);
    json_decref(value);
    large[CANONICAL_MAX - 1] = 'a', large[CANONICAL_MAX] = '"';
    assert_int_equal(canonical_read(large, CANONICAL_MAX + 1, &value), ERR_INPUT);
    free(deep);
    free(large);
}

TEST(members_are_found_by_path)
{
    json_t *value = json_pack("{s:{s:i, s:s}, s:i}", "a", "b", 5, "c", "text", "d", 6);
    assert_int_equal(canonical_int(value, "a.b"), 5);
    assert_int_equal(canonical_int(value, "d"), 6);
    assert_int_equal(canonical_int(value, "a.x"), 0);
    assert_int_equal(canonical_int(value, "d.x"), 0);
    assert_int_equal(canonical_int(value, "a.c"), 0);
    assert_string_equal(canonical_text(value, "a.c"), "text");
    assert_string_equal(canonical_text(value, "a.b"), "");
    assert_string_equal(canonical_text(NULL, "a"), "");
    assert_null(canonical_at(value, "a.b.c.d"));
    assert_ptr_equal(canonical_at(value, ""), value);
    json_decref(value);
}

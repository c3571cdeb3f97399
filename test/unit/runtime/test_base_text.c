// SPDX-License-Identifier: Apache-2.0
// Growing strings, nearest names, figures for people, and strict number readers.
#include "runtime/common/base/text.h"
#include "test/unit/test.h"

TEST(test_growing)
{
    struct text text = {0};
    for (int i = 0; i < 1000; i++) text_add(&text, "%d,", i);
    assert_int_equal(text.length, strlen(text.at));
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(text.at, "0,1,2,3,", 8);
    size_t before = text.length;
    text_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, before + 3);
    assert_memory_equal(text.at + before, "a\0b", 4);
    text_bytes(&text, NULL, 0);
    text_free(&text);
    assert_null(text.at);
    text_bytes(&text, NULL, 0);
    assert_string_equal(text.at, "");
    text_free(&text);
}

TEST(test_entry)
{
    struct text text = {0};
    text_entry(&text, "data", "%d images", 7);
    assert_string_equal(text.at, "  data       7 images\n");
    text_free(&text);
    text_entry(&text, "device", "%s", "a name of some length, then another one, and a third, so that it does not fit\nnext");
    assert_string_equal(text.at, "  device     a name of some length, then another one, and a third, so that it\n"
                                 "             does not fit\n"
                                 "             next\n");
    text_free(&text);
}

TEST(test_quote)
{
    static const char *const words[][2] = {
        {"plain", "plain"}, {"", "''"}, {"a b", "'a b'"}, {"it's", "'it'\\''s'"}, {"$A;", "'$A;'"}, {"-f=a/b,c", "-f=a/b,c"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct text text = {0};
        text_quote(&text, words[i][0]);
        assert_string_equal(text.at, words[i][1]);
        text_free(&text);
    }
}

TEST(csv_cells_are_quoted_and_defused)
{
    static const char *const cells[][2] = {
        {"plain", "plain"}, {"", ""}, {"a,b", "\"a,b\""}, {"a \"b\"", "\"a \"\"b\"\"\""}, {"=1+2", "'=1+2"}, {"-O2", "'-O2"},
        {"+1", "'+1"}, {"@SUM(A1)", "'@SUM(A1)"}, {"\t=1", "'\t=1"}, {"=cmd|'/C calc'!A0,x", "\"'=cmd|'/C calc'!A0,x\""},
        {"|cmd", "'|cmd"}, {"\xef\xbc\x9d" "1", "'\xef\xbc\x9d" "1"}, {"\xef\xbc\x8b" "1", "'\xef\xbc\x8b" "1"},
        {"\xef\xbc\x8d" "1", "'\xef\xbc\x8d" "1"}, {"\xef\xbc\xa0" "A", "'\xef\xbc\xa0" "A"}, {"\xef\xbc\x91", "\xef\xbc\x91"},
        {"1-2", "1-2"}, {"-", "-"}, {"\r=1", "\"'\r=1\""},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct text text = {0};
        text_add(&text, "%s", "");
        text_csv(&text, cells[i][0]);
        assert_string_equal(text.at, cells[i][1]);
        text_free(&text);
    }
}

TEST(test_nearest)
{
    static const char *const names[] = {"train", "infer", "data", "results", "recipe", "cifar10", "batch", "precision",
                                        "augmentation", "lr", NULL};
    static const struct {
        const char *word, *near;
    } cases[] = {
        {"trian", "train"},   {"tran", "train"},     {"reslut", "results"},   {"cifar", "cifar10"},
        {"CIFAR10", "cifar10"}, {"bacth", "batch"},  {"augm", "augmentation"}, {"precison", "precision"},
        {"rl", "lr"},         {"quantum", NULL},     {"x", NULL},             {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *near = text_nearest(cases[i].word, names);
        if (cases[i].near) {
            assert_non_null(near);
            assert_string_equal(near, cases[i].near);
        } else {
            assert_null(near);
        }
    }
    char endless[300];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(text_nearest(endless, names));
    const char *const endless_name[] = {endless, NULL};
    assert_null(text_nearest("aaa", endless_name));
}

TEST(test_sizes)
{
    char into[TEXT_FIGURE];
    assert_string_equal(text_size(into, 0), "0 B");
    assert_string_equal(text_size(into, 999), "999 B");
    assert_string_equal(text_size(into, 1500), "1.50 kB");
    assert_string_equal(text_size(into, 170052171), "170 MB");
    assert_string_equal(text_size(into, 1.5e9), "1.50 GB");
    assert_string_equal(text_size(into, 999999), "1.00 MB");
    assert_string_equal(text_si(into, 446e9, "FLOP/s"), "446 GFLOP/s");
    assert_string_equal(text_si(into, 9.999e9, "B/s"), "10.0 GB/s");
    assert_string_equal(text_si(into, 12.34, "s"), "12.3 s");
    assert_string_equal(text_si(into, -2500, "B"), "-2.50 kB");
    assert_string_equal(text_si(into, (double)NAN, "x"), "nan x");
    assert_true(strlen(text_si(into, 1e300, "FLOP/s")) < TEXT_FIGURE);
    assert_true(strlen(text_si(into, (double)INFINITY, "FLOP/s")) < TEXT_FIGURE);
}

TEST(test_spans)
{
    char into[TEXT_FIGURE];
    static const struct {
        double seconds;
        const char *said;
    } cases[] = {
        {0, "0 us"},          {0.000012, "12 us"},   {0.00123, "1.23 ms"},   {0.34, "340 ms"},
        {0.9996, "1.0 s"},    {3.2, "3.2 s"},        {59.96, "1 min 00 s"},  {123, "2 min 03 s"},
        {3599.6, "1 h 00 min"}, {7380, "2 h 03 min"}, {360000, "100 h 00 min"}, {-3.2, "-3.2 s"},
        // Up: a time never looks shorter than it was.
        {0.0000121, "13 us"}, {0.0012301, "1.24 ms"}, {0.3401, "341 ms"},    {3.21, "3.3 s"},
        {122.001, "2 min 03 s"}, {7381, "2 h 04 min"}, {0.1 + 0.2, "300 ms"}, {59.9, "59.9 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(text_span(into, cases[i].seconds), cases[i].said);
    }
    assert_true(strlen(text_span(into, 1e300)) < TEXT_FIGURE);
    assert_string_equal(text_span(into, (double)INFINITY), "inf s");
}

TEST(test_counts)
{
    char into[TEXT_FIGURE];
    assert_string_equal(text_count(into, 0), "0");
    assert_string_equal(text_count(into, 999), "999");
    assert_string_equal(text_count(into, 1000), "1,000");
    assert_string_equal(text_count(into, 12345), "12,345");
    assert_string_equal(text_moment(into, 1796083215999), "2026-12-01 00:00:15 UTC");
    assert_string_equal(text_count(into, -123456), "-123,456");
    assert_string_equal(text_count(into, INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(test_to_int)
{
    int64_t n = 77;
    assert_int_equal(text_to_int("12", 0, 100, &n), 0);
    assert_int_equal(n, 12);
    assert_int_equal(text_to_int("-9223372036854775808", INT64_MIN, INT64_MAX, &n), 0);
    assert_true(n == INT64_MIN);
    static const char *const bad[] = {"", " 1", "1 ", "1.0", "0x10", "12a", "-", "+", "1e3", "9223372036854775808", "--1"};
    n = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(text_to_int(bad[i], INT64_MIN, INT64_MAX, &n), ERR_INPUT);
        assert_int_equal(n, 77);
    }
    assert_int_equal(text_to_int("101", 0, 100, &n), ERR_INPUT);
    assert_string_equal(error_text(), "must be between 0 and 100; got 101");
    assert_int_equal(text_to_int("0", 1, INT64_MAX, &n), ERR_INPUT);
    assert_string_equal(error_text(), "must be at least 1; got 0");
    assert_int_equal(text_to_int("3", INT64_MIN, 2, &n), ERR_INPUT);
    assert_string_equal(error_text(), "must be at most 2; got 3");
}

TEST(test_to_double)
{
    double x = 77;
    assert_int_equal(text_to_double("0.94", 0, 1, &x), 0);
    assert_true(x == 0.94);
    assert_int_equal(text_to_double("-1e-3", -1, 1, &x), 0);
    assert_true(x == -1e-3);
    assert_int_equal(text_to_double(".5", 0, 1, &x), 0);
    static const char *const bad[] = {"", " 1", "1 ", "nan", "inf", "-inf", "0x1p3", "1..2", "1e999", "e5", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = 77;
        assert_int_equal(text_to_double(bad[i], -(double)INFINITY, (double)INFINITY, &x), ERR_INPUT);
        assert_true(x == 77);
    }
    assert_int_equal(text_to_double("94", 0, 1, &x), ERR_INPUT);
    assert_string_equal(error_text(), "must be between 0 and 1; got 94");
}

TEST(test_unknown)
{
    static const char *const none[] = {NULL}, *const one[] = {"red", NULL}, *const few[] = {"red", "green", "blue", NULL};
    static const char *const many[] = {"aa1", "bb2", "cc3", "dd4", "ee5", "ff6", "gg7", "hh8", "ii9", "jj1", "kk2", "ll3", "mm4",
                                       "nn5", "oo6",
                                       "pp7", "qq8", NULL};
    static const struct {
        const char *word;
        const char *const *names;
        const char *hint, *said;
    } cases[] = {
        {"gren", few, NULL, "there is no colour \"gren\"; did you mean \"green\"?"},
        {"gren", few, "see below", "there is no colour \"gren\"; did you mean \"green\"? (see below)"},
        {"violet", few, NULL, "there is no colour \"violet\"; there are red, green and blue"},
        {"violet", one, NULL, "there is no colour \"violet\"; there is only red"},
        {"violet", none, NULL, "there is no colour \"violet\""},
        {"violet", many, "see below", "there is no colour \"violet\" (see below)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fail_unknown(ERR_MISSING, "colour", cases[i].word, cases[i].names, cases[i].hint), ERR_MISSING);
        assert_string_equal(error_text(), cases[i].said);
    }
}

TEST(test_list)
{
    static const char *const words[] = {"a", "b", "c"}, *const lists[] = {"", "a", "a or b", "a, b or c"};
    for (int i = 0; i < 4; i++) {
        struct text text = {0};
        text_add(&text, "%s", "");
        text_list(&text, words, i, " or ");
        assert_string_equal(text.at, lists[i]);
        text_free(&text);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Which text may be shown: every refused range at its edges, every way to write bad UTF-8, and text that must pass.

#include "submit/format/canonical.h"
#include "test/unit/test.h"

TEST(good_text_passes)
{
    static const char *const good[] = {
        "", "a", "Ada Lovelace", "Bj\xc3\xb6rk & S\xc3\xb8ren", "\xe6\x9d\xb1\xe4\xba\xac", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
        "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87", "<b>&amp;\"'", "\xf0\x9f\x9a\x80",
        "1 000\xc2\xa0km",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (canonical_check_words(good[i], strlen(good[i])) < 0) fail_msg("%s: %s", good[i], error_text());
}

TEST(broken_utf8_is_refused)
{
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc3", "\xc3" "a", "\xe6\x9d", "\xe6\x9d" "a", "\xf0\x9f\x9a", "\xff", "\xfe",
        "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf",  // overlong
        "\xed\xa0\x80", "\xed\xbf\xbf",                                                               // surrogates
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80",                               // beyond Unicode
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[16];
        snprintf(text, sizeof text, "ab%s", bad[i]);
        if (canonical_check_words(text, strlen(text)) != ERR_INPUT) fail_msg("case %zu was taken", i);
        assert_non_null(strstr(error_text(), "byte 2"));
    }
    assert_int_equal(canonical_check_words("a\xc3\xa9", 2), ERR_INPUT);  // cut inside a character
    assert_int_equal(canonical_check_words("a\0b", 3), ERR_INPUT);
}

static size_t encode(uint32_t c, char *into)
{
    if (c < 0x80) return into[0] = (char)c, 1;
    if (c < 0x800) return into[0] = (char)(0xc0 | c >> 6), into[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return into[0] = (char)(0xe0 | c >> 12), into[1] = (char)(0x80 | (c >> 6 & 63)), into[2] = (char)(0x80 | (c & 63)), 3;
    into[0] = (char)(0xf0 | c >> 18), into[1] = (char)(0x80 | (c >> 12 & 63));
    into[2] = (char)(0x80 | (c >> 6 & 63)), into[3] = (char)(0x80 | (c & 63));
    return 4;
}

static bool passes(uint32_t c)
{
    char text[8] = "x";
    size_t length = 1 + encode(c, text + 1);
    text[length] = 'y';
    return canonical_check_words(text, length + 1) == 0;
}

// Characters that must be refused: each range, with its neighbours outside, which must pass.
TEST(characters_that_deceive_are_refused)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xd800, 0xf8ff}, {0xfdd0, 0xfdef}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff},
        {0x1fffe, 0x1ffff}, {0x2fffe, 0x2ffff}, {0x3fffe, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (uint32_t c = ranges[i][0]; c <= ranges[i][1]; c += c > 0x40000 ? 251 : 1)
            if (passes(c)) fail_msg("U+%04X was taken", (unsigned)c);
        if (ranges[i][0] > 0) assert_true(passes(ranges[i][0] - 1));
        if (ranges[i][1] < 0xfff0 && !passes(ranges[i][1] + 1)) fail_msg("U+%04X was refused", (unsigned)ranges[i][1] + 1);
    }
    assert_int_equal(canonical_check_words("abc\xe2\x80\xae", 6), ERR_INPUT);
    assert_string_equal(error_text(), "the text holds U+202E at byte 3, which is a mark that changes the direction of writing");
}

TEST(blanks_around_are_refused)
{
    static const char *const blanks[] = {" ", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x83"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        char text[16];
        snprintf(text, sizeof text, "%sa", blanks[i]);
        assert_int_equal(canonical_check_words(text, strlen(text)), ERR_INPUT);
        snprintf(text, sizeof text, "a%s", blanks[i]);
        assert_int_equal(canonical_check_words(text, strlen(text)), ERR_INPUT);
        assert_int_equal(canonical_check_words(blanks[i], strlen(blanks[i])), ERR_INPUT);
        assert_int_equal(canonical_check_text(text, strlen(text)), 0);  // what people did not write may have them
        snprintf(text, sizeof text, "a%sb", blanks[i]);
        assert_int_equal(canonical_check_words(text, strlen(text)), 0);
    }
}

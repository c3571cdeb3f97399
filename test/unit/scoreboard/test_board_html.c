// SPDX-License-Identifier: Apache-2.0
// Escaping: hostile text in every context where pages put text, and the small Markdown of our documents.

#include "runtime/common/draw/html.h"
#include "scoreboard/pages/page.h"
#include "test/unit/test.h"

static const char *const hostile[] = {
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='x",
    "&lt;b&gt;",
    "a\" b='c' <d> & e",
    "</bdi></td></table>",
    "javascript:alert(1)",
    "\xc0\xbcscript\xc0\xbe",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "\xff\xfe",
    "\xe2\x80",
    "\xe2\x80\xae"
    "txt.exe",
    "\xe2\x81\xa6"
    "x",
    "nul\x01\x1f\x7f",
    "\xc2\x85",
    "]]>",
    "<!--",
    "%s%n%d",
    "\xf0\x9f\x98\x80 fine",
    "",
};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

// Escaped text must never hold these: marks of markup, controls, bidi overrides, broken UTF-8 (checked by shape).
static void assert_harmless(const char *at)
{
    assert_null(strpbrk(at, "<>\"'"));
    assert_null(strstr(at, "\xe2\x80\xae"));
    assert_null(strstr(at, "\xe2\x81\xa6"));
    for (const unsigned char *c = (const unsigned char *)at; *c != 0; c++) {
        assert_true(*c >= 0x20 && *c != 0x7f && *c != 0xc0 && *c != 0xc1 && *c < 0xf5);
        if (*c == '&') assert_non_null(memchr(c, ';', strnlen((const char *)c, 6)));
        int more = *c < 0x80 ? 0 : *c < 0xc0 ? -1 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
        assert_true(more >= 0);
        for (int i = 1; i <= more; i++) assert_int_equal(c[i] & 0xc0, 0x80);
        c += more;
    }
}

TEST(hostile_text_stays_text)
{
    for (int i = 0; i < HOSTILE; i++) {
        struct text out = {0};
        html_add(&out, "%s", hostile[i]);
        if (out.at != NULL) assert_harmless(out.at);
        out.length = 0;
        html_add(&out, "<a title=\"%s\">", hostile[i]);
        size_t length = strlen(out.at);
        assert_string_equal(out.at + length - 2, "\">");
        out.at[length - 2] = 0;
        assert_harmless(out.at + strlen("<a title=\""));
        text_free(&out);
        html_words(&out, hostile[i]);
        assert_int_equal(strncmp(out.at, "<bdi>", 5), 0);
        assert_string_equal(out.at + out.length - 6, "</bdi>");
        out.at[out.length - 6] = 0;
        assert_harmless(out.at + 5);
        text_free(&out);
    }
}

TEST(conversions_are_printf_s)
{
    static const char *volatile absent;  // so that the compiler does not know what it is
    struct text out = {0};
    html_add(&out, "%d|%5d|%-4d|%lld|%zu|%x|%c|%.2f|%8.3f|%g|%.3s|%.*s|%%|%s", -3, 42, 7, 1LL << 40, (size_t)9, 255u,
             '<', 1.005, 2.5, 1e-7, "<abcdef", 2, "xyz", absent);
    assert_string_equal(out.at, "-3|   42|7   |1099511627776|9|ff|&lt;|1.00|   2.500|1e-07|&lt;ab|xy|%|");
    out.length = 0;
    double zero = 0;
    html_add(&out, "%.1f %.1f %g", zero / zero, 1 / zero, -1 / zero);
    assert_string_equal(out.at, "0.0 0.0 0");
    text_free(&out);
}

TEST(links_lead_to_the_web_only)
{
    static const char *const bad[] = {"javascript:alert(1)",
                                      "data:text/html,x",
                                      "//example.org",
                                      "http:/x",
                                      "https://",
                                      "https:///x",
                                      "ftp://example.org/",
                                      " https://example.org",
                                      "https://example.org/a b",
                                      "https://example.org/\"x",
                                      "https://example.org/<x>",
                                      "https://ex\xc3\xa4mple.org",
                                      "https://example.org/\n",
                                      "/runs/1",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct text out = {0};
        assert_false(html_url_is_safe(bad[i]));
        html_link(&out, bad[i], bad[i]);
        assert_null(strstr(out.at, "href"));
        text_free(&out);
    }
    struct text out = {0};
    html_link(&out, "HTTPS://example.org/?a=1&b=2", "<label>");
    assert_non_null(strstr(out.at, "href=\"HTTPS://example.org/?a=1&amp;b=2\""));
    assert_non_null(strstr(out.at, "nofollow"));
    assert_non_null(strstr(out.at, "&lt;label&gt;"));
    text_free(&out);
}

TEST(parts_of_addresses_are_encoded)
{
    struct arena arena = {0};
    assert_string_equal(html_part(&arena, "a b/c?d#e&f=\"<\xc3\xa4"), "a%20b%2Fc%3Fd%23e%26f%3D%22%3C%C3%A4");
    assert_string_equal(html_part(&arena, "A-z_0.9~"), "A-z_0.9~");
    struct entry entry = {.source = "CIFAR10/train/a/b c"};
    assert_string_equal(page_entry_address(&arena, &entry), "/archive/CIFAR10/train/a%2Fb%20c");
    entry.source = "#12";
    assert_string_equal(page_entry_address(&arena, &entry), "/runs/12");
    entry.source = "group 00ff";
    assert_string_equal(page_entry_address(&arena, &entry), "/groups/00ff");
    entry.source = "nothing";
    assert_string_equal(page_entry_address(&arena, &entry), "/");
    arena_free(&arena);
}

TEST(a_problem_is_a_whole_page)
{
    struct answer answer = {0};
    text_add(&answer.body, "half a page");
    page_problem(PROBLEM_NOT_FOUND, "there is no <b>such</b> thing", &answer);
    assert_int_equal(answer.status, 404);
    assert_int_equal(strncmp(answer.body.at, "<!DOCTYPE html>", 15), 0);
    assert_null(strstr(answer.body.at, "half a page"));
    assert_null(strstr(answer.body.at, "<b>such"));
    assert_non_null(strstr(answer.body.at, "&lt;b&gt;such"));
    assert_non_null(strstr(answer.body.at, "</html>"));
    text_free(&answer.body);
}

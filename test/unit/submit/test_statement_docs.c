// SPDX-License-Identifier: Apache-2.0
// The pages that describe statements and checks against the tables in the code: every row, word for word, in order.
// When it fails it prints the row that docs/statements.md or docs/rules.md should have.

#include "runtime/common/base/file.h"
#include "submit/format/check/check.h"
#include "submit/format/fields.h"
#include "test/unit/test.h"

enum { PAGE_MAX = 1 << 20, LARGE = 43 };  // from 2^43 on a bound says nothing to a reader

static void bounds(const struct field *f, struct text *into)
{
    switch (f->kind) {
    case FIELD_INT:
        if (f->low == f->high) text_add(into, "%lld", (long long)f->low);
        else if (f->high < (int64_t)1 << LARGE) text_add(into, "%lld to %lld", (long long)f->low, (long long)f->high);
        else text_add(into, "whole number%s", f->low < 0 ? "" : f->low == 0 ? " from 0" : " from 1");
        break;
    case FIELD_YES: text_add(into, "0 or 1"); break;
    case FIELD_WORD: text_add(into, "word, %s%lld", f->low > 0 ? "1 to " : "at most ", (long long)f->high); break;
    case FIELD_URL: text_add(into, "address, at most %lld bytes", (long long)f->high); break;
    case FIELD_HANDLE: text_add(into, "handle, 1 to %lld", (long long)f->high); break;
    case FIELD_WORDS:
    case FIELD_TEXT:
        if (f->low == f->high) text_add(into, "%lld bytes", (long long)f->low);
        else text_add(into, "text, %s%lld bytes", f->low > 0 ? "1 to " : "at most ", (long long)f->high);
        break;
    case FIELD_HEX: text_add(into, "%lld hex digits", (long long)f->low); break;
    case FIELD_DATE: text_add(into, "date"); break;
    case FIELD_ONE_OF:
        for (const char *w = f->words; *w != 0; w++) text_add(into, *w == '|' ? ", " : "%c", *w);
        break;
    case FIELD_OBJECT: text_add(into, "object"); break;
    case FIELD_LIST: text_add(into, "list, at most %lld", (long long)f->high); break;
    case FIELD_TAGS: text_add(into, "list of words, at most %lld", (long long)f->high); break;
    }
}

// Finds the row after `*at` and moves there, so that rows also have to be in order.
static void find_row(const char **at, const char *row, const char *page)
{
    const char *found = strstr(*at, row);
    if (found == NULL) print_error("%s should have, at this place, the row\n%s\n", page, row);
    assert_non_null(found);
    *at = found + 1;
}

static void find_members(const char **at, const struct field *fields, const char *before)
{
    for (const struct field *f = fields; f->name != NULL; f++) {
        struct text row = {0};
        text_add(&row, "| `%s%s`%s | ", before, f->name, f->presence == FIELD_OPTIONAL ? " (may be absent)" : "");
        bounds(f, &row);
        text_add(&row, " | %s |\n", f->what);
        find_row(at, row.at, "docs/statements.md");
        text_free(&row);
        // Hardware and price stand once, not again below every latency.
        bool again = *before != 0 && (strcmp(f->name, "hardware") == 0 || strcmp(f->name, "price") == 0);
        if (f->members == NULL || again) continue;
        char path[128];
        snprintf(path, sizeof path, "%s%s%s.", before, f->name, f->kind == FIELD_LIST ? "[]" : "");
        find_members(at, f->members, path);
    }
}

TEST(every_member_is_described)
{
    char *page;
    size_t count;
    assert_int_equal(file_read("docs/statements.md", PAGE_MAX, &page, &count), 0);
    const char *at = page;
    for (int t = 0; t < STATEMENT_TYPES; t++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n## `%s`\n", statement_type_name(t));
        find_row(&at, heading, "docs/statements.md");
        find_members(&at, statement_fields[t], "");
        snprintf(heading, sizeof heading, "| `%s` | `%s` |", statement_type_name(t), statement_namespace(t));
        assert_non_null(strstr(page, heading));
    }
    find_row(&at, "\n## `receipt`\n", "docs/statements.md");
    find_members(&at, receipt_fields, "");
    free(page);
}

TEST(every_check_is_described)
{
    char *page, row[512];
    size_t count;
    assert_int_equal(file_read("docs/rules.md", PAGE_MAX, &page, &count), 0);
    const char *at = page;
    for (int c = 0; c < CHECKS; c++) {
        snprintf(row, sizeof row, "| `%s` | %s | %s |\n", check_code(c), check_level(c) == CHECK_REJECT ? "refused" : "flagged",
                 check_what(c));
        find_row(&at, row, "docs/rules.md");
    }
    free(page);
}

// SPDX-License-Identifier: Apache-2.0
// Works line by line, one block at a time. Invariant: every opened element is closed, whatever the document holds, and all text
// is escaped. Workload: five documents inside the program. Cost: one pass.
#include "scoreboard/pages/markdown.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "runtime/common/draw/html.h"

struct lines {
    const char *at;
    const char *line;  // the current one, without its end
    size_t length;
};

static bool next_line(struct lines *lines)
{
    if (*lines->at == 0) return false;
    lines->line = lines->at;
    lines->length = strcspn(lines->at, "\n");
    lines->at += lines->length + (lines->at[lines->length] == '\n');
    return true;
}

static void step_back(struct lines *lines)
{
    lines->at = lines->line;
}

static size_t indent_of(const struct lines *lines)
{
    size_t blanks = 0;
    while (blanks < lines->length && lines->line[blanks] == ' ') blanks++;
    return blanks;
}

static bool blank(const struct lines *lines)
{
    return indent_of(lines) == lines->length;
}

// Length of a list mark at the start of `at`: "- ", "* ", "1. "; 0: none.
static size_t list_mark(const char *at, size_t length, bool *ordered)
{
    *ordered = false;
    if (length > 2 && (at[0] == '-' || at[0] == '*') && at[1] == ' ') return 2;
    size_t digits = 0;
    while (digits < length && digits < 3 && isdigit((unsigned char)at[digits])) digits++;
    if (digits == 0 || digits + 2 > length || at[digits] != '.' || at[digits + 1] != ' ') return 0;
    *ordered = true;
    return digits + 2;
}

// ---- inside a paragraph -----------------------------------------------------------------------------------------------
static void inline_words(struct text *into, const char *at, size_t count, int depth);

static const char *find(const char *at, const char *end, const char *mark)
{
    size_t length = strlen(mark);
    for (; at + length <= end; at++)
        if (memcmp(at, mark, length) == 0) return at;
    return NULL;
}

static void link_to(struct text *into, const char *label, size_t label_count, const char *to, size_t to_count,
                    int depth)
{
    static const char *const served[] = {"rules.md", "submit.md", "record.md", "statements.md", "threats.md", "log.md"};
    char address[300];
    if (to_count >= sizeof address) to_count = 0;
    memcpy(address, to, to_count);
    address[to_count] = 0;
    const char *file = strncmp(address, "docs/", 5) == 0 ? address + 5 : address;
    size_t length = strcspn(file, "#");
    bool leads = html_url_is_safe(address) || (address[0] == '/' && address[1] != '/');
    if (leads) html_add(into, "<a href=\"%s\">", address);
    for (size_t i = 0; !leads && i < sizeof served / sizeof served[0]; i++) {
        if (strlen(served[i]) != length || strncmp(served[i], file, length) != 0) continue;
        html_add(into, "<a href=\"/%.*s%s\">", (int)length - 3, file, file + length);
        leads = true;
    }
    inline_words(into, label, label_count, depth + 1);
    if (leads) text_add(into, "</a>");
}

// Finds the span of an opening mark at `at`. Returns the place behind it, or NULL if it is no mark.
static const char *inline_mark(struct text *into, const char *at, const char *end, int depth)
{
    const char *close;
    if (*at == '`') {
        if ((close = find(at + 1, end, "`")) == NULL) return NULL;
        html_add(into, "<code>%.*s</code>", (int)(close - at - 1), at + 1);
        return close + 1;
    }
    if (depth < 4 && at + 2 < end && at[0] == '*' && at[1] == '*') {
        if ((close = find(at + 2, end, "**")) == NULL) return NULL;
        text_add(into, "<strong>");
        inline_words(into, at + 2, (size_t)(close - at - 2), depth + 1);
        text_add(into, "</strong>");
        return close + 2;
    }
    if (depth < 4 && at + 1 < end && *at == '*' && at[1] != ' ') {
        if ((close = find(at + 1, end, "*")) == NULL) return NULL;
        text_add(into, "<em>");
        inline_words(into, at + 1, (size_t)(close - at - 1), depth + 1);
        text_add(into, "</em>");
        return close + 1;
    }
    if (depth < 4 && *at == '[') {
        const char *middle = find(at, end, "](");
        if (middle == NULL || (close = find(middle, end, ")")) == NULL) return NULL;
        link_to(into, at + 1, (size_t)(middle - at - 1), middle + 2, (size_t)(close - middle - 2), depth);
        return close + 1;
    }
    return NULL;
}

static void inline_words(struct text *into, const char *at, size_t count, int depth)
{
    const char *end = at + count, *plain = at;
    while (at < end) {
        if (strchr("`*[", *at) == NULL || *at == 0) {
            at++;
            continue;
        }
        html_escape(into, plain, (size_t)(at - plain));
        const char *behind = inline_mark(into, at, end, depth);
        plain = at;
        at = behind != NULL ? behind : at + 1;
        if (behind != NULL) plain = at;
    }
    html_escape(into, plain, (size_t)(end - plain));
}

// ---- blocks -----------------------------------------------------------------------------------------------------------
static void code_block(struct text *into, struct lines *lines)
{
    bool shell = lines->length >= 5 && strncmp(lines->line, "```sh", 5) == 0;
    if (shell) text_add(into, "<div class=\"command\">");
    text_add(into, "<pre tabindex=\"0\" role=\"region\" aria-label=\"Code\"><code>");
    while (next_line(lines) && strncmp(lines->line, "```", 3) != 0) {
        html_escape(into, lines->line, lines->length);
        text_add(into, "\n");
    }
    text_add(into, shell ? "</code></pre></div>\n" : "</code></pre>\n");
}

// The lines that are indented by four blanks.
static void indented_block(struct text *into, struct lines *lines)
{
    size_t gap = 0;
    text_add(into, "<pre tabindex=\"0\" role=\"region\" aria-label=\"Code\"><code>");
    do {
        if (!blank(lines) && indent_of(lines) < 4) {
            step_back(lines);
            break;
        }
        if (blank(lines)) {
            gap++;  // shown only when code follows
            continue;
        }
        for (; gap > 0; gap--) text_add(into, "\n");
        html_escape(into, lines->line + 4, lines->length - 4);
        text_add(into, "\n");
    } while (next_line(lines));
    text_add(into, "</code></pre>\n");
}

// "Groups: the official result" is found as #groups-the-official-result; a second heading of the same words is not.
static void heading_id(struct text *into, const char *at, size_t count)
{
    char id[80];
    size_t length = 0;
    for (size_t i = 0; i < count && length + 1 < sizeof id; i++) {
        if (isalnum((unsigned char)at[i])) id[length++] = (char)tolower((unsigned char)at[i]);
        if (at[i] == ' ' || at[i] == '-') id[length++] = '-';
    }
    id[length] = 0;
    char whole[sizeof id + 8];
    snprintf(whole, sizeof whole, " id=\"%s\"", id);
    if (length > 0 && (into->at == NULL || strstr(into->at, whole) == NULL)) text_bytes(into, whole, strlen(whole));
}

static void heading(struct text *into, const struct lines *lines)
{
    size_t level = strspn(lines->line, "#"), skip = level;
    while (skip < lines->length && lines->line[skip] == ' ') skip++;
    if (level > 6) level = 6;
    text_add(into, "<h%zu", level);
    if (level > 1) heading_id(into, lines->line + skip, lines->length - skip);
    text_add(into, ">");
    inline_words(into, lines->line + skip, lines->length - skip, 0);
    text_add(into, "</h%zu>\n", level);
}

static bool is_rule_row(const struct lines *lines)
{
    return lines->length > 1 && lines->line[0] == '|' && strspn(lines->line, "|-: ") >= lines->length;
}

static void table_row(struct text *into, const char *line, size_t length, bool head)
{
    const char *end = line + length, *at = line + 1;
    text_add(into, "<tr>");
    while (at < end) {
        const char *close = at;
        while (close < end && *close != '|') close += *close == '\\' && close + 1 < end ? 2 : 1;
        if (close >= end && find(at, end, "|") == NULL && strspn(at, " ") >= (size_t)(end - at)) break;
        const char *first = at, *last = close < end ? close : end;
        while (first < last && *first == ' ') first++;
        while (last > first && last[-1] == ' ') last--;
        text_add(into, head ? "<th scope=\"col\">" : "<td>");
        struct text cell = {0};  // "\|" is a bar inside a cell
        for (const char *c = first; c < last; c++)
            if (!(*c == '\\' && c + 1 < last && c[1] == '|')) text_bytes(&cell, c, 1);
        inline_words(into, cell.at != NULL ? cell.at : "", cell.length, 0);
        text_free(&cell);
        text_add(into, head ? "</th>" : "</td>");
        at = close + 1;
    }
    text_add(into, "</tr>\n");
}

static void table(struct text *into, struct lines *lines)
{
    text_add(
        into,
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table class=\"small\"><thead>");
    table_row(into, lines->line, lines->length, true);
    text_add(into, "</thead><tbody>\n");
    while (next_line(lines)) {
        if (lines->length < 2 || lines->line[0] != '|') {
            step_back(lines);
            break;
        }
        if (!is_rule_row(lines)) table_row(into, lines->line, lines->length, false);
    }
    text_add(into, "</tbody></table></div>\n");
}

// Items of one level. Indented lines below an item belong to it.
static void list(struct text *into, struct lines *lines, bool ordered)
{
    bool kind, open = false;
    struct text words = {0};
    text_add(into, ordered ? "<ol>\n" : "<ul>\n");
    do {
        size_t mark = list_mark(lines->line, lines->length, &kind);
        if (mark == 0 && (indent_of(lines) < 2 || blank(lines))) {
            step_back(lines);
            break;
        }
        if (mark > 0) {
            if (open) {
                inline_words(into, words.at, words.length, 0);
                text_add(into, "</li>\n");
            }
            words.length = 0;
            text_add(into, "<li>");
            open = true;
        } else {
            mark = indent_of(lines);
            text_bytes(&words, " ", 1);
        }
        text_bytes(&words, lines->line + mark, lines->length - mark);
    } while (next_line(lines));
    inline_words(into, words.at != NULL ? words.at : "", words.length, 0);
    text_add(into, ordered ? "</li></ol>\n" : "</li></ul>\n");
    text_free(&words);
}

static bool begins_block(const struct lines *lines)
{
    bool ordered;
    return lines->line[0] == '#' || lines->line[0] == '|' || strncmp(lines->line, "```", 3) == 0 ||
           list_mark(lines->line, lines->length, &ordered) > 0;
}

static void paragraph(struct text *into, struct lines *lines)
{
    struct text words = {0};
    do {
        if (blank(lines) || (words.length > 0 && begins_block(lines))) {
            step_back(lines);
            break;
        }
        if (words.length > 0) text_bytes(&words, " ", 1);
        text_bytes(&words, lines->line, lines->length);
    } while (next_line(lines));
    text_add(into, "<p>");
    inline_words(into, words.at != NULL ? words.at : "", words.length, 0);
    text_add(into, "</p>\n");
    text_free(&words);
}

void markdown_write(struct text *into, const char *document)
{
    struct lines lines = {.at = document};
    bool ordered;
    while (next_line(&lines)) {
        if (blank(&lines)) continue;
        if (strncmp(lines.line, "<!--", 4) == 0) {
            const char *end = strstr(lines.line, "-->");
            lines.at = end != NULL ? end + 3 : lines.line + strlen(lines.line);
        } else if (lines.line[0] == '#') {
            heading(into, &lines);
        } else if (indent_of(&lines) >= 4) {
            indented_block(into, &lines);
        } else if (strncmp(lines.line, "```", 3) == 0) {
            code_block(into, &lines);
        } else if (lines.line[0] == '|' && lines.length > 1) {
            table(into, &lines);
        } else if (list_mark(lines.line, lines.length, &ordered) > 0) {
            list(into, &lines, ordered);
        } else {
            paragraph(into, &lines);
        }
    }
}

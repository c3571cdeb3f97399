// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/show/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/embed.h"
#include "runtime/common/draw/html.h"
#include "runtime/common/draw/markdown.h"

void sheet_begin(struct sheet *s, const char *title, const char *columns)
{
    *s = (struct sheet){.title = title};
    for (char *at = arena_text(&s->arena, "%s", columns); at;) {
        BUG_IF(s->columns == SHEET_COLUMNS);
        char *end = strchr(at, '|');
        if (end) *end++ = 0;
        s->figures[s->columns] = *at == '#';
        s->column[s->columns++] = at + (*at == '#');
        at = end;
    }
}

void sheet_add(struct sheet *s, const char *format, ...)
{
    va_list values;
    char *cell = NULL;
    va_start(values, format);
    if (vasprintf(&cell, format, values) < 0) BUG("out of memory");
    va_end(values);
    s->cell = grow(s->cell, (size_t)(s->cells + 1) * sizeof *s->cell);
    s->cell[s->cells++] = arena_text(&s->arena, "%s", cell);
    free(cell);
}

int sheet_rows(const struct sheet *s)
{
    return s->cells / s->columns;
}

void sheet_free(struct sheet *s)
{
    free(s->cell);
    arena_free(&s->arena);
    *s = (struct sheet){0};
}

// A long head breaks after each underscore. Otherwise heads make a table wider than paper, where nothing scrolls.
static void add_head(const char *head, bool figures, struct text *into)
{
    if (figures) html_add(into, "<th scope=\"col\" class=\"number\">");
    else html_add(into, "<th scope=\"col\">");
    while (*head) {
        size_t part = strcspn(head, "_");
        part += head[part] == '_';
        html_escape(into, head, part);
        head += part;
        if (*head && head[-1] == '_') html_add(into, "<wbr>");
    }
    html_add(into, "</th>");
}

static void write_html(const struct sheet *s, struct text *into)
{
    html_add(into, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table class=\"small sheet\"><caption>"
             "%s</caption>\n<thead><tr>", s->title, s->title);
    for (int c = 0; c < s->columns; c++) add_head(s->column[c], s->figures[c], into);
    html_add(into, "</tr></thead>\n<tbody>");
    for (int i = 0; i < s->cells; i++) {
        int c = i % s->columns;
        if (c == 0) html_add(into, "<tr>");
        if (s->figures[c]) html_add(into, "<td class=\"number value\">%s</td>", s->cell[i]);
        else html_add(into, "<td><bdi>%s</bdi></td>", s->cell[i]);
        if (c == s->columns - 1) html_add(into, "</tr>\n");
    }
    html_add(into, "</tbody></table></div>\n");
}

static void write_markdown(const struct sheet *s, struct text *into)
{
    text_add(into, "\n**");
    markdown_add(into, s->title);
    text_add(into, "**\n\n|");
    for (int c = 0; c < s->columns; c++) {
        text_add(into, " ");
        markdown_add(into, s->column[c]);
        text_add(into, " |");
    }
    text_add(into, "\n|");
    for (int c = 0; c < s->columns; c++) text_add(into, s->figures[c] ? " ---: |" : " --- |");
    for (int i = 0; i < s->cells; i++) {
        text_add(into, "%s ", i % s->columns ? "" : "\n|");
        markdown_add(into, s->cell[i]);
        text_add(into, " |");
    }
    text_add(into, "\n");
}

static void write_csv(const struct sheet *s, struct text *into)
{
    for (int c = 0; c < s->columns; c++) {
        text_add(into, "%s", c ? "," : "");
        text_csv(into, s->column[c]);
    }
    for (int i = 0; i < s->cells; i++) {
        text_add(into, "%s", i % s->columns ? "," : "\n");
        text_csv(into, s->cell[i]);
    }
    text_add(into, "\n");
}

void sheet_print(const struct sheet *s, enum sheet_form form, struct text *into)
{
    if (form == SHEET_HTML) write_html(s, into);
    else if (form == SHEET_MARKDOWN) write_markdown(s, into);
    else write_csv(s, into);
}

void sheet_put(struct sheet *s, enum sheet_form form, struct text *into)
{
    if (sheet_rows(s) > 0) sheet_print(s, form, into);
    sheet_free(s);
}

void sheet_page(enum sheet_form form, const char *title, struct text *into)
{
    const struct embedded *style = embedded_find("runtime/common/draw/style.css");
    if (style == NULL) BUG("the stylesheet is not in the program");
    if (form == SHEET_HTML) {
        html_add(into, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n", title);
        text_bytes(into, style->at, style->size);
        html_add(into, "</style>\n</head>\n<body>\n<div class=\"width\">\n<main>\n<h1>%s</h1>\n", title);
    } else {
        text_add(into, "# ");
        markdown_add(into, title);
        text_add(into, "\n");
    }
}

void sheet_heading(enum sheet_form form, int level, const char *words, struct text *into)
{
    if (form == SHEET_HTML) {
        html_add(into, "<h%d>%s</h%d>\n", level, words, level);
    } else {
        text_add(into, "\n%.*s ", level, "######");
        markdown_add(into, words);
        text_add(into, "\n");
    }
}

void sheet_words(enum sheet_form form, const char *words, struct text *into)
{
    if (form == SHEET_HTML) {
        html_add(into, "<p>%s</p>\n", words);
    } else {
        text_add(into, "\n");
        markdown_add(into, words);
        text_add(into, "\n");
    }
}

void sheet_page_end(enum sheet_form form, struct text *into)
{
    if (form == SHEET_HTML) text_add(into, "</main>\n</div>\n</body>\n</html>\n");
}

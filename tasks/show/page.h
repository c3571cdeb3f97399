// SPDX-License-Identifier: Apache-2.0
// What all pages for people are made of: headings, labelled lines, times. Invariant: no line is wider than 80 columns unless one
// word is; no byte from a record reaches a terminal that could steer it.
#ifndef DAWN_TASKS_PAGE_H
#define DAWN_TASKS_PAGE_H

#include "runtime/base/text.h"
#include "tasks/record/record.h"

struct page_style {
    bool unicode;  // blocks and dots; else plain ASCII
    bool bold;     // headings stand out by terminal codes
};

enum { PAGE_WIDTH = 80, PAGE_LABEL = 11 };
int page_columns(const char *text);  // in code points: nothing wider is printed here
void page_tame(char *text);          // replaces what could steer a terminal
void page_heading(struct text *, const struct page_style *, const char *format, ...) __attribute__((format(printf, 3, 4)));
// "  label      words ...", wrapped between words under the first of them.
void page_line(struct text *, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
char *page_when(char into[32], int64_t unix_ms);           // "2026-11-22 12:00"
char *page_span(char into[TEXT_FIGURE], int64_t ns);       // as text_span
bool page_has_loss(const json_t *point);
char *page_loss(char into[TEXT_FIGURE], const json_t *point);  // "1.2345"; "-" if it is not known

#endif

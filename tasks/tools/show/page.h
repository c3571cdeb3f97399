// SPDX-License-Identifier: Apache-2.0
// The parts of all pages for people: headings, labelled lines, times. Invariant: no line is wider than 80 columns unless a
// single word is. No byte from a record can control a terminal.
#ifndef DAWN_SHOW_PAGE_H
#define DAWN_SHOW_PAGE_H

#include "runtime/common/base/text.h"
#include "submit/results/record.h"

struct page_style {
    bool unicode;  // blocks and dots; else plain ASCII
    bool bold;     // headings are bold by terminal codes
};

enum { PAGE_WIDTH = 80, PAGE_LABEL = 11 };
int page_columns(const char *text);  // width in code points; no wider characters are printed here
void page_tame(char *text);          // replaces control characters
void page_heading(struct text *, const struct page_style *, const char *format, ...) __attribute__((format(printf, 3, 4)));
// "  label      words ...", wrapped between words with an indent.
void page_line(struct text *, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
char *page_when(char into[32], int64_t unix_ms);           // "2026-11-22 12:00"
char *page_span(char into[TEXT_FIGURE], int64_t ns);       // formatted by text_span
bool page_has_loss(const json_t *point);
char *page_loss(char into[TEXT_FIGURE], const json_t *point);  // "1.2345"; "-" if unknown

#endif

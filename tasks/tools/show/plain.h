// SPDX-License-Identifier: Apache-2.0
// The parts of all pages of plain text: headings, labelled lines, times. Invariant: no line is wider than 80 columns unless a
// single word is. No byte from a record can control a terminal.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/results/record.h"

struct plain_style {
    bool unicode;  // blocks and dots; else plain ASCII
    bool bold;     // headings are bold by terminal codes
};

enum { PLAIN_WIDTH = 80, PLAIN_LABEL = 11 };
int plain_columns(const char *text);  // width in code points; no wider characters are printed here
void plain_tame(char *text);          // replaces control characters
// The last pass over a page: no control character is left but line ends and the codes of a bold heading.
void plain_page(struct text *, const struct plain_style *);
// Text on a line, without control characters and line ends.
void plain_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void plain_heading(struct text *, const struct plain_style *, const char *format, ...) __attribute__((format(printf, 3, 4)));
// "  label      words ...", wrapped between words with an indent.
void plain_line(struct text *, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
char *plain_when(char into[32], int64_t unix_ms);           // "2026-11-22 12:00"
char *plain_span(char into[TEXT_FIGURE], int64_t ns);       // formatted by text_span
char *plain_loss(char into[TEXT_FIGURE], const json_t *point, const char *name);  // of curve_loss: "1.2345"; "-" if unknown

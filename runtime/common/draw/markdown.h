// SPDX-License-Identifier: Apache-2.0
// Text of records in Markdown: every character that Markdown or HTML could interpret is escaped.
#ifndef DAWN_DRAW_MARKDOWN_H
#define DAWN_DRAW_MARKDOWN_H

#include "runtime/common/base/text.h"

void markdown_add(struct text *into, const char *words);

#endif

// SPDX-License-Identifier: Apache-2.0
// The part of Markdown that our own documents use: headings, paragraphs, lists, tables, code, links, emphasis.
#ifndef DAWN_SCOREBOARD_MARKDOWN_H
#define DAWN_SCOREBOARD_MARKDOWN_H

#include "runtime/common/base/text.h"

// HTML of a whole document; comments are left out. A link to a document that has a page (rules.md) leads there,
// to another file of the repository nowhere: its words stay. Headings below the first can be linked to by their words.
void markdown_write(struct text *into, const char *document);

#endif

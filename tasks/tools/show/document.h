// SPDX-License-Identifier: Apache-2.0
// One run as a document: a web page, a chart, or Markdown. Each document is self-contained: no scripts, styles or pictures
// from elsewhere. Every text of the record is escaped.
#pragma once

#include "tasks/tools/show/plain.h"
#include "tasks/tools/show/sheet.h"

int document_page(struct results *, int64_t id, enum sheet_form, struct text *into) MUST_CHECK;
// A row for each group with its mean, spread and verdict; `id` 0: of all groups.
int document_groups(struct results *, int64_t id, struct sheet *) MUST_CHECK;
// A group and its runs as a page.
int document_group(struct results *, int64_t id, enum sheet_form, struct text *into) MUST_CHECK;
int document_svg(struct results *, int64_t id, struct text *into) MUST_CHECK;  // the curves alone; refuses a run without curves

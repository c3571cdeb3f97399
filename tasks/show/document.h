// SPDX-License-Identifier: Apache-2.0
// One run as a document for others to read: a web page, a chart, a text in Markdown. Each is whole: no scripts, no styles and no
// pictures from elsewhere. Every text of the record is quoted.
#ifndef DAWN_TASKS_DOCUMENT_H
#define DAWN_TASKS_DOCUMENT_H

#include "tasks/show/page.h"

int document_html(struct results *, int64_t id, struct text *into) MUST_CHECK;
int document_svg(struct results *, int64_t id, struct text *into) MUST_CHECK;  // the curves alone; a run without any is refused
int document_md(struct results *, int64_t id, struct text *into) MUST_CHECK;

#endif

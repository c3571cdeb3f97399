// SPDX-License-Identifier: Apache-2.0
// Text of records in Markdown: every character that Markdown or HTML could interpret is escaped.
#pragma once

#include "runtime/common/base/text.h"

void markdown_add(struct text *into, const char *words);

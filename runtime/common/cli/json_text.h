// SPDX-License-Identifier: Apache-2.0
// JSON for programs that read our output. Reals have 15 digits: 0.942 stays 0.942.
#pragma once

#include <jansson.h>

#include "runtime/common/base/text.h"

// Each takes the value over. NULL, which json_pack returns for broken UTF-8, is an error. print and line write to standard
// output, line without line breaks.
int json_text_add(struct text *into, json_t *value) MUST_CHECK;
int json_text_print(json_t *value) MUST_CHECK;
int json_text_line(json_t *value) MUST_CHECK;
// Adds a row to a list that is printed later. If it cannot, the list becomes NULL, so the answer is an error, not a shorter list.
void json_text_row(json_t **list, json_t *row);
void json_text_error(json_t *value);  // a line on standard error, where a failure could not be said either

// SPDX-License-Identifier: Apache-2.0
// Strings as Python has them: the published evaluations of SQuAD and of translation are Python programs, and their scores depend
// on its definitions of lower case and white space.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool python_is_space(int32_t code);  // str.isspace(): White_Space and the four separators of ASCII
// The code points of UTF-8 (of str.lower(), if `lower` is set); at most twice as many as bytes. free() ends them.
int32_t *python_codes(const char *text, size_t bytes, bool lower, size_t *count);

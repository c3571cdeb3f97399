// SPDX-License-Identifier: Apache-2.0
// Two files whose lines belong together: references and what a program made of them.
#pragma once

#include "runtime/common/base/error.h"

struct line_pair {
    const char *at[2];
    size_t bytes[2];
    int64_t number;  // from 1
};
// Calls `take` for each pair of lines. Both files are UTF-8; only a line feed ends a line. Files with different numbers of
// lines are refused: `each` ends that sentence ("each reference needs one translation").
int line_pairs_read(const char *const path[2], const char *each, int (*take)(void *context, const struct line_pair *),
                    void *context) MUST_CHECK;

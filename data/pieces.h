// SPDX-License-Identifier: Apache-2.0
// Loops over threads whose pieces can fail.
#pragma once

#include <stdint.h>

#include "runtime/common/base/error.h"

// threads_for for calls that can fail. The sentence of the lowest piece that failed reaches the caller's thread.
int pieces_for(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end),
               void *context) MUST_CHECK;

// Like pieces_for, on its own threads: for work concurrent with another thread's, because a second team of the pool would
// compete for the cores. Each thread takes the next piece of `grain`.
int pieces_crew(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end), void *context) MUST_CHECK;

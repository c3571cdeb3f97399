// SPDX-License-Identifier: Apache-2.0
// Parallel loops. The process has one pool (pool.h), which oneDNN uses too, so that the two do not compete for cores. The
// split of a range depends only on the range and the number of threads: same threads, same bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

void threads_set(int count);  // 0: as many as the process may use
int threads_count(void);
int threads_available(void);  // processors this process may run on

// Calls fn(context, begin, end, thread) for disjoint contiguous pieces of [0, n), one per thread; pieces start at
// multiples of `grain`. Returns when all are done. `thread` is below threads_count().
void threads_for(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end, int thread), void *context);

// memcpy on all threads. A thread takes at least `grain` bytes: waking one for fewer costs more than it saves.
void threads_copy(void *to, const void *from, size_t bytes, int64_t grain);

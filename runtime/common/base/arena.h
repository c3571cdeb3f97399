// SPDX-License-Identifier: Apache-2.0
// Memory that is freed all at once: for graphs, plans, recipes and other things with one common life.
#pragma once

#include "runtime/common/base/error.h"

struct arena {
    struct arena_block *blocks;
};

// Zeroed, aligned for any type. Never NULL: without memory for such small things, even in the reserve (reserve.h), the program
// ends (error_no_memory). Memory as large as a file or a batch comes from malloc and fails with ERR_MEMORY.
void *arena_alloc(struct arena *, size_t bytes);
char *arena_text(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *);

// Zeroed heap memory with the same promise, for things with a life of their own; free() ends it.
void *zalloc(size_t bytes);
void *grow(void *old, size_t bytes);  // realloc that cannot fail
char *copy_text(const char *);        // strdup that cannot fail

static inline size_t arena_round_up(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

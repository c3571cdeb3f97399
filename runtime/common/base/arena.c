// SPDX-License-Identifier: Apache-2.0
// A chain of zeroed blocks, each twice as large as the one before (within bounds): allocating is a few
// instructions, freeing is a walk over a handful of blocks. A piece that does not fit gets a block of its own size.
#include "runtime/common/base/arena.h"

#include "runtime/common/base/reserve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used, capacity;
    _Alignas(max_align_t) unsigned char at[];
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGN = _Alignof(max_align_t) };

void *arena_alloc(struct arena *arena, size_t bytes)
{
    BUG_IF(bytes > SIZE_MAX / 4);
    bytes = arena_round_up(bytes, ALIGN);
    struct arena_block *block = arena->blocks;
    if (!block || block->capacity - block->used < bytes) {
        size_t capacity = block ? block->capacity * 2 : FIRST_BLOCK;
        if (capacity > LARGEST_BLOCK) capacity = LARGEST_BLOCK;
        if (capacity < bytes) capacity = bytes;
        block = zalloc(sizeof *block + capacity);
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *at = block->at + block->used;
    block->used += bytes;
    return at;
}

char *arena_text(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_IF(length < 0);
    char *at = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(at, (size_t)length + 1, format, again);
    va_end(again);
    return at;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
}

void *zalloc(size_t bytes)
{
    void *at = reserve_calloc(bytes ? bytes : 1);
    if (!at) error_no_memory(bytes);
    return at;
}

void *grow(void *old, size_t bytes)
{
    void *at = reserve_realloc(old, bytes ? bytes : 1);
    if (!at) error_no_memory(bytes);
    return at;
}

char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(zalloc(bytes), text, bytes);
}

// SPDX-License-Identifier: Apache-2.0
// Results that leave every cache before they are read again are written around the caches: a plain store would fetch the line
// that it overwrites.
#pragma once

#include <stddef.h>
#include <string.h>

#if defined __x86_64__
#include <emmintrin.h>
#endif

enum { PAST_CACHE = 16 << 20 };  // bytes of results from which on this is faster
enum { PAST_CACHE_LINE = 64 };

// Copies whole lines to an address that is a multiple of a line.
static inline void past_cache_copy(void *to, const void *from, size_t bytes)
{
#if defined __x86_64__
    for (size_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((void *)((char *)to + i), _mm_loadu_si128((const void *)((const char *)from + i)));
#else
    memcpy(to, from, bytes);
#endif
}

// Completes the writes before the threads join.
static inline void past_cache_end(void)
{
#if defined __x86_64__
    _mm_sfence();
#endif
}

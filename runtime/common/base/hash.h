// SPDX-License-Identifier: Apache-2.0
// FNV-1a of a text: a fixed spread for tables and for keys of draws (part of "same seed, same bytes"). It does not protect
// against chosen texts.
#pragma once

#include <stdint.h>

static inline uint32_t hash_text32(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static inline uint64_t hash_text64(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

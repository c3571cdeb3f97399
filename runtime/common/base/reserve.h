// SPDX-License-Identifier: Apache-2.0
// Memory put aside for a program that has to outlive a lack of it: where the system gives none, zalloc() and grow() of arena.h
// take a block of the reserve instead of ending the program. A server calls reserve_low() before it accepts work, and refuses
// while less than half of the reserve is left, so that the rest serves the refusals. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESERVE_BLOCKS = 8 };
void reserve_keep(size_t block_bytes);  // at the start of the program; without it there is no reserve
bool reserve_low(void);                 // after it tried to fill the reserve again

// ---- for arena.c: as calloc and realloc, NULL once the reserve is used up, too
void *reserve_calloc(size_t bytes);
void *reserve_realloc(void *old, size_t bytes);

// ---- for tests: from now on the system gives so many bytes, plus freed ones; -1: as many as it has
void reserve_limit(int64_t bytes);

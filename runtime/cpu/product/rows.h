// SPDX-License-Identifier: Apache-2.0
// Products of rows with packed filters in bf16, for convolutions that consist of them (winograd.c, pixels.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROWS_WIDE = 64 };  // filters side by side
enum { ROWS_UNIT = 4 };   // bytes of a pair of channels

// m[count][64] = v[count][units] u[units][64]. Rows of v are `apart` bytes apart. u's successor in memory is fetched meanwhile.
// tiles: multiply by tiles (tiles.h).
void rows_multiply(bool tiles, const char *v, size_t apart, int64_t count, const char *u, int64_t units, float *m);

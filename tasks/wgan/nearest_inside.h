// SPDX-License-Identifier: Apache-2.0
// The loop of nearest.c, one table for each instruction set (runtime/common/base/isa.h). Only nearest*.c includes this.
#pragma once

#include <stdint.h>

enum { NEAREST_ROWS = 4 };  // of the samples that one picture is compared with at once

struct nearest_loops {
    // dot[r] = sum over i of picture[i] * rows[r * bytes + i], exact: bytes is at most 32,000
    void (*dots)(const uint8_t *picture, const int16_t *rows, int64_t bytes, int32_t dot[NEAREST_ROWS]);
};

extern const struct nearest_loops nearest_loops_base;
#ifndef ISA_ONLY_BASE
extern const struct nearest_loops nearest_loops_avx2, nearest_loops_avx512;
#endif

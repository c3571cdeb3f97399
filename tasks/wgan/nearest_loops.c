// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set (Makefile: ISAS). Products of 16 bits, two of which x86 adds in one instruction.
#include "tasks/wgan/nearest_inside.h"

static void multiply_rows(const uint8_t *picture, const int16_t *rows, int64_t bytes, int32_t dot[NEAREST_ROWS])
{
    int32_t a = 0, b = 0, c = 0, d = 0;
    for (int64_t i = 0; i < bytes; i++) {
        const int16_t x = picture[i];
        a += x * rows[i];
        b += x * rows[bytes + i];
        c += x * rows[2 * bytes + i];
        d += x * rows[3 * bytes + i];
    }
    dot[0] = a, dot[1] = b, dot[2] = c, dot[3] = d;
}

#define JOIN(a, b) a##b
#define TABLE(isa) JOIN(nearest_loops_, isa)
const struct nearest_loops TABLE(ISA) = {multiply_rows};

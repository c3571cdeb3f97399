// SPDX-License-Identifier: Apache-2.0
// By digits of eight bits: the highest first to find the key of the last one selected, the lowest first to sort.
#include "runtime/cpu/cpu_select.h"

#include <string.h>

enum { DIGITS = 256 };

void cpu_select(const uint32_t *key, int64_t n, int64_t k, int32_t *at)
{
    uint32_t last = 0, known = 0;  // the digits of the last key so far, and their mask
    int64_t equal = k;             // how many of those that agree in them are selected
    for (int shift = 24; shift >= 0; shift -= 8) {
        int64_t count[DIGITS] = {0};
        uint32_t digit = 0;
        for (int64_t i = 0; i < n; i++)
            if ((key[i] & known) == last) count[key[i] >> shift & 255u]++;
        for (; digit < DIGITS - 1 && count[digit] < equal; digit++) equal -= count[digit];
        last |= digit << shift, known |= 255u << shift;
    }
    for (int64_t i = 0, to = 0; to < k && i < n; i++)
        if (key[i] < last || (key[i] == last && equal-- > 0)) at[to++] = (int32_t)i;
}

void cpu_sort(const uint32_t *key, int64_t count, int32_t *at, int32_t *spare)
{
    for (int shift = 0; shift < 32; shift += 8) {
        int64_t offset[DIGITS + 1] = {0};
        for (int64_t i = 0; i < count; i++) offset[(key[at[i]] >> shift & 255u) + 1]++;
        for (int d = 0; d < DIGITS; d++) offset[d + 1] += offset[d];
        for (int64_t i = 0; i < count; i++) spare[offset[key[at[i]] >> shift & 255u]++] = at[i];
        memcpy(at, spare, (size_t)count * sizeof *at);
    }
}

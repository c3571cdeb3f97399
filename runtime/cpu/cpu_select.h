// SPDX-License-Identifier: Apache-2.0
// The smallest of many 32-bit keys, and sorting by keys. Of equal keys the first comes first. Nothing is allocated.
#pragma once

#include <stdint.h>

// at[k] = the indices of the k smallest of n keys, in rising order of the indices; k <= n < 2^31. Five passes over the keys.
void cpu_select(const uint32_t *key, int64_t n, int64_t k, int32_t *at);
// Sorts indices by their keys; equal ones keep their order. spare: as many elements.
void cpu_sort(const uint32_t *key, int64_t count, int32_t *at, int32_t *spare);

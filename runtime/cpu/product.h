// SPDX-License-Identifier: Apache-2.0
// Products of blocks of bf16 in pairs, for processors that multiply these. Single-threaded; the blocks lie in the cache.
#ifndef DAWN_CPU_PRODUCT_H
#define DAWN_CPU_PRODUCT_H

#include "runtime/cpu/loops.h"

bool product_pairs_fit(void);  // this processor has the instructions
void product_pairs(const struct product *);

#endif

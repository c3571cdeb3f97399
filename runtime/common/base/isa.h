// SPDX-License-Identifier: Apache-2.0
// Which build of a vector loop this CPU runs. Files of loops are compiled once for each set (Makefile: ISAS).
#pragma once

#include <stdbool.h>

enum isa_set { ISA_SET_BASE, ISA_SET_AVX2, ISA_SET_AVX512, ISA_SETS };

enum isa_set isa_most(void);  // the best that CPU and build have; every lower one runs, too
// The best, or the lower one that DAWN_ISA=base|avx2|avx512 names. A set that this CPU lacks is ignored.
enum isa_set isa_choose(void);
bool isa_is_known(const char *name);  // true for the three names

// SPDX-License-Identifier: Apache-2.0
// The table of accelerators and processors (peaks.json): upper bounds for stated hardware.
#pragma once

#include <jansson.h>

#include "runtime/common/base/error.h"

// The row of an accelerator, "8 x NVIDIA H100 80GB HBM3". NULL: none has this name as a whole. Words of makers may come before
// it, and words of a form or a memory size behind it; any other word makes it another accelerator.
const json_t *accelerator_find(const char *gpu);
int64_t accelerator_count(const char *gpu);  // of "8 x NAME" 8, of "NAME" 1, of "" 0
// The most hardware threads of a package of this processor. For an unknown processor: more than any package of 2026 has.
int64_t accelerator_threads(const char *cpu);

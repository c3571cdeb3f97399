// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still take.
#ifndef DAWN_BASE_MEMORY_H
#define DAWN_BASE_MEMORY_H

#include <stddef.h>

// What the kernel says is available, or what the control group leaves when that is less; 0 when nothing can be read.
size_t memory_available(void);

#endif

// SPDX-License-Identifier: Apache-2.0
// How much memory this process may use.
#pragma once

#include <stddef.h>

// The memory that the kernel reports as available, or the rest of the control group's limit if that is less; 0 if unknown.
size_t memory_available(void);

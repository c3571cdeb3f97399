// SPDX-License-Identifier: Apache-2.0
// The one monotonic clock. It cannot be paused, and nothing else in DAWN reads a clock for a result.
#pragma once

#include <stdint.h>

int64_t clock_ns(void);                // monotonic, arbitrary origin
int64_t clock_process_start_ns(void);  // when this process was started by the system, on the same clock
int64_t clock_cpu_ns(void);            // processor time of all threads of this process
int64_t clock_unix_ms(void);           // date and time, for the record only: never subtracted

// SPDX-License-Identifier: Apache-2.0
// Launchers of several problems at once. K_MANY_LAUNCHER(k_thing) does the work of `count` structs of K_LAUNCHER(k_thing) with as
// many launches as one, to the same bytes. No problem may access what another writes.
#pragma once

#include "runtime/cuda/kernel.h"

#ifdef __cplusplus
#define K_MANY_LAUNCHER(name) extern "C" cudaError_t name##_many(cudaStream_t stream, const void *const *args, int count)
#else
#define K_MANY_LAUNCHER(name) cudaError_t name##_many(cudaStream_t stream, const void *const *args, int count)
#endif

enum { K_MANY = 24 };  // most problems: they are the arguments of a kernel, which are limited to 4 KiB

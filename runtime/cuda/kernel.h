// SPDX-License-Identifier: Apache-2.0
// The interface between C and CUDA for a kernel. A k_NAME.h declares `struct k_thing` (everything the launcher needs:
// addresses, sizes, types, all set when a graph is compiled) and K_LAUNCHER(k_thing), the function in k_NAME.cu that puts one
// or more kernels on the stream. Launchers do not allocate, wait or read back, so that they can be captured in a CUDA graph.
// Scratch comes in the struct; a function in the header returns its size.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/graph.h"

#ifdef __cplusplus
#define K_LAUNCHER(name) extern "C" cudaError_t name(cudaStream_t stream, const void *args)
#else
#define K_LAUNCHER(name) cudaError_t name(cudaStream_t stream, const void *args)
#endif

// SPDX-License-Identifier: Apache-2.0
// What C and CUDA both see of a kernel. A k_NAME.h declares `struct k_thing` (everything the launcher needs: addresses,
// sizes, types, all settled when a graph is compiled) and K_LAUNCHER(k_thing), the function in k_NAME.cu that puts one
// or more kernels on the stream. Launchers allocate nothing, wait for nothing and read nothing back, so that a step of
// them can be captured as a CUDA graph. Scratch memory comes in the struct; how much is said by a function in the header.
#ifndef DAWN_KERNEL_H
#define DAWN_KERNEL_H

#include <cuda_runtime_api.h>

#include "runtime/graph.h"

#ifdef __cplusplus
#define K_LAUNCHER(name) extern "C" cudaError_t name(cudaStream_t stream, const void *args)
#else
#define K_LAUNCHER(name) cudaError_t name(cudaStream_t stream, const void *args)
#endif

#endif

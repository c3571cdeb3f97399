// SPDX-License-Identifier: Apache-2.0
// What the pretend libraries (test/emulate/lib) need of the emulator. Programs export these functions to what they load.
#ifndef DAWN_EMULATE_LIBRARY_H
#define DAWN_EMULATE_LIBRARY_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Puts work(args) on a stream, with a copy of the `bytes` at args: done now, kept for later, or recorded while the stream
// captures and then done at each launch of the graph. (Pointers in args must live as long.)
cudaError_t emulate_enqueue(cudaStream_t stream, void (*work)(void *args), const void *args, size_t bytes);

// Dies unless all `bytes` at `at` are of one allocation on the device; `what` says whose address it is.
void emulate_check_range(const void *at, size_t bytes, const char *what);

#ifdef __cplusplus
}
#endif
#endif

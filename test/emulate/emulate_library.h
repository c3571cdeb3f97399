// SPDX-License-Identifier: Apache-2.0
// The emulator's interface for the emulated libraries (test/emulate/lib). Programs export these functions to the libraries that
// they load.
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Puts work(args) on a stream, with a copy of the `bytes` at args. It is executed now, queued, or, if the stream captures,
// recorded and executed at each launch of the graph. Pointers in args must live as long.
cudaError_t emulate_enqueue(cudaStream_t stream, void (*work)(void *args), const void *args, size_t bytes);

// Dies unless all `bytes` at `at` lie in one device allocation; `what` names the address in the message.
void emulate_check_range(const void *at, size_t bytes, const char *what);

#ifdef __cplusplus
}
#endif

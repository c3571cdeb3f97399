// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the emulator: the scheduler of threads (emulate.cc), facts about kernels (emulate_kernel.cc) and the
// emulated runtime (cudart*.cc). Functions must not have static local variables: emulate_kernel.cc would take them for shared
// memory.
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "test/emulate/emulate_library.h"
#include "test/emulate/emulate_test.h"

struct emulate_kernel {
    const void *kernel;
    void (*call)(const void *kernel, const void *k);
    dim3 grid, block;
};

// Dies if a GPU would reject the launch.
void emulate_check_launch(const struct emulate_kernel &);
// Runs every thread of every block to its end.
void emulate_run(const struct emulate_kernel &, const void *k);
int emulate_order_now(void);  // as set by emulate_order()
// Prints the message, and kernel, block and thread if one is running; then aborts.
[[noreturn]] void emulate_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- emulate_kernel.cc

struct emulate_shared_variable {
    unsigned char *at;
    size_t size;
    std::string name;
};
struct emulate_facts {
    std::string name;
    std::vector<const struct emulate_shared_variable *> shared;  // those found so far
    size_t shared_bytes = 0;
};
struct emulate_facts &emulate_facts_of(const void *kernel);
void emulate_fill_shared(const struct emulate_facts &);   // with NaN
void emulate_learn_shared(struct emulate_facts &);        // after a block: finds variables that it has written

// ---- cudart.cc: streams

extern struct emulate_counts emulate_counted;
extern std::recursive_mutex emulate_lock;  // held by every call of the runtime
extern int emulate_lateness;               // set by emulate_late(); -1: not set yet

// Puts work on a stream: executed now, queued, or recorded, depending on the stream's state.
cudaError_t emulate_put(cudaStream_t stream, std::function<void()> work);
bool emulate_capturing(cudaStream_t stream);
void emulate_finish(cudaStream_t stream);  // executes all queued work of the stream
void emulate_finish_all(void);
void emulate_finish_blocking(void);  // the null stream and all streams that block on it
// For calls that are illegal during capture: invalidates the captures that a GPU would invalidate; returns the error.
cudaError_t emulate_unsafe(void);

// ---- cudart_memory.cc: the device's memory

void emulate_save(std::vector<unsigned char> &into);
void emulate_restore(const std::vector<unsigned char> &from);
const void *emulate_difference(const std::vector<unsigned char> &to);  // the first byte that differs, or NULL

// ---- cudart_machine.cc: start of a call

// The error that a call returns at once, because of the machine, a sticky error, or a test's request. cudaSuccess: the call
// proceeds.
cudaError_t emulate_enter(const char *function);
cudaError_t emulate_error(cudaError_t);  // remembers the error for cudaGetLastError
size_t emulate_gpu_memory(void);
#define ENTER(function)                                                                                                \
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);                                                        \
    cudaError_t entered_ = emulate_enter(function);                                                                    \
    if (entered_ != cudaSuccess) return entered_

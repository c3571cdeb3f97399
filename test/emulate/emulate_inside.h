// SPDX-License-Identifier: Apache-2.0
// Between the parts of the emulator: the scheduler of threads (emulate.cc), what is known of kernels (emulate_kernel.cc) and
// the pretend runtime (cudart*.cc). Its functions have no static variables inside: such variables are shared memory to it.
#ifndef DAWN_EMULATE_INSIDE_H
#define DAWN_EMULATE_INSIDE_H

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

// Dies where a card would refuse the launch.
void emulate_check_launch(const struct emulate_kernel &);
// Runs every thread of every block, to the end.
void emulate_run(const struct emulate_kernel &, const void *k);
int emulate_order_now(void);  // of emulate_order()
// Says what went wrong, and in which kernel, block and thread if one is running; then aborts.
[[noreturn]] void emulate_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- emulate_kernel.cc

struct emulate_shared_variable {
    unsigned char *at;
    size_t size;
    std::string name;
};
struct emulate_facts {
    std::string name;
    std::vector<const struct emulate_shared_variable *> shared;  // as far as is known by now
    size_t shared_bytes = 0;
};
struct emulate_facts &emulate_facts_of(const void *kernel);
void emulate_fill_shared(const struct emulate_facts &);   // with NaN
void emulate_learn_shared(struct emulate_facts &);        // after a block: finds variables that it has used

// ---- cudart.cc: streams

extern struct emulate_counts emulate_counted;
extern std::recursive_mutex emulate_lock;  // held by every call of the runtime
extern int emulate_lateness;               // emulate_late(); -1: not settled yet

// Puts work on a stream: done now, kept for later, or recorded, as the stream stands.
cudaError_t emulate_put(cudaStream_t stream, std::function<void()> work);
bool emulate_capturing(cudaStream_t stream);
void emulate_finish(cudaStream_t stream);  // does all that the stream still has to do
void emulate_finish_all(void);
void emulate_finish_blocking(void);  // the null stream and all that wait for it
// What must not be done while a stream captures: breaks the captures that it breaks on a card, and is the error to return.
cudaError_t emulate_unsafe(void);

// ---- cudart_memory.cc: all of the device's memory

void emulate_save(std::vector<unsigned char> &into);
void emulate_restore(const std::vector<unsigned char> &from);
const void *emulate_difference(const std::vector<unsigned char> &to);  // the first byte that is another one, or NULL

// ---- cudart_machine.cc: entering a call

// What a call returns at once: because the machine is such, because the card has not forgotten an error, or because a test
// wants it. cudaSuccess: it goes on.
cudaError_t emulate_enter(const char *function);
cudaError_t emulate_error(cudaError_t);  // remembered for cudaGetLastError
size_t emulate_card_memory(void);
#define ENTER(function)                                                                                                \
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);                                                        \
    cudaError_t entered_ = emulate_enter(function);                                                                    \
    if (entered_ != cudaSuccess) return entered_

#endif

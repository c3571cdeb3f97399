// SPDX-License-Identifier: Apache-2.0
// The emulator's interface for tests: order of threads, failing calls, other machines, counters.
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The order of blocks, and of threads between two barriers. The default is DAWN_EMULATE_ORDER (up, down, mixed). A kernel whose
// result depends on it has a race.
enum { EMULATE_UP, EMULATE_DOWN, EMULATE_MIXED };
void emulate_order(int order);

// Runs every launch in all three orders from the same device memory and dies if the results differ, which names the kernel with
// the race. The default is DAWN_EMULATE_RACES (0, 1).
void emulate_races(int look_for_them);

// Replays the nodes of every graph launch in a new random order that the dependencies allow, instead of capture order. The
// default is DAWN_EMULATE_REPLAY (mixed); EMULATE_MIXED enables it too. A graph whose result depends on the order lacks a
// dependency.
void emulate_replay(int mixed);

// Delays the work of a stream until something waits for it (or reads its result with a synchronous copy), which is the latest
// moment that a GPU may choose; otherwise work is executed at once. The default is DAWN_EMULATE_LATE (0, 1). EMULATE_NEVER:
// work is dropped and addresses are not checked, so that programs larger than this machine's memory can be compiled.
enum { EMULATE_AT_ONCE, EMULATE_LATE, EMULATE_NEVER };
void emulate_late(int late);

struct emulate_counts {
    uint64_t launches;         // kernel launches, without those in graphs
    uint64_t launches_captured;
    uint64_t graph_launches;
    uint64_t allocations;      // cudaMalloc
    uint64_t host_allocations;
    uint64_t synchronisations; // waits for streams, events and the device
    uint64_t copies;           // copies and fills, without those in graphs
    uint64_t streams, events, graphs;  // alive: created, instantiated or captured, and not destroyed
};
struct emulate_counts emulate_counts(void);
size_t emulate_memory_in_use(void);  // bytes allocated by cudaMalloc and not freed
size_t emulate_memory_peak(void);

// Makes the next call of the named function ("cudaLaunchKernel" for launches) return `error`. After a sticky error
// (cudaErrorIllegalAddress and similar) every call fails. `after`: number of calls that still succeed. NULL: no call fails any
// more.
void emulate_fail(const char *function, cudaError_t error);
void emulate_fail_after(const char *function, int after, cudaError_t error);

// Another machine, from the next call on.
enum emulate_machine {
    EMULATE_H200,        // the default
    EMULATE_NO_DRIVER,   // cudaErrorInsufficientDriver, driver version 0
    EMULATE_NO_DEVICE,   // a driver without a GPU
    EMULATE_OLD_GPU,    // compute capability 7.5
    EMULATE_OLD_DRIVER,  // older than the runtime requires
    EMULATE_SMALL,       // 64 MiB of memory
};
void emulate_machine(enum emulate_machine);

#ifdef __cplusplus
}
#endif

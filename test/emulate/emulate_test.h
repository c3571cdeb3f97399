// SPDX-License-Identifier: Apache-2.0
// What tests ask of the emulator: another order of threads, a call that fails, another machine, what was counted.
#ifndef DAWN_EMULATE_TEST_H
#define DAWN_EMULATE_TEST_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// In which order blocks, and threads between two barriers, take their turns. At first it is what DAWN_EMULATE_ORDER says
// (up, down, mixed). A kernel whose result depends on it has a race.
enum { EMULATE_UP, EMULATE_DOWN, EMULATE_MIXED };
void emulate_order(int order);

// Every launch is run in all three orders from the same memory of the device, and the program dies if they leave different
// bytes: races are found at the kernel that has them. At first it is what DAWN_EMULATE_RACES says (0, 1).
void emulate_races(int look_for_them);

// Graphs are replayed in an order drawn anew for every launch, of all that their dependencies allow, and not in the order of
// capture. At first it is what DAWN_EMULATE_REPLAY says (mixed); EMULATE_MIXED does it too. A graph whose result depends on
// it lacks a dependency.
void emulate_replay(int mixed);

// Work of a stream waits until somebody waits for it (or reads what it made with a synchronous copy), as late as a card
// could be; otherwise it is done at once. At first it is what DAWN_EMULATE_LATE says (0, 1). EMULATE_NEVER: it is forgotten,
// and nobody asks whether anything lies at an address, so that programs larger than this machine can be compiled.
enum { EMULATE_AT_ONCE, EMULATE_LATE, EMULATE_NEVER };
void emulate_late(int late);

struct emulate_counts {
    uint64_t launches;         // of kernels, those of graphs not among them
    uint64_t launches_captured;
    uint64_t graph_launches;
    uint64_t allocations;      // cudaMalloc
    uint64_t host_allocations;
    uint64_t synchronisations; // of streams, events, the device
    uint64_t copies;           // and fills, those of graphs not among them
    uint64_t streams, events, graphs;  // alive: created, instantiated or captured, and not destroyed
};
struct emulate_counts emulate_counts(void);
size_t emulate_memory_in_use(void);  // bytes that cudaMalloc gave and cudaFree did not take back
size_t emulate_memory_peak(void);

// The next call of the named function ("cudaLaunchKernel" for launches) returns `error`, and after an error that a card does
// not forget (cudaErrorIllegalAddress and the like) every call does. `after`: how many calls still succeed before. NULL: all
// is well again.
void emulate_fail(const char *function, cudaError_t error);
void emulate_fail_after(const char *function, int after, cudaError_t error);

// Another machine, from the next call on.
enum emulate_machine {
    EMULATE_H200,        // as it is at first
    EMULATE_NO_DRIVER,   // cudaErrorInsufficientDriver, driver version 0
    EMULATE_NO_DEVICE,   // a driver without a card
    EMULATE_OLD_CARD,    // compute capability 7.5
    EMULATE_OLD_DRIVER,  // older than the runtime wants
    EMULATE_SMALL,       // 64 MiB of memory
};
void emulate_machine(enum emulate_machine);

#ifdef __cplusplus
}
#endif
#endif

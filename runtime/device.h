// SPDX-License-Identifier: Apache-2.0
// The narrow waist: a device compiles whole graphs. It gets the planned graph at once, not one operator at a time,
// so that it can fuse, prepare every primitive and capture a step before the clock runs. `supports` is called before
// anything runs: an unsupported node is an error with a name.
#pragma once

#include "runtime/plan/plan.h"

struct device_facts {
    char name[128];            // "AMD EPYC 9B45, 2 threads, avx512_core_bf16"
    char library[192];         // "oneDNN 2.6.3"
    char gpu[96], driver[32];  // "NVIDIA H200", "580.95.05"; empty for the processor
    int threads;
    double peak_flops[DTYPE_COUNT];  // measured by device_measure (a large matmul), 0 until then
    double peak_bytes;               // measured copy, bytes read + written a second
    double peak_spread;              // the largest ratio of the best try of a peak to the worst; 0: not measured
    size_t memory;             // bytes that a run may still take
    bool fast[DTYPE_COUNT];    // the type is faster than f32 here
};

struct program;  // a compiled plan; each device has its own

struct device_type {
    const char *name;   // "cpu"
    const char *about;  // one line for `dawn doctor`
    bool rounds_wgrad;  // filter gradients of 16-bit activations are rounded to that type on their way to f32
    bool queues;        // run() may return before the work is done: reading a slot waits for it
    bool joins;         // ALL_REDUCE adds over the processes that train together (runtime/ranks); else it trains alone
    bool shares_kept;   // all programs of a session may share one block for kept values: the device tracks whose it holds
    bool overlaps;      // reorders or overlaps nodes of the update: plans do not make them wait for shared bytes (plan.h)
    bool (*present)(void);  // true if "auto" may take it; NULL: always. Asks the driver, if any; takes nothing
    int (*open)(int index, int threads, struct device **);
    void (*close)(struct device *);
    int (*alloc)(struct device *, size_t bytes, void **);  // 64-byte aligned
    void (*free)(struct device *, void *);
    // Both come after the programs that are queued. `from` of an upload may change when it returns; a download waits.
    int (*upload)(struct device *, void *to, const void *from, size_t bytes);
    int (*download)(struct device *, void *to, const void *from, size_t bytes);
    // Memory of the host that stage() copies from without waiting: pinned where a device has memory of its own.
    int (*host_alloc)(struct device *, size_t bytes, void **);
    void (*host_free)(struct device *, void *);
    // As upload, but concurrent with the programs that are queued, which still read the old bytes; the next run, profile,
    // upload or download comes after the copy. `from` must not change until stage_done, which waits until all staged copies
    // have left the host. Two ranges staged before one run either begin at the same byte or do not overlap.
    int (*stage)(struct device *, void *to, const void *from, size_t bytes);
    int (*stage_done)(struct device *);
    int (*supports)(struct device *, const struct graph *, const struct node *);  // 0, or fail() with the node's name
    // True if the device runs this node faster than its parts. Asked of nodes that a fusion would make; NULL: never.
    bool (*fuses)(struct device *, const struct graph *, const struct node *);
    // Scratch of a node while it runs, including copies of weights that are packed for one run.
    int (*workspace)(struct device *, const struct graph *, const struct node *, size_t *bytes);
    // Bytes that a node keeps between runs, such as packed filters that seldom change (slot.version); NULL: never any.
    size_t (*kept)(struct device *, const struct graph *, const struct node *);
    int (*compile)(struct device *, const struct plan *, void *slab, struct program **);
    int (*run)(struct program *);                    // may return before the work is done
    int (*sync)(struct device *);
    // Runs once, timing every node of the order: ns[plan->count].
    int (*profile)(struct program *, int64_t *ns);
    void (*release)(struct program *);
    int (*facts)(struct device *, struct device_facts *);
    // Energy used since some fixed moment; false: not known. NULL: never known (machine_meter.c measures the processor).
    bool (*energy_uj)(struct device *, int64_t *since_start);
    size_t (*taken)(struct device *);  // most bytes of its own memory at once; NULL: it is the process's
};

// Every device's own struct begins with this.
struct device {
    const struct device_type *type;
};

extern const struct device_type device_null, device_ref, device_cpu, device_cuda;
extern const struct device_type *const device_types[];  // the table; ends with NULL

// name: "cuda", "cuda:1", "cpu", "ref", "null". NULL or "auto": the first of the table that is present.
int device_open(const char *name, int threads, struct device **) MUST_CHECK;
// The same for one of several processes on a machine (runtime/ranks): where the name leaves it open, each takes a GPU of its own
// and its share of the processors.
int device_open_shared(const char *name, int threads, struct device **) MUST_CHECK;
void device_close(struct device *);
// For devices that share the host's memory: ordinary memory, and a stage that is an upload and done at once.
int device_host_alloc(struct device *, size_t bytes, void **) MUST_CHECK;
void device_host_free(struct device *, void *);
int device_stage_done(struct device *) MUST_CHECK;
// Plans a convolution and runs nothing. So a library that the device loads late, and that is missing, is reported now.
int device_check(struct device *) MUST_CHECK;
// Measures peak_flops (matmul) and peak_bytes (copy) on the device through its own programs: the best of at
// least two tries. About two seconds.
int device_measure(struct device *, struct device_facts *) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Internals of the CPU device. A compiled plan is an array of steps, one per node, each with every address, primitive and
// scratch buffer fixed. oneDNN runs matmul, and convolution where no kernel of DAWN is faster (stem.c, direct.c, wgrad.c,
// winograd*.c; dnnl_*.c). Everything else is bound by memory and runs in DAWN's loops (loops*.c, compiled once per instruction
// set; cpu_*.c).
#pragma once

#include "runtime/device.h"

#include <oneapi/dnnl/dnnl.h>

struct loops;  // loops.h: the table of vector loops of one instruction set

struct cpu_device {
    struct device base;
    int threads;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    const struct loops *loops;
    bool bf16;   // the CPU multiplies bf16 (avx512_bf16 or amx)
    bool tiles;  // and tiles of them (amx)
};

struct cpu_step {
    int (*run)(struct cpu_step *);
    void (*release)(struct cpu_step *);  // frees `own`; may be NULL
    struct cpu_device *cpu;
    const struct graph *graph;
    const struct node *node;
    void *in[MAX_IN], *out[MAX_OUT];  // addresses; NULL for NONE
    void *work;                       // scratch from the slab, 64-byte aligned
    size_t work_bytes;
    void *kept;                       // bytes that the node keeps between runs
    void *own;                        // created by prepare
};

// One entry per operator; the table is in cpu.c.
struct cpu_op {
    int (*supports)(struct cpu_device *, const struct graph *, const struct node *);  // NULL: everything that infer accepts
    size_t (*workspace)(struct cpu_device *, const struct graph *, const struct node *);  // NULL: none
    int (*prepare)(struct cpu_step *);  // sets run
    size_t (*kept)(struct cpu_device *, const struct graph *, const struct node *);  // as in device.h; NULL: none
};

#define OP(ID, name, inputs, outputs, flags) extern const struct cpu_op cpu_##name;
#include "runtime/ops.def"
#undef OP

// SPDX-License-Identifier: Apache-2.0
// Internals of the CUDA device. A compiled plan is an array of steps, one per node. A step is a launcher with fixed arguments;
// all steps are captured once as a CUDA graph and then replayed. cuDNN runs convolutions (dnn.h), cuBLASLt runs large matrix
// products, kernels of DAWN (k_*.cu) run everything else. A device has one stream; nodes of a graph that share no written bytes
// can run concurrently (cuda_lanes.h), which is off by default.
//
//   cuda.c           the device: opening, memory, facts, the table of operators
//   cuda_program.c   compile, capture, run, profile
//   cuda_lanes.c     the edges of a program's graph: which nodes may run concurrently
//   cuda_weights.c   16-bit copies of f32 parameters, made once a run for all readers
//   cuda_error.c     CUDA errors as sentences
//   cuda_memory.c    device memory; small blocks are carved from chunks
//   cuda_merge.c     the launches of a program: nodes of the update that are launched together
//   cuda_copy.c      copies between host and GPU
//   cuda_stage.c     copies to the GPU that overlap programs
//   cuda_hold.c      a pause of a stream, so that events time the GPU and not the host
//   cuda_library.c   cuDNN, cuBLASLt and NVML, loaded on first use
//   cuda_meter.c     the GPU's energy meter
//   cuda_*.c         operators by family: support, scratch size, arguments of the launcher
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/cuda/kernel.h"
#include "runtime/device.h"

struct dnn;         // cuDNN and its plans (dnn.h)
struct blas;        // cuBLASLt (cuda_blas.h)
struct cuda_memory; // cuda_memory.c
struct cuda_stage;  // cuda_stage.c
struct cuda_meter;  // NVML (cuda_meter.c)

// The DAWN_CUDA_* environment variables (docs/cuda.md), read once when the device is opened. The on/off switches come first, as
// 1 or 0.
struct cuda_switches {
    int graphs, sync, tune, tf32, cache, pool;
    enum cuda_convolver { CONV_AUTO, CONV_OWN, CONV_CUDNN } conv;
    enum cuda_multiplier { BLAS_AUTO, BLAS_OFF, BLAS_ALWAYS } blas;
};

struct cuda_device {
    struct device base;
    int index;
    cudaStream_t stream;
    cudaStream_t urgent;  // highest priority; only captured, for nodes of the update (cuda_lanes.h); NULL with one lane
    int lanes;            // number of nodes of a graph that may run concurrently (DAWN_CUDA_LANES)
    char name[128];
    int major, minor;     // compute capability
    int processors;       // streaming multiprocessors
    size_t memory;        // bytes of device memory
    struct dnn *dnn;      // NULL until a convolution is planned
    struct blas *blas;    // NULL until a large product is planned
    struct nccl *nccl;    // NULL until one of several processes plans a reduction
    void (*dnn_close)(struct cuda_device *), (*blas_close)(struct cuda_device *);  // set by the opener, called by close
    void (*nccl_close)(struct cuda_device *);
    size_t dnn_version;   // version number of the loaded cuDNN (91900); 0: not loaded
    const void *copies_of;      // the program (its cuda_weights) that wrote 16-bit copies last
    struct cuda_memory *pool;
    char *ring;                // pinned memory for small copies (cuda_copy.c); NULL until the first
    size_t ring_used;
    struct cuda_stage *stage;  // NULL until something is staged
    struct cuda_meter *meter;  // NULL until energy is read
    struct cuda_switches set;
    bool graphs;          // replay programs as CUDA graphs (set.graphs and not set.sync) instead of step by step
    bool sync;            // wait after every step (set.sync), so that an error names its node
    char ran[64];         // the graph that ran last, for errors that the GPU reports late
};

struct cuda_step {
    cudaError_t (*launch)(cudaStream_t, const void *args);
    void *args;                          // in the program's arena
    int (*run)(struct cuda_step *);      // used instead of launch by cuDNN and cuBLASLt; NULL: launch(stream, args)
    void (*release)(struct cuda_step *); // frees what prepare created; may be NULL
    struct cuda_device *cuda;
    const struct plan *plan;
    const struct graph *graph;
    const struct node *node;
    int position;                     // index in the plan
    cudaStream_t stream;              // for launch and run, set before each call
    bool bound;                       // set by prepare: runs only on the device's own stream, as cuDNN's handle does
    void *in[MAX_IN], *out[MAX_OUT];  // addresses on the device; NULL for NONE
    void *work;                       // scratch from the slab, 64-byte aligned
    size_t work_bytes;
    struct arena *arena;
    void *own;
};

// Sets a launcher and its arguments: CUDA_LAUNCH(s, k_act, .x = s->in[0], .count = n);
#define CUDA_LAUNCH(step, kernel, ...)                                                                                 \
    ((step)->launch = (kernel),                                                                                        \
     (step)->args = memcpy(arena_alloc((step)->arena, sizeof(struct kernel)), &(struct kernel){__VA_ARGS__},           \
                           sizeof(struct kernel)))

// One entry per operator; the table is in cuda.c.
struct cuda_op {
    int (*prepare)(struct cuda_step *);  // sets launch or run; sets neither if there is no work (a reshape)
    size_t (*workspace)(struct cuda_device *, const struct graph *, const struct node *);  // NULL: none
    int (*supports)(struct cuda_device *, const struct graph *, const struct node *);      // NULL: everything that infer accepts
    // Bit mask of the inputs that are read through a 16-bit copy if they are f32. *to: the type of the copy; F32: none.
    unsigned (*copies)(const struct graph *, const struct node *, enum dtype *to);         // NULL: none
};
#define OP(ID, name, inputs, outputs, flags) extern const struct cuda_op cuda_##name;
#include "runtime/ops.def"
#undef OP
extern const struct cuda_op *const cuda_ops[OP_COUNT];

// Makes the device's GPU the current one of this thread; a program may have several devices open.
int cuda_choose(struct cuda_device *) MUST_CHECK;
// Waits for all work of a device. An error names the graph that ran last.
int cuda_wait(struct cuda_device *) MUST_CHECK;
// An error that the GPU reports after the fact: the sentence of cuda_check with the graph that ran last.
int cuda_late_failure(const struct cuda_device *, cudaError_t, const char *what) MUST_CHECK;

// The driver's version ("580.95.05") from its kernel module; "" if not available.
void cuda_driver_text(char *into, size_t capacity);

// The address of input i in type `to`: the input itself, or its copy in cuda_weights.c (requested by cuda_op.copies).
const void *cuda_weight(const struct cuda_step *, int i, enum dtype to);
enum { CUDA_WEIGHT_ROWS = 8 };
// The number of zeros after a copy of this value: they pad a matrix to a multiple of CUDA_WEIGHT_ROWS rows.
int64_t cuda_weight_zeros(const struct graph *, int value);

// Returns 0 or fails with a sentence that names the action `what` ("copying to the GPU").
int cuda_check(cudaError_t, const char *what) MUST_CHECK;

static inline const struct value *cuda_in(const struct cuda_step *s, int i) { return node_in(s->graph, s->node, i); }
static inline const struct value *cuda_out(const struct cuda_step *s, int i) { return node_out(s->graph, s->node, i); }
static inline int64_t cuda_count(const struct value *v) { return shape_count(&v->shape); }

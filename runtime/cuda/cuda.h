// SPDX-License-Identifier: Apache-2.0
// The CUDA device from the inside: a compiled plan is an array of steps, one a node, each a launcher and its settled
// arguments, captured once as a CUDA graph and then replayed. cuDNN convolves (dnn.h), cuBLASLt multiplies what is large,
// own kernels (k_*.cu) do everything else. All work of a device goes to one stream; inside of a graph, what does not touch
// the same bytes may run at the same time (cuda_lanes.h).
//
//   cuda.c           the device: opening, memory, facts, the table of operators
//   cuda_program.c   compile, capture, run, profile
//   cuda_lanes.c     what of a program may run at the same time: the edges of its graph
//   cuda_weights.c   16-bit copies of f32 parameters, made once a run for all who read them
//   cuda_error.c     errors of the driver as sentences
//   cuda_memory.c    memory of the card, small pieces carved from chunks
//   cuda_library.c   cuDNN, cuBLASLt and NVML, loaded when they are first needed
//   cuda_meter.c     the card's energy meter
//   cuda_*.c         operators by family: what is supported, scratch memory, arguments of the launcher
#ifndef DAWN_CUDA_H
#define DAWN_CUDA_H

#include "runtime/base/arena.h"
#include "runtime/cuda/kernel.h"
#include "runtime/device.h"

struct dnn;         // cuDNN and its plans (dnn.h)
struct blas;        // cuBLASLt (cuda_matmul.c)
struct cuda_memory; // cuda_memory.c
struct cuda_meter;  // NVML (cuda_meter.c)

// What DAWN_CUDA_* in the environment says (docs/cuda.md), read once, when the device is opened. The switches that are on or
// off come first, as 1 or 0.
struct cuda_switches {
    int graphs, sync, tune, tf32, cache, pool;
    enum cuda_convolver { CONV_AUTO, CONV_OWN, CONV_CUDNN } conv;
    enum cuda_multiplier { BLAS_AUTO, BLAS_OFF, BLAS_ALWAYS } blas;
};

struct cuda_device {
    struct device base;
    int index;
    cudaStream_t stream;
    cudaStream_t urgent;  // of the highest priority; only ever captured, for nodes of the update (cuda_lanes.h)
    int lanes;            // so many nodes of a graph may run at once (DAWN_CUDA_LANES)
    char name[128];
    int major, minor;     // compute capability
    int processors;       // streaming multiprocessors
    size_t memory;        // bytes on the card
    struct dnn *dnn;      // NULL until a convolution is planned
    struct blas *blas;    // NULL until a large product is planned
    void (*dnn_close)(struct cuda_device *), (*blas_close)(struct cuda_device *);  // set by who opens them; called by close
    size_t dnn_version;   // what the loaded cuDNN calls itself (91900); 0: not loaded
    struct cuda_memory *pool;
    struct cuda_meter *meter;  // NULL until energy is asked for
    struct cuda_switches set;
    bool graphs;          // programs are replayed as CUDA graphs (set.graphs and not set.sync), else step by step
    bool sync;            // every step is waited for (set.sync), so that a failure has a name
    char ran[64];         // the graph that ran last, for the sentence when the card fails behind our back
};

struct cuda_step {
    cudaError_t (*launch)(cudaStream_t, const void *args);
    void *args;                          // of the program's arena
    int (*run)(struct cuda_step *);      // for what is no launcher (cuDNN, cuBLASLt); NULL: launch(stream, args)
    void (*release)(struct cuda_step *); // ends what prepare made; may be NULL
    struct cuda_device *cuda;
    const struct plan *plan;
    const struct graph *graph;
    const struct node *node;
    int position;                     // in the plan
    cudaStream_t stream;              // where launch and run put their work, set before each
    bool bound;                       // prepare says: to the device's own stream alone, as cuDNN's handle is
    void *in[MAX_IN], *out[MAX_OUT];  // addresses on the device; NULL for NONE
    void *work;                       // scratch from the slab, 64-byte aligned
    size_t work_bytes;
    struct arena *arena;
    void *own;
};

// Settles a launcher and its arguments: CUDA_LAUNCH(s, k_act, .x = s->in[0], .count = n);
#define CUDA_LAUNCH(step, kernel, ...)                                                                                 \
    ((step)->launch = (kernel),                                                                                        \
     (step)->args = memcpy(arena_alloc((step)->arena, sizeof(struct kernel)), &(struct kernel){__VA_ARGS__},           \
                           sizeof(struct kernel)))

// One entry an operator; the table is in cuda.c.
struct cuda_op {
    int (*prepare)(struct cuda_step *);  // sets launch or run; neither: nothing is to be done (a reshape)
    size_t (*workspace)(struct cuda_device *, const struct graph *, const struct node *);  // NULL: none
    int (*supports)(struct cuda_device *, const struct graph *, const struct node *);      // NULL: all that infer accepts
    // The float inputs (bit i: input i) whose f32 parameters are read through a 16-bit copy when the activations are 16-bit.
    unsigned (*copies)(const struct graph *, const struct node *, enum dtype *to);         // NULL: none
};
#define OP(ID, name, inputs, outputs, flags) extern const struct cuda_op cuda_##name;
#include "runtime/ops.def"
#undef OP

// Makes the card of a device the one that this thread's calls are for; a program may have several open.
int cuda_choose(struct cuda_device *) MUST_CHECK;

// The driver's version as people know it ("580.95.05"), from the kernel's module; "" where that is not shown.
void cuda_driver_text(char *into, size_t room);

// The address of input i in type `to`: itself, or the copy that cuda_weights.c keeps (cuda_op.copies named it).
const void *cuda_weight(const struct cuda_step *, int i, enum dtype to);

// 0, or fail(): what the driver says, as a sentence that names `what` was being done ("copying to the card").
int cuda_check(cudaError_t, const char *what) MUST_CHECK;

static inline const struct value *cuda_in(const struct cuda_step *s, int i) { return node_in(s->graph, s->node, i); }
static inline const struct value *cuda_out(const struct cuda_step *s, int i) { return node_out(s->graph, s->node, i); }
static inline int64_t cuda_count(const struct value *v) { return shape_count(&v->shape); }

#endif

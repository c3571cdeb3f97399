// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN, through its backend (graph) interface. A problem is one convolution or one of its gradients, without
// groups, all tensors NHWC and of one type. A plan is the engine chosen for it: the first of the heuristics' list that is
// deterministic, computes in the precision that the type promises, and needs no compiler at run time; or the fastest of the
// first few, if timing is on. A call is a plan bound to addresses: executing it is one call of the library, allocates nothing,
// and can be captured into a CUDA graph.
//
// Plans are kept for the life of the device by their problem, and the choices of engines between runs (dnn_cache.h). Cost: the
// first plan loads the library (hundreds of MB are mapped); each plan takes milliseconds.
//
//   dnn.c         loading, the table of plans, calls     dnn_graph.c  descriptors, engines
//   dnn_choose.c  the choice of an engine               dnn_time.c   timing an engine
//   dnn_cache.c   the file of choices                    choices.json  choices that come with the program
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/tensor.h"

enum dnn_pass { DNN_FORWARD, DNN_DGRAD, DNN_WGRAD };

// x[n,h,w,c] * w[k,r,s,c] -> y[n,p,q,k]
struct dnn_problem {
    enum dnn_pass pass;
    enum dtype type;  // F32, BF16 or F16, of all three tensors; sums are f32
    int64_t n, h, w, c, k, r, s, p, q;
    int64_t stride[2], before[2], after[2];
};

// The choices that come with the program: the version of cuDNN whose heuristics made them, and the compute capability for which.
enum { DNN_SHIPPED_VERSION = 91900, DNN_SHIPPED_MAJOR = 9, DNN_SHIPPED_MINOR = 0 };

// The machine that plans are made for. The caller zeroes it, because it is part of a cache's key.
struct dnn_machine {
    char gpu[128];
    int major, minor, driver, runtime;
    char driver_text[32];    // the driver's version as text, more precise than `driver`; "" if not available
    const char *described;   // the GPU's properties in cuDNN's JSON: plans are then made without a GPU and never executed
    cudaStream_t stream;     // stream of the calls; ignored when described
};
struct dnn_settings {
    bool tf32;               // f32 products may be rounded to 10 bits of mantissa
    bool tune;               // time the first engines of each list on the GPU
    bool cache;              // keep choices in a file, and use those that come with the program
    size_t workspace;        // limit of an engine's scratch in bytes
};
// No TF32, no timing, with a cache file.
struct dnn_settings dnn_settings_default(void);

struct dnn;
// Fails with ERR_MISSING and names the package if the library is not installed.
int dnn_open(const struct dnn_machine *, struct dnn_settings, struct dnn **) MUST_CHECK;
void dnn_close(struct dnn *);
size_t dnn_version(const struct dnn *);  // in the library's encoding: 91900 is 9.19.0

struct dnn_plan {
    struct dnn_problem problem;
    int64_t engine;          // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
    unsigned notes, behaves; // bit i: numerical note i, behaviour note i
    size_t workspace;
    int64_t ns;              // measured; 0: not timed
    bool remembered;         // the choice came with the program or from the cache: no heuristics were run
};
// Fails with ERR_UNSUPPORTED if no engine is suitable; both answers are remembered. The plan lives until dnn_close.
int dnn_plan(struct dnn *, const struct dnn_problem *, const struct dnn_plan **) MUST_CHECK;

struct dnn_call;
// FORWARD: x, w -> y.  DGRAD: w, dy -> dx.  WGRAD: x, dy -> dw. Addresses are multiples of 16; `work` has plan->workspace bytes
// at a multiple of DNN_WORK_ALIGN. Call it while graphs are compiled, when buffers hold no values yet: it executes the plan
// once and captures it once, and fails with ERR_UNSUPPORTED for good if it cannot be captured. Also writes the cache file if
// there are new choices.
enum { DNN_WORK_ALIGN = 256 };  // alignment of cudaMalloc; cuDNN guarantees no smaller one
int dnn_bind(struct dnn *, const struct dnn_plan *, const void *x, const void *w, const void *y, void *work,
             struct dnn_call **) MUST_CHECK;
int dnn_run(struct dnn_call *) MUST_CHECK;
void dnn_call_free(struct dnn_call *);

// The reason why an engine with these notes is rejected for products of this type; NULL if it is accepted.
const char *dnn_objection(enum dtype, bool tf32, unsigned notes, unsigned behaves);

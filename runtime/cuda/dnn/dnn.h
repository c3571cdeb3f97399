// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN, through its backend (graph) interface. A problem is one convolution or one of its ways back,
// without groups, all tensors NHWC and of one type. A plan is the engine that takes it: the first of the heuristics'
// list that always gives the same bytes, computes in the precision that the type promises, and needs no compiler at run
// time; or the fastest of the first few, where timing was asked for. A call is a plan bound to addresses: executing it
// is one call of the library, allocates nothing, and can be captured into a CUDA graph.
//
// Plans are kept for the life of the device by their problem, and the choice of engine between runs (dnn_cache.h).
// Cost: the library is loaded (hundreds of MB are mapped) when the first plan is asked for; then milliseconds a plan.
//
//   dnn.c         loading, the table of plans, calls     dnn_graph.c  descriptors, engines
//   dnn_choose.c  which engine is taken                  dnn_time.c   how long one takes
//   dnn_cache.c   the file of choices
#ifndef DAWN_DNN_H
#define DAWN_DNN_H

#include <cuda_runtime_api.h>

#include "runtime/tensor.h"

enum dnn_way { DNN_FORWARD, DNN_DGRAD, DNN_WGRAD };

// x[n,h,w,c] * w[k,r,s,c] -> y[n,p,q,k]
struct dnn_problem {
    enum dnn_way way;
    enum dtype type;  // F32, BF16 or F16, of all three tensors; sums are f32
    int64_t n, h, w, c, k, r, s, p, q;
    int64_t stride[2], before[2], after[2];
};

// What plans are made for. Zeroed by whoever fills it, because it is part of a cache's name.
struct dnn_machine {
    char card[128];
    int major, minor, driver, runtime;
    char driver_text[32];    // its version as people know it, which says more than `driver`; "" where it is not shown
    const char *described;   // the card's properties as cuDNN's own JSON: plans are made without a card, never executed
    cudaStream_t stream;     // where calls go; of no matter when described
};
struct dnn_settings {
    bool tf32;               // f32 products may be rounded to 10 bits of mantissa
    bool tune;               // time the first engines of each list on the card
    bool cache;              // keep choices in a file
    size_t workspace;        // most bytes an engine may want
};
// Without TF32 and timing, with a file.
struct dnn_settings dnn_settings_default(void);

struct dnn;
// ERR_MISSING, with the name of the package, where the library is not installed.
int dnn_open(const struct dnn_machine *, struct dnn_settings, struct dnn **) MUST_CHECK;
void dnn_close(struct dnn *);
size_t dnn_version(const struct dnn *);  // as the library counts: 91900 is 9.19.0

struct dnn_plan {
    struct dnn_problem problem;
    int64_t engine;          // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
    unsigned notes, behaves; // bit i: numerical note i, behaviour note i
    size_t workspace;
    int64_t ns;              // measured; 0: not timed
    bool remembered;         // its choice came from the cache
};
// ERR_UNSUPPORTED when no engine will do; both answers are remembered. The plan lives until dnn_close.
int dnn_plan(struct dnn *, const struct dnn_problem *, const struct dnn_plan **) MUST_CHECK;

struct dnn_call;
// FORWARD: x, w -> y.  DGRAD: w, dy -> dx.  WGRAD: x, dy -> dw. Addresses are multiples of 16; `work` has
// plan->workspace bytes at a multiple of DNN_WORK_ALIGN. Done while graphs are compiled, before what they compute matters:
// a plan's first call is made at once, and captured once to see that it can be: ERR_UNSUPPORTED, for good, where it can not.
// Also writes the file of choices if there are new ones.
enum { DNN_WORK_ALIGN = 256 };  // what cudaMalloc gives: cuDNN says of no less that it is enough
int dnn_bind(struct dnn *, const struct dnn_plan *, const void *x, const void *w, const void *y, void *work,
             struct dnn_call **) MUST_CHECK;
int dnn_run(struct dnn_call *) MUST_CHECK;
void dnn_call_free(struct dnn_call *);

// Why an engine with these notes is not taken for products of this type; NULL: it is.
const char *dnn_objection(enum dtype, bool tf32, unsigned notes, unsigned behaves);

#endif

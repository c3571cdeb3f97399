// SPDX-License-Identifier: Apache-2.0
// Shared by the dnn*.c files: the library's functions, descriptors with little code, an engine and its settings.
#pragma once

#include <cudnn_graph.h>

#include "runtime/cuda/dnn/dnn.h"
#include "runtime/cuda/dnn/dnn_cache.h"

#define DNN_FUNCTIONS                                                                                                  \
    FUNCTION(cudnnGetVersion)                                                                                          \
    FUNCTION(cudnnGetErrorString)                                                                                      \
    FUNCTION(cudnnGetLastErrorString)                                                                                  \
    FUNCTION(cudnnCreate)                                                                                              \
    FUNCTION(cudnnDestroy)                                                                                             \
    FUNCTION(cudnnSetStream)                                                                                           \
    FUNCTION(cudnnBackendCreateDescriptor)                                                                             \
    FUNCTION(cudnnBackendDestroyDescriptor)                                                                            \
    FUNCTION(cudnnBackendFinalize)                                                                                     \
    FUNCTION(cudnnBackendSetAttribute)                                                                                 \
    FUNCTION(cudnnBackendGetAttribute)                                                                                 \
    FUNCTION(cudnnBackendExecute)

struct dnn_functions {
#define FUNCTION(name) __typeof__(&name) name;
    DNN_FUNCTIONS
#undef FUNCTION
};

// Descriptors that are destroyed together, in reverse order.
struct dnn_bag {
    const struct dnn_functions *f;
    cudnnBackendDescriptor_t *at;
    int count, capacity;
};
void dnn_bag_empty(struct dnn_bag *);

// One attribute: DNN_SET(name, type, elements...).
struct dnn_set {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    const void *at;
};
#define DNN_LIST(ctype, ...) (int64_t)(sizeof((ctype[]){__VA_ARGS__}) / sizeof(ctype)), (ctype[]){__VA_ARGS__}
#define DNN_INT64(name, ...) {name, CUDNN_TYPE_INT64, DNN_LIST(int64_t, __VA_ARGS__)}
#define DNN_DESCRIPTOR(name, ...) {name, CUDNN_TYPE_BACKEND_DESCRIPTOR, DNN_LIST(cudnnBackendDescriptor_t, __VA_ARGS__)}
#define DNN_ENUM(name, kind, ctype, value) {name, kind, DNN_LIST(ctype, value)}
#define DNN_SETS(...)                                                                                                  \
    (const struct dnn_set[]){__VA_ARGS__}, (int)(sizeof((const struct dnn_set[]){__VA_ARGS__}) / sizeof(struct dnn_set))

// Creates, fills and finalises a descriptor in the bag. `what` is for the error message: "a tensor".
int dnn_make(struct dnn_bag *, cudnnBackendDescriptorType_t, const char *what, const struct dnn_set *, int sets,
             cudnnBackendDescriptor_t *) MUST_CHECK;
int dnn_check(const struct dnn_functions *, cudnnStatus_t, const char *what);  // 0, or fail() with cuDNN's own message

struct dnn {
    struct dnn_functions f;
    cudnnHandle_t handle;               // NULL: the GPU is described
    struct dnn_bag bag;
    cudnnBackendDescriptor_t property;  // of the described GPU, else NULL
    struct dnn_settings settings;
    cudaStream_t stream;
    size_t version;
    char *machine;                      // the cache's key
    char *path;                         // the cache's file; NULL: none
    struct dnn_cache cache;
    struct dnn_cache shipped;           // the shipped choices; they take precedence over the file's
    bool fresh;                         // choices that are not in the file
    struct dnn_entry *entry;            // every problem that was planned
};

// An engine with fixed knobs, ready to execute; its descriptors are in `bag`.
struct dnn_engine {
    struct dnn_bag bag;
    cudnnBackendDescriptor_t plan;
    struct dnn_choice choice;
    unsigned notes, behaves;
    size_t workspace;
};
#define DNN_SHIPPED "compute capability 9.0"  // the machine of choices.json
enum { DNN_UID_X = 1, DNN_UID_W = 2, DNN_UID_Y = 3 };

// The operation graph of a problem.
int dnn_graph(struct dnn *, struct dnn_bag *, const struct dnn_problem *, cudnnBackendDescriptor_t *graph) MUST_CHECK;
// The heuristics' list, best first; the caller frees it. Engines with more knobs than DNN_KNOBS are left out.
struct dnn_offer {
    struct dnn_choice choice;
    unsigned notes, behaves;
};
int dnn_offers(struct dnn *, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t, struct dnn_offer **, int *count) MUST_CHECK;
// Builds the plan of a choice. Fails with ERR_UNSUPPORTED and an empty bag if cuDNN has no such engine or the engine does not
// take the problem.
int dnn_engine_new(struct dnn *, cudnnBackendDescriptor_t graph, const struct dnn_choice *, struct dnn_engine *) MUST_CHECK;

// Picks an engine for the problem with that graph: from the cache, else from the list, timed if timing is on.
int dnn_choose(struct dnn *, const struct dnn_problem *, cudnnBackendDescriptor_t graph, struct dnn_engine *,
               bool *remembered) MUST_CHECK;
void dnn_problem_text(const struct dnn_problem *, bool tf32, char into[DNN_PROBLEM_TEXT]);
int dnn_pack(struct dnn_bag *, const void *x, const void *w, const void *y, void *work, cudnnBackendDescriptor_t *) MUST_CHECK;
int dnn_execute(struct dnn *, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) MUST_CHECK;

// dnn_time.c: the median time of a plan on the GPU, on memory of its own. Any failure rejects the plan.
struct dnn_scratch;
int dnn_scratch_new(struct dnn *, const struct dnn_problem *, struct dnn_scratch **) MUST_CHECK;
void dnn_scratch_free(struct dnn_scratch *);
int dnn_time(struct dnn_scratch *, const struct dnn_engine *, int64_t *ns) MUST_CHECK;

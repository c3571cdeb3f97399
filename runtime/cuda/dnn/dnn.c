// SPDX-License-Identifier: Apache-2.0
// cuDNN itself: loading, a handle bound to the device's stream, the table of plans by problem, and calls.
#include "runtime/cuda/dnn/dnn.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/text.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/cuda_library.h"
#include "runtime/cuda/dnn/dnn_inside.h"

struct dnn_entry {
    struct dnn_entry *next;
    struct dnn_plan plan;
    struct dnn_bag bag;        // the graph's
    struct dnn_engine engine;  // plan is NULL: no suitable engine
    bool ran;
};

static const struct cuda_library library = {
    .title = "cuDNN 9",
    .package = "libcudnn9-cuda-13",
    .files = (const char *const[]){"libcudnn.so.9", NULL},
#define FUNCTION(name) #name,
    .functions = (const char *const[]){DNN_FUNCTIONS NULL},
#undef FUNCTION
};

// ---- opening

struct dnn_settings dnn_settings_default(void)
{
    // 256 MB: the engines worth having need a few MB at most (test_dnn_plans).
    return (struct dnn_settings){.cache = true, .workspace = 256 << 20};
}

static void read_cache(struct dnn *dnn, const struct dnn_machine *m)
{
    struct text key = {0};
    text_add(&key, "%s, %d.%d, driver %d %s, runtime %d, cuDNN %zu", m->gpu, m->major, m->minor, m->driver, m->driver_text,
             m->runtime, dnn->version);
    for (size_t i = 0; i < key.length; i++)
        if (key.at[i] < ' ' || key.at[i] > '~') key.at[i] = '?';  // the driver supplies a GPU's name
    dnn->machine = key.at;
    if (dnn->settings.cache) dnn->path = dnn_cache_path(dnn->machine);
    if (dnn->path) dnn_cache_read(dnn->path, dnn->machine, &dnn->cache);
}

// Reads the shipped choices (choices.json): the results of cuDNN's heuristics for every convolution of airbench at the sizes of
// its recipes, on compute capability 9.0. Running the heuristics would load cuBLASLt, which is larger than everything else that a
// run loads. If another version of cuDNN lacks an engine or a setting, the choice is made again.
static void read_shipped(struct dnn *dnn, const struct dnn_machine *m)
{
    const struct embedded *file = embedded_find("runtime/cuda/dnn/choices.json");
    if (!dnn->settings.cache || m->major != DNN_SHIPPED_MAJOR || m->minor != DNN_SHIPPED_MINOR || !file) return;
    if (dnn_cache_parse(file->at, file->size, DNN_SHIPPED, &dnn->shipped) < 0) BUG(error_text());
}

static int start_cudnn(struct dnn *dnn, const struct dnn_machine *m)
{
    TRY(cuda_library_load(&library, &dnn->f));
    dnn->version = dnn->f.cudnnGetVersion();
    dnn->bag.f = &dnn->f;
    if (m->described)
        return dnn_make(&dnn->bag, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "a described GPU",
                        DNN_SETS({CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)strlen(m->described),
                                  m->described}), &dnn->property);
    TRY(dnn_check(&dnn->f, dnn->f.cudnnCreate(&dnn->handle), "a handle for this GPU"));
    return dnn_check(&dnn->f, dnn->f.cudnnSetStream(dnn->handle, m->stream), "a stream");
}

int dnn_open(const struct dnn_machine *machine, struct dnn_settings settings, struct dnn **into)
{
    struct dnn *dnn = zalloc(sizeof *dnn);
    dnn->settings = settings;
    dnn->stream = machine->stream;
    int rc = start_cudnn(dnn, machine);
    if (rc < 0) {
        dnn_close(dnn);
        return rc;
    }
    read_cache(dnn, machine);
    read_shipped(dnn, machine);
    *into = dnn;
    return 0;
}

void dnn_close(struct dnn *dnn)
{
    if (!dnn) return;
    for (struct dnn_entry *e = dnn->entry, *next; e; e = next) {
        next = e->next;
        dnn_bag_empty(&e->engine.bag);
        dnn_bag_empty(&e->bag);
        free(e);
    }
    dnn_bag_empty(&dnn->bag);
    if (dnn->handle) (void)dnn->f.cudnnDestroy(dnn->handle);
    dnn_cache_free(&dnn->cache);
    dnn_cache_free(&dnn->shipped);
    free(dnn->machine);
    free(dnn->path);
    free(dnn);
}

size_t dnn_version(const struct dnn *dnn) { return dnn->version; }

// ---- plans

static bool same_problem(const struct dnn_problem *a, const struct dnn_problem *b)
{
    return a->pass == b->pass && a->type == b->type && a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c &&
           a->k == b->k && a->r == b->r && a->s == b->s && a->p == b->p && a->q == b->q &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 && memcmp(a->before, b->before, sizeof a->before) == 0 &&
           memcmp(a->after, b->after, sizeof a->after) == 0;
}

static int entry_plan(struct dnn *dnn, struct dnn_entry *e)
{
    cudnnBackendDescriptor_t graph;
    TRY(dnn_graph(dnn, &e->bag, &e->plan.problem, &graph));
    TRY(dnn_choose(dnn, &e->plan.problem, graph, &e->engine, &e->plan.remembered));
    e->plan.engine = e->engine.choice.engine;
    e->plan.notes = e->engine.notes;
    e->plan.behaves = e->engine.behaves;
    e->plan.workspace = e->engine.workspace;
    e->plan.ns = e->engine.choice.ns;
    return 0;
}

int dnn_plan(struct dnn *dnn, const struct dnn_problem *problem, const struct dnn_plan **into)
{
    struct dnn_entry *e = dnn->entry;
    while (e && !same_problem(&e->plan.problem, problem)) e = e->next;
    if (!e) {
        e = zalloc(sizeof *e);
        e->plan.problem = *problem;
        e->bag.f = e->engine.bag.f = &dnn->f;
        int rc = entry_plan(dnn, e);
        if (rc < 0) e->engine.plan = NULL, dnn_bag_empty(&e->bag);
        if (rc < 0 && rc != ERR_UNSUPPORTED) {
            free(e);
            return rc;
        }
        e->next = dnn->entry;
        dnn->entry = e;
    }
    if (!e->engine.plan) return fail(ERR_UNSUPPORTED, "cuDNN has no suitable engine for this convolution");
    *into = &e->plan;
    return 0;
}

// ---- calls

struct dnn_call {
    struct dnn *dnn;
    struct dnn_bag bag;
    cudnnBackendDescriptor_t plan, pack;
};

// Calls are bound when all graphs are planned, so the file is written once. A failure to write is ignored.
static void write_cache(struct dnn *dnn)
{
    if (!dnn->fresh) return;
    dnn->fresh = false;
    if (dnn->path) dnn_cache_write(&dnn->cache, dnn->machine, dnn->path);
}

// Relaxed mode, as for programs. No note of cuDNN tells if an engine can be captured.
static int try_capture(struct dnn_call *call)
{
    cudaStream_t stream = call->dnn->stream;
    cudaGraph_t graph = NULL;
    TRY(cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing a convolution"));
    bool recorded = dnn_run(call) == 0;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);  // always, or the stream stays in capture mode
    if (graph) (void)cudaGraphDestroy(graph);
    if (recorded && error == cudaSuccess) return 0;
    (void)cudaGetLastError();
    return fail(ERR_UNSUPPORTED, "this cuDNN engine cannot be captured");
}

// Runs a plan once when it is bound, so that cuDNN loads its kernels then and not inside a capture. The memory holds no valid
// values yet; the result is ignored. An engine that cannot be captured is dropped, with graphs or without, so that both compute
// the same.
static int first_call(struct dnn_entry *e, struct dnn_call *call)
{
    if (e->ran || !call->dnn->handle) return 0;
    e->ran = true;
    int rc = dnn_run(call);
    if (rc == 0) rc = try_capture(call);
    if (rc == ERR_UNSUPPORTED) e->engine.plan = NULL;  // its bag stays until dnn_close
    return rc;
}

int dnn_bind(struct dnn *dnn, const struct dnn_plan *plan, const void *x, const void *w, const void *y, void *work,
             struct dnn_call **into)
{
    write_cache(dnn);
    struct dnn_entry *e = dnn->entry;
    while (e && &e->plan != plan) e = e->next;
    if (!e) BUG("dnn: the plan belongs to another device");
    if (!e->engine.plan)
        return fail(ERR_UNSUPPORTED, "the cuDNN engine for this convolution was dropped because it cannot be captured");
    struct dnn_call *call = zalloc(sizeof *call);
    call->dnn = dnn;
    call->bag.f = &dnn->f;
    call->plan = e->engine.plan;
    int rc = dnn_pack(&call->bag, x, w, y, work, &call->pack);
    if (rc == 0) rc = first_call(e, call);
    if (rc == 0) *into = call;
    else dnn_call_free(call);
    return rc;
}

int dnn_run(struct dnn_call *call) { return dnn_execute(call->dnn, call->plan, call->pack); }

void dnn_call_free(struct dnn_call *call)
{
    if (!call) return;
    dnn_bag_empty(&call->bag);
    free(call);
}

// SPDX-License-Identifier: Apache-2.0
// A stand-in for cuDNN: the part of the backend (graph) interface that runtime/cuda/dnn/dnn*.c uses, with the real header.
// Descriptors are a store of attributes. Executing a plan computes its convolution on the handle's stream, so it can be captured
// like other work. test_dnn_plans holds the descriptors against the real library; here a missing attribute ends the program, and
// so do addresses that are unbound, misaligned or not allocated, and engines that must not be used. Descriptors are freed when
// they are destroyed, so AddressSanitizer sees a later use.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "test/emulate/emulate_library.h"
#include "test/emulate/lib/cudnn_convolve.h"

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("emulated cuDNN: ", stderr);
    vfprintf(stderr, format, list);
    fputs("\n", stderr);
    abort();
}

// ---- the store

enum { ATTRIBUTES = 8 };
struct attribute {
    cudnnBackendAttributeName_t name;
    int64_t count;
    void *at;
};
struct descriptor {
    cudnnBackendDescriptorType_t type;
    int attributes;
    struct attribute attribute[ATTRIBUTES];
};
struct cudnnContext {
    cudaStream_t stream;
};

static const struct attribute *find_attr(const struct descriptor *d, cudnnBackendAttributeName_t name)
{
    for (int i = 0; i < d->attributes; i++)
        if (d->attribute[i].name == name) return &d->attribute[i];
    return NULL;
}

static const void *need_attr(const struct descriptor *d, cudnnBackendAttributeName_t name)
{
    const struct attribute *a = find_attr(d, name);
    if (!a) die("attribute %d of a descriptor of type %d is not set", (int)name, (int)d->type);
    return a->at;
}

static int64_t attr_int(const struct descriptor *d, cudnnBackendAttributeName_t name)
{
    return *(const int64_t *)need_attr(d, name);
}

static struct descriptor *child_of(const struct descriptor *d, cudnnBackendAttributeName_t name)
{
    return *(struct descriptor *const *)need_attr(d, name);
}

static void put_attr(struct descriptor *d, cudnnBackendAttributeName_t name, size_t bytes, int64_t count, const void *from)
{
    if (d->attributes == ATTRIBUTES) die("too many attributes");
    struct attribute *a = &d->attribute[d->attributes++];
    *a = (struct attribute){name, count, calloc((size_t)count + 1, bytes)};
    if (!a->at) abort();
    memcpy(a->at, from, bytes * (size_t)count);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *into)
{
    struct descriptor *d = *into = calloc(1, sizeof *d);
    if (!d) abort();
    d->type = type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t which)
{
    struct descriptor *d = which;
    for (int i = 0; i < d->attributes; i++) free(d->attribute[i].at);
    free(d);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t which, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *from)
{
    bool wide = type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_DOUBLE || type == CUDNN_TYPE_HANDLE ||
                type == CUDNN_TYPE_VOID_PTR || type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
    put_attr(which, name, wide ? 8 : 4, count, from);
    return CUDNN_STATUS_SUCCESS;
}

// ---- engines

struct engine {
    int64_t index, workspace, knob;  // greatest value of the one setting; NONE: no setting
    int note, behaves;               // NONE: none
    int only_f32, fallback, wrong;   // wrong: must never be executed
};
enum { NONE = -1, CHOSEN = 5 };
static const cudnnBackendKnobType_t the_knob = CUDNN_KNOB_TYPE_TILE_SIZE;
// In the order of the heuristics. 66 is acceptable if TF32 is on.
static const struct engine engines[] = {
    {20, 0, NONE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, NONE, 0, 0, 1},
    {47, 0, NONE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, NONE, 0, 0, 1},
    {66, 0, 3, CUDNN_NUMERICAL_NOTE_TENSOR_CORE, NONE, 1, 0, 0},
    {58, 0, NONE, CUDNN_NUMERICAL_NOTE_WINOGRAD, NONE, 0, 0, 1},
    {11, 0, NONE, NONE, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, 0, 0, 1},
    {41, INT64_C(1) << 40, NONE, NONE, NONE, 0, 0, 1},
    {62, 4160, 7, NONE, NONE, 0, 0, 0},
    {65, 0, NONE, NONE, NONE, 0, 0, 0},
    {67, 0, NONE, NONE, NONE, 0, 0, 0},
    {10, 0, NONE, NONE, NONE, 0, 0, 0},
    {1, 0, NONE, NONE, NONE, 0, 1, 0},
};
enum { ENGINES = sizeof engines / sizeof *engines };

static const struct engine *engine_of(const struct descriptor *d)
{
    for (int i = 0; i < ENGINES; i++)
        if (engines[i].index == attr_int(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX)) return &engines[i];
    return NULL;
}

static struct fake_tensor tensor_of(const struct descriptor *op, cudnnBackendAttributeName_t name)
{
    const struct descriptor *d = child_of(op, name);
    struct fake_tensor t = {.type = *(const cudnnDataType_t *)need_attr(d, CUDNN_ATTR_TENSOR_DATA_TYPE),
                            .uid = attr_int(d, CUDNN_ATTR_TENSOR_UNIQUE_ID),
                            .align = attr_int(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)};
    memcpy(t.dim, need_attr(d, CUDNN_ATTR_TENSOR_DIMENSIONS), sizeof t.dim);
    memcpy(t.stride, need_attr(d, CUDNN_ATTR_TENSOR_STRIDES), sizeof t.stride);
    return t;
}

static struct fake_convolution read_graph(const struct descriptor *graph)
{
    static const struct {
        cudnnBackendDescriptorType_t type;
        cudnnBackendAttributeName_t conv, x, w, y, alpha, beta;
    } passes[] = {
#define PASS(name, conv, x, w, y)                                                                                      \
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_##name##_DESCRIPTOR, conv##_CONV_DESC, x, w, y, conv##_ALPHA, conv##_BETA}
        PASS(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y),
        PASS(BACKWARD_DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY),
        PASS(BACKWARD_FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY),
#undef PASS
    };
    const struct descriptor *op = child_of(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    int pass = 0;
    while (pass < 3 && passes[pass].type != op->type) pass++;
    if (pass == 3) die("an operation of type %d is not emulated", (int)op->type);
    const struct descriptor *conv = child_of(op, passes[pass].conv);
    struct fake_convolution f = {.pass = pass, .x = tensor_of(op, passes[pass].x), .w = tensor_of(op, passes[pass].w),
                                 .y = tensor_of(op, passes[pass].y), .alpha = *(const float *)need_attr(op, passes[pass].alpha),
                                 .beta = *(const float *)need_attr(op, passes[pass].beta)};
    memcpy(f.before, need_attr(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), sizeof f.before);
    memcpy(f.stride, need_attr(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), sizeof f.stride);
    memcpy(f.dilation, need_attr(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS), sizeof f.dilation);
    f.groups = f.x.dim[1] / f.w.dim[1];
    return f;
}

// ---- finalising, and the attributes that can be read afterwards

// A single setting must be the one of the emulated engine. Several come from the real library (choices.json) and are taken.
static bool takes_knobs(const struct descriptor *config)
{
    const struct engine *e = engine_of(child_of(config, CUDNN_ATTR_ENGINECFG_ENGINE));
    const struct attribute *knobs = find_attr(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
    if (!knobs || knobs->count != 1) return true;
    const struct descriptor *knob = *(struct descriptor *const *)knobs->at;
    int64_t value = attr_int(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    return *(const cudnnBackendKnobType_t *)need_attr(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) == the_knob && value >= 0 &&
           value <= e->knob;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t which)
{
    struct descriptor *d = which;
    if (d->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR && !engine_of(d)) return CUDNN_STATUS_NOT_SUPPORTED;
    if (d->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && !takes_knobs(d)) return CUDNN_STATUS_BAD_PARAM;
    // The heuristics of the real library load cuBLASLt.
    if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) (void)dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    return CUDNN_STATUS_SUCCESS;
}

static int64_t list_engines(const struct descriptor *heuristics, int64_t capacity, void **into)
{
    struct descriptor *graph = child_of(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    int fallback = *(const cudnnBackendHeurMode_t *)need_attr(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
    struct fake_convolution f = read_graph(graph);
    int64_t count = 0;
    for (int i = 0; i < ENGINES; i++) {
        if (engines[i].fallback != fallback || (engines[i].only_f32 && f.x.type != CUDNN_DATA_FLOAT)) continue;
        if (capacity && count == capacity) break;
        if (capacity) put_attr(into[count], CUDNN_ATTR_ENGINECFG_ENGINE, 8, 1, &engines[i].index);
        count++;
    }
    return count;
}

// The engine of a configuration that list_engines made: only its number is known.
static int64_t listed_engine(const struct descriptor *config) { return attr_int(config, CUDNN_ATTR_ENGINECFG_ENGINE); }

static int64_t get_knobs(const struct descriptor *config, int64_t capacity, void **into)
{
    int i = 0;
    while (engines[i].index != listed_engine(config)) i++;
    const int64_t most = engines[i].knob, value = CHOSEN < most ? CHOSEN : most;
    if (most < 0 || capacity == 0) return 0;
    put_attr(into[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, sizeof the_knob, 1, &the_knob);
    put_attr(into[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, sizeof value, 1, &value);
    return 1;
}

static const struct descriptor *engine_in_plan(const struct descriptor *plan)
{
    return child_of(child_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINECFG_ENGINE);
}

static int64_t give_value(void *into, const void *from, size_t bytes)
{
    memcpy(into, from, bytes);
    return 1;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t which, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t capacity, int64_t *count, void *into)
{
    struct descriptor *d = which;
    const struct engine *e = d->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR ? engine_of(d) : NULL;
    int64_t number;
    (void)type;
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: *count = list_engines(d, capacity, into); break;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: *count = get_knobs(d, capacity, into); break;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        number = listed_engine(d);
        put_attr(*(void **)into, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 8, 1, &number);
        *count = 1;
        break;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: *count = e->note == NONE ? 0 : give_value(into, &e->note, 4); break;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE: *count = e->behaves == NONE ? 0 : give_value(into, &e->behaves, 4); break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: *count = give_value(into, &engine_of(engine_in_plan(d))->workspace, 8); break;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: *count = give_value(into, need_attr(d, name), 8); break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE: *count = give_value(into, need_attr(d, name), 4); break;
    default: die("attribute %d cannot be read", (int)name);
    }
    return CUDNN_STATUS_SUCCESS;
}

// ---- executing

static void run_work(void *args)
{
    const struct fake_convolution *f = args;
    if (f->work_bytes) memset(f->work, 0xff, f->work_bytes);  // exposes scratch that overlaps other memory
    fake_convolve(f);
}

// Set by tests (found by dlsym): the engine with this number waits for its stream, which invalidates any capture.
extern int64_t dnn_waiting;
int64_t dnn_waiting = NONE;

static void bind_tensor(const struct descriptor *pack, struct fake_tensor *t, const char *what)
{
    const struct attribute *uids = find_attr(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    void *const *address = need_attr(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; uids && i < uids->count; i++)
        if (((const int64_t *)uids->at)[i] == t->uid) t->at = address[i];
    if (!t->at) die("%s has no address", what);
    if ((uintptr_t)t->at % (uintptr_t)t->align) die("%s is not aligned to %lld bytes", what, (long long)t->align);
    emulate_check_range(t->at, fake_span(t), what);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    const struct descriptor *engine = engine_in_plan(plan);
    const struct engine *e = engine_of(engine);
    if (e->wrong) die("engine %lld must not be executed", (long long)e->index);
    struct fake_convolution f = read_graph(child_of(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
    bind_tensor(pack, &f.x, "x of a convolution");
    bind_tensor(pack, &f.w, "w of a convolution");
    bind_tensor(pack, &f.y, "y of a convolution");
    f.work = *(void *const *)need_attr(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    f.work_bytes = (size_t)e->workspace;
    if ((uintptr_t)f.work % 256) die("scratch memory of a convolution is not aligned to 256 bytes");
    if (f.work_bytes) emulate_check_range(f.work, f.work_bytes, "scratch memory of a convolution");
    if (e->index == dnn_waiting && cudaStreamSynchronize(handle->stream) != cudaSuccess)
        return CUDNN_STATUS_EXECUTION_FAILED_CUDART;
    return emulate_enqueue(handle->stream, run_work, &f, sizeof f) == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                                                                  : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

// ---- the library

size_t cudnnGetVersion(void) { return 90099; }  // a version that no real cuDNN has, so that its cache is separate

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
    return status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *message, size_t capacity)
{
    if (capacity) snprintf(message, capacity, "the emulated cuDNN refused it");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *into)
{
    *into = calloc(1, sizeof **into);
    if (!*into) abort();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

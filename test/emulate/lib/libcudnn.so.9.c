// SPDX-License-Identifier: Apache-2.0
// An emulated cuDNN: the part of the backend (graph) interface that runtime/cuda/dnn/dnn*.c uses, with the real header.
// Descriptors are a store of attributes; executing a plan interprets its operation graph on the handle's stream, so it can be
// captured like other work. It is stricter than cuDNN. Anything that a correct program does not do ends the program with a
// message: an attribute that is unknown, missing, of another type or count, set twice or too late; a child that is not
// finalised or was destroyed; an address that is unbound, misaligned or not allocated; an engine that must not be used.
// Requests that cuDNN itself rejects (an engine or a setting that it lacks) return an error.
#include <stdarg.h>
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

static char last_error[256];

__attribute__((format(printf, 2, 3))) static cudnnStatus_t refuse(cudnnStatus_t status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last_error, sizeof last_error, format, list);
    va_end(list);
    return status;
}

// ---- the store

enum { ALIVE = 0x0a11fe, ENDED = 0xdead, ATTRIBUTES = 12 };

struct attribute {
    cudnnBackendAttributeName_t name;
    int64_t count;
    void *at;
};
struct descriptor {
    int state;
    cudnnBackendDescriptorType_t type;
    int finalised, attributes;
    struct attribute *attribute;  // ATTRIBUTES elements
    struct descriptor *next;      // all descriptors, including destroyed ones, to detect their use
};
static struct descriptor *all;

struct cudnnContext {
    int state;
    cudaStream_t stream;
};

// The attributes of a descriptor, with type and count; all are mandatory unless marked optional.
struct rule {
    cudnnBackendDescriptorType_t of;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int low, high, optional;
};
#define CONVOLUTION_RULES(kind, x, w, y, prefix)                                                                       \
    {kind, prefix##_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},                                                \
    {kind, x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0}, {kind, w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},              \
    {kind, y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0}, {kind, prefix##_ALPHA, CUDNN_TYPE_FLOAT, 1, 1, 0},              \
    {kind, prefix##_BETA, CUDNN_TYPE_FLOAT, 1, 1, 0}
static const struct rule rules[] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, 0},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, 4, 0},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, 4, 0},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, 1, 0},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, 1, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, 1, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, 1, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, 2, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, 2, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, 2, 0},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, 2, 0},
    CONVOLUTION_RULES(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD),
    CONVOLUTION_RULES(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA),
    CONVOLUTION_RULES(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER),
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, 0},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, 1, 0},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, 1, 0},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, 1, 0},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, 1, 0},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 4, 1},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, 0},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, 0},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, 3, 0},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, 3, 0},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, 1, 0},
};
enum { RULES = sizeof rules / sizeof *rules };

static size_t type_size(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    default: return 4;  // f32 and enumerations
    }
}

static struct descriptor *need_alive(void *which, const char *what)
{
    struct descriptor *d = which;  // its memory is never freed
    if (!d || d->state != ALIVE) die("%s: %p is not a descriptor or was destroyed", what, which);
    return d;
}

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

static struct descriptor *child_of(const struct descriptor *d, cudnnBackendAttributeName_t name,
                                   cudnnBackendDescriptorType_t type)
{
    struct descriptor *c = need_alive(*(void *const *)need_attr(d, name), "a child");
    if (!c->finalised || c->type != type) die("attribute %d: its descriptor is of type %d%s", (int)name, (int)c->type,
                                              c->finalised ? "" : " and not finalised");
    return c;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *into)
{
    int known = type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
    for (int i = 0; i < RULES; i++) known |= rules[i].of == type;
    if (!known) die("descriptors of type %d are not emulated", (int)type);
    struct descriptor *d = calloc(1, sizeof *d);
    if (!d) abort();
    *d = (struct descriptor){.state = ALIVE, .type = type, .next = all};
    all = d;
    *into = d;
    return CUDNN_STATUS_SUCCESS;
}

static void forget_attributes(struct descriptor *d)
{
    for (int i = 0; i < d->attributes; i++) free(d->attribute[i].at);
    free(d->attribute);
    d->attribute = NULL;
    d->attributes = 0;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t which)
{
    struct descriptor *d = need_alive(which, "destroying");
    forget_attributes(d);
    d->state = ENDED;
    return CUDNN_STATUS_SUCCESS;
}

static void put_attribute(struct descriptor *d, cudnnBackendAttributeName_t name, size_t bytes, int64_t count, const void *from)
{
    if (d->attributes == ATTRIBUTES) die("too many attributes");
    if (!d->attribute) d->attribute = calloc(ATTRIBUTES, sizeof *d->attribute);
    if (!d->attribute) abort();
    struct attribute *a = &d->attribute[d->attributes++];
    *a = (struct attribute){name, count, malloc(bytes * (size_t)count)};
    if (!a->at) abort();
    memcpy(a->at, from, bytes * (size_t)count);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t which, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *from)
{
    struct descriptor *d = need_alive(which, "setting an attribute");
    if (d->finalised) die("attribute %d is set after its descriptor was finalised", (int)name);
    if (find_attr(d, name)) die("attribute %d is set twice", (int)name);
    for (int i = 0; i < RULES; i++) {
        const struct rule *r = &rules[i];
        if (r->of != d->type || r->name != name) continue;
        if (r->type != type || count < r->low || count > r->high)
            die("attribute %d takes type %d, %d to %d of them; not type %d, %lld of them", (int)name, (int)r->type, r->low,
                r->high, (int)type, (long long)count);
        put_attribute(d, name, type_size(type), count, from);
        return CUDNN_STATUS_SUCCESS;
    }
    die("a descriptor of type %d has no attribute %d", (int)d->type, (int)name);
}

// ---- engines

struct engine {
    int64_t index, workspace, knob;  // maximum of the one setting; NONE: no setting
    int note, behaves;               // NONE: none
    int only_f32, fallback, wrong;   // wrong: must never be executed
};
enum { NONE = -1, CHOSEN = 5 };
static const cudnnBackendKnobType_t the_knob = CUDNN_KNOB_TYPE_TILE_SIZE;
// In the order of the heuristics. 67 is acceptable if TF32 is on.
static const struct engine engines[] = {
    {20, 0, NONE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, NONE, 0, 0, 1},
    {47, 0, NONE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, NONE, 0, 0, 1},
    {67, 0, 3, CUDNN_NUMERICAL_NOTE_TENSOR_CORE, NONE, 1, 0, 0},
    {58, 0, NONE, CUDNN_NUMERICAL_NOTE_WINOGRAD, NONE, 0, 0, 1},
    {10, 0, NONE, NONE, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, 0, 0, 1},
    {41, INT64_C(1) << 40, NONE, NONE, NONE, 0, 0, 1},
    {62, 4160, 7, NONE, NONE, 0, 0, 0},
    {65, 0, NONE, NONE, NONE, 0, 0, 0},
    {1, 0, NONE, NONE, NONE, 0, 1, 0},
};
enum { ENGINES = sizeof engines / sizeof *engines };

static const struct engine *engine_of(const struct descriptor *d)
{
    for (int i = 0; i < ENGINES; i++)
        if (engines[i].index == attr_int(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX)) return &engines[i];
    return NULL;
}

static struct descriptor *operation_of(const struct descriptor *graph)
{
    struct descriptor *op = need_alive(*(void *const *)need_attr(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS), "an operation");
    if (!op->finalised) die("an operation is not finalised");
    return op;
}

// ---- reading an operation graph

static struct fake_tensor tensor_of(const struct descriptor *op, cudnnBackendAttributeName_t name)
{
    const struct descriptor *d = child_of(op, name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    struct fake_tensor t = {.type = *(const cudnnDataType_t *)need_attr(d, CUDNN_ATTR_TENSOR_DATA_TYPE),
                            .uid = attr_int(d, CUDNN_ATTR_TENSOR_UNIQUE_ID),
                             .align = attr_int(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)};
    memcpy(t.dim, need_attr(d, CUDNN_ATTR_TENSOR_DIMENSIONS), sizeof t.dim);
    memcpy(t.stride, need_attr(d, CUDNN_ATTR_TENSOR_STRIDES), sizeof t.stride);
    return t;
}

static struct fake_convolution read_operation(const struct descriptor *op, const struct descriptor **described)
{
    static const struct {
        cudnnBackendDescriptorType_t type;
        cudnnBackendAttributeName_t conv, x, w, y, alpha, beta;
    } passes[] = {
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
    };
    int pass = 0;
    while (pass < 3 && passes[pass].type != op->type) pass++;
    if (pass == 3) die("an operation of type %d is not emulated", (int)op->type);
    const struct descriptor *conv = child_of(op, passes[pass].conv, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    struct fake_convolution f = {.pass = pass, .x = tensor_of(op, passes[pass].x), .w = tensor_of(op, passes[pass].w),
                                 .y = tensor_of(op, passes[pass].y), .alpha = *(const float *)need_attr(op, passes[pass].alpha),
                                 .beta = *(const float *)need_attr(op, passes[pass].beta)};
    memcpy(f.before, need_attr(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), sizeof f.before);
    memcpy(f.stride, need_attr(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), sizeof f.stride);
    memcpy(f.dilation, need_attr(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS), sizeof f.dilation);
    f.groups = f.x.dim[1] / f.w.dim[1];
    if (described) *described = conv;
    return f;
}

// Checks that sizes fit, as cuDNN does, and what this program guarantees: one type, f32 sums.
static void check_operation(const struct descriptor *op)
{
    const struct descriptor *conv;
    const struct fake_convolution read = read_operation(op, &conv), *f = &read;
    const int64_t *after = need_attr(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    if (attr_int(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) != 2) die("a convolution is not over two dimensions");
    if (*(const cudnnDataType_t *)need_attr(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE) != CUDNN_DATA_FLOAT) die("sums are not f32");
    if (*(const cudnnConvolutionMode_t *)need_attr(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION)
        die("the mode is not cross-correlation");
    for (int i = 0; i < 2; i++) {
        int64_t room = f->x.dim[2 + i] + f->before[i] + after[i] - (f->w.dim[2 + i] - 1) * f->dilation[i] - 1;
        if (room < 0 || room / f->stride[i] + 1 != f->y.dim[2 + i]) die("sizes of x, w and y do not fit");
    }
    if (f->x.dim[0] != f->y.dim[0] || f->w.dim[0] != f->y.dim[1] || f->x.dim[1] % f->w.dim[1] || f->w.dim[0] % f->groups)
        die("images or channels of x, w and y do not fit");
    if (f->x.type != f->w.type || f->x.type != f->y.type) die("types of x, w and y differ: there is no such engine");
    if (f->x.uid == f->w.uid || f->x.uid == f->y.uid || f->w.uid == f->y.uid) die("two tensors have the same id");
}

// ---- finalising, and the attributes that can be read afterwards

static cudnnStatus_t finalise_config(const struct descriptor *d)
{
    const struct descriptor *engine = child_of(d, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    const struct engine *e = engine_of(engine);
    const struct attribute *knobs = find_attr(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
    for (int64_t i = 0; knobs && i < knobs->count; i++) {
        const struct descriptor *knob = need_alive(((void *const *)knobs->at)[i], "a setting");
        int64_t value = attr_int(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
        if (!knob->finalised) die("a setting is not finalised");
        cudnnBackendKnobType_t type = *(const cudnnBackendKnobType_t *)need_attr(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
        if (type != the_knob || value < 0 || value > e->knob)
            return refuse(CUDNN_STATUS_BAD_PARAM, "engine %lld has no such setting", (long long)e->index);
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t which)
{
    struct descriptor *d = need_alive(which, "finalising");
    if (d->finalised) die("a descriptor of type %d is finalised twice", (int)d->type);
    for (int i = 0; i < RULES; i++)
        if (rules[i].of == d->type && !rules[i].optional) (void)need_attr(d, rules[i].name);
    switch (d->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: check_operation(d); break;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: (void)operation_of(d); break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
        (void)child_of(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        if (!engine_of(d)) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "there is no such engine");
        break;
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
        if (finalise_config(d) != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_BAD_PARAM;
        break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        (void)child_of(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        break;
    default: break;
    }
    d->finalised = 1;
    return CUDNN_STATUS_SUCCESS;
}

// Turns a descriptor that the caller created into a finalised one.
static struct descriptor *fill_descriptor(void *place, cudnnBackendDescriptorType_t type)
{
    struct descriptor *d = need_alive(place, "filling");
    if (d->type != type || d->finalised || d->attributes)
        die("a descriptor of type %d is to be filled with type %d", (int)d->type, (int)type);
    d->finalised = 1;
    return d;
}

static int64_t list_engines(const struct descriptor *heuristics, int64_t room, void **into)
{
    const struct descriptor *graph =
        child_of(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    int fallback = *(const cudnnBackendHeurMode_t *)need_attr(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
    struct fake_convolution f = read_operation(operation_of(graph), NULL);
    int64_t count = 0;
    for (int i = 0; i < ENGINES; i++) {
        if (engines[i].fallback != fallback || (engines[i].only_f32 && f.x.type != CUDNN_DATA_FLOAT)) continue;
        if (room && count == room) break;
        if (room) {
            cudnnBackendDescriptor_t engine;
            (void)cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
            struct descriptor *e = fill_descriptor(engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
            struct descriptor *config = fill_descriptor(into[count], CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            put_attribute(e, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, 8, 1, &graph);
            put_attribute(e, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 8, 1, &engines[i].index);
            put_attribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, 8, 1, &engine);
        }
        count++;
    }
    return count;
}

static int64_t get_knobs(const struct descriptor *config, int64_t room, void **into)
{
    const struct engine *e = engine_of(child_of(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    if (e->knob < 0 || room == 0) return 0;
    struct descriptor *knob = fill_descriptor(into[0], CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    const int64_t value = CHOSEN < e->knob ? CHOSEN : e->knob;
    put_attribute(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, sizeof the_knob, 1, &the_knob);
    put_attribute(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, sizeof value, 1, &value);
    return 1;
}

static const struct engine *engine_of_plan(const struct descriptor *plan)
{
    const struct descriptor *config = child_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    return engine_of(child_of(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
}

static int64_t give_value(int64_t room, void *into, const void *from, size_t bytes)
{
    if (room < 1) die("there is no room for the value");
    memcpy(into, from, bytes);
    return 1;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t which, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room, int64_t *count, void *into)
{
    struct descriptor *d = need_alive(which, "reading");
    if (!d->finalised) die("attribute %d is read from a descriptor that is not finalised", (int)name);
    (void)type;
    const struct engine *e = d->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR ? engine_of(d) : NULL;
    struct descriptor *engine;
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: *count = list_engines(d, room, into); break;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: *count = get_knobs(d, room, into); break;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        engine = fill_descriptor(*(void **)into, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        e = engine_of(child_of(d, name, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
        put_attribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 8, 1, &e->index);
        *count = 1;
        break;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: *count = e->note == NONE ? 0 : give_value(room, into, &e->note, 4); break;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE: *count = e->behaves == NONE ? 0 : give_value(room, into, &e->behaves, 4); break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: *count = give_value(room, into, &engine_of_plan(d)->workspace, 8); break;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: *count = give_value(room, into, need_attr(d, name), 8); break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE: *count = give_value(room, into, need_attr(d, name), 4); break;
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
    for (int64_t i = 0; i < uids->count; i++)
        if (((const int64_t *)uids->at)[i] == t->uid) t->at = address[i];
    if (!t->at) die("%s has no address", what);
    if ((uintptr_t)t->at % (uintptr_t)t->align) die("%s is not aligned to %lld bytes", what, (long long)t->align);
    emulate_check_range(t->at, fake_span(t), what);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t which, cudnnBackendDescriptor_t with)
{
    const struct descriptor *plan = need_alive(which, "executing"), *pack = need_alive(with, "executing");
    if (!handle || handle->state != ALIVE) die("the handle is invalid or was destroyed");
    if (!plan->finalised || !pack->finalised) die("a plan or its addresses are not finalised");
    if (*(void *const *)need_attr(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) != handle)
        die("a plan is executed with another handle");
    const struct engine *e = engine_of_plan(plan);
    if (e->wrong) die("engine %lld must not be executed", (long long)e->index);
    const struct descriptor *config = child_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const struct descriptor *engine = child_of(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    const struct descriptor *graph = child_of(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    struct fake_convolution f = read_operation(operation_of(graph), NULL);
    bind_tensor(pack, &f.x, "x of a convolution");
    bind_tensor(pack, &f.w, "w of a convolution");
    bind_tensor(pack, &f.y, "y of a convolution");
    f.work = *(void *const *)need_attr(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    f.work_bytes = (size_t)e->workspace;
    if ((uintptr_t)f.work % 256) die("scratch memory of a convolution is not aligned to 256 bytes");
    if (f.work_bytes) emulate_check_range(f.work, f.work_bytes, "scratch memory of a convolution");
    if (e->index == dnn_waiting && cudaStreamSynchronize(handle->stream) != cudaSuccess)
        return refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "the stream cannot be waited for");
    if (emulate_enqueue(handle->stream, run_work, &f, sizeof f) != cudaSuccess)
        return refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "the stream takes no more");
    return CUDNN_STATUS_SUCCESS;
}

// ---- the library

size_t cudnnGetVersion(void) { return 90099; }  // a version that no real cuDNN has, so that its cache is separate

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
    return status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *message, size_t room)
{
    if (room) snprintf(message, room, "%s", last_error);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *into)
{
    *into = calloc(1, sizeof **into);
    if (!*into) abort();
    (*into)->state = ALIVE;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    for (const struct descriptor *d = all; d; d = d->next)
        if (d->state == ALIVE && d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
            *(void *const *)need_attr(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == handle)
            die("a handle is destroyed before its plans");
    handle->state = ENDED;
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    if (handle->state != ALIVE) die("a stream is set on a destroyed handle");
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

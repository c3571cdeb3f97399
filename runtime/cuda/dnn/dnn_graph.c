// SPDX-License-Identifier: Apache-2.0
// cuDNN's descriptors: a problem as an operation graph of one convolution, the heuristics' list of engines, and the plan of one
// engine. Every descriptor goes into a bag and is destroyed with it. A plan also keeps its graph's bag, because cuDNN does not
// document that it keeps the graph alive.
#include "runtime/cuda/dnn/dnn_inside.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"

// ---- descriptors

int dnn_check(const struct dnn_functions *f, cudnnStatus_t status, const char *what)
{
    if (status == CUDNN_STATUS_SUCCESS) return 0;
    char why[512] = "";
    f->cudnnGetLastErrorString(why, sizeof why);
    bool unsupported = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
    return fail(unsupported ? ERR_UNSUPPORTED : ERR_DEVICE, "cuDNN rejected %s: %s%s%s", what,
                f->cudnnGetErrorString(status), why[0] ? ": " : "", why);
}

static void bag_put(struct dnn_bag *bag, cudnnBackendDescriptor_t d)
{
    if (bag->count == bag->capacity) {
        bag->capacity = bag->capacity ? 2 * bag->capacity : 8;
        bag->at = grow(bag->at, (size_t)bag->capacity * sizeof(cudnnBackendDescriptor_t));
    }
    bag->at[bag->count++] = d;
}

static int bag_new(struct dnn_bag *bag, cudnnBackendDescriptorType_t type, const char *what, cudnnBackendDescriptor_t *d)
{
    TRY(dnn_check(bag->f, bag->f->cudnnBackendCreateDescriptor(type, d), what));
    bag_put(bag, *d);
    return 0;
}

void dnn_bag_empty(struct dnn_bag *bag)
{
    while (bag->count > 0) (void)bag->f->cudnnBackendDestroyDescriptor(bag->at[--bag->count]);
    free(bag->at);
    *bag = (struct dnn_bag){.f = bag->f};
}

int dnn_make(struct dnn_bag *bag, cudnnBackendDescriptorType_t type, const char *what, const struct dnn_set *set, int sets,
             cudnnBackendDescriptor_t *into)
{
    const struct dnn_functions *f = bag->f;
    cudnnBackendDescriptor_t d;
    TRY(bag_new(bag, type, what, &d));
    for (int i = 0; i < sets; i++)
        TRY(dnn_check(f, f->cudnnBackendSetAttribute(d, set[i].name, set[i].type, set[i].count, set[i].at), what));
    TRY(dnn_check(f, f->cudnnBackendFinalize(d), what));
    *into = d;
    return 0;
}

// ---- a problem as a graph

static cudnnDataType_t data_type(enum dtype type)
{
    return type == F32 ? CUDNN_DATA_FLOAT : type == BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
}

// Dimensions are named n, c, h, w; the strides define the order in memory: NHWC, and KRSC for filters.
static int make_tensor(struct dnn_bag *bag, enum dtype type, int64_t uid, int64_t n, int64_t c, int64_t h, int64_t w,
                  cudnnBackendDescriptor_t *into)
{
    return dnn_make(bag, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor",
                    DNN_SETS(DNN_ENUM(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, cudnnDataType_t, data_type(type)),
                             DNN_INT64(CUDNN_ATTR_TENSOR_DIMENSIONS, n, c, h, w),
                             DNN_INT64(CUDNN_ATTR_TENSOR_STRIDES, h * w * c, 1, w * c, c),
                             DNN_INT64(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid), DNN_INT64(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16)),
                    into);
}

static int make_convolution(struct dnn_bag *bag, const struct dnn_problem *p, cudnnBackendDescriptor_t *into)
{
    return dnn_make(
        bag, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "a convolution",
        DNN_SETS(DNN_ENUM(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, cudnnDataType_t, CUDNN_DATA_FLOAT),
                 DNN_ENUM(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, cudnnConvolutionMode_t,
                          CUDNN_CROSS_CORRELATION),
                 DNN_INT64(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2),
                 DNN_INT64(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, p->before[0], p->before[1]),
                 DNN_INT64(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, p->after[0], p->after[1]),
                 DNN_INT64(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, p->stride[0], p->stride[1]),
                 DNN_INT64(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1, 1)),
        into);
}

static int make_operation(struct dnn_bag *bag, enum dnn_pass pass, cudnnBackendDescriptor_t conv, cudnnBackendDescriptor_t x,
                     cudnnBackendDescriptor_t w, cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t *into)
{
    static const struct {
        cudnnBackendDescriptorType_t type;
        cudnnBackendAttributeName_t conv, x, w, y, alpha, beta;
    } passes[] = {
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
    };
    return dnn_make(bag, passes[pass].type, "a convolution's operation",
                    DNN_SETS(DNN_DESCRIPTOR(passes[pass].conv, conv), DNN_DESCRIPTOR(passes[pass].x, x),
                             DNN_DESCRIPTOR(passes[pass].w, w), DNN_DESCRIPTOR(passes[pass].y, y),
                             {passes[pass].alpha, CUDNN_TYPE_FLOAT, DNN_LIST(float, 1.0f)},
                             {passes[pass].beta, CUDNN_TYPE_FLOAT, DNN_LIST(float, 0.0f)}),
                    into);
}

int dnn_graph(struct dnn *dnn, struct dnn_bag *bag, const struct dnn_problem *p, cudnnBackendDescriptor_t *graph)
{
    cudnnBackendDescriptor_t x, w, y, conv, op;
    TRY(make_tensor(bag, p->type, DNN_UID_X, p->n, p->c, p->h, p->w, &x));
    TRY(make_tensor(bag, p->type, DNN_UID_W, p->k, p->c, p->r, p->s, &w));
    TRY(make_tensor(bag, p->type, DNN_UID_Y, p->n, p->k, p->p, p->q, &y));
    TRY(make_convolution(bag, p, &conv));
    TRY(make_operation(bag, p->pass, conv, x, w, y, &op));
    // A described GPU has no handle; the graph needs none then.
    return dnn_make(bag, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "a graph of one convolution",
                    (const struct dnn_set[]){DNN_DESCRIPTOR(CUDNN_ATTR_OPERATIONGRAPH_OPS, op),
                                             {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn->handle}},
                    dnn->handle ? 2 : 1, graph);
}

// ---- engines

static int get_one(const struct dnn_functions *f, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, void *into, const char *what)
{
    int64_t count = 0;
    TRY(dnn_check(f, f->cudnnBackendGetAttribute(d, name, type, 1, &count, into), what));
    return count == 1 ? 0 : fail(ERR_DEVICE, "cuDNN returned %lld values for %s", (long long)count, what);
}

// The notes of an engine as bits. Notes newer than this program have higher numbers and get bits too.
static int notes_of(const struct dnn_functions *f, cudnnBackendDescriptor_t engine, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, unsigned *bits)
{
    enum { ROOM = 32 };
    int note[ROOM];  // both kinds of notes are enums of the size of an int
    _Static_assert(sizeof(cudnnBackendNumericalNote_t) == sizeof(int) && sizeof(cudnnBackendBehaviorNote_t) == sizeof(int), "");
    int64_t count = 0;
    TRY(dnn_check(f, f->cudnnBackendGetAttribute(engine, name, type, ROOM, &count, note), "the notes of an engine"));
    *bits = 0;
    for (int64_t i = 0; i < count && i < ROOM; i++) *bits |= 1u << (note[i] >= 0 && note[i] < 31 ? note[i] : 31);
    return 0;
}

static int both_notes(const struct dnn_functions *f, cudnnBackendDescriptor_t engine, unsigned *notes, unsigned *behaves)
{
    TRY(notes_of(f, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes));
    return notes_of(f, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, behaves);
}

static int knobs_of(struct dnn_bag *bag, cudnnBackendDescriptor_t config, struct dnn_choice *choice)
{
    const struct dnn_functions *f = bag->f;
    cudnnBackendDescriptor_t knob[CUDNN_KNOB_TYPE_COUNTS];
    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; i++)
        TRY(bag_new(bag, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, "a setting", &knob[i]));
    // With a capacity of 0 cuDNN does not return the length of this list, unlike others, so the maximum is allocated.
    int64_t count = 0;
    TRY(dnn_check(f, f->cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                 CUDNN_KNOB_TYPE_COUNTS, &count, knob), "the settings of an engine"));
    if (count > DNN_KNOBS)
        return fail(ERR_UNSUPPORTED, "a cuDNN engine has %lld settings; the limit is %d", (long long)count, DNN_KNOBS);
    choice->knobs = (int)count;
    for (int i = 0; i < choice->knobs; i++) {
        cudnnBackendKnobType_t type;
        TRY(get_one(f, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, &type, "a setting's kind"));
        choice->knob[i].type = type;
        TRY(get_one(f, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, &choice->knob[i].value, "a setting"));
    }
    return 0;
}

static int offer_of(struct dnn_bag *bag, cudnnBackendDescriptor_t config, struct dnn_offer *offer)
{
    cudnnBackendDescriptor_t engine;
    *offer = (struct dnn_offer){0};
    TRY(bag_new(bag, CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine", &engine));
    TRY(get_one(bag->f, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine, "an engine"));
    TRY(get_one(bag->f, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &offer->choice.engine, "its number"));
    TRY(both_notes(bag->f, engine, &offer->notes, &offer->behaves));
    return knobs_of(bag, config, &offer->choice);
}

static int get_offers(const struct dnn_functions *f, cudnnBackendDescriptor_t heuristics, int64_t capacity, int64_t *count,
                   cudnnBackendDescriptor_t *into)
{
    return dnn_check(f, f->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                    capacity, count, into), "its list of engines");
}

static int offers_in(struct dnn *dnn, struct dnn_bag *bag, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode,
                     struct dnn_offer *offer, int capacity, int *count)
{
    cudnnBackendDescriptor_t heuristics, config[64];
    TRY(dnn_make(bag, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "its heuristics",
                 (const struct dnn_set[]){DNN_DESCRIPTOR(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph),
                                          {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode},
                                          DNN_DESCRIPTOR(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, dnn->property)},
                 dnn->property ? 3 : 2, &heuristics));
    int64_t found = 0, given = 0;
    TRY(get_offers(bag->f, heuristics, 0, &found, NULL));
    if (found > capacity) found = capacity;
    for (int64_t i = 0; i < found; i++)
        TRY(bag_new(bag, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine's settings", &config[i]));
    if (found) TRY(get_offers(bag->f, heuristics, found, &given, config));
    for (int64_t i = 0; i < given && i < found; i++)
        if (offer_of(bag, config[i], &offer[*count]) == 0) ++*count;
    return 0;
}

int dnn_offers(struct dnn *dnn, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, struct dnn_offer **into, int *count)
{
    enum { MOST = 64 };
    *into = zalloc(MOST * sizeof **into);
    *count = 0;
    struct dnn_bag bag = {.f = &dnn->f};
    int rc = offers_in(dnn, &bag, graph, mode, *into, MOST, count);
    dnn_bag_empty(&bag);
    if (rc == 0) return 0;
    free(*into);
    *into = NULL;
    return rc;
}

static int config_of(struct dnn *dnn, struct dnn_bag *bag, cudnnBackendDescriptor_t graph, const struct dnn_choice *c,
                     cudnnBackendDescriptor_t *engine, cudnnBackendDescriptor_t *config)
{
    TRY(dnn_make(bag, CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine",
                 (const struct dnn_set[]){DNN_DESCRIPTOR(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph),
                                          DNN_INT64(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, c->engine),
                                          DNN_DESCRIPTOR(CUDNN_ATTR_ENGINE_DEVICEPROP, dnn->property)},
                 dnn->property ? 3 : 2, engine));
    cudnnBackendDescriptor_t knob[DNN_KNOBS];
    for (int i = 0; i < c->knobs; i++)
        TRY(dnn_make(bag, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, "a setting",
                     DNN_SETS(DNN_ENUM(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, cudnnBackendKnobType_t,
                                       (cudnnBackendKnobType_t)c->knob[i].type),
                              DNN_INT64(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, c->knob[i].value)),
                     &knob[i]));
    return dnn_make(bag, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine's settings",
                    (const struct dnn_set[]){DNN_DESCRIPTOR(CUDNN_ATTR_ENGINECFG_ENGINE, *engine),
                                             {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, c->knobs, knob}},
                    c->knobs ? 2 : 1, config);
}

static int engine_in(struct dnn *dnn, cudnnBackendDescriptor_t graph, struct dnn_engine *e)
{
    cudnnBackendDescriptor_t engine, config;
    TRY(config_of(dnn, &e->bag, graph, &e->choice, &engine, &config));
    TRY(both_notes(&dnn->f, engine, &e->notes, &e->behaves));
    struct dnn_set where = {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn->handle};
    if (dnn->property)
        where = (struct dnn_set){CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &dnn->property};
    TRY(dnn_make(&e->bag, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan",
                 DNN_SETS(DNN_DESCRIPTOR(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config), where), &e->plan));
    int64_t bytes = 0;
    TRY(get_one(&dnn->f, e->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &bytes, "scratch memory"));
    if (bytes < 0) return fail(ERR_DEVICE, "cuDNN returned a scratch size of %lld bytes", (long long)bytes);
    e->workspace = (size_t)bytes;
    return 0;
}

int dnn_engine_new(struct dnn *dnn, cudnnBackendDescriptor_t graph, const struct dnn_choice *choice, struct dnn_engine *e)
{
    *e = (struct dnn_engine){.bag = {.f = &dnn->f}, .choice = *choice};
    int rc = engine_in(dnn, graph, e);
    if (rc < 0) dnn_bag_empty(&e->bag);
    return rc;
}

// ---- execution

int dnn_pack(struct dnn_bag *bag, const void *x, const void *w, const void *y, void *work, cudnnBackendDescriptor_t *into)
{
    const void *address[] = {x, w, y};
    return dnn_make(bag, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the addresses of a convolution",
                    DNN_SETS(DNN_INT64(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, DNN_UID_X, DNN_UID_W, DNN_UID_Y),
                             {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, address},
                             {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work}),
                    into);
}

int dnn_execute(struct dnn *dnn, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    return dnn_check(&dnn->f, dnn->f.cudnnBackendExecute(dnn->handle, plan, pack), "to run a convolution");
}

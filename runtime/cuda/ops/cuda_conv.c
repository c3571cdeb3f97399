// SPDX-License-Identifier: Apache-2.0
// Convolution and its two gradients. conv_route() decides between cuDNN (dnn.h) and DAWN's kernels (k_conv.h). Both read
// filters in the type of the activations, and both are deterministic.
//
// Three things need a further pass around cuDNN. It has no ready engine with GELU or SiLU, so a bias and an activation are a
// pass over its result. It has no engine with f32 filter gradients of 16-bit activations, so they come out in 16 bits and are
// widened. Its engines move 16 bytes of channels at a time, so images of 3 channels are padded to 8 in scratch, if the
// convolution is large enough to pay for it: the stem of a residual network.
#include "runtime/cuda/cuda.h"

#include <stdio.h>

#include "runtime/cuda/dnn/dnn.h"
#include "runtime/cuda/kernels/k_channels.h"
#include "runtime/cuda/kernels/k_conv.h"
#include "runtime/cuda/kernels/k_element.h"

// ---- the problem

struct conv {
    struct dnn_problem problem;
    int64_t channels;  // of x as it is stored; problem.c is K_CHANNELS if they are padded
    int groups;
    bool fused;  // a bias or an activation follows
};

static struct conv conv_of(const struct graph *g, const struct node *n)
{
    const struct conv_attr *a = &n->attr.conv;
    bool forward = n->op == OP_CONV, dgrad = n->op == OP_CONV_DGRAD;
    const struct value *x = dgrad ? node_out(g, n, 0) : node_in(g, n, 0);
    const struct value *w = forward ? node_in(g, n, 1) : dgrad ? node_in(g, n, 0) : node_out(g, n, 0);
    const struct value *y = forward ? node_out(g, n, 0) : node_in(g, n, 1);
    const int64_t *xd = x->shape.dim, *wd = w->shape.dim, *yd = y->shape.dim;
    struct conv c = {.groups = a->groups, .fused = forward && (n->in[2] != NONE || a->act != ACT_NONE)};
    c.problem = (struct dnn_problem){.pass = forward ? DNN_FORWARD : dgrad ? DNN_DGRAD : DNN_WGRAD, .type = y->dtype,
                                     .n = xd[0], .h = xd[1], .w = xd[2], .c = xd[3], .k = wd[0], .r = wd[1], .s = wd[2],
                                     .p = yd[1], .q = yd[2]};
    c.channels = xd[3];
    for (int i = 0; i < 2; i++) {
        c.problem.stride[i] = a->stride[i];
        c.problem.before[i] = a->before[i];
        c.problem.after[i] = a->after[i];
    }
    return c;
}

static struct k_conv_shape shape_of(const struct conv *c)
{
    const struct dnn_problem *p = &c->problem;
    return (struct k_conv_shape){.n = (int)p->n, .h = (int)p->h, .w = (int)p->w, .c = (int)c->channels, .p = (int)p->p,
                                 .q = (int)p->q, .k = (int)p->k, .r = (int)p->r, .s = (int)p->s, .groups = c->groups,
                                 .stride = {(int)p->stride[0], (int)p->stride[1]},
                                 .before = {(int)p->before[0], (int)p->before[1]}};
}

static double flops_of(const struct dnn_problem *p)
{
    return 2.0 * (double)(p->n * p->p * p->q) * (double)p->k * (double)(p->r * p->s * p->c);
}

static size_t filter_bytes(const struct dnn_problem *p)
{
    return (size_t)(p->k * p->r * p->s * p->c) * dtype_size(p->type);
}

// ---- cuDNN or DAWN's kernels

static void close_dnn(struct cuda_device *cuda)
{
    dnn_close(cuda->dnn);
    cuda->dnn = NULL;
}

static int open_dnn(struct cuda_device *cuda)
{
    if (cuda->dnn) return 0;
    struct dnn_machine machine = {.major = cuda->major, .minor = cuda->minor, .stream = cuda->stream};
    memcpy(machine.gpu, cuda->name, sizeof machine.gpu);
    cuda_driver_text(machine.driver_text, sizeof machine.driver_text);
    TRY(cuda_check(cudaDriverGetVersion(&machine.driver), "reading the driver's version"));
    TRY(cuda_check(cudaRuntimeGetVersion(&machine.runtime), "reading the CUDA runtime's version"));
    struct dnn_settings settings = dnn_settings_default();
    settings.tf32 = cuda->set.tf32, settings.tune = cuda->set.tune, settings.cache = cuda->set.cache;
    int rc = dnn_open(&machine, settings, &cuda->dnn);
    if (rc == ERR_MISSING) {
        char why[ERROR_TEXT_MAX];
        snprintf(why, sizeof why, "%s", error_text());
        return fail(rc, "%s; DAWN_CUDA_CONV=own in the environment avoids it, but is slower", why);
    }
    TRY(rc);
    cuda->dnn_close = close_dnn;
    cuda->dnn_version = dnn_version(cuda->dnn);
    return 0;
}

// True if cuDNN should be tried. Its fast engines move 16 bytes of channels at a time. For f32 it has no engine that takes NHWC
// directly: those without TF32 transpose the tensors first, with up to 500 MB of scratch (test_dnn_plans). Below some millions
// of operations the launch dominates, and loading the library would cost more than a run. A fused 16-bit result would be
// rounded twice, before and after the bias, so the limit there is higher. DAWN_CUDA_CONV=own or =cudnn (any size and type) is
// for comparisons.
static bool worth_dnn(const struct cuda_device *cuda, const struct conv *c)
{
    const double least = c->fused && c->problem.type != F32 ? 1e7 : 1e6;
    const struct dnn_problem *p = &c->problem;
    size_t size = dtype_size(p->type);
    bool fits = c->groups == 1 && (size_t)p->c * size % 16 == 0 && (size_t)p->k * size % 16 == 0;
    if (!fits || cuda->set.conv == CONV_OWN) return false;
    if (cuda->set.conv == CONV_CUDNN) return true;
    return p->c >= 8 && flops_of(p) >= least && (p->type != F32 || cuda->set.tf32);
}

// The gradient of padded channels is never needed: they are pixels. Below some billions of operations, and with filters that
// DAWN's kernel for stems keeps in shared memory, a pass over x costs more than it saves.
static void pad_channels(const struct cuda_device *cuda, struct conv *c)
{
    struct k_conv_shape shape = shape_of(c);
    struct dnn_problem *p = &c->problem;
    if (p->c >= K_CHANNELS || p->pass == DNN_DGRAD || c->groups != 1 || p->type == F32) return;
    if (cuda->set.conv == CONV_OWN || p->k % K_CHANNELS) return;
    if (cuda->set.conv != CONV_CUDNN && (flops_of(p) < 1e9 || k_conv_is_stem(&shape))) return;
    p->c = K_CHANNELS;
}

static bool pads(const struct conv *c) { return c->problem.c != c->channels; }

// *plan is NULL for DAWN's kernels. The answer is stable because plans are remembered, with one exception: if an engine turns
// out not to be capturable when it is bound, DAWN's kernels take over from then on.
static int conv_route(struct cuda_device *cuda, const struct conv *c, const struct dnn_plan **plan)
{
    *plan = NULL;
    if (worth_dnn(cuda, c)) {
        TRY(open_dnn(cuda));
        int rc = dnn_plan(cuda->dnn, &c->problem, plan);
        if (rc == 0 || rc != ERR_UNSUPPORTED) return rc;
        *plan = NULL;
    }
    struct k_conv_shape shape = shape_of(c);
    if (!k_conv_fits(&shape)) return fail(ERR_UNSUPPORTED, "a convolution of this size does not fit 32-bit indices");
    return 0;
}

static int conv_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    if (n->attr.conv.pool) return fail(ERR_UNSUPPORTED, "no kernel pools the results of a convolution");
    struct conv c = conv_of(g, n);
    pad_channels(cuda, &c);
    const struct dnn_plan *plan;
    return conv_route(cuda, &c, &plan);
}

// cuDNN's scratch needs a larger alignment than the slab gives, so the workspace is larger by that much.
static size_t engine_bytes(const struct dnn_plan *plan)
{
    return plan->workspace ? plan_round_up(plan->workspace) + DNN_WORK_ALIGN - PLAN_ALIGN : 0;
}

// Behind the engine's scratch: padded pixels, then padded filters or gradients to be widened.
struct scratch {
    size_t x, w, bytes;
};

static struct scratch scratch_of(const struct conv *c, const struct dnn_plan *plan)
{
    const struct dnn_problem *p = &c->problem;
    struct scratch s = {.x = engine_bytes(plan)};
    bool wgrad = p->pass == DNN_WGRAD && p->type != F32;
    s.w = s.x + (pads(c) ? arena_round_up((size_t)(p->n * p->h * p->w * p->c) * dtype_size(p->type), DNN_WORK_ALIGN) : 0);
    s.bytes = s.w + (wgrad || pads(c) ? filter_bytes(p) : 0);
    return s;
}

static size_t conv_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    struct conv c = conv_of(g, n);
    const struct dnn_plan *plan;
    pad_channels(cuda, &c);
    if (conv_route(cuda, &c, &plan) < 0) return 0;  // supports() has reported it, or prepare will
    struct k_conv_shape shape = shape_of(&c);
    size_t own = n->op == OP_CONV_WGRAD && k_conv_fits(&shape) ? k_conv_wgrad_work(&shape) : 0;
    size_t engine = plan ? scratch_of(&c, plan).bytes : 0;
    return engine > own ? engine : own;  // DAWN's kernels may have to take over
}

static unsigned conv_copies(const struct graph *g, const struct node *n, enum dtype *to)
{
    *to = n->op == OP_CONV ? node_in(g, n, 0)->dtype : node_in(g, n, 1)->dtype;
    return n->op == OP_CONV ? 1u << 1 : 1u << 0;
}

// ---- running: pad the channels, call cuDNN, then make the further pass

struct engine {
    struct dnn_call *call;
    struct k_channels_pad pad[2];  // pixels, filters
    int pads;
};

static int run_engine(struct cuda_step *s)
{
    const struct engine *e = s->own;
    for (int i = 0; i < e->pads; i++)
        TRY(cuda_check(k_channels_pad(s->stream, &e->pad[i]), "launching the pass in front of a convolution"));
    TRY(dnn_run(e->call));
    return s->launch ? cuda_check(s->launch(s->stream, s->args), "launching the pass behind a convolution") : 0;
}

static void release_engine(struct cuda_step *s)
{
    const struct engine *e = s->own;
    dnn_call_free(e->call);
}

// Sets the source and the address of a wide operand.
static void pad_operand(struct engine *e, const struct conv *c, const void **operand, int64_t rows, void *to)
{
    e->pad[e->pads++] = (struct k_channels_pad){*operand, to, rows, (int)c->channels};
    *operand = to;
}

// Binds cuDNN's part if *plan is not NULL. Sets *plan to NULL if DAWN's kernels must take over.
static int bind_engine(struct cuda_step *s, const struct conv *c, const struct dnn_plan **planned, const void *x, const void *w,
                const void *y)
{
    const struct dnn_plan *plan = *planned;
    const struct dnn_problem *p = &c->problem;
    if (!plan) return 0;
    struct scratch at = scratch_of(c, plan);
    if (at.bytes > s->work_bytes) BUG("a convolution's scratch memory was not planned");
    struct engine *e = arena_alloc(s->arena, sizeof *e);
    *e = (struct engine){0};
    if (pads(c)) pad_operand(e, c, &x, p->n * p->h * p->w, (char *)s->work + at.x);
    if (pads(c) && p->pass == DNN_FORWARD) pad_operand(e, c, &w, p->k * p->r * p->s, (char *)s->work + at.w);
    uintptr_t work = arena_round_up((uintptr_t)s->work, DNN_WORK_ALIGN);
    int rc = dnn_bind(s->cuda->dnn, plan, x, w, y, plan->workspace ? (void *)work : NULL, &e->call);
    if (rc == ERR_UNSUPPORTED) return conv_route(s->cuda, c, planned);
    TRY(rc);
    s->own = e;
    s->bound = true;
    s->run = run_engine;
    s->release = release_engine;
    return 0;
}

// ---- the operators

static int conv_prepare(struct cuda_step *s)
{
    struct conv c = conv_of(s->graph, s->node);
    const struct dnn_plan *plan;
    enum dtype type = c.problem.type;
    enum act act = s->node->attr.conv.act;
    const void *w = cuda_weight(s, 1, type);
    pad_channels(s->cuda, &c);
    TRY(conv_route(s->cuda, &c, &plan));
    TRY(bind_engine(s, &c, &plan, s->in[0], w, s->out[0]));
    if (!plan) {
        CUDA_LAUNCH(s, k_conv_forward, .shape = shape_of(&c), .x = s->in[0], .w = w, .bias = s->in[2], .y = s->out[0],
                    .type = type, .act = act);
        return 0;
    }
    if (c.fused)
        CUDA_LAUNCH(s, k_act, .x = s->out[0], .bias = s->in[2], .y = s->out[0], .count = cuda_count(cuda_out(s, 0)),
                    .channels = c.problem.k, .type = type, .act = act);
    return 0;
}

static int conv_dgrad_prepare(struct cuda_step *s)
{
    struct conv c = conv_of(s->graph, s->node);
    const struct dnn_plan *plan;
    enum dtype type = c.problem.type;
    const void *w = cuda_weight(s, 0, type);
    TRY(conv_route(s->cuda, &c, &plan));
    TRY(bind_engine(s, &c, &plan, s->out[0], w, s->in[1]));
    if (plan) return 0;
    CUDA_LAUNCH(s, k_conv_dgrad, .shape = shape_of(&c), .w = w, .dy = s->in[1], .dx = s->out[0], .type = type);
    return 0;
}

static int conv_wgrad_prepare(struct cuda_step *s)
{
    struct conv c = conv_of(s->graph, s->node);
    const struct dnn_plan *plan;
    enum dtype type = c.problem.type;
    pad_channels(s->cuda, &c);
    TRY(conv_route(s->cuda, &c, &plan));
    bool widened = plan && type != F32;
    void *dw = widened ? (char *)s->work + scratch_of(&c, plan).w : s->out[0];
    TRY(bind_engine(s, &c, &plan, s->in[0], dw, s->in[1]));
    if (!plan) {
        CUDA_LAUNCH(s, k_conv_wgrad, .shape = shape_of(&c), .x = s->in[0], .dy = s->in[1], .dw = s->out[0], .work = s->work,
                    .type = type);
        return 0;
    }
    if (widened && pads(&c))
        CUDA_LAUNCH(s, k_channels_take, .from = dw, .to = s->out[0], .rows = c.problem.k * c.problem.r * c.problem.s,
                    .c = (int)c.channels, .type = type);
    else if (widened)
        CUDA_LAUNCH(s, k_cast, .x = dw, .y = s->out[0], .count = cuda_count(cuda_out(s, 0)), .from = type, .to = F32);
    return 0;
}

const struct cuda_op cuda_conv = {conv_prepare, conv_workspace, conv_supports, conv_copies};
const struct cuda_op cuda_conv_dgrad = {conv_dgrad_prepare, conv_workspace, conv_supports, conv_copies};
const struct cuda_op cuda_conv_wgrad = {conv_wgrad_prepare, conv_workspace, conv_supports, NULL};

// SPDX-License-Identifier: Apache-2.0
// Convolution and its two gradients: the choice between DAWN's kernels (stem.c, direct.c, lines.c, pixels.c, wgrad.c,
// winograd*.c, tiles*.c) and oneDNN, and oneDNN's part. Filters are f32 masters. Every run reorders them into the kernel's format
// and precision, in scratch of the plan; 2 million parameters take about 2 ms. That is negligible in a training step but most of
// a forward pass of one image, so small batches keep packed filters until the slot's version changes. supports, workspace and
// prepare compute the same conv_plan, so their answers agree.
//
// The gradient of x is also a convolution of dy, with the filters rotated by 180 degrees and C and K exchanged. Forward
// kernels are faster (docs/performance.md), so stride 1 uses them.
#include "runtime/common/base/arena.h"
#include "runtime/common/base/threads.h"
#include "runtime/cpu/conv/direct.h"
#include "runtime/cpu/conv/lines.h"
#include "runtime/cpu/conv/pixels.h"
#include "runtime/cpu/conv/stem.h"
#include "runtime/cpu/conv/wgrad.h"
#include "runtime/cpu/conv/winograd.h"
#include "runtime/cpu/conv/winograd4.h"
#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "runtime/cpu/product/rows.h"
#include "runtime/cpu/product/widen.h"
#include "runtime/cpu/tiles/tiles.h"

#include <stdlib.h>

enum { LEAST_UNKEPT = 12 };  // smaller batches keep their packed filters

struct conv_plan {
    struct dnnl_conv conv;        // in oneDNN's terms
    bool as_forward;                  // gradient of x computed as a forward convolution
    // oneDNN, or one of DAWN's kernels
    enum {
        BY_DNNL, BY_WGRAD, BY_DIRECT, BY_LINES, BY_STEM, BY_PIXELS, BY_WINOGRAD, BY_WINOGRAD_WGRAD, BY_WINOGRAD4,
        BY_WINOGRAD4_WGRAD, BY_TILES, BY_TILES_WGRAD
    } by;
    struct dnnl_prim main, pack;  // pack: filters into main's format, or dw out of it
    struct widen widen;           // of f16
    size_t rotated_at, packed_at, scratch_at, widened_at, bytes;  // in the work buffer
    const struct slot *keeps;     // slot whose packed filters are kept; NULL: packed in the work buffer at every run
    size_t kept_bytes;
    uint64_t version;             // the slot's version when they were packed
};

static void conv_plan_end(struct conv_plan *p)
{
    dnnl_prim_end(&p->pack);
    dnnl_prim_end(&p->main);
}

// The convolution that the node computes or is the gradient of.
static struct dnnl_conv conv_of(const struct graph *g, const struct node *n)
{
    const struct conv_attr *a = &n->attr.conv;
    const struct value *in0 = node_in(g, n, 0), *in1 = node_in(g, n, 1), *out = node_out(g, n, n->out[0] == NONE);
    const struct value *x = n->op == OP_CONV_DGRAD ? out : in0;
    const struct value *w = n->op == OP_CONV ? in1 : n->op == OP_CONV_DGRAD ? in0 : out;
    const struct value *y = n->op == OP_CONV ? out : in1;
    struct dnnl_conv c = {
        .pass = n->op == OP_CONV ? DNNL_FORWARD : n->op == OP_CONV_DGRAD ? DNNL_DGRAD : DNNL_WGRAD,
        .dtype = widen_type(n->op == OP_CONV ? in0->dtype : in1->dtype),
        .n = x->shape.dim[0], .h = x->shape.dim[1], .w = x->shape.dim[2], .c = x->shape.dim[3],
        .k = w->shape.dim[0], .r = w->shape.dim[1], .s = w->shape.dim[2],
        .p = y->shape.dim[1] << a->pool, .q = y->shape.dim[2] << a->pool,
        .groups = a->groups > 1 ? a->groups : 1,
        .stride = {a->stride[0], a->stride[1]},
        .before = {a->before[0], a->before[1]},
        .after = {a->after[0], a->after[1]},
        .bias = n->op == OP_CONV && n->in[2] != NONE,
        .act = n->op == OP_CONV ? a->act : ACT_NONE,
        .y_pooled = a->pool,
    };
    return c;
}

// Turns dx = dgrad(dy) into the equal forward convolution; false if there is none.
static bool to_forward_conv(struct dnnl_conv *c)
{
    if (c->groups != 1 || c->stride[0] != 1 || c->stride[1] != 1) return false;
    struct dnnl_conv t = *c;
    t.pass = DNNL_FORWARD;
    t.h = c->p, t.w = c->q, t.c = c->k;
    t.p = c->h, t.q = c->w, t.k = c->c;
    t.x_pooled = c->y_pooled, t.y_pooled = false;
    t.before[0] = (int)c->r - 1 - c->before[0];
    t.before[1] = (int)c->s - 1 - c->before[1];
    t.after[0] = (int)(c->h + c->r - 1 - c->p - t.before[0]);
    t.after[1] = (int)(c->w + c->s - 1 - c->q - t.before[1]);
    for (int i = 0; i < 2; i++)  // oneDNN needs padding that is not negative and smaller than the filter
        if (t.before[i] < 0 || t.after[i] < 0 || t.after[i] >= (i ? c->s : c->r)) return false;
    *c = t;
    return true;
}

// Converts dw out of oneDNN's format, or filters into it.
static int plan_pack(struct cpu_device *cpu, struct conv_plan *p)
{
    struct dnnl_array plain = dnnl_prim_filters(&p->conv, p->as_forward);
    if (p->conv.pass == DNNL_WGRAD) return dnnl_prim_unpack(cpu, &p->pack, &p->main, DNNL_ARG_DIFF_WEIGHTS, &plain);
    return dnnl_prim_pack(cpu, &p->pack, &plain, &p->main, DNNL_ARG_WEIGHTS);
}

// Small batches keep their packed filters: the slot that they are of, or NULL.
static const struct slot *kept_slot(const struct graph *g, const struct node *n, const struct dnnl_conv *c)
{
    return n->op == OP_CONV && c->n < LEAST_UNKEPT ? node_in(g, n, 1)->slot : NULL;
}

// Packed filters outlive a run, or are stored at the end of the work buffer.
static void keep_filters(struct conv_plan *p, const struct slot *slot, size_t bytes)
{
    if (slot) p->keeps = slot, p->kept_bytes = bytes, p->version = UINT64_MAX;
    else p->bytes += bytes;
}

// True if Winograd's kernel was chosen.
static bool choose_winograd(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    const struct dnnl_conv *c = &p->conv;
    enum winograd allowed = n->attr.conv.winograd;
    if (c->pass == DNNL_WGRAD && allowed == WINOGRAD_ALL && winograd_wgrad_fits(c)) {
        p->by = BY_WINOGRAD_WGRAD, p->bytes = winograd_wgrad_bytes(c, cpu->threads);
    } else if (c->pass == DNNL_FORWARD && allowed != WINOGRAD_NONE && winograd_fits(c, kept_slot(g, n, c) != NULL)) {
        p->by = BY_WINOGRAD, p->packed_at = plan_round_up(winograd_bytes(c, cpu->threads));
        p->bytes = p->packed_at;
        keep_filters(p, kept_slot(g, n, c), winograd_pack_bytes(c));
    }
    return p->by != BY_DNNL;
}

// The same in f32, on every instruction set. Results have the error of a direct convolution, so no recipe key selects it.
static bool choose_winograd4(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    const struct dnnl_conv *c = &p->conv;
    if (c->pass == DNNL_WGRAD && winograd4_wgrad_fits(cpu->loops, c)) {
        p->by = BY_WINOGRAD4_WGRAD, p->bytes = winograd4_wgrad_bytes(cpu->loops, c);
    } else if (c->pass == DNNL_FORWARD && winograd4_fits(cpu->loops, c, kept_slot(g, n, c) != NULL)) {
        p->by = BY_WINOGRAD4, p->packed_at = plan_round_up(winograd4_bytes(cpu->loops, c, cpu->threads));
        p->bytes = p->packed_at;
        keep_filters(p, kept_slot(g, n, c), winograd4_pack_bytes(cpu->loops, c));
    }
    return p->by != BY_DNNL;
}

static bool choose_tiles(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    const struct dnnl_conv *c = &p->conv;
    if (c->pass == DNNL_WGRAD && tiles_wgrad_fit(c)) {
        p->by = BY_TILES_WGRAD, p->bytes = tiles_wgrad_bytes(c, cpu->threads);
        return true;
    }
    if (c->pass != DNNL_FORWARD || !tiles_fit(c)) return false;
    p->by = BY_TILES, p->packed_at = plan_round_up(tiles_bytes(c, cpu->threads));
    p->bytes = p->packed_at;
    keep_filters(p, kept_slot(g, n, c), tiles_pack_bytes(c));
    return true;
}

// Chooses DAWN's kernel if one fits, by the measurements of docs/performance.md.
static bool choose_kernel(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    const struct dnnl_conv *c = &p->conv;
    bool wide = strcmp(cpu->loops->isa, "avx512") == 0;  // DAWN_ISA may forbid it
    if (c->tiles && choose_tiles(cpu, g, n, p)) return true;
    if (wide && choose_winograd(cpu, g, n, p)) return true;
    if (n->attr.conv.pool) return false;
    if (choose_winograd4(cpu, g, n, p)) return true;
    if (c->pass == DNNL_WGRAD && wide && wgrad_fits(c)) {
        p->by = BY_WGRAD, p->bytes = wgrad_bytes(c, cpu->threads);
    } else if (c->pass == DNNL_FORWARD && !p->as_forward && stem_fits(c)) {
        p->by = BY_STEM, p->bytes = stem_bytes(c);
    } else if (wide && kept_slot(g, n, c) && pixels_fit(c)) {
        p->by = BY_PIXELS, p->bytes = pixels_bytes(c, cpu->threads);
        keep_filters(p, kept_slot(g, n, c), direct_bytes(c));
    } else if (c->pass == DNNL_FORWARD && wide && direct_fits(c)) {
        p->by = BY_DIRECT, p->bytes = direct_bytes(c);
    }
    return p->by != BY_DNNL;
}

static int plan_product(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    if (lines_fit(cpu->loops, &p->conv)) {
        p->by = BY_LINES, p->bytes = lines_bytes(cpu->loops, &p->conv, cpu->threads);
        return 0;
    }
    if (n->op == OP_CONV_DGRAD) p->as_forward = to_forward_conv(&p->conv);
    if (choose_kernel(cpu, g, n, p)) return 0;
    if (n->attr.conv.pool) return fail(ERR_UNSUPPORTED, "no kernel pools the results of this convolution");
    TRY(dnnl_prim_conv(cpu, &p->main, &p->conv));
    int rc = plan_pack(cpu, p);
    if (rc < 0) {
        conv_plan_end(p);
        return rc;
    }
    struct dnnl_conv *c = &p->conv;
    size_t filters = (size_t)(c->k * c->r * c->s * c->c / c->groups) * sizeof(float);
    size_t scratch = p->main.scratch > p->pack.scratch ? p->main.scratch : p->pack.scratch;  // they run one after the other
    p->packed_at = p->as_forward ? plan_round_up(filters) : 0;
    int packed = c->pass == DNNL_WGRAD ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
    p->bytes = p->packed_at;
    keep_filters(p, kept_slot(g, n, c), plan_round_up(dnnl_prim_bytes(&p->main, packed)));
    p->scratch_at = p->bytes;
    p->bytes += plan_round_up(scratch);
    return 0;
}

static int conv_plan_new(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct conv_plan *p)
{
    memset(p, 0, sizeof *p);
    p->conv = conv_of(g, n);
    p->conv.tiles = cpu->tiles;
    widen_plan(&p->widen, g, n);
    TRY(plan_product(cpu, g, n, p));
    p->widened_at = p->widen.count ? plan_round_up(p->bytes) : p->bytes;
    p->bytes = p->widened_at + p->widen.bytes;
    return 0;
}

static int conv_supports(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct conv_plan p;
    TRY(conv_plan_new(cpu, g, n, &p));
    conv_plan_end(&p);
    return 0;
}

static size_t conv_kept(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct conv_plan p;
    if (conv_plan_new(cpu, g, n, &p) < 0) return 0;
    conv_plan_end(&p);
    return p.kept_bytes;
}

static size_t conv_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct conv_plan p;
    if (conv_plan_new(cpu, g, n, &p) < 0) return 0;  // prepare fails with the same error
    conv_plan_end(&p);
    return p.bytes;
}

// ---- running

struct rotation {
    const float *from;
    float *to;
    int64_t taps, row;  // r * s, and the channels per tap
};

static void rotate_filters(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct rotation *t = context;
    for (int64_t k = begin; k < end; k++)
        for (int64_t i = 0; i < t->taps; i++)
            memcpy(t->to + (k * t->taps + i) * t->row, t->from + (k * t->taps + t->taps - 1 - i) * t->row,
                   (size_t)t->row * sizeof(float));
}

static bool must_pack(struct conv_plan *p)
{
    if (p->keeps && p->version == p->keeps->version) return false;
    if (p->keeps) p->version = p->keeps->version;
    return true;
}

static int conv_run(struct cpu_step *step)
{
    struct conv_plan *p = step->own;
    if (p->conv.pass == DNNL_WGRAD) {
        TRY(dnnl_prim_run(step->cpu, &p->main));
        return dnnl_prim_run(step->cpu, &p->pack);
    }
    if (p->as_forward) {
        const struct dnnl_conv *c = &p->conv;
        struct rotation t = {step->in[0], (float *)((char *)step->work + p->rotated_at), c->r * c->s, c->k};
        threads_for(c->c, 16, rotate_filters, &t);
    }
    if (must_pack(p)) TRY(dnnl_prim_run(step->cpu, &p->pack));
    return dnnl_prim_run(step->cpu, &p->main);
}

// A kernel whose filters are packed apart: one of Winograd's or the kernel of tiles.
static int packed_step(struct cpu_step *step)
{
    struct conv_plan *p = step->own;
    const struct dnnl_conv *c = &p->conv;
    void **in = step->in, *filters = p->keeps ? step->kept : (char *)step->work + p->packed_at;
    bool back = p->as_forward, pack = must_pack(p);
    struct conv_data data = {.x = in[back ? 1 : 0], .y = step->out[0]};
    if (back) data.x_at = in[2];
    else data.bias = in[2], data.y_at = step->out[1];
    const float *w = in[back ? 0 : 1];
    const struct loops *loops = step->cpu->loops;
    int threads = step->cpu->threads;
    switch (p->by) {
    case BY_TILES:
        if (pack) tiles_pack(c, back, w, filters);
        tiles_run(c, threads, filters, &data, step->work);
        break;
    case BY_WINOGRAD:
        if (pack) winograd_pack(c, back, w, filters);
        winograd_run(c, threads, filters, &data, step->work);
        break;
    default:
        if (pack) winograd4_pack(loops, c, back, w, filters);
        winograd4_run(loops, c, threads, filters, &data, step->work);
    }
    return 0;
}

static void pixels_step(struct cpu_step *step)
{
    struct conv_plan *p = step->own;
    if (must_pack(p)) direct_pack(&p->conv, (struct direct_order){.k = ROWS_WIDE}, false, step->in[1], step->kept);
    pixels_run(&p->conv, step->kept, step->in[0], step->in[2], step->out[0], step->work);
}

static int kernel_run(struct cpu_step *step)
{
    const struct conv_plan *p = step->own;
    const struct dnnl_conv *c = &p->conv;
    void **in = step->in;
    int threads = step->cpu->threads;
    if (p->by == BY_WINOGRAD || p->by == BY_WINOGRAD4 || p->by == BY_TILES) return packed_step(step);
    if (p->by == BY_LINES) lines_run(step->cpu->loops, c, threads, in, step->out[0], step->work);
    else if (p->by == BY_WGRAD) wgrad_run(c, threads, in[0], in[1], step->out[0], step->work);
    else if (p->by == BY_WINOGRAD_WGRAD) winograd_wgrad_run(c, threads, in[0], in[1], in[2], step->out[0], step->work);
    else if (p->by == BY_WINOGRAD4_WGRAD)
        winograd4_wgrad_run(step->cpu->loops, c, in[0], in[1], step->out[0], step->work);
    else if (p->by == BY_TILES_WGRAD) tiles_wgrad_run(c, threads, in[0], in[1], in[2], step->out[0], step->work);
    else if (p->by == BY_PIXELS) pixels_step(step);
    else if (p->by == BY_STEM) stem_run(c, in[0], in[1], in[2], step->out[0], step->work);
    else if (p->as_forward) direct_run(c, true, in[1], in[0], NULL, step->out[0], step->work);
    else direct_run(c, false, in[0], in[1], in[2], step->out[0], step->work);
    return 0;
}

static int widened_run(struct cpu_step *step)
{
    const struct conv_plan *p = step->own;
    widen_operands(&p->widen, step);
    TRY(p->by == BY_DNNL ? conv_run(step) : kernel_run(step));
    widen_results(&p->widen, step);
    return 0;
}

static void conv_release(struct cpu_step *step)
{
    conv_plan_end(step->own);
    free(step->own);
    step->own = NULL;
}

// Binds the operands to their addresses in the plan.
static int conv_bind(struct cpu_step *step, struct conv_plan *p)
{
    struct cpu_device *cpu = step->cpu;
    char *work = step->work;
    void *packed = p->keeps ? step->kept : work + p->packed_at, *scratch = work + p->scratch_at;
    if (p->main.scratch) TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_SCRATCHPAD, scratch));
    if (p->pack.scratch) TRY(dnnl_prim_bind(cpu, &p->pack, DNNL_ARG_SCRATCHPAD, scratch));
    if (p->conv.pass == DNNL_WGRAD) {
        TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_SRC, step->in[0]));
        TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_DIFF_DST, step->in[1]));
        TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_DIFF_WEIGHTS, packed));
        TRY(dnnl_prim_bind(cpu, &p->pack, DNNL_ARG_FROM, packed));
        return dnnl_prim_bind(cpu, &p->pack, DNNL_ARG_TO, step->out[0]);
    }
    bool forward = step->node->op == OP_CONV;
    TRY(dnnl_prim_bind(cpu, &p->pack, DNNL_ARG_FROM, p->as_forward ? work + p->rotated_at : step->in[forward ? 1 : 0]));
    TRY(dnnl_prim_bind(cpu, &p->pack, DNNL_ARG_TO, packed));
    TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_WEIGHTS, packed));
    if (p->conv.bias) TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_BIAS, step->in[2]));
    bool back = p->conv.pass == DNNL_DGRAD;
    TRY(dnnl_prim_bind(cpu, &p->main, back ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC, step->in[forward ? 0 : 1]));
    return dnnl_prim_bind(cpu, &p->main, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST, step->out[0]);
}

static int conv_prepare(struct cpu_step *step)
{
    struct conv_plan *p = zalloc(sizeof *p);
    int rc = conv_plan_new(step->cpu, step->graph, step->node, p);
    if (rc < 0) {
        free(p);
        return rc;
    }
    BUG_IF(p->bytes > step->work_bytes);
    step->own = p;
    step->release = conv_release;
    step->run = p->widen.count ? widened_run : p->by == BY_DNNL ? conv_run : kernel_run;
    widen_bind(&p->widen, step, p->widened_at);
    if (p->by != BY_DNNL) return 0;
    TRY(dnnl_prim_build(&p->main));
    TRY(dnnl_prim_build(&p->pack));
    return conv_bind(step, p);
}

const struct cpu_op cpu_conv = {conv_supports, conv_workspace, conv_prepare, conv_kept};
const struct cpu_op cpu_conv_dgrad = {conv_supports, conv_workspace, conv_prepare, NULL};
const struct cpu_op cpu_conv_wgrad = {conv_supports, conv_workspace, conv_prepare, NULL};

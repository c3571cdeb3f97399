// SPDX-License-Identifier: Apache-2.0
// The reference device: uses ordinary memory and runs the planned nodes one by one on the calling thread. Scratch is an arena
// that is emptied after every node; no other device allocates while it runs.
#include "runtime/ref/ref.h"

#include "runtime/common/base/memory.h"

#include "runtime/common/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const ref_fn ref_ops[OP_COUNT] = {
#define OP(ID, name, inputs, outputs, flags) [OP_##ID] = ref_##name,
#include "runtime/ops.def"
#undef OP
};

struct program {
    struct ref_step *step;
    int steps;
    struct arena scratch;
};

double *ref_zeros(const struct ref_step *s, int64_t count)
{
    return arena_alloc(s->scratch, (size_t)count * sizeof(double));
}

double *ref_read(const struct ref_step *s, int input)
{
    const struct value *v = ref_in(s, input);
    if (!v) return NULL;
    int64_t count = shape_count(&v->shape);
    double *d = ref_zeros(s, count);
    const void *from = s->in[input];
    switch (v->dtype) {  // the two most frequent types have their own loops, which keeps tests fast
    case F32:
        for (int64_t i = 0; i < count; i++) d[i] = ((const float *)from)[i];
        break;
    case BF16:
        for (int64_t i = 0; i < count; i++) d[i] = bf16_to_f32(((const uint16_t *)from)[i]);
        break;
    default:
        for (int64_t i = 0; i < count; i++) d[i] = element_get(v->dtype, from, i);
    }
    return d;
}

double ref_get(const struct ref_step *s, int input, int64_t index)
{
    return element_get(ref_in(s, input)->dtype, s->in[input], index);
}

void ref_write(const struct ref_step *s, int output, const double *from)
{
    void *to = s->out[output];
    if (!to) return;
    const struct value *v = ref_out(s, output);
    int64_t count = shape_count(&v->shape);
    if (v->dtype == F32) {
        for (int64_t i = 0; i < count; i++) ((float *)to)[i] = (float)from[i];
        return;
    }
    for (int64_t i = 0; i < count; i++) element_set(v->dtype, to, i, from[i]);
}

double ref_round(enum dtype type, double value)
{
    double one = 0.0;
    element_set(type, &one, 0, value);
    return element_get(type, &one, 0);
}

void ref_round_all(enum dtype type, double *d, int64_t count)
{
    for (int64_t i = 0; i < count && type != F32; i++) d[i] = ref_round(type, d[i]);  // f32 values were read as f32
}

// ---- the device

static int ref_open(int index, int threads, struct device **into)
{
    (void)threads;  // runs on the calling thread only
    if (index != 0) return fail(ERR_USAGE, "device ref:%d does not exist: there is one ref device", index);
    struct device *d = zalloc(sizeof *d);
    d->type = &device_ref;
    *into = d;
    return 0;
}

static void ref_close(struct device *d) { free(d); }

static int ref_alloc(struct device *d, size_t bytes, void **into)
{
    (void)d;
    if (bytes > SIZE_MAX - 2 * PLAN_ALIGN) return fail(ERR_MEMORY, "device ref: %zu bytes exceed the address space", bytes);
    size_t whole = plan_round_up(bytes);
    void *at = aligned_alloc(PLAN_ALIGN, whole ? whole : PLAN_ALIGN);
    if (!at) return fail(ERR_MEMORY, "device ref: no memory for %zu bytes", bytes);
    *into = at;
    return 0;
}

static void ref_free(struct device *d, void *at)
{
    (void)d;
    free(at);
}

static int ref_copy(struct device *d, void *to, const void *from, size_t bytes)
{
    (void)d;
    if (bytes) memcpy(to, from, bytes);
    return 0;
}

static int ref_supports(struct device *d, const struct graph *g, const struct node *n)
{
    (void)d, (void)g;
    BUG_IF((int)n->op < 0 || n->op >= OP_COUNT);
    return 0;
}

static int ref_workspace(struct device *d, const struct graph *g, const struct node *n, size_t *bytes)
{
    (void)d, (void)g, (void)n;
    *bytes = 0;
    return 0;
}

static int ref_compile(struct device *d, const struct plan *plan, void *slab, struct program **into)
{
    (void)d;
    struct program *p = zalloc(sizeof *p);
    p->steps = plan->count;
    p->step = zalloc((size_t)(plan->count ? plan->count : 1) * sizeof *p->step);
    for (int at = 0; at < plan->count; at++) {
        struct ref_step *s = &p->step[at];
        s->graph = plan->graph;
        s->node = &plan->graph->node[plan->order[at]];
        s->scratch = &p->scratch;
        for (int i = 0; i < MAX_IN; i++) s->in[i] = plan_address(plan, slab, s->node->in[i]);
        for (int i = 0; i < MAX_OUT; i++) s->out[i] = plan_address(plan, slab, s->node->out[i]);
    }
    *into = p;
    return 0;
}

static void ref_step_run(const struct ref_step *s)
{
    ref_ops[s->node->op](s);
    arena_free(s->scratch);
}

static int ref_run(struct program *p)
{
    for (int i = 0; i < p->steps; i++) ref_step_run(&p->step[i]);
    return 0;
}

static int ref_sync(struct device *d)
{
    (void)d;
    return 0;
}

static int ref_profile(struct program *p, int64_t *ns)
{
    for (int i = 0; i < p->steps; i++) {
        int64_t began = clock_ns();
        ref_step_run(&p->step[i]);
        ns[i] = clock_ns() - began;
    }
    return 0;
}

static void ref_release(struct program *p)
{
    if (!p) return;
    free(p->step);
    free(p);
}

static int ref_facts(struct device *d, struct device_facts *f)
{
    (void)d;
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "reference loops, 1 thread");
    snprintf(f->library, sizeof f->library, "libm");
    f->threads = 1;
    f->memory = memory_available();
    return 0;
}

const struct device_type device_ref = {
    .name = "ref",
    .about = "plain loops in double precision; slow; the reference for the other devices",
    .open = ref_open,
    .close = ref_close,
    .alloc = ref_alloc,
    .free = ref_free,
    .upload = ref_copy,
    .download = ref_copy,
    .host_alloc = device_host_alloc,
    .host_free = device_host_free,
    .stage = ref_copy,
    .stage_done = device_stage_done,
    .supports = ref_supports,
    .workspace = ref_workspace,
    .compile = ref_compile,
    .run = ref_run,
    .sync = ref_sync,
    .profile = ref_profile,
    .release = ref_release,
    .facts = ref_facts,
};

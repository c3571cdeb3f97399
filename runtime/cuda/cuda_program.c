// SPDX-License-Identifier: Apache-2.0
// A program is an array of steps. Compiling sets each step's launcher and arguments and captures one run as a CUDA graph. A run
// replays the graph: one call for any number of nodes, no allocation and no wait. Nodes of the update are merged into few
// launches (cuda_merge.h), everything else runs in plan order.
//
// Three environment variables help to find faults and to compare. They are read when a device is opened:
//   DAWN_CUDA_GRAPHS=off   runs launch by launch instead of replaying a graph; results are the same bytes
//   DAWN_CUDA_LANES=2      to 8: limit of concurrent nodes; all: no limit. A node then waits only for the nodes whose bytes it
//                          needs (cuda_lanes.h), and none are merged. 1, the default: no overlap
//   DAWN_CUDA_SYNC=on      merges nothing and waits after every step, so that an error on the GPU names its node
#include "runtime/cuda/cuda_program.h"

#include "runtime/cuda/cuda_hold.h"
#include "runtime/cuda/cuda_merge.h"
#include "runtime/cuda/cuda_stage.h"
#include "runtime/cuda/cuda_weights.h"
#include "runtime/cuda/kernels/k_data.h"
#include "runtime/cuda/kernels/k_matmul.h"
#include "runtime/cuda/kernels/k_optim.h"

#include <stdio.h>
#include <stdlib.h>

struct program {
    struct cuda_device *cuda;
    const struct plan *plan;
    struct arena arena;
    struct cuda_step *step;
    int prepared;                // number of steps to release
    struct cuda_weights *weights;
    struct cuda_lanes lanes;     // task 0: the copies of weights at the start; task i + 1: step i
    struct cuda_merge merge;     // the launches in order, unless nodes may run concurrently
    const void **args;           // a launch of several steps: their arguments
    size_t nodes;                // of the captured graph
    cudaGraphExec_t replay;      // NULL: no work, or graphs are off
    cudaEvent_t *event;          // for profile: one before the first step, one after each; created on first use
    int events;
    char name[sizeof ((struct cuda_device *)0)->ran];
};

// ---- steps

enum { WHAT = 256 };
static const char *step_text(char into[WHAT], const char *doing, const struct cuda_step *s)
{
    snprintf(into, WHAT, "%s %s of %s in graph %s", doing, node_name(s->node),
             s->node->scope && *s->node->scope ? s->node->scope : "a node", s->graph->name ? s->graph->name : "without a name");
    return into;
}

static int step_failed(const struct cuda_step *s, int rc)  // cuDNN and cuBLASLt errors do not name the node
{
    char what[WHAT], why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    return fail(rc, "cuda: %s: %s", step_text(what, "launching", s), why);
}

static int step_launch(struct program *p, struct cuda_step *s, cudaStream_t stream)
{
    char what[WHAT];
    if (!s->run && !s->launch) return 0;
    s->stream = stream;
    TRY(cuda_weights_before(p->weights, s->position, stream));
    if (s->run) {
        int rc = s->run(s);
        if (rc < 0) return step_failed(s, rc);
    } else {
        cudaError_t error = s->launch(stream, s->args);
        if (error != cudaSuccess) return cuda_check(error, step_text(what, "launching", s));
    }
    if (!p->cuda->sync) return 0;
    cudaError_t error = cudaStreamSynchronize(stream);
    return error == cudaSuccess ? 0 : cuda_check(error, step_text(what, "running", s));
}

static int step_prepare(struct program *p, char *slab, int position)
{
    const struct plan *plan = p->plan;
    const struct graph *g = plan->graph;
    const struct node *n = &g->node[plan->order[position]];
    struct cuda_step *s = &p->step[p->prepared++];
    *s = (struct cuda_step){.cuda = p->cuda, .plan = plan, .graph = g, .node = n, .position = position, .arena = &p->arena,
                            .work_bytes = plan->work_bytes[position], .stream = p->cuda->stream};
    for (int i = 0; i < op_table[n->op].inputs; i++) s->in[i] = plan_address(plan, slab, n->in[i]);
    for (int i = 0; i < op_table[n->op].outputs; i++) s->out[i] = plan_address(plan, slab, n->out[i]);
    if (s->work_bytes) s->work = slab + plan->work_offset[position];
    int rc = cuda_ops[n->op]->prepare(s);
    if (rc == 0) return 0;
    char what[WHAT], why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    return fail(rc, "cuda: %s: %s", step_text(what, "preparing", s), why);
}

// ---- tasks

static void add_touch(struct cuda_task *t, const void *at, const struct value *v, int how)
{
    if (at && v) t->touch[t->touches++] = (struct cuda_touch){at, value_bytes(v), how};
}

static void step_touches(struct program *p, const struct cuda_step *s, struct cuda_task *t)
{
    if (!s->run && !s->launch) return;
    int copies = cuda_weights_touches(p->weights, s->position, NULL);
    t->touch = arena_alloc(&p->arena, (size_t)(copies + MAX_IN + MAX_OUT + 2) * sizeof *t->touch);
    t->touches = cuda_weights_touches(p->weights, s->position, t->touch);
    for (int i = 0; i < op_table[s->node->op].inputs; i++)
        if (s->in[i] && cuda_weights_read(s, i, &t->touch[t->touches])) t->touches++;
        else add_touch(t, s->in[i], cuda_in(s, i), 0);
    for (int i = 0; i < op_table[s->node->op].outputs; i++) add_touch(t, s->out[i], cuda_out(s, i), TOUCH_WRITES);
    if (s->work) t->touch[t->touches++] = (struct cuda_touch){s->work, s->work_bytes, TOUCH_WRITES};
    if (s->bound) t->touch[t->touches++] = (struct cuda_touch){p->cuda->dnn, 1, TOUCH_WRITES};  // one call at a time
    if (s->launch == k_squares)
        for (int i = 0; i < t->touches; i++)
            if (t->touch[i].at == s->out[0] || t->touch[i].at == s->in[1]) t->touch[i].how |= TOUCH_SUMS;
    t->urgent = s->node->phase == PHASE_UPDATE && !s->bound;
}

static void find_tasks(struct program *p)
{
    struct cuda_lanes *l = &p->lanes;
    *l = (struct cuda_lanes){.tasks = p->plan->count + 1, .stream = p->cuda->stream, .urgent = p->cuda->urgent,
                             .arena = &p->arena};
    l->task = arena_alloc(&p->arena, (size_t)l->tasks * sizeof *l->task);
    int copies = cuda_weights_touches(p->weights, NONE, NULL);
    l->task[0].touch = arena_alloc(&p->arena, (size_t)(copies + 1) * sizeof *l->task[0].touch);
    l->task[0].touches = cuda_weights_touches(p->weights, NONE, l->task[0].touch);
    for (int i = 0; i < p->plan->count; i++) step_touches(p, &p->step[i], &l->task[i + 1]);
    while (l->first < l->tasks && !l->task[l->first].touches) l->first++;
}

static int task_launch(struct program *p, int task, cudaStream_t stream)
{
    return task == 0 ? cuda_weights_begin(p->weights) : step_launch(p, &p->step[task - 1], stream);
}

// ---- merged launches

static bool is_small_product(const void *args) { return k_matmul_is_small(args); }

static bool is_plain_copy(const void *args)
{
    const struct k_assign *a = args;
    return a->from_type == a->to_type;
}

static const struct {
    cudaError_t (*one)(cudaStream_t, const void *);
    cudaError_t (*many)(cudaStream_t, const void *const *, int count);
    bool (*takes)(const void *args);  // NULL: all
} mergers[] = {
    {k_momentum, k_momentum_many, NULL}, {k_adam, k_adam_many, NULL}, {k_unit_norm, k_unit_norm_many, NULL},
    {k_descend, k_descend_many, NULL},   {k_lerp, k_lerp_many, NULL}, {k_pick, k_pick_many, NULL},
    {k_tick, k_tick_many, NULL},         {k_assign, k_assign_many, is_plain_copy},
    {k_matmul, k_matmul_many, is_small_product}, {k_squares, k_squares_many, NULL},
};
enum { MERGERS = sizeof mergers / sizeof *mergers };

static int merger_of(const struct cuda_step *s)
{
    for (int i = 0; i < MERGERS; i++)
        if (s->launch == mergers[i].one) return i;
    return NONE;
}

static int merge_kind(const struct program *p, const struct cuda_step *s)  // 0: alone
{
    int which = merger_of(s);
    if (which == NONE || s->run || cuda_weights_touches(p->weights, s->position, NULL)) return 0;
    return !mergers[which].takes || mergers[which].takes(s->args) ? which + 1 : 0;
}
_Static_assert((int)MERGERS < (int)CUDA_MERGE_KINDS, "kinds are numbers below CUDA_MERGE_KINDS");

// Where the update begins: behind the last node that is not part of it.
static int update_begin(const struct program *p)
{
    int from = p->plan->count;
    while (from > 0 && p->plan->graph->node[p->plan->order[from - 1]].phase == PHASE_UPDATE) from--;
    return from;
}

static void merge_tasks(struct program *p)
{
    int tasks = p->lanes.tasks, *kind = arena_alloc(&p->arena, (size_t)tasks * sizeof *kind);
    for (int t = 1; t < tasks; t++) kind[t] = merge_kind(p, &p->step[t - 1]);
    cuda_merge_find(p->lanes.task, kind, tasks, p->cuda->sync ? tasks : update_begin(p) + 1, K_MANY, &p->merge, &p->arena);
    p->args = arena_alloc(&p->arena, K_MANY * sizeof *p->args);
}

static int batch_launch(struct program *p, const struct cuda_batch *b)
{
    char what[WHAT];
    const int *task = p->merge.task + b->first;
    if (b->count == 1) return task_launch(p, *task, p->cuda->stream);
    for (int i = 0; i < b->count; i++) p->args[i] = p->step[task[i] - 1].args;
    const struct cuda_step *first = &p->step[*task - 1];
    cudaError_t error = mergers[merger_of(first)].many(p->cuda->stream, p->args, b->count);
    return error == cudaSuccess ? 0 : cuda_check(error, step_text(what, "launching", first));
}

static int launch_merged(struct program *p)
{
    for (int i = 0; i < p->merge.batches; i++) TRY(batch_launch(p, &p->merge.batch[i]));
    return 0;
}

const struct cuda_merge *cuda_program_launches(const struct program *p) { return &p->merge; }

size_t cuda_program_nodes(const struct program *p) { return p->nodes; }

// ---- concurrent launches

static int launch_lanes(struct program *p)
{
    struct cuda_lanes *l = &p->lanes;
    for (int t = 0; t < l->tasks; t++) {
        cudaStream_t stream;
        if (!l->task[t].touches) continue;
        TRY(cuda_lanes_enter(l, t, &stream));
        TRY(task_launch(p, t, stream));
        TRY(cuda_lanes_leave(l, t));
    }
    return cuda_lanes_join(l);
}

const struct cuda_task *cuda_program_tasks(const struct program *p, int *tasks)
{
    *tasks = p->lanes.tasks;
    return p->lanes.task;
}

// ---- compiling

// Relaxed mode: kernels and libraries may load code during a launch, which a stricter capture mode forbids.
static int capture_graph(struct program *p)
{
    cudaGraph_t graph = NULL;
    bool overlap = p->cuda->lanes != 1;
    if (overlap) TRY(cuda_check(cudaEventCreateWithFlags(&p->lanes.fork, cudaEventDisableTiming), "creating an event"));
    cudaError_t error = cudaStreamBeginCapture(p->cuda->stream, cudaStreamCaptureModeRelaxed);
    int rc = cuda_check(error, "capturing a graph");
    if (rc == 0) {
        rc = overlap ? launch_lanes(p) : launch_merged(p);
        error = cudaStreamEndCapture(p->cuda->stream, &graph);  // always, or the stream stays in capture mode
    }
    if (overlap) (void)cudaEventDestroy(p->lanes.fork);
    if (rc == 0 && error != cudaSuccess) rc = cuda_check(error, "ending the capture of a graph");
    if (rc == 0) rc = cuda_check(cudaGraphGetNodes(graph, NULL, &p->nodes), "counting the nodes of a graph");
    unsigned flags = overlap ? cudaGraphInstantiateFlagUseNodePriority : 0;  // otherwise node priorities are ignored
    if (rc == 0) rc = cuda_check(cudaGraphInstantiate(&p->replay, graph, flags), "instantiating a captured graph");
    if (rc == 0) rc = cuda_check(cudaGraphUpload(p->replay, p->cuda->stream), "uploading a captured graph to the GPU");
    if (graph) (void)cudaGraphDestroy(graph);
    return rc;
}

static bool anything_to_do(const struct program *p)
{
    for (int i = 0; i < p->plan->count; i++)
        if (p->step[i].run || p->step[i].launch) return true;
    return false;
}

static int compile_steps(struct program *p, void *slab)
{
    TRY(cuda_choose(p->cuda));
    p->weights = cuda_weights_new(p->cuda, p->plan, slab, &p->arena);
    for (int i = 0; i < p->plan->count; i++) TRY(step_prepare(p, slab, i));
    find_tasks(p);
    if (p->cuda->lanes == 1 || !p->cuda->graphs) merge_tasks(p);
    else cuda_lanes_find(p->lanes.task, p->lanes.tasks, p->cuda->lanes, &p->arena);
    return p->cuda->graphs && anything_to_do(p) ? capture_graph(p) : 0;
}

int cuda_program_compile(struct device *device, const struct plan *plan, void *slab, struct program **into)
{
    struct program *p = zalloc(sizeof *p);
    p->cuda = (struct cuda_device *)device;
    p->plan = plan;
    snprintf(p->name, sizeof p->name, "%s", plan->graph->name ? plan->graph->name : "");
    p->step = arena_alloc(&p->arena, (size_t)(plan->count + 1) * sizeof *p->step);
    int rc = compile_steps(p, slab);
    if (rc < 0) {
        cuda_program_release(p);
        return rc;
    }
    *into = p;
    return 0;
}

void cuda_program_release(struct program *p)
{
    (void)cudaStreamSynchronize(p->cuda->stream);  // running work may still use what is freed below
    for (int i = 0; i < p->prepared; i++)
        if (p->step[i].release) p->step[i].release(&p->step[i]);
    for (int i = 0; i < p->events; i++) (void)cudaEventDestroy(p->event[i]);
    if (p->replay) (void)cudaGraphExecDestroy(p->replay);
    arena_free(&p->arena);
    free(p);
}

// ---- running

int cuda_program_run(struct program *p)
{
    memcpy(p->cuda->ran, p->name, sizeof p->name);
    TRY(cuda_choose(p->cuda));
    TRY(cuda_stage_apply(p->cuda));
    TRY(cuda_weights_refresh(p->weights));
    if (!p->cuda->graphs) return launch_merged(p);
    if (!p->replay) return 0;
    cudaError_t error = cudaGraphLaunch(p->replay, p->cuda->stream);
    return error == cudaSuccess ? 0 : cuda_late_failure(p->cuda, error, "launching a graph");
}

static int events_ready(struct program *p)
{
    if (!p->event) p->event = arena_alloc(&p->arena, (size_t)(p->plan->count + 1) * sizeof *p->event);
    while (p->events <= p->plan->count) {
        TRY(cuda_check(cudaEventCreateWithFlags(&p->event[p->events], cudaEventDefault), "creating an event"));
        p->events++;
    }
    return 0;
}

static int launch_timed(struct program *p)
{
    if (!p->cuda->sync) TRY(cuda_hold(p->cuda->stream, (int64_t)p->plan->count * CUDA_HOLD_LAUNCH_NS));
    TRY(cuda_weights_begin(p->weights));
    TRY(cuda_check(cudaEventRecord(p->event[0], p->cuda->stream), "recording an event"));
    for (int i = 0; i < p->plan->count; i++) {
        TRY(step_launch(p, &p->step[i], p->cuda->stream));
        TRY(cuda_check(cudaEventRecord(p->event[i + 1], p->cuda->stream), "recording an event"));
    }
    return cuda_wait(p->cuda);
}

int cuda_program_profile(struct program *p, int64_t *ns)
{
    memcpy(p->cuda->ran, p->name, sizeof p->name);
    TRY(cuda_choose(p->cuda));
    TRY(cuda_stage_apply(p->cuda));
    TRY(cuda_weights_refresh(p->weights));
    TRY(events_ready(p));
    TRY(launch_timed(p));
    for (int i = 0; i < p->plan->count; i++) {
        float ms = 0;
        ns[i] = 0;
        if (!p->step[i].run && !p->step[i].launch) continue;
        TRY(cuda_check(cudaEventElapsedTime(&ms, p->event[i], p->event[i + 1]), "reading the time between two events"));
        ns[i] = (int64_t)((double)ms * 1e6);
    }
    return 0;
}

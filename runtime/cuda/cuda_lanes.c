// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_lanes.h"

#include "runtime/cuda/cuda.h"

#include <stdlib.h>

// ---- dependencies

static bool accesses_conflict(const struct cuda_touch *a, const struct cuda_touch *b)
{
    uintptr_t x = (uintptr_t)a->at, y = (uintptr_t)b->at;
    return ((a->how | b->how) & TOUCH_WRITES) && x < y + b->bytes && y < x + a->bytes;
}

bool cuda_lanes_conflict(const struct cuda_task *a, const struct cuda_task *b)
{
    for (int i = 0; i < a->touches; i++)
        for (int j = 0; j < b->touches; j++)
            if (accesses_conflict(&a->touch[i], &b->touch[j])) return true;
    return false;
}

bool cuda_lanes_add(const struct cuda_task *a, const struct cuda_task *b)
{
    for (int i = 0; i < a->touches; i++)
        for (int j = 0; j < b->touches; j++)
            if (accesses_conflict(&a->touch[i], &b->touch[j]) && !(a->touch[i].how & b->touch[j].how & TOUCH_SUMS)) return false;
    return true;
}

// For each task, a bit for every earlier task that has finished when it starts.
struct finished {
    uint64_t *bits;
    size_t words;
};

static bool is_finished(const struct finished *w, int before, int task)
{
    return w->bits[(size_t)task * w->words + (size_t)before / 64] >> (before % 64) & 1u;
}

static void wait_for(struct finished *w, int before, int task)
{
    uint64_t *to = w->bits + (size_t)task * w->words;
    const uint64_t *from = w->bits + (size_t)before * w->words;
    for (size_t i = 0; i < w->words; i++) to[i] |= from[i];
    to[before / 64] |= UINT64_C(1) << (before % 64);
}

// Goes from the last task to the first. Transitive waits are dropped.
static int find_waits(struct finished *w, const struct cuda_task *task, int t, int *after)
{
    int afters = 0;
    for (int before = t - 1; before >= 0; before--) {
        if (is_finished(w, before, t) || !cuda_lanes_conflict(&task[before], &task[t])) continue;
        after[afters++] = before;
        wait_for(w, before, t);
    }
    return afters;
}

// ---- lanes: with a limit on concurrent tasks, each lane is a chain

struct lane {
    int last;  // NONE: empty
    int depth;
};

static bool contains(const int *after, int afters, int t)
{
    for (int i = 0; i < afters; i++)
        if (after[i] == t) return true;
    return false;
}

// Prefers the deepest lane whose last task is a dependency anyway, then one whose last task has finished, then the shallowest.
static int choose_lane(const struct finished *w, const struct lane *lane, int lanes, int t, const int *after, int afters)
{
    int best = 0, worth = -1;
    for (int i = 0; i < lanes; i++) {
        bool end = lane[i].last != NONE && contains(after, afters, lane[i].last);
        bool behind = lane[i].last == NONE || is_finished(w, lane[i].last, t);
        int rank = end ? 2 : behind ? 1 : 0;
        bool better = rank == 2 ? lane[i].depth > lane[best].depth : rank == 0 && lane[i].depth < lane[best].depth;
        if (rank > worth || (rank == worth && better)) best = i, worth = rank;
    }
    return best;
}

// Adds a wait for the end of the task's lane and drops the waits that it implies.
static int queue_up(struct finished *w, int last, int t, int *after, int afters)
{
    if (last == NONE || is_finished(w, last, t)) return afters;
    int left = 0;
    for (int i = 0; i < afters; i++)
        if (!is_finished(w, after[i], last)) after[left++] = after[i];
    wait_for(w, last, t);
    int at = left;
    for (; at > 0 && after[at - 1] < last; at--) after[at] = after[at - 1];
    after[at] = last;
    return left + 1;
}

void cuda_lanes_find(struct cuda_task *task, int tasks, int lanes, struct arena *arena)
{
    size_t words = (size_t)tasks / 64 + 1;
    struct finished w = {zalloc((size_t)(tasks + 1) * words * sizeof *w.bits), words};
    struct lane lane[CUDA_LANES_MOST];
    int *after = zalloc((size_t)(tasks + 1) * sizeof *after), first = NONE;
    for (int i = 0; i < CUDA_LANES_MOST; i++) lane[i] = (struct lane){.last = NONE};
    for (int t = 0; t < tasks; t++) {
        if (task[t].touches == 0) continue;
        int afters = find_waits(&w, task, t, after);
        // A graph with several roots is not safe to capture: all other tasks start after the first.
        if (first == NONE) first = t;
        else if (afters == 0) wait_for(&w, after[afters++] = first, t);
        if (lanes <= CUDA_LANES_MOST) {
            task[t].lane = choose_lane(&w, lane, lanes, t, after, afters);
            afters = queue_up(&w, lane[task[t].lane].last, t, after, afters);
        }
        task[t].depth = 1;
        for (int i = 0; i < afters; i++)
            if (task[t].depth <= task[after[i]].depth) task[t].depth = task[after[i]].depth + 1;
        if (lanes <= CUDA_LANES_MOST) lane[task[t].lane] = (struct lane){t, task[t].depth};
        task[t].afters = afters;
        task[t].after = arena_alloc(arena, (size_t)(afters + 1) * sizeof *after);
        memcpy(task[t].after, after, (size_t)afters * sizeof *after);
    }
    free(after);
    free(w.bits);
}

// ---- capture

static cudaStream_t stream_of(const struct cuda_lanes *l, int task)
{
    return l->task[task].urgent && task != l->first ? l->urgent : l->stream;
}

// Makes the next work on the stream wait for exactly these tasks.
static int set_waits(struct cuda_lanes *l, cudaStream_t stream, const int *after, int afters)
{
    size_t count = 0, at = 0;
    for (int i = 0; i < afters; i++) count += l->task[after[i]].lasts;
    cudaGraphNode_t *node = arena_alloc(l->arena, (count + 1) * sizeof *node);
    cudaGraphEdgeData *edge = arena_alloc(l->arena, (count + 1) * sizeof *edge);
    for (int i = 0; i < afters; i++) {
        const struct cuda_task *t = &l->task[after[i]];
        for (size_t j = 0; j < t->lasts; j++) {
            bool there = false;
            for (size_t k = 0; k < at; k++) there |= node[k] == t->last[j];
            if (!there) node[at] = t->last[j], edge[at++] = t->edge[j];
        }
    }
    return cuda_check(cudaStreamUpdateCaptureDependencies(stream, node, edge, at, cudaStreamSetCaptureDependencies),
                      "setting the dependencies of a node");
}

int cuda_lanes_enter(struct cuda_lanes *l, int task, cudaStream_t *stream)
{
    *stream = stream_of(l, task);
    return task == l->first ? 0 : set_waits(l, *stream, l->task[task].after, l->task[task].afters);
}

int cuda_lanes_leave(struct cuda_lanes *l, int task)
{
    struct cuda_task *t = &l->task[task];
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *node = NULL;
    const cudaGraphEdgeData *edge = NULL;
    size_t count = 0;
    TRY(cuda_check(cudaStreamGetCaptureInfo(stream_of(l, task), &status, NULL, NULL, &node, &edge, &count),
                   "reading the captured dependencies"));
    if (status != cudaStreamCaptureStatusActive) return fail(ERR_DEVICE, "cuda: the capture of a graph was interrupted");
    t->lasts = count;
    t->last = arena_alloc(l->arena, (count + 1) * sizeof *t->last);
    t->edge = arena_alloc(l->arena, (count + 1) * sizeof *t->edge);
    if (count) memcpy(t->last, node, count * sizeof *node);
    if (count && edge) memcpy(t->edge, edge, count * sizeof *edge);
    if (task != l->first) return 0;
    TRY(cuda_check(cudaEventRecord(l->fork, l->stream), "forking a capture"));
    return cuda_check(cudaStreamWaitEvent(l->urgent, l->fork, 0), "forking a capture");
}

int cuda_lanes_join(struct cuda_lanes *l)
{
    bool *waited = arena_alloc(l->arena, (size_t)(l->tasks + 1) * sizeof *waited);
    int *end = arena_alloc(l->arena, (size_t)(l->tasks + 1) * sizeof *end), ends = 0;
    for (int t = 0; t < l->tasks; t++)
        for (int i = 0; i < l->task[t].afters; i++) waited[l->task[t].after[i]] = true;
    for (int t = 0; t < l->tasks; t++)
        if (l->task[t].touches && !waited[t]) end[ends++] = t;
    if (!ends) return 0;
    TRY(set_waits(l, l->stream, end, ends));  // waits for everything; then joins the fork
    TRY(cuda_check(cudaEventRecord(l->fork, l->urgent), "joining a capture"));
    return cuda_check(cudaStreamWaitEvent(l->stream, l->fork, 0), "joining a capture");
}

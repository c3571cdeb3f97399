// SPDX-License-Identifier: Apache-2.0
// Concurrency inside a program. A task is a node's launches, or the copies of weights at the start. A task waits for an earlier
// one exactly if one of the two writes bytes that the other reads or writes. Transitive waits are dropped. The waits become the
// edges of the captured graph (docs/decisions/lanes-are-edges.md).
//
// Invariant: if no path connects two tasks, neither writes a byte that the other accesses.
// Cost: O(tasks^2 * accesses^2) comparisons at compile time (milliseconds); nothing at run time.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/cuda/kernel.h"

enum {
    TOUCH_WRITES = 1,
    TOUCH_SUMS = 2,  // a running sum: a merged launch reads and writes it in the order of its problems
};
struct cuda_touch {
    const void *at;
    size_t bytes;
    int how;  // bits
};

struct cuda_task {
    struct cuda_touch *touch;
    int touches;               // 0: nothing is launched
    bool urgent;               // high priority: short, and at the end of a long path
    // Results of cuda_lanes_find:
    int *after, afters;        // dependencies, all earlier tasks, latest first
    int lane;
    int depth;                 // number of tasks on the longest path that ends here, including this one
    // Set during capture:
    cudaGraphNode_t *last;     // the graph nodes that a dependent of this task waits for
    cudaGraphEdgeData *edge;
    size_t lasts;
};

enum { CUDA_LANES_MOST = 8, CUDA_LANES_ALL = INT32_MAX };
struct cuda_lanes {
    struct cuda_task *task;
    int tasks, first;          // index of the task recorded first; NONE if there is no work
    cudaStream_t stream, urgent;
    cudaEvent_t fork;
    struct arena *arena;
};

// True if one of the two writes bytes that the other accesses.
bool cuda_lanes_conflict(const struct cuda_task *, const struct cuda_task *);
// True if all bytes in which they conflict are running sums of both.
bool cuda_lanes_add(const struct cuda_task *, const struct cuda_task *);
// Sets after, lane and depth of every task. `lanes` limits concurrent tasks: 1 to CUDA_LANES_MOST, or CUDA_LANES_ALL.
void cuda_lanes_find(struct cuda_task *, int tasks, int lanes, struct arena *);

// Used while `stream` captures. Call `enter` before the launches of each task, in order: it returns the stream for them. Call
// `leave` after them, and `join` once at the end. `urgent` joins the capture for urgent tasks; `fork` is the event for that.
int cuda_lanes_enter(struct cuda_lanes *, int task, cudaStream_t *) MUST_CHECK;
int cuda_lanes_leave(struct cuda_lanes *, int task) MUST_CHECK;
int cuda_lanes_join(struct cuda_lanes *) MUST_CHECK;

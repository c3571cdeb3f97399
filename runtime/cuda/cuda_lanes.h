// SPDX-License-Identifier: Apache-2.0
// What of a program may run at the same time. A task (a node's launches, or the copies of weights at the beginning) waits
// for an earlier one exactly where one of the two writes bytes that the other reads or writes; waits that follow from
// others are dropped. The waits become the edges of the captured graph (docs/decisions/lanes-are-edges.md).
//
// Invariant: of two tasks without a way between them, neither writes a byte that the other touches.
// Cost: O(tasks^2 * touches^2) comparisons when a program is compiled (milliseconds); nothing while it runs.
#ifndef DAWN_CUDA_LANES_H
#define DAWN_CUDA_LANES_H

#include "runtime/base/arena.h"
#include "runtime/cuda/kernel.h"

struct cuda_touch {
    const void *at;
    size_t bytes;
    bool written;
};

struct cuda_task {
    struct cuda_touch *touch;
    int touches;               // 0: nothing is launched
    bool urgent;               // short and at the end of a long way: its blocks go before those of others
    // What is found:
    int *after, afters;        // the tasks it waits for, all before it, the last first
    int lane;
    int depth;                 // tasks on the longest way that ends here, itself among them
    // While it is captured:
    cudaGraphNode_t *last;     // the nodes that whoever waits for this task waits for
    cudaGraphEdgeData *edge;
    size_t lasts;
};

enum { CUDA_LANES_MOST = 8, CUDA_LANES_ALL = INT32_MAX };
struct cuda_lanes {
    struct cuda_task *task;
    int tasks, first;          // first: which is recorded first; NONE where nothing is to be done
    cudaStream_t stream, urgent;
    cudaEvent_t fork;
    struct arena *arena;
};

// Settles after, lane and depth of every task. `lanes`: how many may be under way at once, 1 to CUDA_LANES_MOST, or ALL.
void cuda_lanes_find(struct cuda_task *, int tasks, int lanes, struct arena *);

// While `stream` captures: `enter` before the launches of a task, in order, says where they go; `leave` behind them; `join`
// at the end of all. `urgent` is drawn into the capture for the tasks that are; `fork` is an event for that.
int cuda_lanes_enter(struct cuda_lanes *, int task, cudaStream_t *) MUST_CHECK;
int cuda_lanes_leave(struct cuda_lanes *, int task) MUST_CHECK;
int cuda_lanes_join(struct cuda_lanes *) MUST_CHECK;

#endif

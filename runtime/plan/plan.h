// SPDX-License-Identifier: Apache-2.0
// A plan: the nodes that run, their order, and the offset of every value. All of it is fixed before anything runs.
// Temporaries of all plans of a session share one slab. Cost: near-linear in nodes and values (plan_layout.h).
#pragma once

#include "runtime/graph.h"

struct device;

enum { PLAN_ALIGN = 64 };
static inline size_t plan_round_up(size_t bytes) { return arena_round_up(bytes, PLAN_ALIGN); }

struct placement {
    int root;                 // the value whose bytes these are (aliases, in-place), its own root; itself otherwise
    size_t offset, bytes;     // in the slab; bytes rounded up to PLAN_ALIGN
    int first, last;          // positions in the order between which the bytes are live
    enum memory_class memory;
};

struct plan {
    const struct graph *graph;
    struct arena arena;
    int *order, count;          // node ids
    struct plan_flow *flow;     // NULL: the device does not overlap (device_type.overlaps)
    struct placement *placement;        // per value id; unused values have bytes 0
    size_t *work_bytes, *work_offset;  // per position
    size_t *kept_offset, kept_bytes;   // what nodes keep between runs: offsets in a block of this plan's own
    void *kept;                        // that block; set by the session before it compiles
    size_t slab_bytes;
    int peak_at;                       // position of the peak
    size_t memory[MEMORY_CLASSES];     // at the peak; they sum to the total
    size_t total;                      // persistent slots of this graph's store + slab
};

// Keeps program order (it is the meaning of updates), asks the device for workspaces, assigns offsets, then proves that
// no two values that live at the same time overlap (a failed proof is a BUG). For a device that merges nodes or runs them
// concurrently, nodes of the update reuse only bytes whose users are ordered before them by data flow (plan_flow.h), so that
// sharing makes none of them wait. (The same for the backward pass would take a third more memory.) A reshape of a persistent
// value that is read after the value was overwritten is an error. The graph has been pruned (fuse.h).
int plan_new(const struct graph *, struct device *, struct plan **) MUST_CHECK;
void plan_free(struct plan *);
int plan_verify(const struct plan *) MUST_CHECK;  // the proof, also for the tests (plan_layout.c)

// The address of a value, given the slab. NULL for NONE.
void *plan_address(const struct plan *, void *slab, int value);

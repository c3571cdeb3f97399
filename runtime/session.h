// SPDX-License-Identifier: Apache-2.0
// A session joins a device, one store and the programs that share it. It plans all programs, allocates the memory once (one
// slab as large as the largest plan) and compiles everything. After that it only runs programs and allocates nothing.
#pragma once

#include "runtime/device.h"

enum { SESSION_PROGRAMS = 384 };
struct session {
    struct device *device;  // borrowed
    struct slot_store *store;    // owned
    struct graph *graph[SESSION_PROGRAMS];  // owned
    struct plan *plan[SESSION_PROGRAMS];
    struct program *program[SESSION_PROGRAMS];
    int programs;
    void *slab, *kept;  // kept: the block of all programs, if they share it (device_type.shares_kept)
    size_t slab_bytes, persistent_bytes;
    size_t memory[MEMORY_CLASSES];  // of the largest plan and all slots; they sum to memory_total
    size_t memory_total;
};

int session_new(struct device *, struct session **) MUST_CHECK;
void session_free(struct session *);
// Takes the finished graph (built over session->store) and returns its number. The graph is checked.
int session_add(struct session *, struct graph *) MUST_CHECK;
// Plans every added graph. Allocates no memory, so that `dawn plan` and the memory check need none.
int session_plan(struct session *) MUST_CHECK;
// Fails with a sentence if the plan needs more memory than the device has; else allocates it and compiles.
int session_ready(struct session *) MUST_CHECK;
// Resets every slot to its initial value, except uploaded slots (INIT_UPLOAD).
int session_reset(struct session *, uint64_t seed) MUST_CHECK;
int session_run(struct session *, int program) MUST_CHECK;
int session_profile(struct session *, int program, int64_t *ns) MUST_CHECK;  // one run, timed node by node
int session_sync(struct session *) MUST_CHECK;
int session_write(struct session *, struct slot *, const void *bytes, size_t offset, size_t count) MUST_CHECK;
int session_read(struct session *, const struct slot *, void *bytes, size_t count) MUST_CHECK;  // waits for the device
int session_read_at(struct session *, const struct slot *, void *bytes, size_t offset, size_t count) MUST_CHECK;
// The same by name, for files of weights and for tests.
int session_put(struct session *, const char *slot, const void *bytes, size_t offset, size_t count) MUST_CHECK;
int session_get(struct session *, const char *slot, void *bytes, size_t count) MUST_CHECK;
// As session_write of a slot's first bytes, for streamed batches: concurrent with the programs that are queued; the next run
// waits for the copy. `bytes` must not change until session_stage_done has returned.
int session_stage(struct session *, struct slot *, const void *bytes, size_t count) MUST_CHECK;
int session_stage_done(struct session *) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The state of an unfinished training as one file, so that another process can go on and reach the same bytes.
//
// A state holds all slots of the store (weights, statistics, optimiser state, averages, counters, sums, schedules, whitening
// filters) except those that can be computed again: the data, the order of an epoch, folded filters. It also holds the
// state of the task's host code (task.h), the identity of the training and a text of the caller (clocks, chain of the record).
//
// The file: "DAWNstat", the version of this format u64, the length of the header u64 (all little-endian), a header in JSON,
// the bytes of the slots in the order of the header and without gaps, the SHA-256 of everything before it (32 bytes).
// Invariant: the file is whole or not there (whole.h). The file is untrusted: after state_open its header and digest are
// checked, and a failing state_load has uploaded nothing. No number of the file is used as an index unless this program
// computed the same number itself. Cost: one pass over the slots in pieces of STATE_PIECE, at any size. A state is
// read twice, the first time for its digest.
#pragma once

#include "tasks/common/train/trainer.h"

enum { STATE_VERSION = 1, STATE_PIECE = 4 << 20, STATE_NAME_LIMIT = 256 };
#define STATE_HEADER_LIMIT ((size_t)16 << 20)

// Facts that the trainer does not have.
struct state_run {
    const char *digest[SPLIT_COUNT];  // digests of the data
    const char *note;                 // text of the caller, UTF-8, returned unchanged
};

struct state_facts {
    const char *program;  // state_program() of the program that wrote the state
    const char *task, *model, *recipe, *precision, *device, *data;
    const char *digest[SPLIT_COUNT];
    const char *layout;   // dataset_layout
    const char *note;
    int64_t threads;
    uint64_t seed;
    int64_t step, samples;  // done so far
    int64_t epoch, batch;   // position in the order of batches: step = epoch * batches per epoch + batch
};

int state_save(const char *path, struct trainer *, const struct state_run *) MUST_CHECK;

struct state;  // an open, checked file
int state_open(const char *path, struct state **) MUST_CHECK;
const struct state_facts *state_facts(const struct state *);  // valid as long as the state
void state_close(struct state *);                             // NULL is fine

enum state_match {
    STATE_SAME,   // device type, threads, precision and program must match the state: the next bytes are the same
    STATE_OTHER,  // they may differ, and the next bytes may, too
};
// Loads the state into a loaded trainer with the same task, recipe and data. Replaces trainer_begin.
int state_load(struct state *, struct trainer *, const struct state_run *, enum state_match) MUST_CHECK;
const char *state_program(void);  // version and commit of this program

// ---- the pure parser under state_open: no I/O, accepts any bytes; `where` names them in errors

struct state_slot {
    const char *name;
    enum dtype dtype;
    struct shape shape;
    uint64_t offset, size;  // offset from the start of the file; size in bytes
};
struct state_view {
    struct arena arena;
    struct state_facts facts;
    struct state_slot *slot;
    int slots;
};
enum { STATE_PREFIX = 24, STATE_DIGEST = 32 };
// The length of the header, from the first STATE_PREFIX bytes of a file of `total` bytes.
int state_parse_prefix(const char *where, const void *prefix, uint64_t total, size_t *header) MUST_CHECK;
// Parses the header. On success state_view_free ends the view; on failure there is nothing to free.
int state_parse(const char *where, const char *header, size_t count, uint64_t total, struct state_view *) MUST_CHECK;
void state_view_free(struct state_view *);

// SPDX-License-Identifier: Apache-2.0
// A training in the middle as one file, so that a process that ended can go on to the same bytes.
//
// Saved are all slots of the store (weights, statistics, optimiser state, averages, counters, sums, schedules, whitening
// filters) but those that can be had again: the data, the order of an epoch, folded filters. With them goes what says which
// training it is, and a text of the caller's own (clocks, chain of the record).
//
// The file: "DAWNstat", the version of this format u64, the length of the header u64 (all little-endian), a header in JSON,
// the bytes of the slots in the order of the header and without gaps, the SHA-256 of everything before it (32 bytes).
// Invariant: the file is whole or not there (whole.h). It is bytes from outside: header and digest have been checked once
// state_open returns 0, and nothing has been uploaded when state_load refuses it. No number in it is used as an index that
// this program did not compute itself.
// Cost: one pass over the slots in pieces of STATE_PIECE, so any size is fine; a state is read twice, for its digest first.
#ifndef DAWN_TRAIN_STATE_H
#define DAWN_TRAIN_STATE_H

#include "tasks/train/trainer.h"

enum { STATE_VERSION = 1, STATE_PIECE = 4 << 20, STATE_NAME_LIMIT = 256 };
#define STATE_HEADER_LIMIT ((size_t)16 << 20)

// What the trainer does not know itself.
struct state_run {
    const char *digest[SPLIT_COUNT];  // of the data
    const char *note;                 // of the caller: UTF-8, given back as it is
};

struct state_facts {
    const char *program;  // state_program() of the one that wrote it
    const char *task, *model, *recipe, *precision, *device, *data;
    const char *digest[SPLIT_COUNT];
    const char *layout;   // dataset_layout
    const char *note;
    int64_t threads;
    uint64_t seed;
    int64_t step, samples;  // done
    int64_t epoch, batch;   // where the order of batches stands: step = epoch * batches an epoch + batch
};

int state_save(const char *path, struct trainer *, const struct state_run *) MUST_CHECK;

struct state;  // an opened, checked file
int state_open(const char *path, struct state **) MUST_CHECK;
const struct state_facts *state_facts(const struct state *);  // lives as long as the state
void state_close(struct state *);                             // NULL is fine

enum state_place {
    STATE_SAME,   // device type, threads, precision and program are those of the state: the same bytes follow
    STATE_OTHER,  // they may differ, and so may the bytes that follow
};
// Into a trainer that was made from the same task, recipe and data, and is loaded; instead of trainer_begin.
int state_load(struct state *, struct trainer *, const struct state_run *, enum state_place) MUST_CHECK;
// The first thing in which the trainer's place differs from the state's, as a sentence; NULL: none. free() ends it.
int state_difference(const struct state *, struct trainer *, char **) MUST_CHECK;
const char *state_program(void);  // version and commit of this program

// ---- the pure parser under state_open: no I/O, any bytes. `where` names them in sentences.

struct state_slot {
    const char *name;
    enum dtype dtype;
    struct shape shape;
    uint64_t offset, size;  // from the start of the file; bytes
};
struct state_view {
    struct arena arena;
    struct state_facts facts;
    struct state_slot *slot;
    int slots;
};
enum { STATE_PREFIX = 24, STATE_DIGEST = 32 };
// How long the header is, from the first STATE_PREFIX bytes of a file of `total` bytes.
int state_parse_prefix(const char *where, const void *prefix, uint64_t total, size_t *header) MUST_CHECK;
// The header alone. On success state_view_free ends the view; on failure there is nothing to free.
int state_parse(const char *where, const char *header, size_t count, uint64_t total, struct state_view *) MUST_CHECK;
void state_view_free(struct state_view *);

#endif

// SPDX-License-Identifier: Apache-2.0
// The log's tree in the record, and its signed checkpoints.
#pragma once

#include "scoreboard/store/file/store_state.h"

// In a transaction: ready, prove, then add; after its end, done.
int store_tree_ready(struct store *) MUST_CHECK;
int store_tree_prove(struct store *, struct receipt *) MUST_CHECK;  // of the statement that comes next
int store_tree_add(struct store *, const struct incoming *) MUST_CHECK;
void store_tree_done(struct store *, int rc);
// At the start, in a transaction: holds the record against the checkpoint.
int store_tree_open(struct store *, bool new_log) MUST_CHECK;
// Returns when a checkpoint that has this statement is signed and durable. Not in a transaction.
int store_publish(struct store *, int64_t sequence) MUST_CHECK;
int store_publish_newest(struct store *) MUST_CHECK;
// True if a checkpoint is a prefix of the record.
int store_tree_holds(struct sql *, const struct checkpoint *, bool *holds) MUST_CHECK;

// The newest checkpoint as the board's key signed it (`note` may be NULL; ERR_MISSING: a copy has none), and the proof that the
// tree of `size` begins with the tree of `old`.
int store_signed_note(const struct store *, struct text *note, struct checkpoint *) MUST_CHECK;
int store_tree_growth(struct store *, int64_t old, int64_t size, struct tree_hash proof[TREE_PROOF], int *count) MUST_CHECK;
int store_tree_hold(struct store *, struct reader *, struct text *note, struct checkpoint *) MUST_CHECK;  // as store_hold

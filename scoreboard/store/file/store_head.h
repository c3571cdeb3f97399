// SPDX-License-Identifier: Apache-2.0
// The last checkpoint that a board signed, in RECORD.checkpoint: apart from the record, so that a record that is older than it
// (a restored backup) is noticed. Two blocks of one size are written alternately, so that one of them is whole at any moment.
// Workload: a write for each statement, or for several at once. Cost: one fdatasync of a file whose size never changes.
#pragma once

#include "submit/log/note.h"

struct store_head {
    char *path;
    int file;   // -1: closed
    int block;  // the block with the checkpoint that was read last
};
// ERR_MISSING if there is no such file.
int store_head_open(const char *record, bool writes, struct store_head *) MUST_CHECK;
void store_head_close(struct store_head *);
// Puts a new file in place, whole or not at all, over one that is there.
int store_head_make(const char *record, const char *note) MUST_CHECK;
// The larger one of the checkpoints that the key signed. `note` may be NULL.
int store_head_read(struct store_head *, const struct sshkey *, struct checkpoint *, struct text *note) MUST_CHECK;
// Between these two calls no other process writes it, so the last reading is current.
int store_head_lock(struct store_head *) MUST_CHECK;
void store_head_unlock(struct store_head *);
int store_head_write(struct store_head *, const char *note) MUST_CHECK;  // durable when it returns 0

// SPDX-License-Identifier: Apache-2.0
// The part of a receipt about the board's log: its entry, the head of the tree that ends with this entry, and the proof that the
// tree holds it. The log holds digests only, so that a withdrawn statement's text can go while its entry stays.
#pragma once

#include "submit/format/statement.h"
#include "submit/log/note.h"

// The entry: {"accepted_ms":..,"payload":"<digest>","sequence":..,"signer":"SHA256:.."}. Every receipt has what it takes.
void proof_entry(const struct receipt *, struct text *);
void proof_leaf(const struct receipt *, struct tree_hash *into);
// Adds its position in the log. `before`: the tree of all statements before this one.
void proof_fill(struct receipt *, const struct tree *before, const struct sshkey_secret *);
// Checks the position in the log by itself: the head is signed by the server's key, and the proof leads to it. ERR_INPUT says
// what does not hold.
int proof_check(const struct receipt *, const struct sshkey *server, struct checkpoint *head) MUST_CHECK;

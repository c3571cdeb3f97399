// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this folder.
#pragma once

#include "scoreboard/store/tree/store_tree.h"
#include "scoreboard/store/types/types.h"

// ---- store_signer.c: decides if this person may submit now. Fills in->handle and in->new_key; `retry_after`, in seconds, if
// the problem is PROBLEM_RATE.
int store_signer_check(struct store *, struct incoming *, int64_t now_ms, struct ruling *, int *retry_after) MUST_CHECK;
// True if it is not refused for its key, its limit or its handle, as a reader's connection sees it before the record is locked.
bool store_signer_may(const struct store *, struct sql *, const struct incoming *, int64_t now_ms, char handle[64]);
// ---- store_read.c: adds the findings of a statement's acceptance to `into`. Codes that this program does not know are left out.
int store_findings(struct sql *, int64_t sequence, struct findings *into) MUST_CHECK;

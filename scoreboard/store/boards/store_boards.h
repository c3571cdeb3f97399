// SPDX-License-Identifier: Apache-2.0
// The rows of boards: the writer derives them from statements, and a reader keeps them in memory.
#pragma once

#include "scoreboard/rank/competition.h"
#include "scoreboard/rank/ranking.h"
#include "scoreboard/store/file/store_state.h"

// ---- store_rank.c: derived rows
// The oldest run of another person that begins with the same figures and is older, also if withdrawn or replaced; 0: none.
#define STORE_FOLLOWED(run)                                                                                            \
    "coalesce((SELECT min(o.first) FROM runs o WHERE o.opening = " run ".opening AND o.opening <> '' AND o.first < " run  \
    ".first AND o.handle <> " run ".handle), 0) "
int store_rank_run(struct store *, int64_t sequence) MUST_CHECK;
int store_rank_group(struct store *, const char *nonce) MUST_CHECK;
int store_rank_curve(struct store *, const char *curve) MUST_CHECK;
// Ranks the runs again whose level this run may have changed: the one that it says it repeats, and runs of its own group whose
// replays the group decides about. The caller ranks that group afterwards.
int store_rank_repeated(struct store *, int64_t sequence, const char *group) MUST_CHECK;
// Ranks again what the keys of these rules of the draw repeat, and what those before them did.
int store_rank_listed(struct store *, int64_t draw) MUST_CHECK;
int store_payload(struct sql *, int64_t sequence, struct statement *) MUST_CHECK;  // of a statement of the record
int store_take_brief(sqlite3_stmt *, int column, struct statement *) MUST_CHECK;  // a statement without a payload
int store_put_entry(struct store *, const struct ranked *, int64_t target_micro) MUST_CHECK;
int store_drop_entries(struct store *, const char *source) MUST_CHECK;
int store_put_import(struct store *, const struct dawnbench_entry *, int64_t now_ms) MUST_CHECK;  // store_import.c

// ---- store_entries.c: a reader's rows
int store_catch_up(struct reader *) MUST_CHECK;
// The newest uploads with a row on a machine. `machines`: the machine of each number in the dictionary of hardware.
void store_uploads_on(struct reader *, const int *machines, int machine, int limit, struct arena *, struct entries *);
// The row of a source on a competition's board. ERR_MISSING if it has none.
int store_entry_at(struct reader *, const char *source, const struct competition *, struct arena *, struct entry *) MUST_CHECK;

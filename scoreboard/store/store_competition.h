// SPDX-License-Identifier: Apache-2.0
// The part of the storage's door (store.h) that is about competitions. Statements open them, commit to them and enter runs; the
// moment of each one's acceptance decides (docs/decisions/competitions.md).
#pragma once

#include "scoreboard/rank/competition.h"

struct store;
struct reader;
struct acceptance;

struct competition_stored {
    int64_t sequence, accepted_ms;
    int64_t cancelled;           // sequence of the decision; 0: it stands
    const char *digest;
    struct competition about;
    int64_t contenders, entered;  // who committed; of them those who sent all runs
};
// Opens a competition: a statement with these members (competition_read), signed by the server's key. Takes over the reference.
int store_competition_open(struct store *, json_t *members, int64_t now_ms, struct acceptance *) MUST_CHECK;

// Newest first, at most COMPETITIONS_MOST.
enum { COMPETITIONS_MOST = 500, CONTENDERS_MOST = 1000 };
int store_competitions(struct reader *, struct arena *, struct competition_stored **, int *count) MUST_CHECK;
// Finds a competition by its name or its digest. ERR_MISSING if there is none.
int store_competition(struct reader *, const char *name, struct arena *, struct competition_stored *) MUST_CHECK;
// Who committed, ranked (competition_rank); the first CONTENDERS_MOST.
int store_contenders(struct reader *, const struct competition_stored *, struct arena *, struct contender **, int *count)
    MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The part of the storage's interface (store.h) for objections. Anybody who is known here may object to a run of another
// person, once; the operator decides. An objection that was upheld counts as a flag, and nothing is ever deleted.
#pragma once

#include "runtime/common/base/arena.h"

struct store;
struct reader;

struct objection {
    int64_t sequence, accepted_ms;
    const char *handle, *reason, *url;  // url: "" if it names none
    int64_t decision, decided_ms;       // sequence of the decision; 0: none yet
    bool upheld;
    const char *by, *why;               // of the decision, or ""
};
struct objections {
    struct objection *at;
    int count;
    int64_t total;  // to the run, by any of its statements
};
enum { OBJECTIONS_MOST = 100 };
// Objections to a run, after the first `skip`, at most OBJECTIONS_MOST. A key costs nothing, so the upheld ones come first, then
// objections of people with a finished run that still counts, then all others; each the oldest first.
int store_objections(struct reader *, int64_t run, int64_t skip, struct arena *, struct objections *) MUST_CHECK;

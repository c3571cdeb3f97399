// SPDX-License-Identifier: Apache-2.0
// The part of the storage's interface (store.h) for the draw (docs/decisions/draw.md): the runs that the log has drawn, and the
// results when the operator trained them again.
#pragma once

#include "scoreboard/store/problem.h"
#include "submit/log/log_draw.h"

struct arena;
struct store;
struct reader;
struct acceptance;

enum drawn_why { DRAWN_NEW, DRAWN_AGAIN, DRAWN_BEST };  // by its own checkpoint, by a later one, as the best of a board
enum drawn_verdict { DRAWN_OPEN, DRAWN_EQUAL, DRAWN_DIFFERS };
struct drawn {
    enum drawn_why why;
    enum drawn_verdict verdict;
    bool waits;                     // nobody whose repetition counts has repeated the run, and no person has examined it
    int64_t checkpoint, since_ms;   // the statement whose checkpoint drew it
    int64_t audit, audited_ms;      // the newest outcome; 0: none. The rest is what it says
    int64_t follows;                // an older run of another person that begins with the same figures: equality proves nothing
    int64_t epoch_micro, points, equal;
    const char *hardware, *by;
};
// ERR_MISSING if the run was not drawn.
int store_drawn(struct reader *, int64_t run, struct arena *, struct drawn *) MUST_CHECK;
// Results of a person's drawn runs.
struct drawn_counts {
    int64_t drawn;
    int64_t equal, differs;    // the operator trained them again
    int64_t waits, withdrawn;  // nobody repeated them; withdrawn: before anybody did
};
int store_drawn_by(struct reader *, const char *handle, struct drawn_counts *) MUST_CHECK;
// The newest statements of the runs that wait, in the order in which they were drawn; withdrawn runs do not wait.
int store_drawn_waiting(struct reader *, struct arena *, int64_t **runs, int *count) MUST_CHECK;

struct draw_rules {
    int64_t sequence, made_ms;      // of their statement; 0: there are none, so nothing is drawn
    int64_t share_micro, again_micro;
    const char **keys;              // whose repetitions count
    int key_count;
};
int store_draw_rules(struct reader *, struct arena *, struct draw_rules *) MUST_CHECK;
// The board signs new rules. `keys`: fingerprints.
int store_draw(struct store *, const struct draw_rules *, const char *by, int64_t now_ms, struct acceptance *) MUST_CHECK;

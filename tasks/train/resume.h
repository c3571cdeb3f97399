// SPDX-License-Identifier: Apache-2.0
// What `dawn train` needs to go on with a run besides its state (state.h) and its record (result.h): a note in the state, and
// how often a state is written. The state of run N lies beside the record as run-N.state.
//
// A run goes on only on the same type of device with the same number of threads, the same precision and the same program: then
// the bytes of its weights are those of a run that was never stopped.
#ifndef DAWN_TRAIN_RESUME_H
#define DAWN_TRAIN_RESUME_H

#include "tasks/record/result.h"
#include "tasks/train/state.h"

// After so many steps, or after so much time; both 0: never.
struct resume_pace {
    int64_t steps, ns;
};
int resume_pace_read(const char *word, struct resume_pace *) MUST_CHECK;  // "500", "30s", "10min", "2h"

struct resume_note {
    const char *nonce;                 // of the run's record: which run the state is of
    const char *device;                // as it was asked for: "cuda:1"; "": not at all
    const char *folder, *save;         // of the data, for the weights; NULL: the usual ones
    struct task_files files;           // whole paths
    struct resume_pace pace;
    bool evaluated;
    int64_t score[METRICS_MAX];        // of the last evaluation
    struct stopwatch_clocks reached, crossed;
    int64_t point_samples, point_warm_ns;  // of the last point
    int64_t point_terms;               // of the losses since then
    int64_t stall_ns, energy_uj;
    const int32_t *damaged[SPLIT_COUNT];   // numbers of pictures that turned out to be damaged
    int64_t damaged_count[SPLIT_COUNT];
    struct run_moment saved;
};
char *resume_note_text(const struct resume_note *);  // free() ends it
// The pure parser; texts go into the arena. `where` names the note in sentences.
int resume_note_read(const char *where, const char *text, struct arena *, struct resume_note *) MUST_CHECK;

// Removes what a process that was killed while it wrote a state has left beside it.
void resume_clear(const char *state);
char *resume_file(const struct results *, int64_t run, const char *ending);  // "FOLDER/run-7.state"; free() ends it

// An interrupted run with its state, both checked; nothing is changed yet.
struct resume {
    struct arena arena;
    struct state *state;
    struct resume_note note;
    int64_t run;
    int64_t target_micro;
    bool stop, priced;
    struct price price;                // micro_per_hour alone
};
int resume_open(struct results *, int64_t run, struct resume *) MUST_CHECK;
int resume_last(struct results *, int64_t *run) MUST_CHECK;  // the newest interrupted run that has a state
void resume_close(struct resume *);    // {0} is fine

#endif

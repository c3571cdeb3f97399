// SPDX-License-Identifier: Apache-2.0
// The facts that `dawn train` needs to resume a run, besides its state (state.h) and its record (result.h): a note in the
// state, and the interval between states. The state of run N is stored next to the record as run-N.state.
//
// A run can be resumed only on the same type of device with the same number of threads, the same precision and the same
// program. Then its weights have the same bytes as after a run that was never stopped.
#pragma once

#include "submit/results/result.h"
#include "tasks/common/train/state.h"

// The interval between states, in steps or in time; both 0: no states.
struct resume_pace {
    int64_t steps, ns;
};
int resume_pace_read(const char *word, struct resume_pace *) MUST_CHECK;  // "500", "30s", "10min", "2h"

struct resume_note {
    const char *nonce;                 // identifies the record of the run
    const char *device;                // as the user named it: "cuda:1"; "": not named
    const char *folder, *save;         // folder of the data, path of the weights; NULL: the defaults
    struct task_files files;           // absolute paths
    struct resume_pace pace;
    bool evaluated;
    int64_t score[METRICS_MAX];        // scores of the last evaluation
    struct stopwatch_clocks reached, crossed;
    int64_t crossed_score;
    int64_t point_samples, point_warm_ns;  // counters at the last point
    int64_t point_terms;               // terms of the loss since the last point
    int64_t stall_ns, energy_uj;
    const int32_t *damaged[SPLIT_COUNT];   // numbers of the damaged pictures found so far
    int64_t damaged_count[SPLIT_COUNT];
    struct run_moment saved;
};
char *resume_note_text(const struct resume_note *);  // free() ends it
// The pure parser. It copies texts into the arena. `where` names the note in errors.
int resume_note_read(const char *where, const char *text, struct arena *, struct resume_note *) MUST_CHECK;

// Removes the temporary files of a process that was killed while it wrote a state.
void resume_clear(const char *state);
char *resume_file(const struct results *, int64_t run, const char *ending);  // "FOLDER/run-7.state"; free() ends it

// An interrupted run with its state. Both have been checked, and nothing has been changed yet.
struct resume {
    struct arena arena;
    struct state *state;
    struct resume_note note;
    int64_t run;
    int64_t target_micro;
    int processes, machines;           // that it began with
    bool stop, priced;
    struct price price;                // only micro_per_hour is set
};
int resume_open(struct results *, int64_t run, struct resume *) MUST_CHECK;
int resume_last(struct results *, int64_t *run) MUST_CHECK;  // the newest interrupted or failed run that has a state
void resume_close(struct resume *);    // {0} is fine

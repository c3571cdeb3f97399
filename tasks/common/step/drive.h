// SPDX-License-Identifier: Apache-2.0
// The calls that a task's own step, answer and host code may make: bring the next batch of a feed to the device, run a program of
// the task's table, and, between steps or within an answer, read and write slots that a program made with step_slot.
//
//     for (int i = 0; i < 5; i++) {
//         TRY(drive_next(d, FEED_TRAIN));
//         TRY(drive_run(d, CRITIC));
//     }
//     return drive_run(d, GENERATOR);
//
// If a batch is cut into parts or slices, drive_run loads and runs all of them, so each batch serves only one program.
#pragma once

#include "tasks/common/step/task.h"

struct drive {
    const struct setting *setting;
    struct session *session;  // NULL while a plan counts what a step does
    uint64_t seed;
    int64_t step;             // steps done
    bool last;                // an answer: of the schedule's last evaluation, or of an inference, which may search longer
    struct order_batch batch[FEEDS_MAX];  // the batch in use
    char suffix[40];          // of the names of slots
    struct supply *supply;    // by feed
    int (*next)(struct drive *, int feed);
    int (*run)(struct drive *, int program);
    void *owner;
    int (*between)(void *context, const char *what, int64_t done, int64_t all);  // reports progress; NULL: no report
    void *context;            // of between
};

static inline int drive_next(struct drive *d, int feed) { return d->next(d, feed); }
static inline int drive_run(struct drive *d, int program) { return d->run(d, program); }
// Reports the progress of long host code ("playing games, position"). The host code must end if this fails.
static inline int drive_between(struct drive *d, const char *what, int64_t done, int64_t all)
{
    return d->between ? d->between(d->context, what, done, all) : 0;
}
// Sets the number of samples in the growing set of a feed. Call it before the first batch and whenever the set has grown.
int drive_grow(struct drive *, int feed, int64_t count) MUST_CHECK;
int drive_read(struct drive *, const char *slot, void *into, size_t bytes) MUST_CHECK;  // waits for the device
int drive_write(struct drive *, const char *slot, const void *bytes, size_t count) MUST_CHECK;
// If only `count` samples of a batch are unfinished, an answer may continue with them in a smaller batch of drive_shrunk(count)
// samples; 0: there is no smaller size. The task's programs move the samples (PROGRAM_GO_ON, PROGRAM_SHRINK). drive_resize
// selects the size whose programs and slots the calls above use.
int64_t drive_shrunk(int64_t count);
void drive_resize(struct drive *, int64_t count);

// SPDX-License-Identifier: Apache-2.0
// What a task's own step, answer and host code may do: bring the next batch of a feed to the device, run a program of the task's
// table, and between steps or within an answer read and write slots that a program made with step_slot.
//
//     for (int i = 0; i < 5; i++) {
//         TRY(drive_next(d, FEED_TRAIN));
//         TRY(drive_run(d, CRITIC));
//     }
//     return drive_run(d, GENERATOR);
//
// Where a batch is cut into parts or slices, drive_run brings and runs all of them, so each batch serves one program only.
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
    int (*between)(void *context, const char *what, int64_t done, int64_t all);  // or NULL: nobody is told
    void *context;            // of between
};

static inline int drive_next(struct drive *d, int feed) { return d->next(d, feed); }
static inline int drive_run(struct drive *d, int program) { return d->run(d, program); }
// Host code that may take long says what it does and how far it is: "playing games, position". An error ends it.
static inline int drive_between(struct drive *d, const char *what, int64_t done, int64_t all)
{
    return d->between ? d->between(d->context, what, done, all) : 0;
}
// Says how many samples the growing set of a feed has, before the first batch and whenever it has grown.
int drive_grow(struct drive *, int feed, int64_t count) MUST_CHECK;
int drive_read(struct drive *, const char *slot, void *into, size_t bytes) MUST_CHECK;  // waits for the device
int drive_write(struct drive *, const char *slot, const void *bytes, size_t count) MUST_CHECK;
// An answer whose batch of `count` samples is done but for a few may go on with these alone, in a batch of drive_shrunk(count)
// samples; 0: there is no smaller one. Samples move as the task's programs say (PROGRAM_GO_ON, PROGRAM_SHRINK). drive_resize
// chooses the size whose programs and slots the calls above mean.
int64_t drive_shrunk(int64_t count);
void drive_resize(struct drive *, int64_t count);

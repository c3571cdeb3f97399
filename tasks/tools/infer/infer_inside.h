// SPDX-License-Identifier: Apache-2.0
// Declarations shared by infer.c and infer_*.c.
#pragma once

#include "runtime/checkpoint/checkpoint.h"
#include "tasks/common/step/evaluation.h"
#include "tasks/tools/infer/infer.h"

struct serving {
    struct device *device;
    struct dataset *data, *view;     // view NULL: the stored samples
    struct session *session;
    struct checkpoint *weights;
    struct setting setting;
    struct step_slots slots;
    struct supply supply;
    struct evaluation evaluation;
    void *worker, *field[FEED_FIELDS];
    char *outputs;
    int64_t *model_ns, *whole_ns;    // one for each item
    const struct infer_options *options;
    int64_t told_ns;                 // time of the last call of progress
    int64_t begun_ns;                // beginning of the requests
    struct task writes;              // the task with its author's programs, of which this one writes
    int write;
};

struct latency_times infer_summarise(int64_t *ns, int64_t n);
void infer_tell(struct serving *, const char *what, int64_t done, int64_t all);  // calls options.progress at most once per second
bool infer_late(const struct serving *, double share);  // this share of options.limit_ns is over

bool infer_singles(const struct infer_options *);  // requests are served one at a time
int infer_serve_build(struct serving *, const struct infer_options *) MUST_CHECK;  // called before the session is ready
int infer_serve(struct serving *, const struct infer_options *, struct infer_figures *) MUST_CHECK;
int infer_write_build(struct serving *, const struct infer_options *) MUST_CHECK;  // the same for options.writing
int infer_write(struct serving *, const struct infer_options *) MUST_CHECK;
int infer_play_build(struct serving *, const struct infer_options *) MUST_CHECK;  // the same for options.playing
int infer_play(struct serving *, const struct infer_options *) MUST_CHECK;
void infer_serve_close(struct serving *);

// SPDX-License-Identifier: Apache-2.0
// How people play against a task's network (dawn infer TASK --play), and the network against a program of the task's own, which
// needs no network (--match). The games run a program of the task that has no feed, and write and read its slots.
#pragma once

#include "tasks/common/step/task.h"

struct session;

struct seat {  // the arguments of `play` and `match`
    const struct setting *setting;
    struct session *session;
    int program;             // in the session, for `batch` positions
    int64_t batch;
    bool (*read)(struct text *line);  // a person's next line without its end; false: there is none
    void (*say)(const char *words);   // to that person
};

struct match {
    int64_t games, won, drawn, lost;  // by the network, which begins every second game
    struct text first;                // the first game, for people
};

struct player {
    int program;           // its number in the task's table
    const char *opponent;  // "tree search with 1,000 random playouts"
    int (*play)(const struct seat *) MUST_CHECK;  // plays games until there are no more lines; batch 1
    int (*match)(const struct seat *, struct match *) MUST_CHECK;  // plays match->games games, as many as the batch
};

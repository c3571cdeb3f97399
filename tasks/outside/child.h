// SPDX-License-Identifier: Apache-2.0
// A command of the user's as a child process: its output read as it comes and passed on, signals handed down, its end
// noticed. One child at a time.
#ifndef DAWN_TASKS_CHILD_H
#define DAWN_TASKS_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "runtime/base/error.h"

enum { CHILD_OUT, CHILD_ERR, CHILD_STREAMS, CHILD_CHUNK = 64 << 10 };

struct child {
    pid_t pid;                  // and the number of its process group
    int pipe[CHILD_STREAMS];    // reading ends of its standard output and error; -1: closed
    int onto[CHILD_STREAMS];    // where they are passed on to
    int write_errno;            // the first reason why passing on failed; 0: none
    bool over;                  // it has ended, and is kept as a zombie until child_reap
    int64_t over_ns;            // when that was noticed
    bool told;                  // a signal was handed down
    sigset_t before;            // signals blocked before, which are let through while waiting
    struct sigaction kept[4];
    char bytes[CHILD_CHUNK];    // of the last CHILD_BYTES
};

// Starts argv[0] with `environment`, in a process group of its own, which dies with us. Its standard input is ours, but
// never a terminal. ERR_MISSING when it can not be started; then nothing is left of it.
int child_start(struct child *, char *const argv[], char *const environment[], const int onto[CHILD_STREAMS]) MUST_CHECK;

enum child_kind {
    CHILD_BYTES,   // output, passed on already
    CHILD_CLOSED,  // a stream has come to its end
    CHILD_SIGNAL,  // SIGINT, SIGTERM or SIGHUP came to us
    CHILD_QUIET,   // nothing for `timeout_ms`
    CHILD_ENDED,   // it has ended and said all it had to say
};
struct child_event {
    enum child_kind kind;
    int stream;    // CHILD_BYTES, CHILD_CLOSED
    size_t count;  // of child->bytes
    int64_t at_ns; // CHILD_BYTES: when they were read, before they were passed on
    int signal;
};
void child_next(struct child *, int timeout_ms, struct child_event *);
void child_signal(struct child *, int signal);  // to the whole group

struct child_end {
    int status;             // as of exit(); -1 when a signal ended it
    int signal;             // that signal, or 0
    int64_t peak_memory;    // of its largest process, bytes
};
// Collects it, killed first when it still runs; `sweep` also kills what it left behind in its group.
void child_reap(struct child *, bool sweep, struct child_end *);

#endif

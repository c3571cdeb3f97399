// SPDX-License-Identifier: Apache-2.0
// Runs a user's command as a child process: reads its output and passes it on at once, forwards signals, and notices its
// exit. One child at a time.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "runtime/common/base/error.h"

enum { CHILD_OUT, CHILD_ERR, CHILD_STREAMS, CHILD_CHUNK = 64 << 10 };

struct child {
    pid_t pid;                  // also the id of its process group
    int pipe[CHILD_STREAMS];    // reading ends of its standard output and error; -1: closed
    int onto[CHILD_STREAMS];    // descriptors that the output is passed on to
    int write_errno;            // the first reason why passing on failed; 0: none
    bool over;                  // it has exited and stays a zombie until child_reap
    int64_t over_ns;            // when the exit was noticed
    bool forwarded;                  // a signal was forwarded
    sigset_t before;            // the signal mask before child_start, used while waiting
    struct sigaction kept[4];
    char bytes[CHILD_CHUNK];    // of the last CHILD_BYTES
};

// Starts argv[0] with `environment` in a process group of its own, which is killed if we end. It inherits our standard input
// unless that is a terminal. ERR_MISSING if it cannot be started; then there is nothing to reap.
int child_start(struct child *, char *const argv[], char *const environment[], const int onto[CHILD_STREAMS]) MUST_CHECK;

enum child_kind {
    CHILD_BYTES,   // output, which has been passed on
    CHILD_CLOSED,  // a stream has ended
    CHILD_SIGNAL,  // this process received SIGINT, SIGTERM or SIGHUP
    CHILD_QUIET,   // nothing happened for `timeout_ms`
    CHILD_ENDED,   // it has exited and all its output was read
};
struct child_event {
    enum child_kind kind;
    int stream;    // CHILD_BYTES, CHILD_CLOSED
    size_t count;  // of child->bytes
    int64_t at_ns; // CHILD_BYTES: when they were read, which is before they were passed on
    int signal;
};
void child_next(struct child *, int timeout_ms, struct child_event *);
void child_signal(struct child *, int signal);  // to the whole group

struct child_end {
    int status;             // exit status; -1 if a signal ended it
    int signal;             // that signal, or 0
    int64_t peak_memory;    // of its largest process, bytes
};
// Reaps the child; kills it first if it still runs. `sweep` also kills the rest of its process group.
void child_reap(struct child *, bool sweep, struct child_end *);

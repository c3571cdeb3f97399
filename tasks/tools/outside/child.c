// SPDX-License-Identifier: Apache-2.0
// fork, exec, poll. Invariant: from child_start to child_reap our signal handlers are installed and the child has not been
// reaped, so its process id cannot belong to another process. No signal and no exit between two waits is lost: the signals
// are blocked except inside ppoll. Workload: a few lines per second, now and then megabytes.
#include "tasks/tools/outside/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"

// A child may leave processes behind that hold the pipes open (loggers do). They are waited for only if they were sent a
// signal, too, and may still be writing weights. Every wait has a limit.
enum { DRAIN_MS = 200, DRAIN_LONGEST_MS = 10000 };
static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
enum { WATCHED = sizeof watched / sizeof *watched };

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    if (number != SIGCHLD) caught = number;  // SIGCHLD only has to interrupt ppoll
}

static void catch_signals(struct child *c)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t block;
    sigemptyset(&block);
    caught = 0;
    for (int i = 0; i < WATCHED; i++) {
        sigaddset(&block, watched[i]);
        sigaction(watched[i], &action, &c->kept[i]);
    }
    sigprocmask(SIG_BLOCK, &block, &c->before);
    for (int i = 0; i < WATCHED; i++) sigdelset(&c->before, watched[i]);
}

static void restore_signals(struct child *c)
{
    for (int i = 0; i < WATCHED; i++) sigaction(watched[i], &c->kept[i], NULL);
    sigprocmask(SIG_SETMASK, &c->before, NULL);
}

// Runs in the child, between fork and exec: async-signal-safe calls only.
static void exec_command(const struct child *c, char *const argv[], char *const environment[], const int ends[CHILD_STREAMS],
                         int report, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) raise(SIGKILL);  // the parent ended before the line above
    setpgid(0, 0);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int i = 0; i < WATCHED; i++) sigaction(watched[i], &usual, NULL);
    sigaction(SIGPIPE, &usual, NULL);  // dawn.c ignores these two, and exec would inherit that
    sigaction(SIGXFSZ, &usual, NULL);
    sigprocmask(SIG_SETMASK, &c->before, NULL);
    if (isatty(STDIN_FILENO)) {
        int nothing = open("/dev/null", O_RDONLY);
        if (nothing >= 0) dup2(nothing, STDIN_FILENO), close(nothing);
    }
    dup2(ends[CHILD_OUT], STDOUT_FILENO);
    dup2(ends[CHILD_ERR], STDERR_FILENO);
    execvpe(argv[0], argv, environment);
    int why = errno;
    ssize_t written = write(report, &why, sizeof why);
    (void)written;
    raise(SIGKILL);  // no exit(): it would flush our buffers a second time
}

static void close_ends(int *ends, int count)
{
    for (int i = 0; i < count; i++) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
}

// The report pipe closes when exec succeeds. If exec fails, its errno comes through the pipe.
static int await_exec(struct child *c, int report, const char *name)
{
    int why = 0;
    ssize_t got;
    do got = read(report, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    if (got != sizeof why) return 0;
    waitpid(c->pid, NULL, 0);
    if (why == ENOENT) return fail(ERR_MISSING, "there is no command \"%.200s\"", name);
    return fail_errno(ERR_MISSING, why, "cannot start \"%.200s\"", name);
}

// Pipe ends get descriptors above 2, so that dup2 in the child never overwrites one of them. All close on exec.
static int open_pipe(int ends[2])
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0) return fail_errno(ERR_IO, errno, "cannot make a pipe");
    for (int i = 0; i < 2; i++) {
        ends[i] = raw[i] > STDERR_FILENO ? raw[i] : fcntl(raw[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (ends[i] != raw[i]) close(raw[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return 0;
    close_ends(ends, 2);
    return fail(ERR_IO, "cannot make a pipe: too many open files");
}

int child_start(struct child *c, char *const argv[], char *const environment[], const int onto[CHILD_STREAMS])
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++) rc = open_pipe(pipes[i]);
    c->over = c->forwarded = false;
    c->write_errno = 0;
    pid_t parent = getpid();
    if (rc == 0) {
        catch_signals(c);
        c->pid = fork();
        if (c->pid == 0) exec_command(c, argv, environment, (const int[]){pipes[0][1], pipes[1][1]}, pipes[2][1], parent);
        close_ends((int *)pipes[2] + 1, 1);
        if (c->pid < 0) rc = fail_errno(ERR_IO, errno, "cannot start a process");
        else rc = await_exec(c, pipes[2][0], argv[0]);
        if (rc < 0) restore_signals(c);
    }
    for (int i = 0; i < CHILD_STREAMS; i++) {
        c->onto[i] = onto[i];
        c->pipe[i] = rc == 0 ? pipes[i][0] : -1;
        if (rc == 0) pipes[i][0] = -1;
    }
    for (int i = 0; i < 3; i++) close_ends(pipes[i], 2);
    return rc;
}

// Passes the output on unchanged and whole. Neither a closed reader nor a full disk stops the training.
static void pass_on_output(struct child *c, int stream, size_t count)
{
    for (size_t done = 0; done < count && c->onto[stream] >= 0;) {
        ssize_t n = write(c->onto[stream], c->bytes + done, count - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = c->onto[stream], .events = POLLOUT};
            poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            if (errno != EPIPE && c->write_errno == 0) c->write_errno = errno;
            c->onto[stream] = -1;
        }
    }
}

static void note_exit(struct child *c)
{
    siginfo_t info = {0};
    if (!c->over && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid)
        c->over = true, c->over_ns = clock_ns();
}

static void read_stream(struct child *c, int stream, struct child_event *e)
{
    ssize_t n;
    do n = read(c->pipe[stream], c->bytes, sizeof c->bytes);
    while (n < 0 && errno == EINTR);
    *e = (struct child_event){.kind = n > 0 ? CHILD_BYTES : CHILD_CLOSED, .stream = stream, .at_ns = clock_ns()};
    e->count = n > 0 ? (size_t)n : 0;
    if (n > 0) pass_on_output(c, stream, (size_t)n);
    else close_ends(&c->pipe[stream], 1);
}

void child_next(struct child *c, int timeout_ms, struct child_event *e)
{
    for (;;) {
        struct pollfd fds[CHILD_STREAMS];
        for (int i = 0; i < CHILD_STREAMS; i++) fds[i] = (struct pollfd){.fd = c->pipe[i], .events = POLLIN};
        note_exit(c);
        bool open = c->pipe[CHILD_OUT] >= 0 || c->pipe[CHILD_ERR] >= 0;
        if (c->over && (!open || clock_ns() - c->over_ns > (int64_t)DRAIN_LONGEST_MS * 1000000)) {
            *e = (struct child_event){.kind = CHILD_ENDED};
            return;
        }
        int wait = !c->over ? timeout_ms : c->forwarded ? DRAIN_LONGEST_MS : DRAIN_MS;
        struct timespec limit = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000L};
        int ready = ppoll(fds, CHILD_STREAMS, &limit, &c->before);
        if (caught) {
            *e = (struct child_event){.kind = CHILD_SIGNAL, .signal = caught};
            caught = 0;
            return;
        }
        for (int i = 0; ready > 0 && i < CHILD_STREAMS; i++) {
            if (fds[i].revents == 0) continue;
            read_stream(c, i, e);
            return;
        }
        if (ready != 0) continue;  // SIGCHLD, or a signal that we do not catch
        *e = (struct child_event){.kind = c->over ? CHILD_ENDED : CHILD_QUIET};
        return;
    }
}

void child_signal(struct child *c, int signal)
{
    c->forwarded = true;
    kill(-c->pid, signal);
}

void child_reap(struct child *c, bool sweep, struct child_end *end)
{
    int status = 0;
    struct rusage used = {0};
    note_exit(c);
    if (sweep || !c->over) child_signal(c, SIGKILL);
    while (wait4(c->pid, &status, 0, &used) < 0 && errno == EINTR) continue;
    *end = (struct child_end){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                              .peak_memory = (int64_t)used.ru_maxrss * 1024};
    close_ends(c->pipe, CHILD_STREAMS);
    restore_signals(c);
}

// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/counters.h"

#include "runtime/common/base/arena.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MOST = 1024, EVENTS = 2 };
static const uint64_t events[EVENTS] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};

struct counters {
    int fd[THREADS_MOST][EVENTS];
    int threads;
};

static int open_event(pid_t thread, uint64_t event)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr, .config = event, .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

// False if one of the events cannot be counted.
static bool open_thread(struct counters *c, pid_t thread)
{
    int *fd = c->fd[c->threads];
    for (int e = 0; e < EVENTS; e++) {
        fd[e] = open_event(thread, events[e]);
        if (fd[e] >= 0) continue;
        while (e-- > 0) close(fd[e]);
        return false;
    }
    c->threads++;
    return true;
}

struct counters *counters_begin(void)
{
    struct counters *c = zalloc(sizeof *c);
    DIR *tasks = opendir("/proc/self/task");
    bool counts = tasks != NULL;
    for (struct dirent *entry; counts && (entry = readdir(tasks)) != NULL;) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0) counts = c->threads < THREADS_MOST && open_thread(c, (pid_t)thread);
    }
    if (tasks) closedir(tasks);
    if (counts && c->threads > 0) return c;
    struct counted none;
    (void)counters_end(c, &none);
    return NULL;
}

// If the processor has fewer counters than events, these take turns: the count is scaled to all of the thread's time.
static bool read_event(int fd, int64_t *count)
{
    struct {
        uint64_t value, enabled, running;
    } r;
    if (read(fd, &r, sizeof r) != (ssize_t)sizeof r) return false;
    *count = r.running > 0 ? (int64_t)((double)r.value * ((double)r.enabled / (double)r.running)) : 0;
    return r.running > 0 || r.enabled == 0;  // a thread that slept is known to have done nothing
}

bool counters_end(struct counters *c, struct counted *sum)
{
    *sum = (struct counted){0};
    if (!c) return false;
    bool counted = true;
    for (int t = 0; t < c->threads; t++)
        for (int e = 0; e < EVENTS; e++) {
            int64_t count;
            if (!read_event(c->fd[t][e], &count)) counted = false;
            else if (e == 0) sum->cycles += count;
            else sum->instructions += count;
            close(c->fd[t][e]);
        }
    free(c);
    return counted && sum->cycles > 0;
}

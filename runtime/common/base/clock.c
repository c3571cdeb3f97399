// SPDX-License-Identifier: Apache-2.0
// CLOCK_MONOTONIC for all times that are subtracted. The start of the process is computed once, before main, from the kernel's
// own figure. That figure has ticks of 10 ms and is rounded down, so the start is never too late.
#include "runtime/common/base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t process_start;

static int64_t read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_unix_ms(void)
{
    return read_clock(CLOCK_REALTIME) / 1000000;
}

// Field 22 of /proc/self/stat: the start in ticks since boot; 0 if it cannot be read.
static int64_t start_ticks(void)
{
    char line[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    if (got <= 0) return 0;
    line[got] = 0;
    char *at = strrchr(line, ')');  // the name in front may hold spaces and brackets
    if (!at) return 0;
    at++;
    for (int field = 3; field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (!at) return 0;
    }
    return strtoll(at, NULL, 10);
}

// The kernel counts from boot and includes suspended time (CLOCK_BOOTTIME); our clock does not. So the age of the process
// is taken from the kernel's clock and subtracted on ours. Sandboxes may invent the figure: an implausible age is dropped.
__attribute__((constructor)) static void note_process_start(void)
{
    int64_t now = clock_ns(), boot = read_clock(CLOCK_BOOTTIME), ticks = start_ticks();
    long rate = sysconf(_SC_CLK_TCK);
    process_start = now;
    if (ticks <= 0 || rate <= 0) return;
    int64_t age = boot - ticks * (1000000000 / rate);
    const int64_t plausible = (int64_t)60 * 1000000000;  // this runs within milliseconds of exec
    if (age > 0 && age < plausible) process_start = now - age;
}

int64_t clock_process_start_ns(void)
{
    return process_start;
}

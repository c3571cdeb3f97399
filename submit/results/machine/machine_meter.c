// SPDX-License-Identifier: Apache-2.0
// Energy of the processors, from the kernel's power capping counters. The counters wrap: the smallest range met is 65 kJ,
// which a package of 300 W uses in 3.6 minutes, and an epoch of a large task takes longer. Therefore a thread reads the
// counters. Cost: a file a package every second.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/results/machine/machine.h"

enum { PACKAGES = 16, PATH = 256, EVERY_MS = 1000 };

struct meter {
    int packages;
    int64_t last_uj[PACKAGES], range_uj[PACKAGES], used_uj;
    char path[PACKAGES][PATH];
    int64_t every_ms;
    pthread_t thread;
    pthread_mutex_t lock;  // protects the counts above and `stops`
    pthread_cond_t wake;
    bool runs, stops;
};

static bool read_sysfs(const char *path, char *into, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, into, capacity - 1);
    close(fd);
    into[n > 0 ? n : 0] = 0;
    return n > 0;
}

static int64_t read_number(const char *path)
{
    char text[64];
    return read_sysfs(path, text, sizeof text) ? strtoll(text, NULL, 10) : -1;
}

static void add_packages(struct meter *m)
{
    for (int i = 0; i < m->packages; i++) {
        int64_t now = read_number(m->path[i]);
        if (now < 0) continue;
        int64_t used = now - m->last_uj[i];
        if (used < 0) used += m->range_uj[i];  // the counter wrapped
        m->used_uj += used;
        m->last_uj[i] = now;
    }
}

static void *follow(void *context)
{
    struct meter *m = context;
    pthread_mutex_lock(&m->lock);
    while (!m->stops) {
        int64_t until = clock_ns() + m->every_ms * 1000000;
        const struct timespec at = {until / 1000000000, until % 1000000000};
        pthread_cond_timedwait(&m->wake, &m->lock, &at);
        add_packages(m);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

// Blocks signals, which belong to the program's other threads.
static void start_thread(struct meter *m)
{
    sigset_t all, before;
    pthread_condattr_t attributes;
    sigfillset(&all);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);  // the clock of clock_ns
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    m->runs = pthread_create(&m->thread, NULL, follow, m) == 0;  // without the thread only callers read the counters
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void find_packages(struct meter *m, const char *folder)
{
    for (int i = 0; i < PACKAGES; i++) {
        char path[PATH], name[32];
        int n = m->packages;
        if (snprintf(path, sizeof path, "%.200s/intel-rapl:%d/name", folder, i) >= (int)sizeof path) return;
        if (!read_sysfs(path, name, sizeof name) || strncmp(name, "package", 7) != 0) continue;  // psys counts the packages again
        snprintf(path, sizeof path, "%.200s/intel-rapl:%d/max_energy_range_uj", folder, i);
        snprintf(m->path[n], sizeof m->path[n], "%.200s/intel-rapl:%d/energy_uj", folder, i);
        m->last_uj[n] = read_number(m->path[n]);
        m->range_uj[n] = read_number(path);
        if (m->last_uj[n] >= 0 && m->range_uj[n] > 0) m->packages++;
    }
}

bool machine_meter_start_at(struct machine_meter *meter, const char *folder, int64_t every_ms)
{
    struct meter *m = zalloc(sizeof *m);
    meter->inside = NULL;
    m->every_ms = every_ms;
    find_packages(m, folder);
    if (m->packages == 0) {
        free(m);
        return false;
    }
    start_thread(m);
    meter->inside = m;
    return true;
}

bool machine_meter_start(struct machine_meter *meter)
{
    return machine_meter_start_at(meter, "/sys/class/powercap", EVERY_MS);
}

bool machine_energy_uj(struct machine_meter *meter, int64_t *since_start)
{
    struct meter *m = meter->inside;
    if (m == NULL) return false;
    pthread_mutex_lock(&m->lock);
    add_packages(m);
    *since_start = m->used_uj;
    pthread_mutex_unlock(&m->lock);
    return true;
}

void machine_meter_stop(struct machine_meter *meter)
{
    struct meter *m = meter->inside;
    if (m == NULL) return;
    pthread_mutex_lock(&m->lock);
    m->stops = true;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    if (m->runs) pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    free(m);
    meter->inside = NULL;
}

// SPDX-License-Identifier: Apache-2.0
// Two locks: `reading` is held while the counter is read, which may take long; `lock` only for the known figures.
#include "submit/results/machine/machine_counter.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"

enum { EVERY_MS = 1000 };

struct machine_counter {
    machine_counter_read *read;
    void *context;
    pthread_t thread;
    pthread_mutex_t reading, lock;
    pthread_cond_t wake;
    int64_t first, last;
    bool known, stops;
};

// The caller holds `reading`.
static bool take_reading(struct machine_counter *c)
{
    int64_t now;
    bool read = c->read(c->context, &now);
    pthread_mutex_lock(&c->lock);
    if (read && !c->known) c->first = now;
    if (read) c->known = true, c->last = now;
    pthread_mutex_unlock(&c->lock);
    return read;
}

static void sleep_or_stop(struct machine_counter *c)
{
    int64_t until = clock_ns() + EVERY_MS * INT64_C(1000000);
    const struct timespec at = {until / 1000000000, until % 1000000000};
    pthread_mutex_lock(&c->lock);
    while (!c->stops && clock_ns() < until) pthread_cond_timedwait(&c->wake, &c->lock, &at);
    pthread_mutex_unlock(&c->lock);
}

static bool is_stopped(struct machine_counter *c)
{
    pthread_mutex_lock(&c->lock);
    bool stops = c->stops;
    pthread_mutex_unlock(&c->lock);
    return stops;
}

static void *follow_counter(void *context)
{
    struct machine_counter *c = context;
    pthread_mutex_lock(&c->reading);
    bool known = take_reading(c);
    pthread_mutex_unlock(&c->reading);
    while (known && !is_stopped(c)) {
        sleep_or_stop(c);
        if (is_stopped(c)) break;
        pthread_mutex_lock(&c->reading);
        (void)take_reading(c);
        pthread_mutex_unlock(&c->reading);
    }
    return NULL;
}

// Signals are for the program's other threads.
struct machine_counter *machine_counter_start(machine_counter_read *read, void *context)
{
    struct machine_counter *c = zalloc(sizeof *c);
    sigset_t all, before;
    pthread_condattr_t attributes;
    c->read = read, c->context = context;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);  // the clock of clock_ns
    pthread_mutex_init(&c->reading, NULL);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&c->thread, NULL, follow_counter, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) return c;
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->reading);
    free(c);
    return NULL;
}

bool machine_counter_uj(struct machine_counter *c, bool now, int64_t *since_start)
{
    if (!c) return false;
    if (now) {
        pthread_mutex_lock(&c->reading);
        (void)take_reading(c);
        pthread_mutex_unlock(&c->reading);
    }
    pthread_mutex_lock(&c->lock);
    bool known = c->known;
    *since_start = c->last - c->first;
    pthread_mutex_unlock(&c->lock);
    return known;
}

void machine_counter_stop(struct machine_counter *c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->stops = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->reading);
    free(c);
}

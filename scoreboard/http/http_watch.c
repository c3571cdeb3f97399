// SPDX-License-Identifier: Apache-2.0
// A table indexed by descriptor and a thread that scans it five times per second. Invariant: shutdown() is called only under the
// mutex and only for an entry in use, so never for a descriptor that now belongs to another connection. This code only shuts
// down; libmicrohttpd then notices the end and closes. Cost: a pass over at most some thousand places, and an uncontended
// lock four times per request.
#include "scoreboard/http/http_watch.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TICK_MS = 200, DESCRIPTORS_MAX = 1 << 20 };

struct watch {
    pthread_mutex_t lock;
    pthread_t thread;
    int stop;  // eventfd
    struct watched {
        bool used, busy;
        int64_t until;  // nanoseconds of clock_ns()
    } *at;
    int capacity, busy;
    bool draining;
};

// Entries are scanned every TICK_MS, later on a busy machine, so a deadline is set a tick or two early rather than late.
static int64_t moment(int64_t milliseconds)
{
    return clock_ns() + (milliseconds > 2 * TICK_MS ? milliseconds - 2 * TICK_MS : 0) * 1000000;
}

static void look(struct watch *watch)
{
    const int64_t now = clock_ns();
    pthread_mutex_lock(&watch->lock);
    for (int fd = 0; fd < watch->capacity; fd++) {
        struct watched *watched = &watch->at[fd];
        if (!watched->used || (now < watched->until && (watched->busy || !watch->draining))) continue;
        shutdown(fd, SHUT_RDWR);
        watched->until = INT64_MAX;
    }
    pthread_mutex_unlock(&watch->lock);
}

static void *run(void *at)
{
    struct watch *watch = at;
    struct pollfd waiting = {.fd = watch->stop, .events = POLLIN};
    while (poll(&waiting, 1, TICK_MS) <= 0 || (waiting.revents & POLLIN) == 0) look(watch);
    return NULL;
}

int watch_start(struct watch **into)
{
    struct watch *watch = zalloc(sizeof *watch);
    pthread_mutex_init(&watch->lock, NULL);
    watch->stop = eventfd(0, EFD_CLOEXEC);
    int rc = watch->stop < 0 ? errno : pthread_create(&watch->thread, NULL, run, watch);
    if (rc != 0) {
        if (watch->stop >= 0) close(watch->stop);
        pthread_mutex_destroy(&watch->lock);
        free(watch);
        return fail_errno(ERR_IO, rc, "cannot start the thread that watches over slow clients");
    }
    *into = watch;
    return 0;
}

void watch_stop(struct watch *watch)
{
    const uint64_t one = 1;
    if (write(watch->stop, &one, sizeof one) != sizeof one) BUG("an eventfd does not take 1");
    pthread_join(watch->thread, NULL);
    close(watch->stop);
    pthread_mutex_destroy(&watch->lock);
    free(watch->at);
    free(watch);
}

static struct watched *watched_of(struct watch *watch, int fd)
{
    BUG_IF(fd < 0 || fd >= DESCRIPTORS_MAX);
    if (fd >= watch->capacity) {
        const int capacity = (fd + 1) * 2;
        watch->at = grow(watch->at, (size_t)capacity * sizeof *watch->at);
        memset(watch->at + watch->capacity, 0, (size_t)(capacity - watch->capacity) * sizeof *watch->at);
        watch->capacity = capacity;
    }
    return &watch->at[fd];
}

static void set_watched(struct watch *watch, int fd, bool used, bool busy, int64_t until)
{
    pthread_mutex_lock(&watch->lock);
    struct watched *watched = watched_of(watch, fd);
    watch->busy += (int)busy - (int)watched->busy;
    *watched = (struct watched){.used = used, .busy = busy, .until = until};
    pthread_mutex_unlock(&watch->lock);
}

void watch_open(struct watch *watch, int fd, int64_t milliseconds)
{
    set_watched(watch, fd, true, false, moment(milliseconds));
}

void watch_set(struct watch *watch, int fd, int64_t milliseconds, bool busy)
{
    set_watched(watch, fd, true, busy, moment(milliseconds));
}

void watch_close(struct watch *watch, int fd)
{
    set_watched(watch, fd, false, false, 0);
}

void watch_drain(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->draining = true;
    pthread_mutex_unlock(&watch->lock);
    look(watch);
}

int watch_busy(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    int busy = watch->busy;
    pthread_mutex_unlock(&watch->lock);
    return busy;
}

// SPDX-License-Identifier: Apache-2.0
// Computes the MD5s of archives.
//
// Cost: one sequential pass over each archive on a thread of its own, concurrent with the packing: 138 GB take five minutes.
#include "data/pack/origin_md5.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/dataset.h"
#include "runtime/common/base/arena.h"

enum { MD5_READ = 1 << 20 };

struct job {
    struct origin_md5 *all;
    const char *path;
    pthread_t thread;
    bool started, joined;
    int rc;
    char hex[MD5_HEX], why[ERROR_TEXT_MAX];
};

struct origin_md5 {
    atomic_bool stop;
    int jobs;
    struct job job[SPLIT_COUNT];
};

static int digest_archive(struct job *job, int fd, uint8_t *bytes)
{
    struct md5 md5;
    md5_begin(&md5);
    for (;;) {
        if (atomic_load(&job->all->stop)) return fail(ERR_INTERRUPTED, "stopped");
        ssize_t got = read(fd, bytes, MD5_READ);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(ERR_IO, errno, "cannot read %s", job->path);
        if (got == 0) break;
        md5_add(&md5, bytes, (size_t)got);
    }
    md5_end(&md5, job->hex);
    return 0;
}

static void *run_job(void *context)
{
    struct job *job = context;
    int fd = open(job->path, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = zalloc(MD5_READ);
    job->rc = fd < 0 ? fail_errno(ERR_IO, errno, "cannot open %s", job->path) : digest_archive(job, fd, bytes);
    if (job->rc < 0) snprintf(job->why, sizeof job->why, "%s", error_text());
    free(bytes);
    if (fd >= 0) close(fd);
    return NULL;
}

struct origin_md5 *origin_md5_start(int archives, char *const path[])
{
    if (archives == 0) return NULL;
    struct origin_md5 *all = zalloc(sizeof *all);
    all->jobs = archives;
    for (int i = 0; i < archives; i++) {
        all->job[i].all = all;
        all->job[i].path = path[i];
        all->job[i].started = pthread_create(&all->job[i].thread, NULL, run_job, &all->job[i]) == 0;
    }
    return all;
}

static void wait_for_job(struct job *job)
{
    if (!job->started) run_job(job);
    else if (!job->joined) pthread_join(job->thread, NULL);
    job->started = job->joined = true;
}

void origin_md5_stop(struct origin_md5 *all)
{
    if (all == NULL) return;
    atomic_store(&all->stop, true);
    for (int i = 0; i < all->jobs; i++)
        if (all->job[i].started) wait_for_job(&all->job[i]);
    free(all);
}

int origin_md5_of(struct origin_md5 *all, int i, char hex[MD5_HEX])
{
    struct job *job = &all->job[i];
    wait_for_job(job);
    if (job->rc < 0) return fail(job->rc, "%s", job->why);
    memcpy(hex, job->hex, MD5_HEX);
    return 0;
}

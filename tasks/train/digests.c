// SPDX-License-Identifier: Apache-2.0
#include "tasks/train/digests.h"

#include "runtime/base/arena.h"
#include "runtime/base/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct digests {
    struct dataset *data;
    pthread_t thread;
    bool joined;
    int rc;
    char why[ERROR_TEXT_MAX];  // error texts are a thread's own
    char hex[SPLIT_COUNT][DIGEST_HEX];
};

static int compute(struct digests *d)
{
    enum dataset_verdict verdict;
    TRY(dataset_check(d->data, &verdict));
    for (int s = 0; s < SPLIT_COUNT; s++) TRY(dataset_content_digest(d->data, (enum split)s, d->hex[s]));
    return 0;
}

static void *work(void *context)
{
    struct digests *d = context;
    d->rc = compute(d);
    if (d->rc < 0) snprintf(d->why, sizeof d->why, "%s", error_text());
    return NULL;
}

int digests_start(struct dataset *data, struct digests **into)
{
    struct digests *d = zalloc(sizeof *d);
    d->data = data;
    (void)threads_count();  // settled here, not by whichever thread asks first
    int error = pthread_create(&d->thread, NULL, work, d);
    if (error) {
        free(d);
        return fail_errno(ERR_IO, error, "no thread for the digests of the data set could be started");
    }
    *into = d;
    return 0;
}

static void join(struct digests *d)
{
    if (!d->joined) pthread_join(d->thread, NULL);
    d->joined = true;
}

int digests_wait(struct digests *d)
{
    join(d);
    return d->rc < 0 ? fail(d->rc, "%s", d->why) : 0;
}

const char *digests_hex(const struct digests *d, enum split s)
{
    BUG_IF(!d->joined);
    return d->hex[s];
}

void digests_free(struct digests *d)
{
    if (!d) return;
    join(d);
    free(d);
}

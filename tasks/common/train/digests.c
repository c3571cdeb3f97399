// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/digests.h"

#include "data/manifest.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/threads.h"
#include "submit/format/score/contest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct digests {
    struct dataset *data;
    pthread_t thread;
    atomic_int owners;  // the thread and the caller; the last one frees
    bool joined;
    int rc;
    char why[ERROR_TEXT_MAX];  // error texts are thread-local, so the thread copies its own
    char hex[SPLIT_COUNT][DIGEST_HEX];
    struct task_files files;
    char file_hex[TASK_FILES][DIGEST_HEX];
    int64_t file_bytes[TASK_FILES];
    bool file_remembered[TASK_FILES];
};

static int compute(struct digests *d)
{
    enum dataset_verdict verdict;
    TRY(dataset_check(d->data, &verdict));
    for (int s = 0; s < SPLIT_COUNT; s++) TRY(dataset_content_digest(d->data, (enum split)s, d->hex[s]));
    for (int i = 0; i < TASK_FILES; i++) {
        const char *path = task_files_path(&d->files, i);
        struct manifest_key key;
        if (!path) continue;
        TRY(manifest_digest(path, d->file_hex[i], &d->file_remembered[i]));
        TRY(manifest_key_of(path, &key));
        d->file_bytes[i] = key.size;
    }
    return 0;
}

static void *work(void *context)
{
    struct digests *d = context;
    d->rc = compute(d);
    if (d->rc < 0) snprintf(d->why, sizeof d->why, "%s", error_text());
    if (atomic_fetch_sub(&d->owners, 1) == 1) {  // abandoned by digests_end()
        dataset_close(d->data);
        free(d);
    }
    return NULL;
}

int digests_start(struct dataset *data, const struct task_files *files, struct digests **into)
{
    struct digests *d = zalloc(sizeof *d);
    d->data = data;
    d->files = *files;
    atomic_init(&d->owners, 2);
    (void)threads_count();  // sets the number of threads here, not in the thread that happens to ask first
    int error = pthread_create(&d->thread, NULL, work, d);
    if (error) {
        free(d);
        return fail_errno(ERR_IO, error, "cannot start a thread for the digests of the data set");
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

int digests_files(const struct digests *d, struct run_file into[TASK_FILES])
{
    int count = 0;
    BUG_IF(!d->joined);
    for (int i = 0; i < TASK_FILES; i++) {
        const char *path = task_files_path(&d->files, i), *slash = path ? strrchr(path, '/') : NULL;
        if (!path) continue;
        into[count++] = (struct run_file){task_files_name(i), slash ? slash + 1 : path, d->file_hex[i], d->file_bytes[i],
                                          d->file_remembered[i] ? READING_REMEMBERED : READING_NOW};
    }
    return count;
}

int digests_check_scored(const struct task *task, const struct dataset_facts *stored, const char *scored)
{
    const struct contest *contest = contest_find(task->name);
    if (!stored->official || !contest || !contest->scored_set || !strcmp(scored, contest->scored_set)) return 0;
    return fail(ERR_INPUT, "%s: the samples that this program scores differ from the contest's: their digest is %.16s..., "
                "not %.16s...", task->name, scored, contest->scored_set);
}

// A run that fails early, for want of a GPU, must not wait until a large file is hashed. The paths of files are only borrowed.
bool digests_end(struct digests *d)
{
    if (!d) return true;
    if (!d->joined && task_files_any(&d->files)) join(d);
    if (!d->joined && pthread_tryjoin_np(d->thread, NULL) != 0) {
        pthread_detach(d->thread);
        if (atomic_fetch_sub(&d->owners, 1) == 2) return false;  // the thread closes the data set
    }
    free(d);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// The sentence of an error stays in the thread that failed (error.h), so it is carried over to the calling thread.
//
// Invariant: the failure reported is the one of the lowest piece, independent of which thread failed first.
// Cost: one kilobyte per thread; a crew also starts its threads (some 20 us each).
#include "data/pieces.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/threads.h"

struct piece {
    int rc;
    char text[ERROR_TEXT_MAX];
};

struct pieces {
    int (*fn)(void *, int64_t, int64_t);
    void *context;
    struct piece *piece;
};

static void pieces_run(void *context, int64_t begin, int64_t end, int thread)
{
    struct pieces *pieces = context;
    struct piece *piece = &pieces->piece[thread];
    piece->rc = pieces->fn(pieces->context, begin, end);
    if (piece->rc < 0) snprintf(piece->text, sizeof piece->text, "%s", error_text());
}

int pieces_for(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end), void *context)
{
    int threads = threads_count(), rc = 0;
    struct pieces pieces = {fn, context, zalloc((size_t)threads * sizeof(struct piece))};
    threads_for(n, grain, pieces_run, &pieces);
    for (int t = 0; t < threads && rc == 0; t++) {
        if (pieces.piece[t].rc < 0) rc = fail(pieces.piece[t].rc, "%s", pieces.piece[t].text);
    }
    free(pieces.piece);
    return rc;
}

struct crew {
    int (*fn)(void *, int64_t, int64_t);
    void *context;
    int64_t n, grain;
    _Atomic int64_t next, failed;  // begin of the next piece; begin of the lowest piece that failed
    pthread_mutex_t lock;
    struct piece first;            // the lowest failed piece and its failure
};

// Pieces are taken in order, so all pieces below a failed one are taken already.
static void *crew_work(void *context)
{
    struct crew *crew = context;
    for (int64_t begin; (begin = atomic_fetch_add(&crew->next, crew->grain)) < crew->n && begin < crew->failed;) {
        int64_t end = crew->n - begin < crew->grain ? crew->n : begin + crew->grain;
        int rc = crew->fn(crew->context, begin, end);
        if (rc == 0) continue;
        pthread_mutex_lock(&crew->lock);
        if (begin < crew->failed) {
            crew->failed = begin;
            crew->first.rc = rc;
            snprintf(crew->first.text, sizeof crew->first.text, "%s", error_text());
        }
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

int pieces_crew(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end), void *context)
{
    struct crew crew = {.fn = fn, .context = context, .n = n, .grain = grain, .failed = INT64_MAX};
    int64_t pieces = (n + grain - 1) / grain, most = threads_count() < pieces ? threads_count() : pieces;
    pthread_t *thread = zalloc((size_t)(most + 1) * sizeof *thread);
    int started = 0;
    pthread_mutex_init(&crew.lock, NULL);
    while (started < most - 1 && pthread_create(&thread[started], NULL, crew_work, &crew) == 0) started++;
    crew_work(&crew);  // fewer threads than requested are slower, but no failure
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&crew.lock);
    free(thread);
    return crew.first.rc < 0 ? fail(crew.first.rc, "%s", crew.first.text) : 0;
}

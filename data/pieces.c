// SPDX-License-Identifier: Apache-2.0
// Loops over threads whose pieces can fail. An error's sentence waits in the thread that failed (error.h), so it has
// to be carried over to the thread that asked.
//
// Invariant: the failure reported is the one of the lowest piece, whichever thread met its failure first.
// Cost: one kilobyte a thread.
#include <stdio.h>
#include <stdlib.h>

#include "data/kind.h"
#include "runtime/base/arena.h"
#include "runtime/base/threads.h"

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

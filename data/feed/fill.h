// SPDX-License-Identifier: Apache-2.0
// Fills a piece of a batch, on any thread: the part of feed.c that needs no lock. Only feed.c and fill.c include this.
#pragma once

#include "data/feed/feed.h"

struct fill_piece {
    struct order_batch batch;
    void *const *field;  // fields of the whole batch
    int64_t begin, end;  // range of its samples
    uint64_t seed;
    uint32_t epoch;
    const int32_t *samples;  // samples of the epoch in order
};

struct fill_failure {
    int rc;      // 0: none
    int64_t at;  // position in the batch
    char text[ERROR_TEXT_MAX];
};

// Stops at the first sample that fails. The piece that begins at 0 also clears the places after a short batch.
void fill_piece(const struct feed_choice *, const struct fill_piece *, void *worker, struct fill_failure *);
size_t fill_sample_bytes(const struct feed_field *, int bucket);

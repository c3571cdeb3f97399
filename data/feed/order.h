// SPDX-License-Identifier: Apache-2.0
// The order of a split's samples in an epoch, and its batches: a pure function of the seed, the epoch and the choice. A resident
// data set uploads order_samples; a streamed one (feed.h) works batch by batch.
//
// Every sample belongs to one bucket: the first whose limit its length does not exceed. A batch holds samples of one bucket
// only, so that each bucket has one graph of fixed shapes. Without lengths every sample belongs to the bucket that order_draw
// gets, so that a training can change the size of its images from epoch to epoch.
//
// A file that does not fit into memory is shuffled in pages: the pages of the file are permuted, and the samples of each
// `window` pages in that order are permuted among each other. So a page is read once an epoch, in one piece, and batches are
// as good as those of a full shuffle where samples lie in no order in the file.
//
// Invariant: the number of batches an epoch depends on the choice alone. With one bucket the batches follow each other in
// the permutation that all runs of DAWN have been made with (Fisher-Yates over RNG_ORDER; order.c).
// Cost: 4 bytes a sample, 12 with several buckets; a draw takes about 20 ns a sample.
#ifndef DAWN_DATA_ORDER_H
#define DAWN_DATA_ORDER_H

#include "runtime/base/error.h"

enum { ORDER_BUCKETS = 8 };

struct order_choice {
    int64_t count;                 // samples of the split
    const int32_t *lengths;        // of each; read by order_new alone. NULL: one bucket, or the one order_draw is told
    int buckets;                   // 1 to ORDER_BUCKETS
    int32_t limit[ORDER_BUCKETS];  // longest sample of each bucket, ascending; only with lengths
    int64_t batch[ORDER_BUCKETS];  // samples a batch; without lengths the same for all buckets
    const int64_t *page;           // without lengths: the first sample of each page, and `count`; read by order_new alone
    int64_t pages, window;         // window 0: no pages
    bool in_file_order;            // no draw: the permutation is the identity, and buckets follow each other
    bool short_batches;            // each bucket ends with a batch of its remaining samples (evaluation); else they are left out
};

struct order_batch {
    int64_t first, count;  // of order_samples
    int bucket;
};

struct order;
// Refuses a sample longer than the last limit, by its number.
int order_new(const struct order_choice *, struct order **) MUST_CHECK;
void order_free(struct order *);  // NULL is fine
int64_t order_batches(const struct order *);
void order_draw(struct order *, uint64_t seed, uint32_t epoch, int bucket);  // bucket counts without lengths only
struct order_batch order_batch(const struct order *, int64_t batch);         // of the epoch drawn last
const int32_t *order_samples(const struct order *);                          // of the epoch drawn last
// Of an order in pages: page i of the epoch drawn last. Until `position` of order_samples is reached, the first
// order_pages_until pages are needed: the window, and of the next one as many as `position` has passed in this one.
struct order_batch order_page(const struct order *, int64_t i);  // its samples in the file
int64_t order_pages_until(const struct order *, int64_t position);
int64_t order_window_begin(const struct order *, int64_t position);  // the first page of its window

#endif

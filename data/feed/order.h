// SPDX-License-Identifier: Apache-2.0
// The order of a split's samples in an epoch, and its batches: a pure function of the seed, the epoch and the choice. A
// resident data set uploads order_samples; a streamed one (feed.h) works batch by batch.
//
// Every sample belongs to one bucket: the first whose limit its length does not exceed. A batch holds samples of one bucket
// only, so each bucket has one graph of fixed shapes. Without lengths every sample belongs to the bucket that order_draw
// gets, so a training can change the size of its images from epoch to epoch.
//
// A file that does not fit into memory is shuffled in pages: the pages of the file are permuted, and then the samples of
// each `window` pages in that order are permuted among each other. So a page is read once per epoch, in one piece. If the
// samples of the file are in no particular order, the batches are as good as after a full shuffle.
//
// Invariant: the number of batches in an epoch depends on the choice alone. With one bucket the batches follow each other in
// the permutation of all runs of DAWN (Fisher-Yates over RNG_ORDER; order.c). Cost: 4 bytes per sample, 12 with several
// buckets; a draw takes about 20 ns per sample.
#pragma once

#include "runtime/common/base/error.h"

enum { ORDER_BUCKETS = 32 };

enum order_kind {
    ORDER_SHUFFLED,
    ORDER_FILE,          // the permutation is the identity, and buckets follow each other
    // Row i of each batch goes on where it ended in the batch before: the file is cut into as many streams as a batch has rows.
    // Samples after the last whole stream are left out. One bucket.
    ORDER_STREAMS,
    ORDER_SORTED_FIRST,  // the first epoch by length, shortest first; then shuffled. Needs lengths
    ORDER_GROWING,       // each row of a batch is drawn from the samples so far (order_draw_grown)
};

// The share of one process of several. Each batch is cut into `slices` equal slices; the process gets `taken` of them from
// `first` on, each as a batch of its own. Of the batches it gets each `every`th one from `at` on. 0 slices, every 0: all.
struct order_share {
    int slices, first, taken;
    int every, at;
};

struct order_choice {
    int64_t count;                 // samples of the split
    const int32_t *lengths;  // of each sample; only order_new reads it. NULL: one bucket, or the bucket that order_draw gets
    int buckets;                   // 1 to ORDER_BUCKETS
    int32_t limit[ORDER_BUCKETS];  // longest sample of each bucket, ascending; only with lengths
    int64_t batch[ORDER_BUCKETS];  // samples per batch, or a slice of one; without lengths the same for all buckets
    struct order_share share;      // the order of the samples and the batches of all processes do not depend on it
    const int64_t *page;           // without lengths: the first sample of each page, and `count`; only order_new reads it
    int64_t pages, window;         // window 0: no pages
    enum order_kind kind;
    bool short_batches;            // each bucket ends with a batch of its remaining samples (evaluation); else they are left out
};

struct order_batch {
    int64_t first, count;  // of order_samples
    int bucket;
};

struct order;
// Refuses a sample longer than the last limit; the sentence has its number.
int order_new(const struct order_choice *, struct order **) MUST_CHECK;
void order_free(struct order *);  // NULL is fine
int64_t order_batches(const struct order *);
void order_draw(struct order *, uint64_t seed, uint32_t epoch, int bucket);  // `bucket` is used only without lengths
// With lengths: the batches as order_draw lists them, without their samples. For callers that only count buckets.
void order_draw_batches(struct order *, uint64_t seed, uint32_t epoch);
struct order_batch order_batch(const struct order *, int64_t batch);         // of the last drawn epoch
int64_t order_all_batches(const struct order *);                             // of all processes, not cut
struct order_batch order_all_batch(const struct order *, int64_t batch);
struct order_batch order_whole_batch(const struct order *, int64_t batch);   // the one that order_batch is a slice of
const int32_t *order_samples(const struct order *);                          // of the last drawn epoch
bool order_is_fixed(const struct order_choice *);                            // it is the same in every epoch
// The samples of a batch of an ORDER_GROWING, below `count`. Depends on seed, epoch, batch and count alone.
struct order_grown {
    uint64_t seed;
    uint32_t epoch;
    int64_t batch, count;
};
void order_draw_grown(const struct order *, const struct order_grown *, int32_t *samples);
// For an order in pages: page i of the last drawn epoch. Up to `position` of order_samples the first order_pages_until pages
// are needed: the pages of the window, and as many of the next window as `position` has passed in this one.
struct order_batch order_page(const struct order *, int64_t i);  // its samples in the file
int64_t order_pages_until(const struct order *, int64_t position);
int64_t order_window_begin(const struct order *, int64_t position);  // the first page of its window

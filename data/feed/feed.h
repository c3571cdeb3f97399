// SPDX-License-Identifier: Apache-2.0
// A streamed data set: threads make batches on the host, ahead of the device and in the order of order.h.
//
// A batch is made sample by sample: a callback of the task decodes, crops and pads one sample into its row. The batches
// wait in a ring; feed_take hands them out in order, feed_give_back frees their entry in the ring.
//
//     feed_begin(feed, seed, epoch);
//     while (feed_take(feed, &batch) == 0 && batch.count > 0) { ...; feed_give_back(feed, &batch); }
//
// Invariant: the bytes of a batch depend on (seed, epoch, number of the batch) alone, not on the number of threads or the
// depth of the ring. One thread fills a sample, into bytes that were zero, from (seed, epoch, index). A feed belongs to one
// thread; only the callback runs on others, several at once. Cost: `depth` batches of host memory; one lock for each piece
// of a batch (a quarter of a thread's share, 64 samples at most).
//
// Threads. The pool of threads.h does the arithmetic of the device "cpu", and a loop on it blocks the thread
// that runs the steps. Decoding goes on while steps run, so it cannot be a loop on that pool, and a feed has threads of its
// own. They sleep while the ring is full. On the CPU the ring is nearly always full: a training step of ResNet-50 at 224 x
// 224 is about 25 GFLOP per sample, a third of a second of one core, and decoding an original JPEG for it takes about 1 ms
// (docs/performance.md). So the decoders need about a three-hundredth of the cores. With a smaller pool every step would pay
// for a core that sleeps. With a GPU the pool is idle, and the decoders get all cores but the one that drives the device.
#pragma once

#include "data/dataset.h"
#include "data/feed/order.h"

enum { FEED_FIELDS = 8, FEED_DEPTH = 3 };

struct feed_field {
    const char *name;
    enum dtype dtype;
    struct shape shape[ORDER_BUCKETS];  // of one sample, in each bucket
    int classes;                        // u8 and i32: a value outside 0 .. classes - 1 is an error; 0: any value
    const struct field *from;           // set by feed_resolve: the data set's field; NULL: the length of field `length_of`
    int length_of;
};

struct feed_item {
    enum split split;
    int64_t index;  // number of the sample in its split
    uint64_t seed;
    uint32_t epoch;
    int bucket;
    int64_t row;  // position in the batch
    void *worker;   // state of this thread from feed_choice.worker_new; NULL if there is none
};

// Writes one sample: field[i] points to its bytes in field i of the batch, which are zero. Depends on seed, epoch and index
// alone. Starts no threads.
typedef int feed_fill(void *context, const struct feed_item *, void *const field[]);

struct feed_choice {
    struct dataset *data;       // borrowed
    enum split split;
    struct order_choice order;  // `count` is taken from the data set
    struct feed_field field[FEED_FIELDS];
    int fields;
    // NULL: each field of the batch has the same name. Ragged fields (along their first dimension) are padded with
    // zeros, and a field "NAME.length" i32[] is the length of NAME.
    feed_fill *fill;
    void *context;              // passed to all callbacks
    // For the owner of the choice, not the feed: to prepare before the feed is made (a cache is filled), to ask for the
    // bytes of host memory that this takes, and to end. NULL: nothing to do.
    int (*begin)(void *context);
    int (*keeps)(void *context, int64_t *bytes);
    void (*end)(void *context);
    struct damage *damage;      // collects the damaged pictures that `fill` finds (data/image/damage.h); NULL: not counted
    // The state of each decoding thread (decoders, buffers), made when it starts; both NULL: none.
    void *(*worker_new)(void *context);
    void (*worker_free)(void *worker);
    int threads;                // decoding threads; 0: feed_threads(1)
    int depth;  // batches in the ring; 0: FEED_DEPTH (one is copied to the device, one is ready, one is being made)
    // The ragged field that `fill` reads from storage; the system reads it ahead. NULL: none. If `window` (feed_pages.h) is not
    // 0, its stored bytes are divided into pages, and the order is one of pages.
    const char *stored;
    int64_t window;
    // Number of epochs of a training. Before an epoch ends, the next one is begun with the same seed. 0: never.
    uint32_t epochs;
    int (*bucket_of_epoch)(void *context, uint32_t epoch);  // without lengths; NULL: bucket 0
    // Allocates the batches: memory from which a device copies fast (device.h: host_alloc). NULL: ordinary memory.
    int (*alloc)(void *memory, size_t bytes, void **);
    void (*free)(void *memory, void *);
    void *memory;
};

struct feed_batch {
    int64_t number;  // in its epoch
    uint32_t epoch;
    int64_t count;   // samples; 0: the epoch has ended. Places after `count` of a short batch are zero
    int bucket;
    void *field[FEED_FIELDS];
    size_t bytes[FEED_FIELDS];  // of the full batch in this bucket
    int64_t ticket;  // used by the feed
};

struct feed;
int feed_new(const struct feed_choice *, struct feed **) MUST_CHECK;  // starts the threads, which sleep
void feed_free(struct feed *);  // may be called at any time and ends batches that were taken; NULL is fine

int64_t feed_batches(const struct feed *);  // an epoch
int feed_begin(struct feed *, uint64_t seed, uint32_t epoch) MUST_CHECK;
// Moves to a batch in the middle of an epoch. At the feed's own position nothing is lost. Elsewhere batches made ahead are
// discarded, and batches that were taken return to the feed.
int feed_seek(struct feed *, uint64_t seed, uint32_t epoch, int64_t batch) MUST_CHECK;
// Waits for the next batch. An error with one of its samples is reported here and by every later call. At most `depth`
// batches can be taken at once. They are given back in the order in which they were taken.
int feed_take(struct feed *, struct feed_batch *) MUST_CHECK;
// If the batch was staged, not before stage_done (device.h).
void feed_give_back(struct feed *, const struct feed_batch *);
int64_t feed_stalled_ns(const struct feed *);  // total time that feed_take has waited

// Fills one sample on the calling thread, like a batch of its own; the fields' bytes are zeroed first. `worker` comes from
// choice.worker_new, or is NULL if there is none.
int feed_one(const struct feed_choice *, void *worker, const struct feed_item *, void *const field[]) MUST_CHECK;
size_t feed_bytes(const struct feed_field *, int bucket);  // of one sample
// Fills a batch of these samples on the calling thread.
struct feed_samples {
    const int32_t *sample;
    int64_t count;
    uint64_t seed;
    uint32_t epoch;
    int bucket;
    void *worker;
};
int feed_list(const struct feed_choice *, const struct feed_samples *, void *const field[]) MUST_CHECK;

// Decoding threads for a device that uses `device_threads` threads of the host (a GPU: 1): the cores that are left, or, if
// none is left, one for every eight cores.
int feed_threads(int device_threads);
// Finds the fields of the data set for a choice without `fill`, or fails. feed_new does it; call it before feed_one.
int feed_resolve(struct feed_choice *) MUST_CHECK;

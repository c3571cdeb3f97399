// SPDX-License-Identifier: Apache-2.0
// Where the batches of a split come from, behind one interface. Resident: the whole split lies on the device, the order of
// an epoch is uploaded when it begins, and graphs gather. Streamed: a feed (data/feed) makes batches on the host while the
// device computes, and each is staged into the slots of its bucket.
#ifndef DAWN_TRAIN_SUPPLY_H
#define DAWN_TRAIN_SUPPLY_H

#include "data/image/damage.h"
#include "tasks/step/step.h"

struct supply {
    struct feed_choice choice;  // order, fields and fill; without fields the split is resident
    struct dataset *data;       // borrowed
    struct session *session;    // borrowed
    struct feed_slots *slots;   // borrowed
    struct order *order;        // its batches; resident: of the epoch under way
    struct feed *feed;          // NULL: resident, or not loaded yet
    struct feed_batch held;     // the batch that is being used
    bool holds;
    int64_t next;               // batch of the epoch
};

// Settles the order: how many batches there are, in which buckets. Takes no memory for data.
int supply_new(struct supply *, const struct setting *, struct dataset *, enum split) MUST_CHECK;
void supply_free(struct supply *);
int64_t supply_batches(const struct supply *);  // an epoch
// Data to the device, or the feed's threads. The session is ready.
int supply_load(struct supply *, struct session *, struct feed_slots *) MUST_CHECK;
// The order of an epoch is a function of seed and epoch alone. `batch`: where to go on.
int supply_begin(struct supply *, uint64_t seed, int64_t epoch, int64_t batch) MUST_CHECK;
// Brings the next batch to the device; says how many samples it has and which bucket it is of. `first` counts for an
// evaluation only: the first of its samples in the order.
int supply_next(struct supply *, struct order_batch *) MUST_CHECK;
// Bytes of host memory that the task keeps for the feed: a cache. May read the data set.
int supply_keeps(const struct supply *, int64_t *bytes) MUST_CHECK;
// Pictures that turned out to be damaged, those that were read ahead among them; false: nobody counts them.
bool supply_damaged(const struct supply *, struct damage_report *);
struct text;
void supply_damaged_text(const struct supply *, struct text *);  // adds a sentence if there are some
int64_t supply_stalled_ns(const struct supply *);  // how long the steps have waited for data

#endif

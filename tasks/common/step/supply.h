// SPDX-License-Identifier: Apache-2.0
// The source of the batches of a feed, behind one interface. Resident: the whole split is on the device, the order of an
// epoch is uploaded when the epoch begins, and graphs gather their samples. Streamed: a feed (data/feed) fills batches on
// the host while the device computes, and each batch is staged into the slots of its bucket. Growing: host code adds samples
// between steps, so supply_next draws and fills a batch itself.
#pragma once

#include "data/image/damage.h"
#include "tasks/common/step/step.h"

struct supply {
    struct feed_choice choice;  // order, fields and fill; a split without fields is resident
    struct dataset *data;       // borrowed
    struct session *session;    // borrowed
    struct feed_slots *slots;   // borrowed
    struct order *order;        // the order of batches; resident: of the current epoch
    struct order *next_order;   // resident: of a later epoch, drawn while the device computes; NULL: none
    uint64_t next_seed;
    int64_t next_epoch;         // NONE: nothing is drawn
    struct feed *feed;          // NULL: resident, of a growing set, or not loaded yet
    int64_t grown;              // samples of a growing set so far
    void *grown_field[FEED_FIELDS];  // its batch, which supply_next makes
    struct order_grown draw;
    struct feed_batch held;     // the batch in use
    bool holds;
    bool placed;                // resident: the host states where a batch begins, because the graphs do not advance it
    int64_t next;               // number of the next batch in the epoch
};

// Fixes the number of batches and their buckets. Takes no memory for data.
int supply_new(struct supply *, const struct setting *, struct dataset *, int feed) MUST_CHECK;
void supply_free(struct supply *);
int64_t supply_batches(const struct supply *);  // batches per epoch
// Uploads the data or starts the feed's threads. The session must be ready.
int supply_load(struct supply *, struct session *, struct feed_slots *) MUST_CHECK;
// Begins an epoch at `batch`. The order of an epoch depends on seed and epoch alone. Waits for no step that is queued.
int supply_begin(struct supply *, uint64_t seed, int64_t epoch, int64_t batch) MUST_CHECK;
// Sets the number of samples of a growing set: no more are read.
int supply_grow(struct supply *, int64_t count) MUST_CHECK;
// Draws the order of an epoch before supply_begin needs it, while the device works on its queue.
void supply_draw_ahead(struct supply *, uint64_t seed, int64_t epoch);
// Brings the next batch to the device and returns its number of samples and its bucket. `first` is set for an evaluation
// only: the position of its first sample in the order.
int supply_next(struct supply *, struct order_batch *) MUST_CHECK;
// Bytes of host memory for the task's cache of decoded samples. May read the data set.
int supply_keeps(const struct supply *, int64_t *bytes) MUST_CHECK;
// Counts the damaged pictures found so far, including pictures that were read ahead. False if they are not counted.
bool supply_damaged(const struct supply *, struct damage_report *);
struct text;
void supply_damaged_text(const struct supply *, struct text *);  // adds a sentence if there are any
int64_t supply_stalled_ns(const struct supply *);  // total time that steps waited for data

// SPDX-License-Identifier: Apache-2.0
// Utterances as batches: spectra that are padded to the longest utterance of their bucket, the frames that the network has of
// each, and in training the letters.
#pragma once

#include "tasks/common/step/task.h"

// Members of struct task.
int utterances_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;
void utterances_note(const struct setting *, const struct dataset *, struct text *);
int64_t utterances_frames(const struct setting *, int feed, int bucket);  // to which the bucket's utterances are padded

struct lengths_cut {
    const int32_t *lengths;  // of all samples
    int64_t count, batch;    // of all samples, and of one batch
    int most;                // buckets
};
// Cuts lengths into buckets of about equally many samples, two batches or more each, at places that leave out few samples of an
// epoch of whole batches. Returns the number of buckets and writes their longest lengths.
int utterances_cut(const struct lengths_cut *, int32_t limit[ORDER_BUCKETS]);

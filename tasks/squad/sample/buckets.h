// SPDX-License-Identifier: Apache-2.0
// Chooses the lengths of a split's buckets for the least padding, in steps of BUCKETS_STEP. Every bucket has a graph of its
// own, and a training drops the incomplete batch of each bucket, so a bucket also costs about half a batch.
#pragma once

#include "data/feed/order.h"

enum { BUCKETS_STEP = 32, BUCKETS_LONGEST = 4096, BUCKETS_MOST = 8 };

// Sets `buckets`, `limit` and `batch` of a choice. `least`: the minimum of samples in a bucket, if there are that many. The
// last limit is the longest length, rounded up, and at most `longest`. No length may exceed `longest`.
void buckets_choose(const int32_t *lengths, int64_t count, int64_t longest, int64_t batch, int64_t least, struct order_choice *);

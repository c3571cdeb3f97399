// SPDX-License-Identifier: Apache-2.0
// Slices of a batch (data.slices): equal parts that one device computes in sequence, or several devices concurrently.
// With any number of devices, the step has the same result, byte for byte on the device "cpu" with the same number of
// threads each: a batch norm sees one slice, and gradients, the loss and the running statistics are added in one tree over the
// slices (ranks_tree_add). A process has a subtree of it.
//
// A slice is a program, like a part of a batch (update_accumulate). Slice number i of a process, from 0, joins its values with
// the earlier sums of 1, 2, 4, .. slices that its number completes, and keeps the result, as one adds 1 to a binary number. The
// last slice joins the remaining sums, reduces over the processes and updates.
// Cost: a sum for each gradient and for each level of the tree.
#pragma once

#include "runtime/common/base/error.h"

struct slices {
    int all;           // of a batch; 1: it is whole
    int first, count;  // this process's
};
// Refuses a number of slices that the processes cannot share.
int slices_share(int64_t all, int ranks, int rank, struct slices *) MUST_CHECK;
bool slices_whole(const struct slices *);  // the batch is not cut
// Programs of a step: slices that do the same share one. The last kind belongs to the last slice.
int slices_kinds(const struct slices *);
int slices_kind(const struct slices *, int slice);
// Bit k: this kind joins an earlier sum of 2^k slices.
unsigned slices_joins(const struct slices *, int kind);

// Gradients are reduced in buckets, in the order in which they are made: a device that runs nodes concurrently begins with the
// first bucket while others are still computed.
enum { BUCKET_VALUES = 7, BUCKET_BYTES = 4 << 20 };
int slices_bucket(const int64_t *bytes, int count, int at);  // where the bucket that begins at value `at` ends

struct step;
struct tally;
// Joins tallies and statistics as above. After the last slice they cover the batch, on every process.
int slices_join(struct step *, struct tally *, int tallies) MUST_CHECK;

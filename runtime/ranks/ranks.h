// SPDX-License-Identifier: Apache-2.0
// The processes that train together, one for each device: how many there are, which one this is (its rank), and what they
// exchange. A launcher (mpirun, srun) starts them. Without one there is a single process, and nothing here costs anything.
//
// MPI carries everything. The program does not link it: a plug-in (mpi/mpi.c) is embedded in the program and is loaded when a
// launcher is found (docs/decisions/ranks.md).
//
// Invariant: all ranks call the exchanging functions in the same order with the same sizes, from one thread. A rank that cannot
// go on does not skip such a call: it ends (ranks_close), and the others are ended with it.
// Cost: a reduction moves 2 (R - 1) / R of its bytes over each rank's link, which is the least possible, and adds R numbers for
// each element once, in all ranks together.
#pragma once

#include "runtime/common/base/error.h"

// Looks for a launcher in the environment; MPI reports the rest. Fails if there is a launcher and this build has no MPI.
int ranks_open(void) MUST_CHECK;
bool ranks_launched(void);  // there is a launcher, if for one process alone
int ranks_size(void);
int ranks_rank(void);
int ranks_local(void);    // the number of this process on its machine, 0 first
int ranks_locals(void);   // processes on this machine
int ranks_leader(void);   // the first process on this machine
int ranks_machines(void);
const char *ranks_library(void);    // "Open MPI 4.1.4"; "" alone
int ranks_threads(void);  // the share of this machine's processors that this process may use

// ---- exchanges

int ranks_gather(const void *mine, size_t bytes, void *all) MUST_CHECK;  // all[rank * bytes]
int ranks_broadcast(void *at, size_t bytes, int from) MUST_CHECK;
int ranks_add(int64_t *counts, int count) MUST_CHECK;
// If `rc` is a failure on any rank, all of them fail with the sentence of the first.
int ranks_agree(int rc) MUST_CHECK;
// Fails on all ranks unless `text` is the same on all. `what` follows "has another".
int ranks_same(const char *what, const char *text) MUST_CHECK;
// The largest `mine` of all ranks, in two halves: work in between hides the exchange.
int ranks_most_begin(int mine) MUST_CHECK;
int ranks_most_end(int *most) MUST_CHECK;

// Adds values[count] over the ranks; every rank gets the sums. The order of the additions is a fixed tree (ranks_tree_add), so
// that the same numbers give the same bytes. `values` and `other` hold ranks_scratch(count) floats.
int ranks_reduce(float *values, float *other, int64_t count) MUST_CHECK;
int64_t ranks_scratch(int64_t count);
// Adds `parts` arrays of `count` floats, which follow each other, into the first: neighbours in pairs, then the sums of
// neighbours, and so on. An array without a neighbour waits for the next round.
void ranks_tree_add(float *values, int64_t count, int parts);

// ---- the end

enum ranks_end {
    RANKS_SPEAKS,  // all ranks have ended, and this one has reported the failure, if there was one; or there are no others
    RANKS_SILENT,  // another one has reported it
    RANKS_ALONE,   // the others do not end: report the failure, then ranks_abort
};
// Waits for the others: without limit after a success, and after a stop by a signal or a missed target, which all ranks decide
// together; for two seconds after another failure. One rank reports a failure by `speak`, before any rank may exit: a launcher
// that sees a process exit with a failure ends the others at once. A process without others does not call it.
enum ranks_end ranks_close(int rc, void (*speak)(void *context), void *context);
// Ends all processes with this exit status.
void ranks_abort(int status);

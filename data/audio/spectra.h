// SPDX-License-Identifier: Apache-2.0
// The spectra of a split, cached in memory: nothing random precedes them, so each is computed once, when a worker first needs it.
//
//     spectra_new(data, split, limit, &spectra);
//     spectra_take(spectra, i, &x, &frames, &own);  ...;  free(own);
//
// Invariant: the same values whether they are kept or made again; several threads may ask at once. Cost: 644 bytes per frame of
// 10 ms, at most `limit` bytes; spectra beyond it are made again in each epoch.
#pragma once

#include "data/dataset.h"

struct spectra;
// `data` has the field "spectrum" and is borrowed. `limit`: bytes; 0: half of the free memory.
int spectra_new(struct dataset *data, enum split, int64_t limit, struct spectra **) MUST_CHECK;
void spectra_free(struct spectra *);  // NULL is fine
int64_t spectra_bytes(const struct spectra *);  // the most it will keep
// *x[frames,161] stays until spectra_free, or until free(*own) if *own is not NULL.
int spectra_take(struct spectra *, int64_t index, const float **x, int64_t *frames, float **own) MUST_CHECK;

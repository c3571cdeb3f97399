// SPDX-License-Identifier: Apache-2.0
// The pictures of a split, decoded once and kept in memory. A sample is then only cropped and resized, which takes a quarter
// of the time or less (docs/performance.md). For small data sets on hosts that also compute the steps.
//
//     cache_bytes(&choice, &bytes);   // for a plan: reads sizes, decodes nothing
//     cache_new(&choice, &cache);     // decodes on all threads of threads.h
//     cache_size(cache, i, &width, &height);
//     cache_draw(cache, scaler, i, &(struct scale_into){&area, mirror, 128, 128, into});
//
// Invariant: the same bytes for any number of threads. Pictures that keep their size give the samples of a decoder that may
// not shrink. Other pictures give different samples, so the recipe chooses a cache, not the machine. Cost: 3 bytes per
// pixel and 24 per picture.
#pragma once

#include "data/dataset.h"
#include "data/image/crop.h"
#include "data/image/damage.h"
#include "data/image/scale.h"

struct cache_choice {
    struct dataset *data;   // with fields "jpeg" and "sizes"; borrowed until cache_new returns
    enum split split;
    int side;               // a picture with a longer shorter side is shrunk to this side; 0: none is
    int64_t limit;          // limit of the pixels in bytes; 0: nine tenths of the free memory
    struct damage *damage;  // collects damaged pictures, which are kept as far as they could be decoded; NULL: one is an error
};

struct cache;
int cache_bytes(const struct cache_choice *, int64_t *bytes) MUST_CHECK;
int cache_new(const struct cache_choice *, struct cache **) MUST_CHECK;
void cache_free(struct cache *);  // NULL is fine

void cache_size(const struct cache *, int64_t sample, int *width, int *height);  // the cached size
// Several threads may call it at once, each with its own scaler. The area must be inside the picture.
void cache_draw(const struct cache *, struct scaler *, int64_t sample, const struct scale_into *);

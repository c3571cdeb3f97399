// SPDX-License-Identifier: Apache-2.0
// The pictures of a split, decoded once and kept in memory: a sample is then only cropped and resized, which takes a quarter
// of the time or less (docs/performance.md). For small data sets, where the host computes the steps, too.
//
//     cache_bytes(&choice, &bytes);   // for a plan: reads sizes, decodes nothing
//     cache_new(&choice, &cache);     // decodes on all threads of threads.h
//     cache_size(cache, i, &width, &height);
//     cache_draw(cache, scaler, i, &area, mirror, 128, 128, into);
//
// Invariant: the same bytes whatever the number of threads. Pictures of their own size give the samples of a decoder that may
// not shrink; others differ, so that a cache is a choice of a recipe, not of a machine.
// Cost: 3 bytes a pixel and 24 a picture.
#ifndef DAWN_DATA_CACHE_H
#define DAWN_DATA_CACHE_H

#include "data/dataset.h"
#include "data/image/crop.h"
#include "data/image/damage.h"
#include "data/image/scale.h"

struct cache_choice {
    struct dataset *data;   // with fields "jpeg" and "sizes"; borrowed until cache_new returns
    enum split split;
    int side;               // a picture whose shorter side is longer is shrunk until it is that long; 0: none is
    int64_t limit;          // bytes that the pixels may take; 0: nine tenths of the memory that is free
    struct damage *damage;  // notes damaged pictures, which are kept as far as they could be decoded; NULL: does not
};

struct cache;
int cache_bytes(const struct cache_choice *, int64_t *bytes) MUST_CHECK;
int cache_new(const struct cache_choice *, struct cache **) MUST_CHECK;
void cache_free(struct cache *);  // NULL is fine

void cache_size(const struct cache *, int64_t sample, int *width, int *height);  // as it is kept
// From several threads at once, each with a scaler of its own. The area lies inside the picture.
void cache_draw(const struct cache *, struct scaler *, int64_t sample, const struct area *, bool mirror, int64_t height,
                int64_t width, uint8_t *into);

#endif

// SPDX-License-Identifier: Apache-2.0
// Pages of a file that is streamed, and reading ahead of the decoders.
#ifndef DAWN_DATA_FEED_PAGES_H
#define DAWN_DATA_FEED_PAGES_H

#include "data/feed/order.h"
#include "data/dataset.h"

enum { PAGES_BYTES = 8 << 20, PAGES_WINDOW = 1000 };  // a disk seeks for less than a tenth of the time it reads such a page

// How to shuffle the field of a split on a machine with `memory` bytes (memory_total): 0 (all samples at once) if the stored
// bytes take at most half of the memory, else the number of pages of a window. Two windows take half of the memory; a window has
// at least PAGES_WINDOW pages.
int pages_window(struct dataset *, enum split, const char *field, size_t memory, int64_t *window) MUST_CHECK;

// Pages of PAGES_BYTES of samples that lie one after the other in the order of the split: page[0 .. *pages], free() it.
int pages_cut(struct dataset *, enum split, const char *field, int64_t **page, int64_t *pages) MUST_CHECK;

// Call when batch b of the order is begun: asks the data set for the samples of the next batch (with pages: of the next window).
// `afresh`: nothing was asked for before.
void pages_want(struct dataset *, enum split, const char *field, const struct order *, int64_t b, bool in_pages, bool afresh);

#endif

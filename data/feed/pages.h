// SPDX-License-Identifier: Apache-2.0
// Pages of a file that is streamed, and reading ahead of the decoders.
#ifndef DAWN_DATA_FEED_PAGES_H
#define DAWN_DATA_FEED_PAGES_H

#include "data/feed/order.h"
#include "data/dataset.h"

enum { PAGES_BYTES = 8 << 20, PAGES_WINDOW = 1000 };  // a disk seeks for less than a tenth of the time it reads such a page

// How the field of a split should be shuffled on a machine with `memory` bytes (memory_total): 0, all samples at once, if
// what is stored takes at most half of them, else the number of pages of a window: two windows take half of the memory, and
// none has fewer than PAGES_WINDOW pages.
int pages_window(struct dataset *, enum split, const char *field, size_t memory, int64_t *window) MUST_CHECK;

// Pages of PAGES_BYTES of samples that lie one after the other in the order of the split: page[0 .. *pages], free() it.
int pages_cut(struct dataset *, enum split, const char *field, int64_t **page, int64_t *pages) MUST_CHECK;

// Batch b of the order is begun: what the next one (with pages: the next window) needs is wanted from the data set. `afresh`:
// nothing was wanted before.
void pages_want(struct dataset *, enum split, const char *field, const struct order *, int64_t b, bool in_pages, bool afresh);

#endif

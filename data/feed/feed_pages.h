// SPDX-License-Identifier: Apache-2.0
// Pages of a streamed file, and reading ahead of the decoders.
#pragma once

#include "data/feed/order.h"
#include "data/dataset.h"

enum { FEED_PAGES_BYTES = 8 << 20 };  // a disk seeks for less than a tenth of the time that it reads such a page

// Divides the samples, in the order of the split, into pages of about FEED_PAGES_BYTES: page[0 .. *pages], free() it.
int feed_pages_cut(struct dataset *, enum split, const char *field, int64_t **page, int64_t *pages) MUST_CHECK;

// Call when batch b of the order is begun: asks the data set for the samples of the next batch (with pages: of the next
// window). `afresh`: no earlier request was made.
void feed_pages_want(struct dataset *, enum split, const char *field, const struct order *, int64_t b, bool in_pages,
                     bool afresh);

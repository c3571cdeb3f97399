// SPDX-License-Identifier: Apache-2.0
#include "data/feed/feed_pages.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"

int feed_pages_cut(struct dataset *data, enum split split, const char *field, int64_t **into, int64_t *pages)
{
    int64_t count = dataset_facts(data)->count[split], bytes = 0, last = 0, n = 0;
    int32_t *lengths = zalloc((size_t)(count + 1) * sizeof *lengths);
    int rc = dataset_lengths(data, split, field, lengths);
    if (rc < 0) {
        free(lengths);
        return rc;
    }
    for (int64_t i = 0; i < count; i++) bytes += lengths[i];
    int64_t *page = zalloc((size_t)(bytes / FEED_PAGES_BYTES + 2) * sizeof *page);
    bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || bytes / FEED_PAGES_BYTES != last) page[n++] = i, last = bytes / FEED_PAGES_BYTES;
        bytes += lengths[i];
    }
    page[n] = count;
    free(lengths);
    *into = page;
    *pages = n;
    return 0;
}

// Only within an epoch: the samples of the next epoch are not drawn yet.
static void want_batch(struct dataset *data, enum split split, const char *field, const struct order *order, int64_t b)
{
    if (b >= order_batches(order)) return;
    struct order_batch batch = order_batch(order, b);
    for (int64_t i = 0; i < batch.count; i++)
        dataset_want(data, split, field, order_samples(order)[batch.first + i], 1);
}

void feed_pages_want(struct dataset *data, enum split split, const char *field, const struct order *order, int64_t b,
                     bool in_pages, bool afresh)
{
    if (!in_pages) {
        if (afresh) want_batch(data, split, field, order, b);
        want_batch(data, split, field, order, b + 1);
        return;
    }
    struct order_batch batch = order_whole_batch(order, b);  // slices of one batch use the same pages
    int64_t from = afresh ? order_window_begin(order, batch.first) : order_pages_until(order, batch.first);
    int64_t until = order_pages_until(order, batch.first + batch.count);
    for (int64_t i = from; i < until; i++) {
        struct order_batch page = order_page(order, i);
        dataset_want(data, split, field, page.first, page.count);
    }
}

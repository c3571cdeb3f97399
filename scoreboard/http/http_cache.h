// SPDX-License-Identifier: Apache-2.0
// A cache of answers. Each thread has its own, so it needs no lock. An answer depends only on the target and the store: it is
// valid until the store's version changes, which empties the cache.
#pragma once

#include "runtime/common/base/error.h"

struct MHD_Response;
enum { CACHE_ANSWERS = 256, CACHE_BYTES = 16 << 20, CACHE_TAG = 35 };

struct cached {
    struct MHD_Response *whole, *unchanged;  // 200; 304
    char tag[CACHE_TAG];                     // with its quotes
};
struct cache;
struct cache *cache_new(void);
void cache_free(struct cache *);
void cache_renew(struct cache *, int64_t version);  // empties it when the version is another
const struct cached *cache_find(struct cache *, const char *target);
// Takes ownership of both responses. Evicts old answers to make space, first the ones that were requested only once. Returns
// false if the answer is too large: the caller keeps the responses.
bool cache_keep(struct cache *, const char *target, const struct cached *, size_t bytes);

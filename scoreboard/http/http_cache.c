// SPDX-License-Identifier: Apache-2.0
// A ring of answers, oldest first, and a table of chains over it. Invariant: `bytes` is the sum over the ring and never
// above CACHE_BYTES. Workload: some tens of addresses that are requested thousands of times between two submissions, and
// a walk over thousands of filters, each requested once; both cost a hash and a short chain. An answer that was requested again
// goes back to the end of the ring once instead of being dropped, so such a walk does not drop the pages that people read.
#include "scoreboard/http/http_cache.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/hash.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 512, OWN_BYTES = 1024 };  // OWN_BYTES: what two responses and their headers take, about

struct kept_answer {
    struct cached cached;
    char *target;
    uint64_t hash;
    size_t bytes;
    int next;    // in its chain, -1 ends
    bool again;  // requested since it was stored or last spared
};
struct cache {
    int64_t version;
    size_t bytes;
    int first, count;  // of the ring
    int chain[CHAINS];
    struct kept_answer at[CACHE_ANSWERS];
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = hash_text64(text);
    return hash ^ hash >> 32;
}

struct cache *cache_new(void)
{
    struct cache *cache = zalloc(sizeof *cache);
    for (int i = 0; i < CHAINS; i++) cache->chain[i] = -1;
    return cache;
}

static void drop_oldest(struct cache *cache)
{
    struct kept_answer *kept = &cache->at[cache->first];
    int *link = &cache->chain[kept->hash % CHAINS];
    while (*link != cache->first) link = &cache->at[*link].next;
    *link = kept->next;
    MHD_destroy_response(kept->cached.whole);
    MHD_destroy_response(kept->cached.unchanged);
    free(kept->target);
    cache->bytes -= kept->bytes;
    cache->first = (cache->first + 1) % CACHE_ANSWERS;
    cache->count--;
}

static void move_to_end(struct cache *cache)
{
    const int from = cache->first, to = (from + cache->count) % CACHE_ANSWERS;
    if (to != from) {  // else the ring is full: its end follows its beginning
        int *link = &cache->chain[cache->at[from].hash % CHAINS];
        while (*link != from) link = &cache->at[*link].next;
        *link = to;
        cache->at[to] = cache->at[from];
    }
    cache->first = (from + 1) % CACHE_ANSWERS;
}

// Ends, because each answer is spared once.
static void drop_one(struct cache *cache)
{
    while (cache->at[cache->first].again) {
        cache->at[cache->first].again = false;
        move_to_end(cache);
    }
    drop_oldest(cache);
}

void cache_free(struct cache *cache)
{
    if (cache == NULL) return;
    while (cache->count > 0) drop_oldest(cache);
    free(cache);
}

void cache_renew(struct cache *cache, int64_t version)
{
    if (cache->version == version) return;
    while (cache->count > 0) drop_oldest(cache);
    cache->version = version;
}

const struct cached *cache_find(struct cache *cache, const char *target)
{
    const uint64_t hash = hash_of(target);
    for (int i = cache->chain[hash % CHAINS]; i >= 0; i = cache->at[i].next) {
        if (cache->at[i].hash != hash || strcmp(cache->at[i].target, target) != 0) continue;
        cache->at[i].again = true;
        return &cache->at[i].cached;
    }
    return NULL;
}

bool cache_keep(struct cache *cache, const char *target, const struct cached *cached, size_t bytes)
{
    bytes += strlen(target) + OWN_BYTES;
    if (bytes > CACHE_BYTES / 4) return false;
    while (cache->count == CACHE_ANSWERS || cache->bytes + bytes > CACHE_BYTES) drop_one(cache);
    const int newest = (cache->first + cache->count) % CACHE_ANSWERS;
    const uint64_t hash = hash_of(target);
    cache->at[newest] = (struct kept_answer){
        .cached = *cached, .target = copy_text(target), .hash = hash, .bytes = bytes, .next = cache->chain[hash % CHAINS]};
    cache->chain[hash % CHAINS] = newest;
    cache->bytes += bytes;
    cache->count++;
    return true;
}

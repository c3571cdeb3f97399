// SPDX-License-Identifier: Apache-2.0
// Any bytes as the cache of cuDNN's engines. An accepted cache is within its limits and reads back unchanged after printing.
#include "runtime/cuda/dnn/dnn_cache.h"

#include <stdlib.h>
#include <string.h>

static void check_limits(const struct dnn_cache *cache)
{
    BUG_IF(cache->count < 0 || cache->count > DNN_CACHE_ENTRIES);
    for (int i = 0; i < cache->count; i++) {
        const struct dnn_cache_entry *e = &cache->entry[i];
        BUG_IF(strnlen(e->problem, sizeof e->problem) == sizeof e->problem || !e->problem[0]);
        BUG_IF(e->choice.knobs < 0 || e->choice.knobs > DNN_KNOBS || e->choice.engine < 0 || e->choice.ns < 0);
        BUG_IF(dnn_cache_find(cache, e->problem) != &e->choice);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct dnn_cache cache, again;
    if (dnn_cache_parse((const char *)bytes, count, "a GPU", &cache) < 0) {
        BUG_IF(cache.count || cache.entry);
        return 0;
    }
    check_limits(&cache);
    char *json = dnn_cache_print(&cache, "a GPU");
    BUG_IF(dnn_cache_parse(json, strlen(json), "another GPU", &again) == 0);
    if (dnn_cache_parse(json, strlen(json), "a GPU", &again) < 0) BUG(error_text());
    BUG_IF(again.count != cache.count);
    char *second = dnn_cache_print(&again, "a GPU");
    BUG_IF(strcmp(json, second) != 0);
    free(json);
    free(second);
    dnn_cache_free(&cache);
    dnn_cache_free(&again);
    return 0;
}

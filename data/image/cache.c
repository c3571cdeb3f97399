// SPDX-License-Identifier: Apache-2.0
// All pixels are stored in one block, in the order of the split.
#include "data/image/cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/image/decoder.h"
#include "data/kind.h"
#include "data/pieces.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/memory.h"
#include "runtime/common/base/text.h"

enum { SIZES_AT_ONCE = 4096, DECODED_AT_ONCE = 32, CHANNELS = 3 };

struct kept_picture {
    int64_t at;  // position of its pixels
    int32_t stored_width, stored_height, width, height;
};

struct cache {
    struct cache_choice choice;
    struct kept_picture *kept;
    uint8_t *pixels;
};

static int64_t cache_count(const struct cache_choice *c)
{
    return dataset_facts(c->data)->count[c->split];
}

static struct kept_picture shrink_size(int32_t width, int32_t height, int side)
{
    struct kept_picture k = {.stored_width = width, .stored_height = height, .width = width, .height = height};
    int32_t shorter = width < height ? width : height;
    if (side > 0 && shorter > side) {
        k.width = (int32_t)rint((double)width * side / shorter);
        k.height = (int32_t)rint((double)height * side / shorter);
    }
    return k;
}

// `kept` may be NULL.
static int read_sizes(const struct cache_choice *c, struct kept_picture *kept, int64_t *bytes)
{
    int32_t(*size)[2] = zalloc(SIZES_AT_ONCE * sizeof *size);
    const struct image_limits limits = DECODER_LIMITS;
    int64_t count = cache_count(c);
    int rc = 0;
    *bytes = SCALE_SLACK;
    for (int64_t first = 0, n; first < count && rc == 0; first += n) {
        n = count - first < SIZES_AT_ONCE ? count - first : SIZES_AT_ONCE;
        rc = dataset_read(c->data, c->split, "sizes", first, n, size);
        for (int64_t i = 0; i < n && rc == 0; i++) {
            int32_t width = size[i][0], height = size[i][1];
            if (width < 1 || height < 1 || width > limits.side || height > limits.side ||
                (int64_t)width * height > limits.pixels) {
                rc = fail(ERR_INPUT, "%s, %s sample %lld: a picture of %d x %d is impossible", dataset_facts(c->data)->name,
                          split_name(c->split), (long long)(first + i), width, height);
                break;
            }
            struct kept_picture k = shrink_size(width, height, c->side);
            k.at = *bytes - SCALE_SLACK;
            *bytes += (int64_t)k.width * k.height * CHANNELS;
            if (kept != NULL) kept[first + i] = k;
        }
    }
    free(size);
    return rc;
}

int cache_bytes(const struct cache_choice *c, int64_t *bytes)
{
    return read_sizes(c, NULL, bytes);
}

static int check_disk(const struct cache_choice *c, int64_t bytes)
{
    int64_t capacity = c->limit > 0 ? c->limit : (int64_t)(memory_available() / 10 * 9);
    if (capacity == 0 || bytes <= capacity) return 0;  // 0: unknown
    char need[TEXT_FIGURE], have[TEXT_FIGURE];
    return fail(ERR_MEMORY, "the %s images of %s take %s when they are decoded, and %s %s", split_name(c->split),
                dataset_facts(c->data)->name, text_size(need, (double)bytes), text_size(have, (double)capacity),
                c->limit > 0 ? "is allowed" : "is free for them");
}

// ---- decoding

static int64_t longest_file(struct dataset *data)
{
    const struct field *jpeg = dataset_field(data, "jpeg");
    return jpeg != NULL ? jpeg->shape.dim[0] : 0;
}

static int decode_sample(struct cache *cache, struct decoder *decoder, int64_t sample, size_t capacity)
{
    const struct cache_choice *c = &cache->choice;
    const struct kept_picture *k = &cache->kept[sample];
    uint8_t *bytes = decoder_buffer(decoder, capacity);
    char what[128];
    int64_t n;
    int width, height;
    snprintf(what, sizeof what, "%.64s, %s sample %lld", dataset_facts(c->data)->name, split_name(c->split),
             (long long)sample);
    TRY(dataset_item(c->data, c->split, "jpeg", sample, bytes, capacity, &n));
    TRY(dataset_name_failure(c->data, c->split, sample, decoder_size(decoder, what, bytes, (size_t)n, &width, &height)));
    if (width != k->stored_width || height != k->stored_height)
        return fail(ERR_INPUT, "%s has %d x %d pixels, and its data set says %d x %d", what, width, height, k->stored_width,
                    k->stored_height);
    struct area all = {0, 0, width, height};
    int rc = decoder_draw(decoder, what, bytes, (size_t)n,
                          &(struct scale_into){&all, false, k->height, k->width, cache->pixels + k->at});
    TRY(dataset_name_failure(c->data, c->split, sample, rc));
    const char *damage = decoder_damage(decoder);
    if (damage == NULL) return 0;
    if (c->damage != NULL) return damage_note(c->damage, c->data, c->split, sample, damage);
    return dataset_name_failure(c->data, c->split, sample, fail(ERR_INPUT, "%s is damaged: %s", what, damage));
}

static int decode_samples(void *context, int64_t begin, int64_t end)
{
    struct cache *cache = context;
    struct decoder *decoder = decoder_new();
    decoder_shrink(decoder, false);
    size_t capacity = (size_t)longest_file(cache->choice.data);
    int rc = 0;
    for (int64_t i = begin; i < end && rc == 0; i++) rc = decode_sample(cache, decoder, i, capacity);
    decoder_free(decoder);
    return rc;
}

static int fill_cache(struct cache *cache)
{
    struct cache_choice *c = &cache->choice;
    int64_t bytes, count = cache_count(c);
    cache->kept = zalloc((size_t)(count + 1) * sizeof *cache->kept);
    TRY(read_sizes(c, cache->kept, &bytes));
    TRY(check_disk(c, bytes));
    cache->pixels = malloc((size_t)bytes);
    if (cache->pixels == NULL) return fail(ERR_MEMORY, "not enough memory for decoded images");
    memset(cache->pixels + bytes - SCALE_SLACK, 0, SCALE_SLACK);
    return pieces_crew(count, DECODED_AT_ONCE, decode_samples, cache);
}

int cache_new(const struct cache_choice *choice, struct cache **into)
{
    *into = NULL;
    struct cache *cache = zalloc(sizeof *cache);
    cache->choice = *choice;
    int rc = fill_cache(cache);
    if (rc < 0) {
        cache_free(cache);
        return rc;
    }
    *into = cache;
    return 0;
}

void cache_free(struct cache *cache)
{
    if (cache == NULL) return;
    free(cache->pixels);
    free(cache->kept);
    free(cache);
}

// ---- samples

void cache_size(const struct cache *cache, int64_t sample, int *width, int *height)
{
    *width = cache->kept[sample].width, *height = cache->kept[sample].height;
}

void cache_draw(const struct cache *cache, struct scaler *scaler, int64_t sample, const struct scale_into *into)
{
    const struct kept_picture *k = &cache->kept[sample];
    struct scale_part part = {cache->pixels + k->at, (int64_t)k->width * CHANNELS, CHANNELS, 0, 0, k->width, k->height};
    scale_draw(scaler, &part, into);
}

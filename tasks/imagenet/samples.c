// SPDX-License-Identifier: Apache-2.0
// Invariant: a sample's pixels depend on the recipe, seed, epoch and index alone. The recipe (data.cache) decides whether
// the split is cached, never the machine, because a picture that is shrunk once and cropped later has other pixels. Cost:
// one JPEG decoded per sample without the cache (decoder.h), one resize with it.
#include "tasks/imagenet/samples.h"

#include "data/image/cache.h"
#include "data/image/decoder.h"
#include "tasks/imagenet/imagenet_keys.h"

#include <stdlib.h>

enum { EVALUATE_BATCH = 256 };

// The context of a split's feed.
struct samples {
    const struct setting *setting;
    struct dataset *data;
    enum split split;
    int64_t greatest;  // size of the largest encoded image in bytes
    int64_t height[ORDER_BUCKETS], width[ORDER_BUCKETS];
    struct damage *damage;
    struct cache *cache;  // NULL: every sample is decoded
};
// The state of a decoding thread.
struct worker {
    struct decoder *decoder;
    struct scaler *scaler;
};

// ---- sizes of the training images: one bucket each, in the order of their first use

static int part_of(const struct recipe *r, int64_t epoch)
{
    return recipe_part(r, ((double)epoch + 0.5) / r->epochs);
}

static int64_t evaluation_side(const struct recipe *r)
{
    return imagenet_keys(r)->side;
}

int64_t samples_side(const struct recipe *r, int64_t epoch)
{
    return r->resolution.count ? (int64_t)r->resolution.at[part_of(r, epoch)] : evaluation_side(r);
}

static double least_area(const struct recipe *r, int64_t epoch)
{
    return imagenet_keys(r)->least_area.at[imagenet_keys(r)->least_area.count > 1 ? part_of(r, epoch) : 0];
}

static int list_sides(const struct recipe *r, int64_t side[ORDER_BUCKETS])
{
    int sides = 0;
    side[0] = evaluation_side(r);
    for (int i = 0; i < r->resolution.count; i++) {
        int64_t one = (int64_t)r->resolution.at[i];
        int b = 0;
        while (b < sides && side[b] != one) b++;
        BUG_IF(b == ORDER_BUCKETS);  // imagenet_keys.c limits their number
        side[b] = one;
        if (b == sides) sides++;
    }
    return sides ? sides : 1;
}

static int bucket_of_epoch(void *context, uint32_t epoch)
{
    const struct samples *s = context;
    int64_t side = samples_side(s->setting->recipe, epoch);
    int b = 0;
    while (s->height[b] != side) b++;
    return b;
}

void samples_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)program;
    v->height = v->width = samples_side(c->recipe, step / c->steps_per_epoch);
}

// ---- shapes of the validation images

// The long side of a 4:3 rectangle, rounded up to a multiple of 32 because a network halves the size five times.
static int64_t long_side(int64_t side)
{
    return (side * 4 / 3 + 31) / 32 * 32;
}

static int list_shapes(const struct recipe *r, int64_t height[ORDER_BUCKETS], int64_t width[ORDER_BUCKETS])
{
    int64_t side = evaluation_side(r), far = long_side(side);
    height[0] = width[0] = side;
    if (imagenet_keys(r)->shapes == SHAPES_SQUARE) return 1;
    height[1] = side, width[1] = far;
    height[2] = far, width[2] = side;
    return 3;
}

void samples_evaluation(const struct setting *c, struct variant *v)
{
    int64_t height[ORDER_BUCKETS], width[ORDER_BUCKETS];
    BUG_IF(v->bucket >= list_shapes(c->recipe, height, width));
    v->height = height[v->bucket], v->width = width[v->bucket];
}

// The threshold is the root of 4:3, halfway between a square and such a rectangle.
static int32_t shape_of(int32_t width, int32_t height)
{
    const double middle = 1.1547;
    if (width <= 0 || height <= 0) return 0;  // noise
    return width > middle * height ? 1 : height > middle * width ? 2 : 0;
}

int samples_shapes(const struct setting *c, struct dataset *data, enum split split, int32_t *bucket)
{
    enum { CHUNK = 1024 };
    int32_t size[CHUNK][2];
    for (int64_t at = 0, n; at < c->data->count[split]; at += n) {
        n = c->data->count[split] - at < CHUNK ? c->data->count[split] - at : CHUNK;
        TRY(dataset_read(data, split, "sizes", at, n, size));
        for (int64_t i = 0; i < n; i++) bucket[at + i] = shape_of(size[i][0], size[i][1]);
    }
    return 0;
}

// ---- one sample

static bool mirrored(const struct recipe *r, const struct feed_item *item)
{
    if (imagenet_keys(r)->flip == FLIP_NEVER) return false;
    if (imagenet_keys(r)->flip == FLIP_RANDOM) return crop_mirror(item->seed, item->epoch, item->index);
    return crop_mirror(item->seed, 0, item->index) != (item->epoch & 1);
}

static struct area area_of(const struct samples *s, const struct feed_item *item, int width, int height)
{
    const struct recipe *r = s->setting->recipe;
    if (s->split == SPLIT_TEST)
        return crop_centre(width, height, s->height[item->bucket], s->width[item->bucket], imagenet_keys(r)->resize);
    return crop_random(item->seed, item->epoch, item->index, width, height, least_area(r, item->epoch), 1);
}

static int decode_sample(const struct samples *s, const struct feed_item *item, bool mirror, uint8_t *into)
{
    struct decoder *decoder = ((struct worker *)item->worker)->decoder;
    const char *what = "the picture";  // the feed's error names the picture
    int width, height;
    int64_t n;
    uint8_t *bytes = decoder_buffer(decoder, (size_t)s->greatest);
    TRY(dataset_item(s->data, s->split, "jpeg", item->index, bytes, (size_t)s->greatest, &n));
    int rc = decoder_size(decoder, what, bytes, (size_t)n, &width, &height);
    TRY(dataset_name_failure(s->data, s->split, item->index, rc));
    struct area area = area_of(s, item, width, height);
    rc = decoder_draw(decoder, what, bytes, (size_t)n,
                      &(struct scale_into){&area, mirror, s->height[item->bucket], s->width[item->bucket], into});
    TRY(dataset_name_failure(s->data, s->split, item->index, rc));
    const char *damaged = decoder_damage(decoder);
    return damaged ? damage_note(s->damage, s->data, s->split, item->index, damaged) : 0;
}

static int fill_sample(void *context, const struct feed_item *item, void *const field[])
{
    const struct samples *s = context;
    bool mirror = s->split == SPLIT_TRAIN && mirrored(s->setting->recipe, item);
    int width, height;
    int64_t length;
    if (s->cache) {
        cache_size(s->cache, item->index, &width, &height);
        struct area area = area_of(s, item, width, height);
        cache_draw(s->cache, ((struct worker *)item->worker)->scaler, item->index,
                   &(struct scale_into){&area, mirror, s->height[item->bucket], s->width[item->bucket], field[0]});
    } else {
        TRY(decode_sample(s, item, mirror, field[0]));
    }
    return dataset_item(s->data, s->split, "labels", item->index, field[1], sizeof(int32_t), &length);
}

static void *worker_new(void *context)
{
    const struct samples *s = context;
    struct worker *w = zalloc(sizeof *w);
    *w = (struct worker){decoder_new(), scaler_new()};
    decoder_shrink(w->decoder, s->split == SPLIT_TRAIN);  // an evaluation decodes every pixel
    return w;
}

static void worker_free(void *worker)
{
    struct worker *w = worker;
    decoder_free(w->decoder);
    scaler_free(w->scaler);
    free(w);
}

// ---- the cache

static struct cache_choice cache_choice(const struct samples *s)
{
    return (struct cache_choice){.data = s->data, .split = s->split, .damage = s->damage,
                                 .side = (int)imagenet_keys(s->setting->recipe)->cache};
}

static int begin_samples(void *context)
{
    struct samples *s = context;
    struct cache_choice choice = cache_choice(s);
    return choice.side ? cache_new(&choice, &s->cache) : 0;
}

static int samples_keep(void *context, int64_t *bytes)
{
    const struct samples *s = context;
    struct cache_choice choice = cache_choice(s);
    *bytes = 0;
    return choice.side ? cache_bytes(&choice, bytes) : 0;
}

static void end_samples(void *context)
{
    struct samples *s = context;
    cache_free(s->cache);
    damage_free(s->damage);
    free(s);
}

// ---- the feed

static int64_t greatest_image(const struct dataset_facts *d)
{
    for (int f = 0; f < d->fields; f++)
        if (!strcmp(d->field[f].name, "jpeg")) return d->field[f].shape.dim[0];
    return 0;  // dataset_item names the missing field
}

static void choose_fields(struct samples *s, struct feed_choice *f)
{
    int classes = s->setting->data->classes;
    f->fields = 2;
    f->field[0] = (struct feed_field){.name = "images", .dtype = U8};
    f->field[1] = (struct feed_field){.name = "labels", .dtype = I32, .classes = classes};
    for (int b = 0; b < f->order.buckets; b++)
        f->field[0].shape[b] = SHAPE(s->height[b], s->width[b], SAMPLES_CHANNELS);
}

int samples_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    (void)feed;
    enum split split = f->split;
    struct samples *s = zalloc(sizeof *s);
    *s = (struct samples){.setting = c, .data = f->data, .split = split, .greatest = greatest_image(c->data)};
    s->damage = damage_new(c->data->count[split], imagenet_keys(c->recipe)->damaged);
    int64_t batch = c->recipe->batch;
    if (split == SPLIT_TRAIN) {
        f->order.buckets = list_sides(c->recipe, s->height);
        memcpy(s->width, s->height, sizeof s->width);
        f->bucket_of_epoch = bucket_of_epoch;
    } else {
        f->order.buckets = list_shapes(c->recipe, s->height, s->width);
        batch = c->data->count[split] < EVALUATE_BATCH ? c->data->count[split] : EVALUATE_BATCH;
    }
    for (int b = 0; b < f->order.buckets; b++) f->order.batch[b] = batch, f->order.limit[b] = b;
    f->context = s;
    f->begin = begin_samples, f->keeps = samples_keep, f->end = end_samples;
    f->worker_new = worker_new, f->worker_free = worker_free;
    f->fill = fill_sample, f->damage = s->damage;
    if (!imagenet_keys(c->recipe)->cache) f->stored = "jpeg";
    if (split == SPLIT_TRAIN && f->stored) f->window = imagenet_keys(c->recipe)->window;
    choose_fields(s, f);
    return 0;
}

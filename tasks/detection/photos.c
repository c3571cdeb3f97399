// SPDX-License-Identifier: Apache-2.0
// Invariant: a sample depends on the recipe, seed, epoch and index alone. Cost: a crop and a match or masks, 1 ms, and without
// the cache the decoding of a JPEG.
#include "tasks/detection/photos.h"

#include "data/image/cache.h"
#include "data/image/decoder.h"
#include "data/image/jitter.h"
#include "data/read/coco/coco_set.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/detection/anchors.h"
#include "tasks/detection/detector.h"
#include "tasks/detection/maskrcnn.h"
#include "tasks/detection/objects.h"
#include "tasks/detection/overlap_crop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, EVALUATE_BATCH = 24 };
enum { IMAGES, LABELS, DELTAS, NEGATIVES };        // of a one-stage detector
enum { TRUTH = 1, CLASSES, MASKS, VALUES = 256 };  // of a two-stage one
static const double LEAST_VISIBLE = 0.3, LEAST_SIDE = 4;  // of a box that is cut off: share of its area, and pixels

struct photos {  // the context of a split's feed
    const struct setting *setting;
    const struct detection_keys *keys;
    struct dataset *data;
    enum split split;
    int64_t greatest;  // size of the largest encoded picture in bytes
    int64_t labels;    // pixels of the largest picture with masks
    struct anchors *anchors;  // NULL: the detector has two stages
    const struct maskrcnn *stages;
    int64_t views;            // of an evaluated photograph
    int sizes;                // the position of that field; 0: there is none
    struct cache *cache;  // NULL: every sample is decoded
};
struct worker {
    struct decoder *decoder;
    struct scaler *scaler;
    uint8_t *drawn;  // [height, width, 3]
    struct objects objects;
    float box[OBJECTS_MOST][4];
    int32_t class[OBJECTS_MOST];
    int64_t from[OBJECTS_MOST];  // the object of each box
    uint8_t *labels;
};

// ---- a view of a photograph: a part of it, drawn as a part of the input

struct view {
    int32_t size[2];                   // width and height of the photograph
    struct area area;                  // of the photograph, as shares of its sides
    int64_t left, top, width, height;  // of the input
    int64_t rows, columns;             // of the input: what the whole photograph takes, in which views lie and are mirrored
    bool mirror, upside_down;
};

static void canvas_of(const struct detection_keys *k, int bucket, int64_t canvas[2])
{
    canvas[0] = bucket ? k->width : k->height, canvas[1] = bucket ? k->height : k->width;
}

static int bucket_of(const struct detection_keys *k, const int32_t size[2])
{
    return k->fit == FIT_KEEP && k->height != k->width && (size[1] > size[0]) == (k->height < k->width);
}

void photos_frame(const struct detection_keys *k, const int32_t size[2], int64_t frame[2])
{
    int64_t canvas[2];
    canvas_of(k, bucket_of(k, size), canvas);
    double rows = (double)canvas[0] / size[1], columns = (double)canvas[1] / size[0], scale = fmin(rows, columns);
    for (int i = 0; i < 2; i++) {
        int64_t side = llrint(scale * size[1 - i]);
        frame[i] = k->fit == FIT_STRETCH || side > canvas[i] ? canvas[i] : side < 1 ? 1 : side;
    }
}

static int whole_view(const struct photos *p, const struct feed_item *item, struct view *v)
{
    int64_t frame[2];
    *v = (struct view){.area = {0, 0, 1, 1}};
    TRY(dataset_item(p->data, p->split, "sizes", item->index, v->size, sizeof v->size, NULL));
    photos_frame(p->keys, v->size, frame);
    v->height = v->rows = frame[0], v->width = v->columns = frame[1];
    return 0;
}

// A box in shares of the photograph's sides.
static void share_box(const struct view *v, const struct object *o, float box[4])
{
    for (int e = 0; e < 4; e++) box[e] = (float)(o->corner[e] / v->size[e % 2]);
}

static bool has_centre_inside(const struct view *v, const struct object *o)
{
    float box[4];
    share_box(v, o, box);
    return overlap_crop_keeps(&v->area, box);
}

static struct area overlapped_area(const struct feed_item *item, const struct view *v)
{
    struct worker *w = item->worker;  // whose boxes are not placed yet
    int64_t boxes = 0;
    for (int64_t i = 0; i < w->objects.count; i++)
        if (!w->objects.at[i].crowd) share_box(v, &w->objects.at[i], w->box[boxes++]);
    return overlap_crop(item->seed, item->epoch, item->index, w->box, boxes);
}

static void zoom_view(const struct photos *p, const struct feed_item *item, struct view *v)
{
    const struct detection_keys *k = p->keys;
    struct rng4 r = rng_draw(item->seed, RNG_CROP, item->epoch, (uint32_t)item->index, 0);
    double least = log(k->zoom.at[0]), most = log(k->zoom.at[1]), zoom = exp(least + (most - least) * (r.v[0] * 0x1p-32));
    if (zoom > 1) {
        v->area.width = v->area.height = 1 / zoom;
        v->area.left = (1 - 1 / zoom) * (r.v[1] * 0x1p-32), v->area.top = (1 - 1 / zoom) * (r.v[2] * 0x1p-32);
    } else {
        v->width = llrint((double)v->columns * zoom), v->height = llrint((double)v->rows * zoom);
        v->left = rng_below(r.v[1], (uint32_t)(v->columns - v->width + 1));
        v->top = rng_below(r.v[2], (uint32_t)(v->rows - v->height + 1));
    }
}

static struct view random_view(const struct photos *p, const struct feed_item *item, struct view v)
{
    const struct detection_keys *k = p->keys;
    struct rng4 flip = rng_draw(item->seed, RNG_FLIP, item->epoch, (uint32_t)item->index, 0);
    if (k->crop == CROP_ZOOM) zoom_view(p, item, &v);
    else v.area = overlapped_area(item, &v);
    v.mirror = k->flip != MIRROR_NEVER && flip.v[0] & 1;
    v.upside_down = k->flip == MIRROR_BOTH && flip.v[1] & 1;
    return v;
}

// ---- pixels

static struct area area_of(const struct view *v, int width, int height)
{
    return (struct area){v->area.left * width, v->area.top * height, v->area.width * width, v->area.height * height};
}

static int decode_view(const struct photos *p, const struct feed_item *item, const struct view *v, uint8_t *into)
{
    struct decoder *decoder = ((struct worker *)item->worker)->decoder;
    struct text name = {0};
    int width, height;
    int64_t n;
    uint8_t *bytes = decoder_buffer(decoder, (size_t)p->greatest);
    TRY(dataset_item(p->data, p->split, "jpeg", item->index, bytes, (size_t)p->greatest, &n));
    dataset_sample_path(p->data, p->split, item->index, &name);
    int rc = decoder_size(decoder, name.at, bytes, (size_t)n, &width, &height);
    struct area area = area_of(v, width, height);
    if (rc == 0) rc = decoder_draw(decoder, name.at, bytes, (size_t)n,
                                   &(struct scale_into){&area, v->mirror, v->height, v->width, into});
    if (rc == 0 && decoder_damage(decoder)) rc = fail(ERR_INPUT, "%s is damaged: %s", name.at, decoder_damage(decoder));
    text_free(&name);
    return rc;
}

static int draw_view(const struct photos *p, const struct feed_item *item, const struct view *v, uint8_t *into)
{
    int width, height;
    if (!p->cache) return decode_view(p, item, v, into);
    cache_size(p->cache, item->index, &width, &height);
    struct area area = area_of(v, width, height);
    cache_draw(p->cache, ((struct worker *)item->worker)->scaler, item->index,
               &(struct scale_into){&area, v->mirror, v->height, v->width, into});
    return 0;
}

static void change_colours(const struct photos *p, const struct feed_item *item, const struct view *v, uint8_t *drawn)
{
    const double *most = p->keys->jitter.at;
    if (most[0] + most[1] + most[2] + most[3] == 0) return;
    struct jitter j = jitter_random(item->seed, item->epoch, item->index, most);
    jitter_colours(&j, drawn, v->width * v->height);
}

// The position of the drawn part in the mirrored or turned input.
static int64_t placed(int64_t begin, int64_t length, int64_t all, bool turned)
{
    return turned ? all - begin - length : begin;
}

// Around a part there is the mean colour, which the network sees as zeros.
static int fill_image(const struct photos *p, const struct feed_item *item, const struct view *v, uint8_t *into)
{
    uint8_t *drawn = ((struct worker *)item->worker)->drawn, mean[CHANNELS];
    int64_t canvas[2];
    canvas_of(p->keys, item->bucket, canvas);
    TRY(draw_view(p, item, v, drawn));
    if (p->split == SPLIT_TRAIN) change_colours(p, item, v, drawn);
    for (int c = 0; c < CHANNELS; c++) mean[c] = (uint8_t)lrintf(p->setting->data->mean[c] * 255);
    if (v->width < canvas[1] || v->height < canvas[0])
        for (int64_t i = 0; i < canvas[0] * canvas[1]; i++) memcpy(into + i * CHANNELS, mean, CHANNELS);
    int64_t left = placed(v->left, v->width, v->columns, v->mirror), top = placed(v->top, v->height, v->rows, v->upside_down);
    for (int64_t y = 0; y < v->height; y++) {
        int64_t from = v->upside_down ? v->height - 1 - y : y;
        memcpy(into + ((top + y) * canvas[1] + left) * CHANNELS, drawn + from * v->width * CHANNELS,
               (size_t)(v->width * CHANNELS));
    }
    return 0;
}

// ---- boxes

// One side of a box, from the photograph's pixels to the input's. False if too little of it is left.
static bool place_side(float into[4], int axis, const struct area *of, const struct view *v, double *visible)
{
    double begin = axis ? of->top : of->left, length = axis ? of->height : of->width;
    double from = axis ? v->area.top : v->area.left, part = axis ? v->area.height : v->area.width;
    double scale = (double)(axis ? v->height : v->width) / part, at = (double)(axis ? v->top : v->left);
    double most = (double)(axis ? v->rows : v->columns), low = at + (begin - from) * scale, high = low + length * scale;
    if (axis ? v->upside_down : v->mirror) {
        double turned = most - high;
        high = most - low, low = turned;
    }
    double cut_low = fmax(low, 0), cut_high = fmin(high, most);
    *visible *= (cut_high - cut_low) / (high - low);
    into[axis] = (float)cut_low, into[axis + 2] = (float)cut_high;
    return cut_high - cut_low > LEAST_SIDE;
}

// Each pixel of the view has the label of the photograph's pixel under its centre.
static void fill_masks(const struct photos *p, const struct worker *w, const struct view *v, const uint8_t number[VALUES],
                       uint8_t *masks)
{
    const struct detection_keys *k = p->keys;
    const int32_t *size = v->size;
    const double across = v->area.width * size[0] / (double)v->width, down = v->area.height * size[1] / (double)v->height;
    for (int64_t y = 0; y < v->height; y++) {
        int64_t row = (int64_t)(v->area.top * size[1] + ((double)y + 0.5) * down), at = v->top + y;
        const uint8_t *labels = w->labels + (row < size[1] ? row : size[1] - 1) * size[0];
        if (v->upside_down) at = k->height - 1 - at;
        for (int64_t x = 0; x < v->width; x++) {
            int64_t column = (int64_t)(v->area.left * size[0] + ((double)x + 0.5) * across), to = v->left + x;
            uint8_t mask = number[labels[column < size[0] ? column : size[0] - 1]];
            if (mask > 0) masks[((mask - 1) * k->height + at) * k->width + (v->mirror ? k->width - 1 - to : to)] = 1;
        }
    }
}

// The pixel of the photograph under a position of the input, on one axis.
static int64_t pixel_at(const struct view *v, int axis, double at)
{
    if (axis ? v->upside_down : v->mirror) at = (double)(axis ? v->rows : v->columns) - at;
    double part = (at - (double)(axis ? v->top : v->left)) / (double)(axis ? v->height : v->width);
    part = (axis ? v->area.top : v->area.left) + part * (axis ? v->area.height : v->area.width);
    int64_t pixel = (int64_t)(part * v->size[axis]);
    return pixel < 0 ? 0 : pixel < v->size[axis] ? pixel : v->size[axis] - 1;
}

// The mask inside of its box.
static void fill_box_mask(const struct view *v, const float box[4], const uint8_t *inside, int64_t side, uint8_t *mask)
{
    for (int64_t i = 0; i < side; i++) {
        double part = ((double)i + 0.5) / (double)side;
        int64_t row = pixel_at(v, 1, (double)box[1] + part * (double)(box[3] - box[1]));
        for (int64_t k = 0; k < side; k++) {
            part = ((double)k + 0.5) / (double)side;
            int64_t column = pixel_at(v, 0, (double)box[0] + part * (double)(box[2] - box[0]));
            mask[i * side + k] = inside[column * v->size[1] + row];
        }
    }
}

static int fill_box_masks(const struct photos *p, const struct feed_item *item, const struct view *v, int64_t kept,
                          uint8_t *masks)
{
    const struct worker *w = item->worker;
    const int64_t count = w->objects.count, side = p->stages->mask_side;
    struct rle *mask = zalloc((size_t)count * sizeof *mask);
    uint8_t *inside = zalloc((size_t)v->size[0] * (size_t)v->size[1]);
    int rc = objects_masks(p->data, p->split, item->index, count, mask);
    for (int64_t i = 0; i < kept && rc == 0; i++) {
        rle_decode(&mask[w->from[i]], inside);
        fill_box_mask(v, w->box[i], inside, side, masks + i * side * side);
    }
    for (int64_t i = 0; i < count && rc == 0; i++) rle_free(&mask[i]);
    free(mask), free(inside);
    return rc;
}

static int fill_truth(const struct photos *p, const struct feed_item *item, const struct view *v, int64_t kept,
                      void *const field[])
{
    struct worker *w = item->worker;
    uint8_t number[VALUES] = {0};  // of a label among the masks, from 1
    int32_t *class = field[CLASSES];
    if (kept > p->stages->truths) kept = p->stages->truths;
    if (kept == 0) return 0;
    memcpy(field[TRUTH], w->box, (size_t)kept * sizeof *w->box);
    for (int64_t i = 0; i < kept; i++) class[i] = coco_category(p->setting->data, w->class[i]);
    if (p->stages->mask_side > 0) return fill_box_masks(p, item, v, kept, field[MASKS]);
    for (int64_t i = 0; i < kept; i++) number[w->from[i] + 1] = (uint8_t)(i + 1);
    TRY(dataset_item(p->data, p->split, "labels", item->index, w->labels, (size_t)p->labels, NULL));
    fill_masks(p, w, v, number, field[MASKS]);
    return 0;
}

static int fill_targets(const struct photos *p, const struct feed_item *item, const struct view *v, void *const field[])
{
    struct worker *w = item->worker;
    int64_t kept = 0;
    for (int64_t i = 0; i < w->objects.count; i++) {
        const struct object *o = &w->objects.at[i];
        const double *at = o->corner, across = v->size[0], down = v->size[1];
        const struct area of = {at[0] / across, at[1] / down, (at[2] - at[0]) / across, (at[3] - at[1]) / down};
        double visible = 1;
        bool wide = place_side(w->box[kept], 0, &of, v, &visible);
        bool high = place_side(w->box[kept], 1, &of, v, &visible);
        w->class[kept] = o->class, w->from[kept] = i;
        bool enough = wide && high && visible > LEAST_VISIBLE;
        kept += (p->keys->crop == CROP_OVERLAP ? has_centre_inside(v, o) : enough) && !o->crowd;
    }
    if (!p->anchors) return fill_truth(p, item, v, kept, field);
    const struct anchors_truth truth = {w->box, w->class, kept};
    int64_t taken = anchors_match(p->anchors, &truth, &(struct anchors_targets){field[LABELS], field[DELTAS]});
    if (p->anchors->style->none == 0) *(int32_t *)field[NEGATIVES] = (int32_t)(taken * DETECTOR_NEGATIVES);
    return 0;
}

// Views of an evaluated photograph, each behind the one before: mirrored left to right, and these two upside down.
static void add_views(const struct photos *p, uint8_t *image)
{
    const int64_t rows = p->keys->height, columns = p->keys->width, row = columns * CHANNELS, view = rows * row;
    if (p->views > 1)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t k = 0; k < columns; k++)
                memcpy(image + view + i * row + k * CHANNELS, image + (i + 1) * row - (k + 1) * CHANNELS, CHANNELS);
    if (p->views > 2)
        for (int64_t i = 0; i < 2 * rows; i++)
            memcpy(image + 2 * view + i * row, image + i / rows * view + (rows - 1 - i % rows) * row, (size_t)row);
}

static int fill_sample(void *context, const struct feed_item *item, void *const field[])
{
    const struct photos *p = context;
    struct view v;
    TRY(whole_view(p, item, &v));
    if (p->split == SPLIT_TRAIN) TRY(objects_read(p->data, p->split, item->index, &((struct worker *)item->worker)->objects));
    if (p->split == SPLIT_TRAIN) v = random_view(p, item, v);
    TRY(fill_image(p, item, &v, field[IMAGES]));
    add_views(p, field[IMAGES]);
    if (p->sizes > 0) memcpy(field[p->sizes], (float[]){(float)v.rows, (float)v.columns}, 2 * sizeof(float));
    return p->split == SPLIT_TRAIN ? fill_targets(p, item, &v, field) : 0;
}

// ---- the feed

static void *worker_new(void *context)
{
    const struct photos *p = context;
    struct worker *w = zalloc(sizeof *w);
    w->decoder = decoder_new(), w->scaler = scaler_new();
    w->drawn = zalloc((size_t)(p->keys->height * p->keys->width * CHANNELS));
    w->labels = zalloc((size_t)p->labels + 1);
    decoder_shrink(w->decoder, p->split == SPLIT_TRAIN);  // an evaluation decodes every pixel
    return w;
}

static void worker_free(void *worker)
{
    struct worker *w = worker;
    decoder_free(w->decoder);
    scaler_free(w->scaler);
    free(w->drawn);
    free(w->labels);
    free(w);
}

static struct cache_choice cache_choice(const struct photos *p)
{
    return (struct cache_choice){.data = p->data, .split = p->split, .side = (int)p->keys->cache};
}

static bool keeps_decoded(const struct photos *p)
{
    return p->split == SPLIT_TRAIN && p->keys->cache > 0;
}

static int begin_photos(void *context)
{
    struct photos *p = context;
    struct cache_choice choice = cache_choice(p);
    return keeps_decoded(p) ? cache_new(&choice, &p->cache) : 0;
}

static int bytes_kept(void *context, int64_t *bytes)
{
    const struct photos *p = context;
    struct cache_choice choice = cache_choice(p);
    *bytes = 0;
    return keeps_decoded(p) ? cache_bytes(&choice, bytes) : 0;
}

static void end_photos(void *context)
{
    struct photos *p = context;
    cache_free(p->cache);
    anchors_free(p->anchors);
    free(p);
}

static void add_field(struct feed_choice *f, const char *name, enum dtype type, struct shape shape)
{
    f->field[f->fields++] = (struct feed_field){.name = name, .dtype = type, .shape = {shape, shape}};
}

static void add_truth(struct feed_choice *f, const struct maskrcnn *o, const struct detection_keys *k)
{
    int64_t side = o->mask_side;
    add_field(f, "truth", F32, SHAPE(o->truths, 4));
    add_field(f, "classes", I32, SHAPE(o->truths));
    add_field(f, "masks", U8, side > 0 ? SHAPE(o->truths, side, side) : SHAPE(o->truths, k->height, k->width));
}

int photos_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    const struct detection_keys *k = detection_keys(c->recipe);
    const struct field *jpeg = dataset_field(f->data, "jpeg"), *labels = dataset_field(f->data, "labels");
    const struct maskrcnn *stages = maskrcnn_named(c->model->name);
    const struct anchors_style *style = detector_style(c->model);
    if (!jpeg || !dataset_field(f->data, "objects")) return fail(ERR_INPUT, "%s has no pictures with boxes", c->data->name);
    bool masks = labels || (stages && stages->mask_side > 0 && dataset_field(f->data, "outlines"));
    if (feed == FEED_TRAIN && !style && !masks) return fail(ERR_INPUT, "%s has no masks", c->data->name);
    struct photos *p = zalloc(sizeof *p);
    *p = (struct photos){.setting = c, .keys = k, .data = f->data, .split = f->split, .greatest = jpeg->shape.dim[0],
                         .labels = labels ? labels->shape.dim[0] : 0, .stages = stages};
    if (style) p->anchors = anchors_new(style, k->height, k->width);
    p->views = feed == FEED_TEST ? c->recipe->views : 1;
    int64_t count = c->data->count[f->split], most = EVALUATE_BATCH / p->views;
    if (feed == FEED_TEST) f->order.batch[0] = count < most ? count : most;
    f->order.buckets = k->fit == FIT_KEEP && k->height != k->width ? 2 : 1;
    f->order.batch[1] = f->order.batch[0], f->order.limit[0] = 0, f->order.limit[1] = 1;
    f->fields = 0;
    add_field(f, "images", U8, SHAPE(p->views * k->height, k->width, CHANNELS));
    f->field[0].shape[1] = SHAPE(k->width, k->height, CHANNELS);
    if (feed == FEED_TRAIN && style) {
        add_field(f, "labels", I32, SHAPE(p->anchors->count));
        add_field(f, "deltas", F32, SHAPE(p->anchors->count, ANCHOR_DELTA));
        if (style->none == 0) add_field(f, "negatives", I32, (struct shape){0});
    } else if (feed == FEED_TRAIN) {
        add_truth(f, stages, k);
    }
    if (k->fit == FIT_KEEP) {
        p->sizes = f->fields;
        add_field(f, "sizes", F32, SHAPE(2));
    }
    f->context = p;
    f->begin = begin_photos, f->keeps = bytes_kept, f->end = end_photos;
    f->worker_new = worker_new, f->worker_free = worker_free, f->fill = fill_sample;
    return 0;
}

void photos_sizes(const struct setting *c, struct variant *v)
{
    int64_t canvas[2];
    canvas_of(detection_keys(c->recipe), v->bucket, canvas);
    v->height = canvas[0], v->width = canvas[1];
}

int photos_shapes(const struct setting *c, struct dataset *data, enum split split, int32_t *bucket)
{
    int32_t size[2];
    for (int64_t i = 0; i < c->data->count[split]; i++) {
        TRY(dataset_item(data, split, "sizes", i, size, sizeof size, NULL));
        bucket[i] = bucket_of(detection_keys(c->recipe), size);
    }
    return 0;
}

int photos_images(struct step *s)
{
    const struct dataset_facts *d = s->setting->data;
    struct augment_attr a = {.to = s->setting->dtype};
    for (int c = 0; c < CHANNELS; c++) a.mean[c] = d->mean[c], a.std[c] = d->std[c];
    int images = step_input(s, "images");
    if (s->g->error) return NONE;
    const struct shape is = s->g->value[images].shape;
    const int64_t views = is.dim[1] / s->is.height;  // which lie below each other
    if (views > 1) images = g_reshape(s->g, images, SHAPE(is.dim[0] * views, s->is.height, is.dim[2], is.dim[3]));
    return g_augment(s->g, images, NONE, NONE, &a);
}

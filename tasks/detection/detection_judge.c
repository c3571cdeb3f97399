// SPDX-License-Identifier: Apache-2.0
#include "tasks/detection/detection_judge.h"

#include "data/image/draw.h"
#include "data/read/coco/coco_set.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/detection/ap.h"
#include "tasks/detection/detect.h"
#include "tasks/detection/detection_keys.h"
#include "tasks/detection/detector.h"
#include "tasks/detection/objects.h"
#include "tasks/detection/paste.h"
#include "tasks/detection/photos.h"
#include "tasks/detection/showcase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOXES_PER_MASKS (0.377 / 0.339)  // MLPerf's targets: at one, a score of 0.377 means that both are reached

struct judging {
    struct dataset *data;
    const struct dataset_facts *facts;
    struct anchors *anchors;  // NULL: a two-stage detector, which finds masks
    const struct detection_keys *keys;
    bool both;  // the score is the less of two
    int64_t samples, views;
    struct answer {
        int count;
        int32_t size[2];  // width and height of the photograph
        struct detection *found;
        struct rle *mask;  // NULL: boxes alone
    } *answer;
};

static void forget_answer(struct answer *a)
{
    for (int k = 0; a->mask && k < a->count; k++) rle_free(&a->mask[k]);
    free(a->found), free(a->mask);
    a->found = NULL, a->mask = NULL, a->count = 0;
}

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    const struct detection_keys *k = detection_keys(c->recipe);
    const char *first = c->task->metrics[0].name;
    const struct anchors_style *style = detector_style(c->model);
    struct judging *j = *state = zalloc(sizeof *j);
    (void)view;
    *j = (struct judging){.data = stored, .facts = dataset_facts(stored), .samples = dataset_facts(stored)->count[SPLIT_TEST],
                          .views = c->recipe->views, .keys = k, .both = strcmp(first, "ap") == 0};
    if (style) j->anchors = anchors_new(style, k->height, k->width);
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

static void take_anchors(const struct judging *j, const struct judged *b, int64_t i, struct answer *a)
{
    const int views = (int)j->views;
    const int64_t anchors = j->anchors->count * views, columns = j->facts->classes + j->anchors->style->none + 1;
    const struct detect_answers answers = {(const float *)b->output[DETECTION_LOGITS] + i * anchors * columns,
                                           (const float *)b->output[DETECTION_DELTAS] + i * anchors * ANCHOR_DELTA,
                                           j->facts->classes, views, a->size[1], a->size[0]};
    a->found = zalloc(DETECT_MOST * sizeof *a->found);
    a->count = detect(j->anchors, &answers, a->found);
}

static void take_found(const struct judging *j, const struct judged *b, int64_t i, struct answer *a)
{
    const int64_t kept = b->shape[FOUND_SCORES].dim[1], side = b->shape[FOUND_MASKS].dim[2], first = i * kept;
    int64_t frame[2], count = ((const int32_t *)b->output[FOUND_COUNT])[i];
    photos_frame(j->keys, a->size, frame);
    const float scale[2] = {(float)a->size[0] / (float)frame[1], (float)a->size[1] / (float)frame[0]};
    a->found = zalloc((size_t)kept * sizeof *a->found), a->mask = zalloc((size_t)kept * sizeof *a->mask);
    for (int64_t k = 0; k < count; k++) {
        struct detection *d = &a->found[a->count];
        const float *box = (const float *)b->output[FOUND_BOXES] + (first + k) * 4;
        d->score = ((const float *)b->output[FOUND_SCORES])[first + k];
        d->class = coco_class(j->facts, ((const int32_t *)b->output[FOUND_CLASSES])[first + k]);
        if (d->class < 0) continue;  // a number that no category has
        for (int e = 0; e < 4; e++) d->box[e] = box[e] * scale[e % 2];
        const float *mask = (const float *)b->output[FOUND_MASKS] + (first + k) * side * side;
        a->mask[a->count++] = paste_mask(mask, (int)side, d->box, a->size);
    }
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    for (int64_t i = 0; i < b->count; i++) {
        struct answer *a = &j->answer[b->sample[i]];
        forget_answer(a);
        TRY(dataset_item(j->data, SPLIT_TEST, "sizes", b->sample[i], a->size, sizeof a->size, NULL));
        if (j->anchors) take_anchors(j, b, i, a);
        else take_found(j, b, i, a);
    }
    return 0;
}

// ---- the score

static void add_item(struct ap_list *list, const struct ap_item *item)
{
    if ((list->count & (list->count - 1)) == 0) list->item = grow(list->item, (size_t)(2 * list->count + 1) * sizeof *item);
    list->item[list->count++] = *item;
}

// Images and classes are numbered from 1, as the showcase requires; coco_numbers gives the numbers of predictions and of the
// score.
static struct ap_item item_of(int64_t image, int class, const double corner[4])
{
    double width = corner[2] - corner[0], height = corner[3] - corner[1];
    return (struct ap_item){.image = image + 1, .category = class + 1, .area = width * height,
                            .box = {corner[0], corner[1], width, height}};
}

static void coco_numbers(const struct judging *j, struct ap_item *item)
{
    item->image = coco_image(j->data, SPLIT_TEST, item->image - 1);
    item->category = coco_category(j->facts, (int)item->category - 1);
}

// COCO's annotations have areas; other areas are counted in the masks.
static int list_masks(const struct judging *j, int64_t image, struct ap_item *item, int64_t objects)
{
    const bool annotated = dataset_field(j->data, "outlines") != NULL;
    struct rle *mask = zalloc((size_t)objects * sizeof *mask);
    int rc = objects_masks(j->data, SPLIT_TEST, image, objects, mask);
    for (int64_t i = 0; i < objects && rc == 0; i++) {
        item[i].mask = mask[i];
        if (!annotated) item[i].area = (double)rle_area(&mask[i]);
    }
    free(mask);
    return rc;
}

static int list_truth(const struct judging *j, int64_t image, struct ap_list *into)
{
    struct objects objects;
    TRY(objects_read(j->data, SPLIT_TEST, image, &objects));
    for (int64_t i = 0; i < objects.count; i++) {
        const struct object *o = &objects.at[i];
        struct ap_item item = item_of(image, o->class, o->corner);
        item.area = o->area, item.crowd = o->crowd;
        add_item(into, &item);
    }
    return j->anchors || objects.count == 0 ? 0 : list_masks(j, image, into->item + into->count - objects.count, objects.count);
}

static struct ap_item found_item(const struct judging *j, int64_t image, int k)
{
    const struct answer *a = &j->answer[image];
    const struct detection *d = &a->found[k];
    struct ap_item item = item_of(image, d->class, (double[]){(double)d->box[0], (double)d->box[1], (double)d->box[2],
                                                                 (double)d->box[3]});
    item.score = (double)d->score;
    if (a->mask) item.mask = a->mask[k];  // borrowed
    return item;
}

// Lists the boxes of the pictures that have answers, or of all.
static int list_boxes(const struct judging *j, bool answered, struct ap_list *truth, struct ap_list *found)
{
    int rc = 0;
    for (int64_t i = 0; i < j->samples && rc == 0; i++) {
        if (answered && !j->answer[i].found) continue;
        rc = list_truth(j, i, truth);
        for (int k = 0; k < j->answer[i].count; k++) {
            struct ap_item item = found_item(j, i, k);
            add_item(found, &item);
        }
    }
    return rc;
}

static void free_lists(struct ap_list *truth, struct ap_list *found)
{
    for (int64_t i = 0; i < truth->count; i++) rle_free(&truth->item[i].mask);
    free(truth->item), free(found->item);
}

static int score_answers(const struct judging *j, double boxes[AP_SCORES], double masks[AP_SCORES])
{
    struct ap_list truth = {0}, found = {0};
    int rc = list_boxes(j, false, &truth, &found);
    for (int64_t i = 0; i < truth.count; i++) coco_numbers(j, &truth.item[i]);
    for (int64_t i = 0; i < found.count; i++) coco_numbers(j, &found.item[i]);
    if (rc == 0) rc = ap_score(&truth, &found, false, boxes);
    if (rc == 0 && !j->anchors) rc = ap_score(&truth, &found, true, masks);
    free_lists(&truth, &found);
    return rc;
}

static int64_t micro(double score)
{
    return llround(fmax(score, 0) * 1e6);
}

static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    double boxes[AP_SCORES], masks[AP_SCORES];
    int rc = score ? score_answers(j, boxes, masks) : 0;
    if (score && rc == 0 && j->anchors) score[0] = micro(boxes[AP_ALL]), score[1] = micro(boxes[AP_50]);
    if (score && rc == 0 && !j->anchors) {
        score[0] = micro(masks[AP_50]), score[1] = micro(boxes[AP_50]);
        score[2] = micro(masks[AP_ALL]), score[3] = micro(boxes[AP_ALL]);
        if (j->both) score[0] = micro(fmin(boxes[AP_ALL], masks[AP_ALL] * BOXES_PER_MASKS));
    }
    for (int64_t i = 0; i < j->samples; i++) forget_answer(&j->answer[i]);
    free(j->answer);
    anchors_free(j->anchors);
    free(j);
    return rc;
}

// ---- for other programs and for people

// COCO's text of runs has backslashes, which JSON doubles.
static void add_mask(const struct rle *mask, struct text *into)
{
    struct text runs = {0};
    rle_text(mask, &runs);
    text_add(into, ", \"segmentation\": {\"size\": [%d, %d], \"counts\": \"", mask->height, mask->width);
    for (size_t i = 0; i < runs.length; i++) text_add(into, "%s%c", runs.at[i] == '\\' ? "\\" : "", runs.at[i]);
    text_add(into, "\"}");
    text_free(&runs);
}

// Numbers have all digits of a double, so that a score of the file equals the score of the boxes.
static int write_results(void *state, const char *path)
{
    const struct judging *j = state;
    struct text all = {0};
    const char *between = "[";
    for (int64_t i = 0; i < j->samples; i++)
        for (int k = 0; k < j->answer[i].count; k++, between = ",") {
            struct ap_item d = found_item(j, i, k);
            coco_numbers(j, &d);
            text_add(&all, "%s\n{\"image_id\": %lld, \"category_id\": %lld, \"score\": %.17g, ", between, (long long)d.image,
                     (long long)d.category, d.score);
            text_add(&all, "\"bbox\": [%.17g, %.17g, %.17g, %.17g]", d.box[0], d.box[1], d.box[2], d.box[3]);
            if (j->answer[i].mask) add_mask(&d.mask, &all);
            text_add(&all, "}");
        }
    text_add(&all, "%s]\n", all.length > 0 ? "\n" : "[");
    int rc = file_write(path, all.at, all.length);
    text_free(&all);
    return rc;
}

// "RBC 0.981 16,195 to 119,303" for each box.
static char *tell_boxes(void *state, int64_t sample)
{
    const struct judging *j = state;
    const struct answer *a = &j->answer[sample];
    struct text lines = {0};
    text_bytes(&lines, "", 0);
    for (int k = 0; k < a->count && (double)a->found[k].score >= SHOWCASE_LEAST; k++) {
        const struct detection *d = &a->found[k];
        text_add(&lines, "%s%-10s %.3f  %.0f,%.0f to %.0f,%.0f", k > 0 ? "\n" : "", j->facts->class_names[d->class],
                 (double)d->score, (double)d->box[0], (double)d->box[1], (double)d->box[2], (double)d->box[3]);
    }
    return lines.at;
}

static int decode_picture(const struct judging *j, int64_t sample, struct image *image)
{
    const struct field *jpeg = dataset_field(j->data, "jpeg");
    uint8_t *bytes = zalloc((size_t)jpeg->shape.dim[0]);
    struct text name = {0};
    int64_t count;
    int rc = dataset_item(j->data, SPLIT_TEST, "jpeg", sample, bytes, (size_t)jpeg->shape.dim[0], &count);
    dataset_sample_path(j->data, SPLIT_TEST, sample, &name);
    if (rc == 0) rc = image_decode(name.at, bytes, (size_t)count, &IMAGE_LIMITS, image);
    text_free(&name);
    free(bytes);
    return rc;
}

static int draw_boxes(void *state, int64_t sample, struct text *png)
{
    const struct judging *j = state;
    const struct answer *a = &j->answer[sample];
    const struct showcase shown = {.masks = a->mask != NULL, .class_names = j->facts->class_names};
    struct image image;
    void *bytes;
    size_t count;
    TRY(decode_picture(j, sample, &image));
    for (int k = a->count - 1; k >= 0; k--) {
        struct ap_item item = found_item(j, sample, k);
        if (item.score >= SHOWCASE_LEAST) showcase_draw(&shown, &item, k, true, &image);
    }
    int rc = image_encode_png("the picture", &image, &bytes, &count);
    image_free(&image);
    TRY(rc);
    text_bytes(png, bytes, count);
    free(bytes);
    return 0;
}

static int decode_image(void *context, int64_t image, struct image *into)
{
    return decode_picture(context, image - 1, into);
}

static void name_image(void *context, int64_t image, struct text *into)
{
    const struct judging *j = context;
    dataset_sample_name(j->data, SPLIT_TEST, image - 1, into);
}

static int exhibit_boxes(void *state, struct exhibit *e)
{
    struct judging *j = state;
    struct ap_list truth = {0}, found = {0};
    const struct showcase s = {.truth = &truth, .found = &found, .masks = !j->anchors, .class_names = j->facts->class_names,
                               .samples = j->samples, .decode = decode_image, .name = name_image, .context = j};
    int rc = list_boxes(j, true, &truth, &found);
    if (rc == 0) rc = showcase_add(&s, e);
    free_lists(&truth, &found);
    return rc;
}

const struct judge detection_judge = {.begin = begin_judging, .batch = judge_batch, .end = end_judging, .write = write_results,
                                      .tell = tell_boxes, .draw = draw_boxes, .exhibit = exhibit_boxes};

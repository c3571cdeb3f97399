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
#include "tasks/detection/showcase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judging {
    struct dataset *data;
    const struct dataset_facts *facts;
    struct anchors *anchors;
    int64_t samples;
    struct answer {
        int count;
        int32_t size[2];  // width and height of the photograph
        struct detection *found;
    } *answer;
};

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    const struct detection_keys *k = detection_keys(c->recipe);
    struct judging *j = *state = zalloc(sizeof *j);
    (void)view;
    *j = (struct judging){.data = stored, .facts = dataset_facts(stored), .samples = dataset_facts(stored)->count[SPLIT_TEST],
                          .anchors = anchors_new(detector_style(c->model), k->height, k->width)};
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    int64_t anchors = j->anchors->count, columns = j->facts->classes + j->anchors->style->none + 1;
    for (int64_t i = 0; i < b->count; i++) {
        struct answer *a = &j->answer[b->sample[i]];
        struct detection found[DETECT_MOST];
        TRY(dataset_item(j->data, SPLIT_TEST, "sizes", b->sample[i], a->size, sizeof a->size, NULL));
        const struct detect_answers answers = {(const float *)b->output[DETECTION_LOGITS] + i * anchors * columns,
                                               (const float *)b->output[DETECTION_DELTAS] + i * anchors * ANCHOR_DELTA,
                                               j->facts->classes, a->size[1], a->size[0]};
        a->count = detect(j->anchors, &answers, found);
        free(a->found);
        a->found = memcpy(zalloc(sizeof found), found, sizeof found);
    }
    return 0;
}

// ---- the score

static void add_item(struct ap_list *list, const struct ap_item *item)
{
    if ((list->count & (list->count - 1)) == 0) list->item = grow(list->item, (size_t)(2 * list->count + 1) * sizeof *item);
    list->item[list->count++] = *item;
}

// Images and classes are numbered from 1, as the showcase requires; coco_numbers gives those of predictions and of the score.
static struct ap_item item_of(int64_t image, int class, const double corner[4])
{
    double width = corner[2] - corner[0], height = corner[3] - corner[1];
    return (struct ap_item){.image = image + 1, .category = class + 1, .area = width * height,
                            .box = {corner[0], corner[1], width, height}};
}

static void coco_numbers(const struct judging *j, struct ap_item *item)
{
    item->image = coco_image(j->data, SPLIT_TEST, item->image - 1);
    item->category = coco_category(j->data, (int)item->category - 1);
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
    return 0;
}

static struct ap_item found_item(int64_t image, const struct detection *d)
{
    struct ap_item item = item_of(image, d->class, (double[]){(double)d->box[0], (double)d->box[1], (double)d->box[2],
                                                                 (double)d->box[3]});
    item.score = (double)d->score;
    return item;
}

// Of the pictures that have answers, or of all.
static int list_boxes(const struct judging *j, bool answered, struct ap_list *truth, struct ap_list *found)
{
    int rc = 0;
    for (int64_t i = 0; i < j->samples && rc == 0; i++) {
        if (answered && !j->answer[i].found) continue;
        rc = list_truth(j, i, truth);
        for (int k = 0; k < j->answer[i].count; k++) {
            struct ap_item item = found_item(i, &j->answer[i].found[k]);
            add_item(found, &item);
        }
    }
    return rc;
}

static int score_boxes(const struct judging *j, double score[AP_SCORES])
{
    struct ap_list truth = {0}, found = {0};
    int rc = list_boxes(j, false, &truth, &found);
    for (int64_t i = 0; i < truth.count; i++) coco_numbers(j, &truth.item[i]);
    for (int64_t i = 0; i < found.count; i++) coco_numbers(j, &found.item[i]);
    if (rc == 0) rc = ap_score(&truth, &found, false, score);
    free(truth.item);
    free(found.item);
    return rc;
}

static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    double is[AP_SCORES];
    int rc = score ? score_boxes(j, is) : 0;
    if (score && rc == 0) score[0] = llround(fmax(is[AP_ALL], 0) * 1e6), score[1] = llround(fmax(is[AP_50], 0) * 1e6);
    for (int64_t i = 0; i < j->samples; i++) free(j->answer[i].found);
    free(j->answer);
    anchors_free(j->anchors);
    free(j);
    return rc;
}

// ---- for other programs and for people

// Numbers have all digits of a double, so that a score of the file is that of the boxes.
static int write_results(void *state, const char *path)
{
    const struct judging *j = state;
    struct text all = {0};
    const char *between = "[";
    for (int64_t i = 0; i < j->samples; i++)
        for (int k = 0; k < j->answer[i].count; k++, between = ",") {
            struct ap_item d = found_item(i, &j->answer[i].found[k]);
            coco_numbers(j, &d);
            text_add(&all, "%s\n{\"image_id\": %lld, \"category_id\": %lld, \"score\": %.17g, ", between, (long long)d.image,
                     (long long)d.category, d.score);
            text_add(&all, "\"bbox\": [%.17g, %.17g, %.17g, %.17g]}", d.box[0], d.box[1], d.box[2], d.box[3]);
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
    dataset_sample_name(j->data, SPLIT_TEST, sample, &name);
    if (rc == 0) rc = image_decode(name.at, bytes, (size_t)count, &IMAGE_LIMITS, image);
    text_free(&name);
    free(bytes);
    return rc;
}

static int draw_boxes(void *state, int64_t sample, struct text *png)
{
    const struct judging *j = state;
    const struct answer *a = &j->answer[sample];
    const struct showcase shown = {.class_names = j->facts->class_names};
    struct image image;
    void *bytes;
    size_t count;
    TRY(decode_picture(j, sample, &image));
    for (int k = a->count - 1; k >= 0; k--) {
        struct ap_item item = found_item(sample, &a->found[k]);
        if (item.score >= SHOWCASE_LEAST) showcase_draw(&shown, &item, true, &image);
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
    const struct showcase s = {.truth = &truth, .found = &found, .class_names = j->facts->class_names, .samples = j->samples,
                               .decode = decode_image, .name = name_image, .context = j};
    int rc = list_boxes(j, true, &truth, &found);
    if (rc == 0) rc = showcase_add(&s, e);
    free(truth.item);
    free(found.item);
    return rc;
}

const struct judge detection_judge = {.begin = begin_judging, .batch = judge_batch, .end = end_judging, .write = write_results,
                                      .tell = tell_boxes, .draw = draw_boxes, .exhibit = exhibit_boxes};

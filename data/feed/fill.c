// SPDX-License-Identifier: Apache-2.0
#include "data/feed/fill.h"

#include <stdio.h>
#include <string.h>

size_t fill_sample_bytes(const struct feed_field *field, int bucket)
{
    return (size_t)shape_count(&field->shape[bucket]) * dtype_size(field->dtype);
}

static int check_labels(const struct feed_field *field, int bucket, const void *at)
{
    int64_t count = field->classes > 0 ? shape_count(&field->shape[bucket]) : 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t value = field->dtype == U8 ? ((const uint8_t *)at)[i] : ((const int32_t *)at)[i];
        if (value < 0 || value >= field->classes)
            return fail(ERR_INPUT, "%s is %d, and there are only 0 to %d", field->name, value, field->classes - 1);
    }
    return 0;
}

// The default fill.
static int copy_sample(const struct feed_choice *choice, const struct feed_item *item, void *const field[])
{
    int64_t length[FEED_FIELDS];
    for (int i = 0; i < choice->fields; i++) {
        const struct feed_field *to = &choice->field[i];
        if (to->from != NULL)
            TRY(dataset_item_of(choice->data, item->split, to->from, item->index, field[i],
                                fill_sample_bytes(to, item->bucket), &length[i]));
    }
    for (int i = 0; i < choice->fields; i++) {
        if (choice->field[i].from != NULL) continue;
        int32_t word = (int32_t)length[choice->field[i].length_of];
        memcpy(field[i], &word, sizeof word);
    }
    return 0;
}

static int fill_sample(const struct feed_choice *c, const struct fill_piece *piece, int64_t at, void *worker)
{
    int bucket = piece->batch.bucket;
    struct feed_item item = {.split = c->split, .index = piece->samples[piece->batch.first + at], .seed = piece->seed,
                             .epoch = piece->epoch, .bucket = bucket, .row = at, .worker = worker};
    void *field[FEED_FIELDS];
    for (int i = 0; i < c->fields; i++) {
        size_t bytes = fill_sample_bytes(&c->field[i], bucket);
        field[i] = (char *)piece->field[i] + (size_t)at * bytes;
        memset(field[i], 0, bytes);
    }
    TRY(c->fill != NULL ? c->fill(c->context, &item, field) : copy_sample(c, &item, field));
    for (int i = 0; i < c->fields; i++) TRY(check_labels(&c->field[i], bucket, field[i]));
    return 0;
}

static void clear_rest(const struct feed_choice *c, const struct fill_piece *piece)
{
    int bucket = piece->batch.bucket;
    int64_t rest = c->order.batch[bucket] - piece->batch.count;
    for (int i = 0; i < c->fields; i++) {
        size_t bytes = fill_sample_bytes(&c->field[i], bucket);
        memset((char *)piece->field[i] + (size_t)piece->batch.count * bytes, 0, (size_t)rest * bytes);
    }
}

// Says which sample it was: "bccd, train sample 7: ". The one that a person gave has its name in its failure.
static void name_failure(const struct feed_choice *c, int64_t index, struct fill_failure *failure)
{
    const struct dataset_facts *facts = dataset_facts(c->data);
    if (facts->asked) snprintf(failure->text, sizeof failure->text, "%s", error_text());
    else snprintf(failure->text, sizeof failure->text, "%.100s, %.100s sample %lld: %.700s", facts->name,
                  facts->split_name[c->split], (long long)index, error_text());
}

void fill_piece(const struct feed_choice *c, const struct fill_piece *piece, void *worker, struct fill_failure *failure)
{
    failure->rc = 0;
    if (piece->begin == 0) clear_rest(c, piece);
    for (int64_t at = piece->begin; at < piece->end && failure->rc == 0; at++) {
        failure->rc = fill_sample(c, piece, at, worker);
        if (failure->rc == 0) continue;
        failure->at = at;
        name_failure(c, piece->samples[piece->batch.first + at], failure);
    }
}

// ---- fields that need no work but padding

static const char LENGTH[] = ".length";

// The data set's field whose length is `field`, or NULL.
static const struct field *find_length_source(struct dataset *data, const struct feed_field *field)
{
    char name[64];
    size_t all = strlen(field->name), end = sizeof LENGTH - 1;
    if (all <= end || all - end >= sizeof name || strcmp(field->name + all - end, LENGTH) != 0) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(all - end), field->name);
    return dataset_field(data, name);
}

static int fed_as(const struct feed_choice *choice, const struct field *of)  // the number of that field in the batch, or -1
{
    int i = choice->fields - 1;
    while (i >= 0 && strcmp(choice->field[i].name, of->name) != 0) i--;
    return i;
}

static int find_source(const struct feed_choice *choice, struct feed_field *field)
{
    const char *set = dataset_facts(choice->data)->name;
    field->from = dataset_field(choice->data, field->name);
    if (field->from != NULL) return 0;
    const struct field *ragged = find_length_source(choice->data, field);
    if (ragged == NULL || ragged->ragged == FIELD_FIXED)
        return fail(ERR_USAGE, "%s has no field \"%s\", nor one whose length that is", set, field->name);
    field->length_of = fed_as(choice, ragged);
    if (field->length_of >= 0) return 0;
    return fail(ERR_USAGE, "\"%s\" is fed without \"%s\" itself", field->name, ragged->name);
}

static int check_field(const struct feed_choice *choice, const struct feed_field *field, int bucket)
{
    const struct field *from = field->from;
    const char *set = dataset_facts(choice->data)->name;
    if (from == NULL && field->dtype == I32 && fill_sample_bytes(field, bucket) == sizeof(int32_t)) return 0;
    if (from == NULL) return fail(ERR_USAGE, "\"%s\" is one i32 per sample", field->name);
    if (from->dtype != field->dtype)
        return fail(ERR_USAGE, "\"%s\" of %s is %s, not %s", field->name, set, dtype_name(from->dtype),
                    dtype_name(field->dtype));
    if (from->ragged > 0) return fail(ERR_UNSUPPORTED, "\"%s\" of %s does not vary along its first dimension", field->name, set);
    if (from->ragged == FIELD_FIXED && (size_t)field_bytes(from, 1) != fill_sample_bytes(field, bucket))
        return fail(ERR_USAGE, "a sample of \"%s\" of %s has %lld bytes, and a sample of the batch holds %zu", field->name, set,
                    (long long)field_bytes(from, 1), fill_sample_bytes(field, bucket));
    return 0;
}

int feed_list(const struct feed_choice *c, const struct feed_samples *list, void *const field[])
{
    const struct fill_piece piece = {.batch = {.count = list->count, .bucket = list->bucket}, .field = field,
                                     .end = list->count, .seed = list->seed, .epoch = list->epoch, .samples = list->sample};
    struct fill_failure failure;
    fill_piece(c, &piece, list->worker, &failure);
    return failure.rc < 0 ? fail(failure.rc, "%s", failure.text) : 0;
}

int feed_one(const struct feed_choice *c, void *worker, const struct feed_item *item, void *const field[])
{
    const int32_t index = (int32_t)item->index;
    const struct feed_samples list = {&index, 1, item->seed, item->epoch, item->bucket, worker};
    for (int i = 0; i < c->fields; i++) memset(field[i], 0, fill_sample_bytes(&c->field[i], item->bucket));
    return feed_list(c, &list, field);
}

size_t feed_bytes(const struct feed_field *field, int bucket)
{
    return fill_sample_bytes(field, bucket);
}

int feed_resolve(struct feed_choice *choice)
{
    if (choice->fill != NULL) return 0;
    for (int i = 0; i < choice->fields; i++) TRY(find_source(choice, &choice->field[i]));
    for (int b = 0; b < choice->order.buckets; b++)
        for (int i = 0; i < choice->fields; i++) TRY(check_field(choice, &choice->field[i], b));
    return 0;
}

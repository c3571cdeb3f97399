// SPDX-License-Identifier: Apache-2.0
#include "data/read/voc/voc_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/image/head.h"
#include "data/read/voc/voc_ask.h"
#include "runtime/common/base/file.h"

static const struct voc_sample *sample_of(const struct dataset *ds, enum split split, int64_t index)
{
    const struct voc_set *set = ds->own;
    return &set->split[split].sample[index];
}

// ---- facts

void voc_fields(struct dataset_facts *facts, const char *const *classes, int64_t longest, int64_t pixels)
{
    facts->class_names = classes;
    for (facts->classes = 0; classes[facts->classes] != NULL; facts->classes++) continue;
    facts->field[0] = (struct field){"jpeg", U8, SHAPE(longest), 0, 0};
    facts->field[1] = (struct field){"objects", I32, SHAPE(VOC_OBJECTS, VOC_MEMBERS), 0, 0};
    facts->field[2] = (struct field){"sizes", I32, SHAPE(2), FIELD_FIXED, 0};
    facts->field[3] = (struct field){"labels", U8, SHAPE(pixels), 0, 0};
    facts->fields = pixels > 0 ? 4 : 3;
}

static void leave_out_empty(struct voc_sample *s, struct text *left_out)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < s->is.objects; i++) {
        const struct voc_object *o = &s->is.object[i];
        if (voc_is_empty(o)) text_add(left_out, "%s%s.xml:%lld", left_out->at != NULL ? ", " : "", s->name, (long long)o->line);
        else s->is.object[kept++] = *o;
    }
    s->is.objects = kept;
}

void voc_filled(struct dataset *ds)
{
    struct voc_set *set = ds->own;
    int64_t longest = 1, pixels = 0;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        struct voc_split *split = &set->split[s];
        ds->facts.count[s] = split->count;
        for (int64_t i = 0; i < split->count; i++) {
            const struct voc_sample *sample = &split->sample[i];
            int64_t labels = sample->labels != NULL ? (int64_t)sample->is.height * sample->is.width : 0;
            if (sample->bytes > longest) longest = sample->bytes;
            if (labels > pixels) pixels = labels;
            leave_out_empty(&split->sample[i], &set->left_out[s]);
        }
    }
    voc_fields(&ds->facts, ds->facts.class_names, longest, pixels);
}

void voc_close(struct dataset *ds)
{
    struct voc_set *set = ds->own;
    if (set == NULL) return;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        for (int64_t i = 0; i < set->split[s].count; i++) {
            free(set->split[s].sample[i].jpeg);
            free(set->split[s].sample[i].labels);
            voc_free(&set->split[s].sample[i].is);
        }
        free(set->split[s].sample);
        text_free(&set->left_out[s]);
    }
    free(set->folder);
    free(set);
}

// ---- files

int voc_read_file(const struct voc_set *set, const char *name, struct text *lines, char **bytes, size_t *count)
{
    struct text path = {0};
    char hex[DIGEST_HEX];
    text_add(&path, "%s/%s", set->folder, name);
    int rc = file_read(path.at, VOC_BYTES, bytes, count);
    text_free(&path);
    TRY(rc);
    digest_bytes(*bytes, *count, hex);
    text_add(lines, "%s  %s\n", hex, name);
    return 0;
}

int voc_named(const struct voc_set *set, int rc)
{
    return rc < 0 ? fail_prefix(rc, "%s/", set->folder) : 0;
}

static int read_annotation(const struct dataset *ds, struct voc_sample *s, struct text *lines)
{
    char *bytes = NULL, name[VOC_NAME + 32];
    size_t count;
    snprintf(name, sizeof name, "Annotations/%s.xml", s->name);
    TRY(voc_read_file(ds->own, name, lines, &bytes, &count));
    int rc = voc_parse(name, bytes, count, ds->facts.class_names, &s->is);
    free(bytes);
    return voc_named(ds->own, rc);
}

static int check_picture(const char *name, const struct voc_sample *s)
{
    struct head head;
    TRY(head_read(name, s->jpeg, (size_t)s->bytes, &head));
    if (head.format != HEAD_JPEG) return fail(ERR_INPUT, "%s is no JPEG", name);
    if (head.width == s->is.width && head.height == s->is.height) return 0;
    return fail(ERR_INPUT, "%s has %d x %d pixels, and Annotations/%s.xml says %d x %d", name, head.width, head.height, s->name,
                s->is.width, s->is.height);
}

static int read_picture(const struct dataset *ds, struct voc_sample *s, struct text *lines)
{
    char *bytes = NULL, name[VOC_NAME + 32];
    size_t count;
    snprintf(name, sizeof name, "JPEGImages/%s.jpg", s->name);
    TRY(voc_read_file(ds->own, name, lines, &bytes, &count));
    s->jpeg = (uint8_t *)bytes, s->bytes = (int64_t)count;
    return voc_named(ds->own, check_picture(name, s));
}

int voc_open_split(struct dataset *ds, enum split which, const char *list)
{
    struct voc_set *set = ds->own;
    struct voc_split *split = &set->split[which];
    struct voc_names names = {0};
    struct text lines = {0};
    char *bytes = NULL;
    size_t count = 0;
    int rc = voc_read_file(set, list, &lines, &bytes, &count);
    if (rc == 0) rc = voc_named(set, voc_parse_names(list, bytes, count, &names));
    split->sample = zalloc((size_t)(names.count + 1) * sizeof *split->sample);
    for (int64_t i = 0; i < names.count && rc == 0; i++) {
        struct voc_sample *s = &split->sample[split->count++];
        memcpy(s->name, names.name[i], sizeof s->name);
        rc = read_annotation(ds, s, &lines);
        if (rc == 0) rc = read_picture(ds, s, &lines);
    }
    if (rc == 0) digest_bytes(lines.at, lines.length, set->digest[which]);
    text_free(&lines);
    voc_names_free(&names);
    free(bytes);
    return rc;
}

// ---- samples

int voc_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    int32_t *size = into;
    (void)field;  // "sizes"
    for (int64_t i = 0; i < count && into != NULL; i++) {
        const struct voc *is = &sample_of(ds, split, first + i)->is;
        size[2 * i] = is->width, size[2 * i + 1] = is->height;
    }
    return 0;
}

static int64_t length_of(const struct voc_sample *s, const struct field *field)
{
    if (kind_field_is(field, "objects")) return s->is.objects;
    if (kind_field_is(field, "labels")) return s->labels != NULL ? (int64_t)s->is.height * s->is.width : 0;
    return s->bytes;
}

int voc_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
             int64_t *length)
{
    const struct voc_sample *s = sample_of(ds, split, index);
    bool objects = kind_field_is(field, "objects");
    *length = length_of(s, field);
    int64_t bytes = field_bytes(field, *length);
    if ((size_t)bytes > capacity) return kind_too_small(ds, split, field, index, bytes, capacity);
    if (!objects && bytes > 0) memcpy(into, kind_field_is(field, "labels") ? s->labels : s->jpeg, (size_t)bytes);
    for (int64_t i = 0; objects && i < *length; i++)
        memcpy((int32_t *)into + i * VOC_MEMBERS, s->is.object[i].at, sizeof s->is.object[i].at);
    return 0;
}

int voc_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = (int32_t)length_of(sample_of(ds, split, i), field);
    return 0;
}

void voc_sample_name(struct dataset *ds, enum split split, int64_t index, struct text *into)
{
    const struct voc_set *set = ds->own;
    const char *name = sample_of(ds, split, index)->name;
    if (set->photographs != NULL) text_add(into, "%s/%s%s", set->photographs, name, set->ending);
    else text_add(into, "%s", name);
}

int voc_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct voc_set *set = ds->own;
    memcpy(hex, set->digest[split], DIGEST_HEX);
    return 0;
}

// Every opening reads all bytes.
int voc_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    const struct voc_set *set = ds->own;
    (void)read;
    *verdict = DATASET_OFFICIAL;
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (strcmp(set->digest[s], ds->source->content[s]) != 0) *verdict = DATASET_CUSTOM;
    return 0;
}

void voc_remark(struct dataset *ds, enum split split, struct text *into)
{
    const struct voc_set *set = ds->own;
    if (set->left_out[split].at != NULL)
        text_add(into, "boxes without an area, left out of %s: %s\n", ds->facts.split_name[split], set->left_out[split].at);
}

void voc_left_out(const struct dataset *ds, struct text *into)
{
    const struct voc_set *set = ds->own;
    for (int s = 0; s < SPLIT_COUNT && ds->kind->item == voc_item; s++)
        if (set->left_out[s].at != NULL)
            text_add(into, "%sboxes without an area are left out of %s: %s", into->at != NULL ? "; " : "",
                     ds->facts.split_name[s], set->left_out[s].at);
}

// ---- a picture of a person

static int ask_open(struct dataset *ds, const char *folder)
{
    (void)ds, (void)folder;
    BUG("a picture is asked by voc_ask, never opened by name");
}

static const struct kind ask_kind = {
    .name = "picture", .drawn = true, .open = ask_open, .close = voc_close, .read = voc_read, .item = voc_item,
    .lengths = voc_lengths, .sample_name = voc_sample_name,
};

int voc_ask(const struct dataset_facts *like, const char *name, const char *bytes, size_t count, struct dataset **into)
{
    struct head head;
    *into = NULL;
    TRY(head_read(name, (const uint8_t *)bytes, count, &head));
    struct dataset *ds = zalloc(sizeof *ds);
    struct voc_set *set = ds->own = zalloc(sizeof *set);
    ds->kind = &ask_kind, ds->facts = *like;
    ds->facts.name = "picture", ds->facts.title = "a picture", ds->facts.folder = NULL, ds->facts.asked = true;
    set->split[SPLIT_TEST].sample = zalloc(sizeof *set->split[SPLIT_TEST].sample);
    struct voc_sample *s = set->split[SPLIT_TEST].sample;
    set->split[SPLIT_TEST].count = 1;
    const char *slash = strrchr(name, '/');
    snprintf(s->name, sizeof s->name, "%s", slash != NULL ? slash + 1 : name);
    s->jpeg = memcpy(zalloc(count + 1), bytes, count);
    s->bytes = (int64_t)count, s->is.width = head.width, s->is.height = head.height;
    voc_filled(ds);
    *into = ds;
    return 0;
}

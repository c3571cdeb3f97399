// SPDX-License-Identifier: Apache-2.0
// FOLDER/annotations/instances_{train,val}2017.json and FOLDER/{train,val}2017/*.jpg, as cocodataset.org's archives have them.
//
// Pictures are read on demand. Nobody publishes digests: a digest here is the SHA-256 of the lines "SHA-256  NAME" of
// the annotations and "BYTES  NAME" of each picture, and results count as custom. Cost: opening reads the annotations (470 MB)
// and asks for the sizes of 122,000 files.
#include "data/read/coco/coco_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/image/draw.h"
#include "data/image/head.h"
#include "data/kind.h"
#include "data/manifest.h"
#include "data/read/coco/instances.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { TRAIN_PICTURES = 117266, TEST_PICTURES = 5000, LONGEST = 640 << 10, OUTLINES = 1 << 15 };
static const char *const folders[SPLIT_COUNT] = {"train2017", "val2017"};

struct coco_set {
    char *folder;
    struct coco_split {
        struct instances is;
        int64_t *bytes, left_out;
        char digest[DIGEST_HEX];
    } split[SPLIT_COUNT];
};

static const struct picture *picture_of(const struct dataset *ds, enum split split, int64_t index)
{
    return &((const struct coco_set *)ds->own)->split[split].is.picture[index];
}

static void coco_published(struct dataset_facts *facts)
{
    facts->title = "COCO 2017";
    facts->split_name[SPLIT_TRAIN] = folders[SPLIT_TRAIN], facts->split_name[SPLIT_TEST] = folders[SPLIT_TEST];
    facts->count[SPLIT_TRAIN] = TRAIN_PICTURES, facts->count[SPLIT_TEST] = TEST_PICTURES;
    facts->class_names = instances_classes, facts->classes = INSTANCES_CLASSES;
    facts->field[0] = (struct field){"jpeg", U8, SHAPE(LONGEST), 0, 0};
    facts->field[1] = (struct field){"objects", F32, SHAPE(INSTANCES_OBJECTS, OBJECT_MEMBERS), 0, 0};
    facts->field[2] = (struct field){"sizes", I32, SHAPE(2), FIELD_FIXED, 0};
    facts->field[3] = (struct field){"outlines", I32, SHAPE(OUTLINES), 0, 0};
    facts->fields = 4;
    memcpy(facts->mean, (float[]){0.485f, 0.456f, 0.406f}, sizeof facts->mean);  // ImageNet's, as MLPerf's SSD takes them
    memcpy(facts->std, (float[]){0.229f, 0.224f, 0.225f}, sizeof facts->std);
}

// ---- opening

static void add_path(const struct coco_set *set, enum split split, const char *name, struct text *path)
{
    text_add(path, "%s/%s/%s", set->folder, folders[split], name);
}

static void leave_out_empty(struct coco_split *split)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < split->is.pictures; i++)
        if (split->is.picture[i].objects > 0) split->is.picture[kept++] = split->is.picture[i];
    split->left_out = split->is.pictures - kept;
    split->is.pictures = kept;
}

struct longest {
    int64_t bytes, numbers;  // of a picture, and of its outlines
};

static int ask_sizes(struct coco_set *set, enum split which, struct text *lines, struct longest *longest)
{
    struct coco_split *split = &set->split[which];
    split->bytes = zalloc((size_t)(split->is.pictures + 1) * sizeof *split->bytes);
    for (int64_t i = 0; i < split->is.pictures; i++) {
        const char *name = split->is.picture[i].name;
        struct text path = {0};
        struct stat st;
        add_path(set, which, name, &path);
        int rc = stat(path.at, &st) == 0 && S_ISREG(st.st_mode) ? 0 : fail(ERR_MISSING, "%s is missing", path.at);
        text_free(&path);
        TRY(rc);
        split->bytes[i] = st.st_size;
        if (st.st_size > longest->bytes) longest->bytes = st.st_size;
        if (split->is.picture[i].numbers > longest->numbers) longest->numbers = split->is.picture[i].numbers;
        text_add(lines, "%lld  %s\n", (long long)st.st_size, name);
    }
    return 0;
}

static int open_split(struct dataset *ds, enum split which, struct longest *longest)
{
    struct coco_set *set = ds->own;
    struct coco_split *split = &set->split[which];
    struct text path = {0}, lines = {0};
    char *bytes = NULL, hex[DIGEST_HEX];
    size_t count;
    text_add(&path, "%s/annotations/instances_%s.json", set->folder, folders[which]);
    int rc = 0;
    if (file_exists(path.at)) rc = file_read(path.at, INSTANCES_BYTES, &bytes, &count);
    else rc = fail(ERR_MISSING, "there is no COCO in %s: annotations/instances_%s.json is missing; docs/detection.md says where "
                   "to get COCO, --data names its folder", set->folder, folders[which]);
    if (rc == 0) digest_bytes(bytes, count, hex), text_add(&lines, "%s  %s\n", hex, strrchr(path.at, '/') + 1);
    if (rc == 0) rc = instances_parse(path.at, bytes, count, &split->is);
    free(bytes);
    if (rc == 0 && which == SPLIT_TRAIN) leave_out_empty(split);
    if (rc == 0 && split->is.pictures == 0) rc = fail(ERR_INPUT, "%s has no picture with a box", path.at);
    if (rc == 0) rc = ask_sizes(set, which, &lines, longest);
    if (rc == 0) digest_bytes(lines.at, lines.length, split->digest);
    ds->facts.count[which] = split->is.pictures;
    text_free(&path), text_free(&lines);
    return rc;
}

static int coco_open(struct dataset *ds, const char *given)
{
    struct coco_set *set = ds->own = zalloc(sizeof *set);
    struct text inside = {0};
    struct longest longest = {1, 1};
    coco_published(&ds->facts);
    text_add(&inside, "%s/coco/annotations", given);
    bool below = file_exists(inside.at);
    text_free(&inside);
    text_add(&inside, "%s%s", given, below ? "/coco" : "");
    ds->facts.folder = set->folder = inside.at;
    TRY(open_split(ds, SPLIT_TRAIN, &longest));
    TRY(open_split(ds, SPLIT_TEST, &longest));
    ds->facts.field[0].shape = SHAPE(longest.bytes), ds->facts.field[3].shape = SHAPE(longest.numbers);
    return 0;
}

static void coco_close(struct dataset *ds)
{
    struct coco_set *set = ds->own;
    for (int s = 0; set != NULL && s < SPLIT_COUNT; s++) instances_free(&set->split[s].is), free(set->split[s].bytes);
    if (set != NULL) free(set->folder);
    free(set);
}

// ---- samples

static int read_jpeg(const struct dataset *ds, enum split split, int64_t index, char **bytes, size_t *count)
{
    const struct coco_set *set = ds->own;
    struct text path = {0};
    add_path(set, split, picture_of(ds, split, index)->name, &path);
    int rc = file_read(path.at, (size_t)ds->facts.field[0].shape.dim[0], bytes, count);
    if (rc == 0 && (int64_t)*count != set->split[split].bytes[index]) {
        free(*bytes);
        rc = fail(ERR_INPUT, "%s has changed since it was opened", path.at);
    }
    text_free(&path);
    return rc;
}

static int coco_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    int32_t *size = into;
    (void)field;  // "sizes"
    for (int64_t i = 0; i < count && into != NULL; i++) {
        const struct picture *p = picture_of(ds, split, first + i);
        size[2 * i] = p->width, size[2 * i + 1] = p->height;
    }
    return 0;
}

static int coco_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                     int64_t *length)
{
    const struct coco_split *of = &((const struct coco_set *)ds->own)->split[split];
    const struct picture *p = &of->is.picture[index];
    bool objects = kind_field_is(field, "objects"), outlines = kind_field_is(field, "outlines");
    char *jpeg;
    size_t n;
    *length = objects ? p->objects : outlines ? p->numbers : of->bytes[index];
    int64_t bytes = field_bytes(field, *length);
    if ((size_t)bytes > capacity) return kind_too_small(ds, split, field, index, bytes, capacity);
    if (objects) memcpy(into, of->is.object + p->first, (size_t)bytes);
    if (outlines) memcpy(into, of->is.outline + p->outline, (size_t)bytes);
    if (objects || outlines) return 0;
    TRY(read_jpeg(ds, split, index, &jpeg, &n));
    memcpy(into, jpeg, n);
    free(jpeg);
    return 0;
}

static int coco_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    const struct coco_split *of = &((const struct coco_set *)ds->own)->split[split];
    bool objects = kind_field_is(field, "objects"), outlines = kind_field_is(field, "outlines");
    for (int64_t i = 0; i < of->is.pictures; i++) {
        const struct picture *p = &of->is.picture[i];
        lengths[i] = (int32_t)(objects ? p->objects : outlines ? p->numbers : of->bytes[i]);
    }
    return 0;
}

static void coco_sample_name(struct dataset *ds, enum split split, int64_t index, struct text *into)
{
    text_add(into, "%s/%s", folders[split], picture_of(ds, split, index)->name);
}

static int coco_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    memcpy(hex, ((const struct coco_set *)ds->own)->split[split].digest, DIGEST_HEX);
    return 0;
}

// Each picture is a JPEG of the size that the annotations say.
static int check_picture(const struct dataset *ds, enum split split, int64_t index)
{
    const struct picture *p = picture_of(ds, split, index);
    struct head head;
    char *bytes;
    size_t count;
    TRY(read_jpeg(ds, split, index, &bytes, &count));
    int rc = head_read(p->name, (const uint8_t *)bytes, count, &head);
    if (rc == 0 && (head.format != HEAD_JPEG || head.width != p->width || head.height != p->height))
        rc = fail(ERR_INPUT, "%s/%s is no JPEG of %d x %d", folders[split], p->name, p->width, p->height);
    free(bytes);
    return rc;
}

static int coco_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    *verdict = DATASET_CUSTOM;
    for (int s = 0; s < SPLIT_COUNT && read; s++)
        for (int64_t i = 0; i < ds->facts.count[s]; i++) {
            if (ds->progress != NULL) ds->progress(ds->listener, (enum split)s, i, ds->facts.count[s]);
            TRY(check_picture(ds, (enum split)s, i));
        }
    return 0;
}

static void coco_remark(struct dataset *ds, enum split split, struct text *into)
{
    const struct coco_split *of = &((const struct coco_set *)ds->own)->split[split];
    text_add(into, "%s: %lld boxes; left out: %lld pictures without one, %lld boxes without an area\n", folders[split],
             (long long)of->is.objects, (long long)of->left_out, (long long)of->is.empty);
}

// ---- for people

static int coco_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    const struct instances *is = &((const struct coco_set *)ds->own)->split[split].is;
    const struct picture *p = picture_of(ds, split, number - 1);
    text_entry(into, "picture", "%s, %d x %d", p->name, p->width, p->height);
    for (int64_t i = 0; i < p->objects; i++) {
        const float *at = is->object[p->first + i];
        text_entry(into, instances_classes[(int)at[OBJECT_CLASS]], "%.2f, %.2f to %.2f, %.2f%s", (double)at[OBJECT_LEFT],
                   (double)at[OBJECT_TOP], (double)at[OBJECT_RIGHT], (double)at[OBJECT_BOTTOM],
                   at[OBJECT_CROWD] > 0 ? ", a crowd" : "");
    }
    return 0;
}

static int coco_draw(struct dataset *ds, enum split split, int64_t number, const char *path)
{
    const struct instances *is = &((const struct coco_set *)ds->own)->split[split].is;
    const struct picture *p = picture_of(ds, split, number - 1);
    struct image image;
    char *bytes;
    size_t count;
    TRY(read_jpeg(ds, split, number - 1, &bytes, &count));
    int rc = image_decode(p->name, (const uint8_t *)bytes, count, &IMAGE_LIMITS, &image);
    free(bytes);
    TRY(rc);
    for (int64_t i = 0; i < p->objects; i++) {
        const float *at = is->object[p->first + i];
        const int class = (int)at[OBJECT_CLASS];
        draw_box(&image, &(struct draw_box){(double)at[OBJECT_LEFT], (double)at[OBJECT_TOP], (double)at[OBJECT_RIGHT],
                                            (double)at[OBJECT_BOTTOM], instances_classes[class], class});
    }
    rc = image_write_png(path, &image);
    image_free(&image);
    return rc;
}

static const struct kind coco_kind = {
    .name = "coco", .elsewhere = "not downloaded: its archives are 19 GB (docs/detection.md)", .published = coco_published,
    .open = coco_open, .close = coco_close, .read = coco_read, .item = coco_item, .lengths = coco_lengths,
    .sample_name = coco_sample_name, .digest = coco_digest, .content_digest = coco_digest, .verify = coco_verify,
    .remark = coco_remark, .sample = "picture", .show = coco_show, .draw = coco_draw,
};
const struct kind *const kinds_coco[] = {&coco_kind, NULL};

int64_t coco_image(const struct dataset *ds, enum split split, int64_t index)
{
    return ds->kind == &coco_kind ? picture_of(ds, split, index)->id : index + 1;
}

int coco_category(const struct dataset_facts *facts, int class)
{
    return facts->class_names == instances_classes ? instances_category(class) : class + 1;
}

int coco_class(const struct dataset_facts *facts, int category)
{
    for (int c = 0; c < facts->classes; c++)
        if (coco_category(facts, c) == category) return c;
    return -1;
}

// SPDX-License-Identifier: Apache-2.0
// The kinds imagenet and imagenette, read from folders as they were unpacked.
//
// Invariant: a sample is a picture whose size was noted when the set was opened; one that changed since is an error.
// Cost: an open, a read and a close a picture; `sizes` reads the first 64 KB of each. A pack (data/read/pack.h) has neither cost.
#include "data/read/imagenet.h"

#include <stdlib.h>
#include <string.h>

#include "data/image/head.h"
#include "runtime/base/text.h"

enum { FIELD_JPEG, FIELD_LABELS, FIELD_SIZES, FIELDS };

static const struct imagenet_flavour flavours[] = {
    {"imagenet", "ImageNet", "pack", synsets_imagenet, {1281167, 50000}, 16 << 20,
     {"", "/imagenet", "/ILSVRC2012", "/ILSVRC/Data/CLS-LOC", NULL}},
    {"imagenette", "Imagenette", "fetch", synsets_imagenette, {9469, 3925}, 1 << 20,
     {"", "/imagenette2-160", "/imagenette2-320", "/imagenette2", NULL}},
};

const struct imagenet_flavour *imagenet_flavour(const char *name)
{
    for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++)
        if (strcmp(flavours[i].name, name) == 0) return &flavours[i];
    return NULL;
}

static void fill_facts(struct dataset_facts *facts, const struct imagenet_flavour *flavour)
{
    // Of ImageNet's training pixels, as everybody uses them, torchvision's weights among them.
    static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};
    const struct synsets *synsets = flavour->synsets();
    facts->title = flavour->title;
    facts->split_name[SPLIT_TEST] = "validation";
    facts->classes = synsets->count;
    facts->class_names = synsets->name;
    facts->channels = 3;
    memcpy(facts->mean, mean, sizeof mean);
    memcpy(facts->std, std, sizeof std);
    memcpy(facts->count, flavour->count, sizeof facts->count);
    facts->field[FIELD_JPEG] = (struct field){"jpeg", U8, SHAPE(flavour->longest), 0, 0};
    facts->field[FIELD_LABELS] = (struct field){"labels", I32, {0}, FIELD_FIXED, synsets->count};
    facts->field[FIELD_SIZES] = (struct field){"sizes", I32, SHAPE(2), FIELD_FIXED, 0};
    facts->fields = FIELDS;
}

static void imagenet_published(struct dataset_facts *facts)
{
    fill_facts(facts, imagenet_flavour("imagenet"));
}

static void imagenette_published(struct dataset_facts *facts)
{
    fill_facts(facts, imagenet_flavour("imagenette"));
}

// ---- open

// The folder below GIVEN that has a folder train or val.
static char *find_root(const struct imagenet_flavour *flavour, const char *given)
{
    for (int i = 0; flavour->roots[i] != NULL; i++) {
        struct text root = {0};
        text_add(&root, "%s%s", given, flavour->roots[i]);
        for (int s = 0; s < SPLIT_COUNT; s++) {
            struct text split = {0};
            text_add(&split, "%s/%s", root.at, listing_split[s]);
            bool there = file_exists(split.at);
            text_free(&split);
            if (there) return root.at;
        }
        text_free(&root);
    }
    return NULL;
}

static int open_folder(struct dataset *ds, struct imagenet *set, const char *given)
{
    const struct imagenet_flavour *flavour = set->flavour;
    struct listing_choice choice = {.title = flavour->title, .synsets = flavour->synsets()};
    char *root = find_root(flavour, given);
    if (root == NULL)
        return fail(ERR_MISSING, "there is no %s in %s: neither %s.dawnpack nor folders train and val; `dawn data %s %s` %s, "
                    "--data names another folder", flavour->title, given, flavour->name, flavour->noun, flavour->name,
                    strcmp(flavour->noun, "fetch") == 0 ? "gets it" : "makes a pack of the archives");
    int rc = listing_open(&choice, root, &set->listing);
    free(root);
    TRY(rc);
    int64_t longest = 1;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        ds->facts.count[s] = set->listing.count[s];
        for (int64_t i = 0; i < set->listing.count[s]; i++)
            if (set->listing.picture[s][i].bytes > longest) longest = set->listing.picture[s][i].bytes;
    }
    ds->facts.folder = set->listing.root;
    ds->facts.field[FIELD_JPEG].shape = SHAPE(longest);
    return 0;
}

static int imagenet_open(struct dataset *ds, const char *given)
{
    struct imagenet *set = ds->own = zalloc(sizeof *set);
    set->flavour = imagenet_flavour(ds->facts.name);
    fill_facts(&ds->facts, set->flavour);
    return open_folder(ds, set, given);
}

static void imagenet_close(struct dataset *ds)
{
    struct imagenet *set = ds->own;
    if (set == NULL) return;
    listing_free(&set->listing);
    free(set);
}

// ---- samples

// Width and height from the head of a file; the whole of it where a colour profile or a thumbnail stands in front.
static int read_size(const struct listing *l, enum split split, int64_t index, int32_t size[2])
{
    struct text path = {0};
    struct head head;
    int64_t count = l->picture[split][index].bytes;
    uint8_t *bytes = malloc((size_t)count + 1);
    if (bytes == NULL) return fail(ERR_MEMORY, "not enough memory to read a picture of %lld bytes", (long long)count);
    listing_path(l, split, index, &path);
    int rc = listing_head(l, split, index, bytes, HEAD_BYTES, &count);
    if (rc == 0 && (rc = head_read(path.at, bytes, (size_t)count, &head)) < 0 && count < l->picture[split][index].bytes) {
        rc = listing_read(l, split, index, bytes, (size_t)l->picture[split][index].bytes, &count);
        if (rc == 0) rc = head_read(path.at, bytes, (size_t)count, &head);
    }
    if (rc == 0) size[0] = head.width, size[1] = head.height;
    text_free(&path);
    free(bytes);
    return rc;
}

static int imagenet_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                         void *into)
{
    const struct imagenet *set = ds->own;
    int32_t *numbers = into;
    bool labels = field == &ds->facts.field[FIELD_LABELS];
    for (int64_t i = 0; i < count; i++) {
        int32_t size[2];
        if (!labels) TRY(read_size(&set->listing, split, first + i, into != NULL ? numbers + 2 * i : size));
        else if (into != NULL) numbers[i] = set->listing.picture[split][first + i].label;
    }
    return 0;
}

static int imagenet_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into,
                         size_t room, int64_t *length)
{
    const struct imagenet *set = ds->own;
    int64_t bytes = set->listing.picture[split][index].bytes;
    if ((size_t)bytes > room) return kind_no_room(ds, split, field, index, bytes, room);
    return listing_read(&set->listing, split, index, into, room, length);
}

static int imagenet_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    (void)field;
    const struct imagenet *set = ds->own;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = set->listing.picture[split][i].bytes;
    return 0;
}

#define KIND(called, open_published)                                                                                   \
    {                                                                                                                  \
        .name = called, .published = open_published, .open = imagenet_open, .close = imagenet_close,                   \
        .read = imagenet_read, .item = imagenet_item, .lengths = imagenet_lengths, .digest = imagenet_digest,          \
        .content_digest = imagenet_content_digest, .verify = imagenet_verify                                           \
    }
const struct kind imagenet_kind = KIND("imagenet", imagenet_published);
const struct kind imagenette_kind = KIND("imagenette", imagenette_published);

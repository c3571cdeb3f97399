// SPDX-License-Identifier: Apache-2.0
// The kinds imagenet and imagenette, read from a pack or from unpacked folders.
//
// Invariant: a sample is a picture that was present when the set was opened. A picture that changed since is an error. Cost:
// with a pack one read per picture; with folders an open, a read and a close. In folders `sizes` reads the first 64 KB of each
// file.
#include "data/read/imagenet/imagenet_kind.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/image/encoder.h"
#include "data/image/head.h"
#include "data/image/image.h"
#include "runtime/common/base/text.h"

enum { FIELD_JPEG, FIELD_LABELS, FIELD_SIZES, FIELDS };
enum { PNG_QUALITY = 95, PNG_HEAD = 4096 };

static const struct imagenet_flavour flavours[] = {
    {"imagenet", "ImageNet", "pack imagenet", "makes one of the published archives", synsets_imagenet,
     {1281167, 50000}, 16 << 20,
     {"", "/imagenet", "/ILSVRC2012", "/ILSVRC/Data/CLS-LOC", NULL},
     {"87d0edf424c4ea2069196f49bb02760a8d0ff6180e2f9d9129e8a9fd119a9d56",
      "3a4bd89989371507854195f2971304d1a2658a1f52085f0e9e691999a5dfcff4"}},
    {"imagenette", "Imagenette", "fetch imagenette", "gets it", synsets_imagenette,
     {9469, 3925}, 1 << 20,
     {"", "/imagenette2-160", "/imagenette2-320", "/imagenette2", NULL},
     {"d5bfd18e0e90c6bb9486d3a6d7f4bc0c2db4b93bbbbad78e068f552433390fce",
      "876b8857c17a03be029852b7c950c4a24bd2c448fd104d780e19f2608da8f04e"}},
};

const struct imagenet_flavour *imagenet_flavour(const char *name)
{
    for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++)
        if (strcmp(flavours[i].name, name) == 0) return &flavours[i];
    return NULL;
}

static void fill_facts(struct dataset_facts *facts, const struct imagenet_flavour *flavour)
{
    // Mean and deviation of ImageNet's training pixels: the usual figures, which torchvision's weights need.
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

char *imagenet_find_root(const struct imagenet_flavour *flavour, const char *given)
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

// Reads width and height from the first bytes of a file, or from the whole file if a colour profile or a thumbnail comes
// first.
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

// Room for the result of imagenet_item. A PNG becomes a JPEG, which may be longer than the file but hardly longer than the
// pixels.
static int64_t reserve_ids(const struct listing *l, enum split split, int64_t index)
{
    const struct listed *picture = &l->picture[split][index];
    int32_t size[2];
    if (fnmatch("*.png", picture->file, FNM_CASEFOLD) != 0) return picture->bytes;  // ImageNet's PNG is called .JPEG and is short
    if (read_size(l, split, index, size) < 0) return picture->bytes;                // reading the picture reports the error
    int64_t pixels = (int64_t)size[0] * size[1] * 3 + PNG_HEAD;
    return pixels > picture->bytes ? pixels : picture->bytes;
}

static int open_folder(struct dataset *ds, struct imagenet *set, const char *root)
{
    struct listing_choice choice = {.title = set->flavour->title, .synsets = set->flavour->synsets()};
    TRY(listing_open(&choice, root, &set->listing));
    int64_t longest = 1;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        ds->facts.count[s] = set->listing.count[s];
        for (int64_t i = 0; i < set->listing.count[s]; i++) {
            int64_t capacity = reserve_ids(&set->listing, (enum split)s, i);
            if (capacity > longest) longest = capacity;
        }
    }
    ds->facts.folder = set->listing.root;
    ds->facts.field[FIELD_JPEG].shape = SHAPE(longest);
    return 0;
}

// The class of "train/CLASS/1.jpg", and of "CLASS/1.jpg".
static const char *class_of(char *name, struct arena *arena)
{
    char *slash = strrchr(name, '/');
    if (slash == NULL) return "?";
    *slash = 0;
    slash = strrchr(name, '/');
    return arena_text(arena, "%s", slash != NULL ? slash + 1 : name);
}

// A class without a picture that can be decoded stays "?".
static int name_own_classes(struct dataset *ds, struct imagenet *set)
{
    const struct pack *pack = set->pack;
    struct synsets *own = set->listing.own = zalloc(sizeof *own);
    if (pack->header.classes > SYNSETS_MAX)
        return fail(ERR_INPUT, "%s has %u classes, and at most %d can be named", pack->path, pack->header.classes, SYNSETS_MAX);
    own->count = (int)pack->header.classes;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        for (int64_t i = 0; i < pack->count[s]; i++) {
            const struct pack_record *r = pack_at(pack, (enum split)s, i);
            if (own->name[r->label] != NULL) continue;
            char *name = pack_name(pack, r);
            own->name[r->label] = class_of(name, &set->listing.names);
            free(name);
        }
    }
    for (int c = 0; c < own->count; c++)
        if (own->name[c] == NULL) own->name[c] = "?";
    ds->facts.classes = ds->facts.field[FIELD_LABELS].classes = own->count;
    ds->facts.class_names = own->name;
    return 0;
}

static int open_pack(struct dataset *ds, struct imagenet *set, const char *path)
{
    TRY(pack_open(path, set->flavour->name, &set->pack));
    const struct pack *pack = set->pack;
    if (pack->header.flags & PACK_OWN) TRY(name_own_classes(ds, set));
    if (pack->header.classes != (uint32_t)ds->facts.classes)
        return fail(ERR_INPUT, "%s has %u classes, and %s has %d", path, pack->header.classes, set->flavour->title,
                    ds->facts.classes);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        ds->facts.count[s] = pack->count[s];
        if (pack->count[s] == 0) return fail(ERR_INPUT, "%s has no picture of %s", path, listing_split[s]);
    }
    ds->facts.folder = pack->path;
    ds->facts.left_out = pack->absent;
    ds->facts.short_side = (int)pack->header.short_side;
    ds->facts.unfit_seed = pack_unfit_seed(&pack->header);
    ds->facts.quality = pack->encoded > 0 ? (int)pack->header.quality : 0;
    ds->facts.field[FIELD_JPEG].shape = SHAPE(pack->longest);
    return 0;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

// GIVEN is a pack, a folder with a pack, or a folder with pictures.
static int imagenet_open(struct dataset *ds, const char *given)
{
    struct imagenet *set = ds->own = zalloc(sizeof *set);
    const struct imagenet_flavour *flavour = set->flavour = imagenet_flavour(ds->facts.name);
    struct text path = {0};
    char *root = NULL;
    int rc;
    text_add(&path, "%s/%s" PACK_ENDING, given, flavour->name);
    fill_facts(&ds->facts, flavour);
    if (is_file(given)) rc = open_pack(ds, set, given);
    else if (is_file(path.at)) rc = open_pack(ds, set, path.at);
    else if ((root = imagenet_find_root(flavour, given)) != NULL) rc = open_folder(ds, set, root);
    else rc = fail(ERR_MISSING, "there is no %s in %s: neither %s%s nor folders train and val; \"dawn data %s\" %s, --data "
                   "names another folder", flavour->title, given, flavour->name, PACK_ENDING, flavour->command, flavour->gets);
    free(root);
    text_free(&path);
    return rc;
}

static void imagenet_close(struct dataset *ds)
{
    struct imagenet *set = ds->own;
    if (set == NULL) return;
    pack_close(set->pack);
    listing_free(&set->listing);
    free(set);
}

// ---- samples

static int imagenet_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                         void *into)
{
    const struct imagenet *set = ds->own;
    int32_t *numbers = into;
    bool labels = field == &ds->facts.field[FIELD_LABELS];
    for (int64_t i = 0; i < count; i++) {
        int32_t number[2];
        if (set->pack != NULL) {
            const struct pack_record *r = pack_at(set->pack, split, first + i);
            number[0] = labels ? r->label : r->width, number[1] = r->height;
        } else if (labels) {
            number[0] = set->listing.picture[split][first + i].label;
        } else {
            TRY(read_size(&set->listing, split, first + i, number));
        }
        if (into != NULL) memcpy(numbers + i * (labels ? 1 : 2), number, (labels ? 1 : 2) * sizeof *number);
    }
    return 0;
}

static int32_t picture_length(const struct imagenet *set, enum split split, int64_t index)
{
    return set->pack != NULL ? (int32_t)pack_at(set->pack, split, index)->length : set->listing.picture[split][index].bytes;
}

// ImageNet has a PNG whose name ends in .JPEG. It becomes a JPEG here; the packer has converted it already.
static int convert_png(struct dataset *ds, enum split split, const struct field *field, int64_t index, uint8_t *bytes,
                       size_t capacity, int64_t *length)
{
    const struct imagenet *set = ds->own;
    struct text path = {0};
    struct head head;
    struct image image = {0};
    const uint8_t *jpeg;
    size_t count;
    struct encoder *encoder = encoder_new();
    listing_path(&set->listing, split, index, &path);
    int rc = head_read(path.at, bytes, (size_t)*length, &head);
    struct image_limits limits = {HEAD_MAX_SIDE, HEAD_MAX_PIXELS};
    if (rc == 0) rc = image_decode(path.at, bytes, (size_t)*length, &limits, &image);
    if (rc == 0) rc = encoder_draw(encoder, path.at, image.pixels, image.height, image.width, PNG_QUALITY, &jpeg, &count);
    if (rc == 0 && count > capacity) rc = kind_too_small(ds, split, field, index, (int64_t)count, capacity);
    if (rc == 0) memcpy(bytes, jpeg, count), *length = (int64_t)count;
    image_free(&image);
    encoder_free(encoder);
    text_free(&path);
    return rc;
}

static int imagenet_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into,
                         size_t capacity, int64_t *length)
{
    const struct imagenet *set = ds->own;
    int64_t bytes = picture_length(set, split, index);
    if ((size_t)bytes > capacity) return kind_too_small(ds, split, field, index, bytes, capacity);
    if (set->pack != NULL) return pack_read(set->pack, split, index, into, capacity, length);
    TRY(listing_read(&set->listing, split, index, into, capacity, length));
    bool png = bytes > 8 && memcmp(into, "\x89PNG\r\n\x1a\n", 8) == 0;
    return png ? convert_png(ds, split, field, index, into, capacity, length) : 0;
}

static int imagenet_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    (void)field;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = picture_length(ds->own, split, i);
    return 0;
}

static void imagenet_want(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count)
{
    (void)field;
    const struct imagenet *set = ds->own;
    if (set->pack != NULL) pack_want(set->pack, split, first, count);
}

static void imagenet_sample_name(struct dataset *ds, enum split split, int64_t index, struct text *text)
{
    const struct imagenet *set = ds->own;
    if (set->pack != NULL) {
        char *name = pack_name(set->pack, pack_at(set->pack, split, index));
        text_add(text, "%s", name);
        free(name);
    } else {
        listing_path(&set->listing, split, index, text);
    }
}

#define KIND(called, open_published, ...)                                                                              \
    {                                                                                                                  \
        .name = called, .published = open_published, .open = imagenet_open, .close = imagenet_close,                   \
        .read = imagenet_read, .item = imagenet_item, .lengths = imagenet_lengths, .want = imagenet_want,              \
        .sample_name = imagenet_sample_name,                                                                           \
        .digest = imagenet_digest, .content_digest = imagenet_content_digest, .layout = imagenet_layout,               \
        .verify = imagenet_verify, __VA_ARGS__                                                                         \
    }
const struct kind imagenet_kind =
    KIND("imagenet", imagenet_published, .elsewhere = "not downloaded: get its archives from image-net.org; "
         "\"dawn data pack imagenet SRC DST\" makes one file of them");
const struct kind imagenette_kind = KIND("imagenette", imagenette_published, .source = &imagenette_source);

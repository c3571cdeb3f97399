// SPDX-License-Identifier: Apache-2.0
// Lists the pictures of a folder in the layout of ILSVRC2012 and of torchvision's ImageFolder.
//
// Invariant: nothing is left out silently. A folder that is not a class is an error, because its name is probably misspelt.
// Other files than pictures are counted. Cost: one scandir per class and one fstatat per picture: 3 s for ImageNet in the page
// cache, minutes from a disk. About 70 bytes of memory per picture.
#include "data/read/imagenet/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/folder.h"
#include "data/image/image.h"
#include "data/read/imagenet/truth.h"
#include "runtime/common/base/text.h"

const char *const listing_split[SPLIT_COUNT] = {"train", "val"};

void listing_add(struct listing *l, enum split split, const struct listed *picture, const char *file)
{
    if (l->count[split] == l->capacity[split]) {
        l->capacity[split] = l->capacity[split] * 2 + 1024;
        l->picture[split] = grow(l->picture[split], (size_t)l->capacity[split] * sizeof *l->picture[split]);
    }
    struct listed *added = &l->picture[split][l->count[split]++];
    *added = *picture;
    added->file = arena_text(&l->names, "%s", file);
}

void listing_free(struct listing *l)
{
    for (int s = 0; s < SPLIT_COUNT; s++) free(l->picture[s]);
    arena_free(&l->names);
    free(l->own);
    free(l->root);
    *l = (struct listing){0};
}

// ---- the walk

// Adds a file of a class's folder, or of a flat split, whose labels come from the ground truth list.
static int add_file(struct listing *l, enum split split, int at, const char *folder, const char *file, int label,
                    const struct truth *truth)
{
    struct stat st;
    if (!image_is_named(file)) {
        l->foreign++;
        return 0;
    }
    if (fstatat(at, file, &st, 0) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s/%s", folder, file);
    if (!S_ISREG(st.st_mode)) return fail(ERR_INPUT, "%s/%s has the name of a picture and is not a file", folder, file);
    if (st.st_size > LISTING_PICTURE_MAX)
        return fail(ERR_INPUT, "%s/%s has %lld bytes, more than the %d that a picture may have", folder, file,
                    (long long)st.st_size, LISTING_PICTURE_MAX);
    if (truth != NULL && (label = truth_of(truth, file)) < 0)
        return fail(ERR_INPUT, "%s/%s: the ground truth list, of %lld pictures, does not have its number", folder, file,
                    (long long)truth->count);
    listing_add(l, split, &(struct listed){.bytes = (int32_t)st.st_size, .label = label}, file);
    return 0;
}

static int add_folder(struct listing *l, enum split split, const char *folder, int label, const struct truth *truth)
{
    struct folder names = {0};
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return fail_errno(ERR_INPUT, errno, "cannot list %s", folder);
    int rc = folder_list(folder, FOLDER_BY_BYTES, &names);
    for (int i = 0; i < names.count && rc == 0; i++) rc = add_file(l, split, at, folder, names.entry[i]->d_name, label, truth);
    folder_end(&names);
    close(at);
    return rc;
}

static int add_classes(struct listing *l, enum split split, const struct listing_choice *choice, const char *folder,
                       const struct folder *names)
{
    for (int i = 0; i < names->count; i++) {
        const char *name = names->entry[i]->d_name;
        int label = synsets_find(l->synsets, name, strlen(name));
        if (label < 0) {
            TRY(folder_check_class(folder, name, choice->title, l->synsets->wnid));
            l->foreign++;
            continue;
        }
        struct text path = {0};
        text_add(&path, "%s/%s", folder, name);
        int rc = add_folder(l, split, path.at, label, NULL);
        text_free(&path);
        TRY(rc);
    }
    return 0;
}

// Adds the pictures in the split's own folder.
static int add_flat(struct listing *l, enum split split, const struct listing_choice *choice, const char *folder)
{
    struct truth truth;
    struct text path = {0};
    text_add(&path, "%s/%s", l->root, TRUTH_FILE);
    const char *list = choice->truth != NULL ? choice->truth : path.at;
    int rc = 0;
    if (choice->truth == NULL && !file_exists(list))
        rc = fail(ERR_INPUT, "%s has pictures without folders of classes: their ground truth list is missing (%s)", folder, list);
    else rc = truth_read(list, l->synsets, &truth);
    text_free(&path);
    TRY(rc);
    rc = add_folder(l, split, folder, 0, &truth);
    truth_free(&truth);
    l->flat[split] = true;
    return rc;
}

static int add_split(struct listing *l, enum split split, const struct listing_choice *choice)
{
    struct text folder = {0};
    struct folder names = {0};
    text_add(&folder, "%s/%s", l->root, listing_split[split]);
    int rc = folder_is(folder.at) ? folder_list(folder.at, FOLDER_BY_BYTES, &names)
                                  : fail(ERR_INPUT, "%s is missing: %s has the folders train and val", folder.at, choice->title);
    const char *file = NULL, *class = NULL;
    for (int i = 0; i < names.count; i++) {
        const char *name = names.entry[i]->d_name;
        if (image_is_named(name)) file = name;
        if (synsets_find(l->synsets, name, strlen(name)) >= 0) class = name;
    }
    if (rc == 0 && file != NULL && class != NULL)
        rc = fail(ERR_INPUT, "%s has pictures (%s) and folders of classes (%s): only one of the two is allowed", folder.at, file,
                  class);
    else if (rc == 0 && file != NULL) rc = add_flat(l, split, choice, folder.at);
    else if (rc == 0) rc = add_classes(l, split, choice, folder.at, &names);
    folder_end(&names);
    text_free(&folder);
    return rc;
}

// For a sorted listing. An archive can hold a member twice, because `tar --append` keeps the old one.
static int check_names_differ(const struct listing *l, enum split split)
{
    for (int64_t i = 1; i < l->count[split]; i++) {
        const struct listed *a = &l->picture[split][i - 1], *b = &l->picture[split][i];
        if (a->label == b->label && strcmp(a->file, b->file) == 0)
            return fail(ERR_INPUT, "%s has the picture %s/%s/%s twice", l->root, listing_split[split], l->synsets->wnid[a->label],
                        a->file);
    }
    return 0;
}

int listing_check_classes(const struct listing_choice *choice, const struct listing *l)
{
    for (int s = 0; s < SPLIT_COUNT; s++) {
        int64_t have[SYNSETS_MAX] = {0};
        for (int64_t i = 0; i < l->count[s]; i++) have[l->picture[s][i].label]++;
        int missing = 0, first = -1;
        for (int c = l->synsets->count - 1; c >= 0; c--)
            if (have[c] == 0) missing++, first = c;
        if (l->count[s] == 0)
            return fail(ERR_INPUT, "%s/%s has no PNG or JPEG file in folders of classes of %s", l->root, listing_split[s],
                        choice->title);
        if (missing > 0 && !choice->partial)
            return fail(ERR_INPUT, "%s/%s has no picture of %d of the %d classes of %s, the first of them %s; "
                        "\"dawn data pack --partial\" packs such a folder, and --data takes the pack", l->root,
                        listing_split[s], missing, l->synsets->count, choice->title, l->synsets->name[first]);
        TRY(check_names_differ(l, (enum split)s));
    }
    return 0;
}

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return x->label != y->label ? (x->label > y->label) - (x->label < y->label) : strcmp(x->file, y->file);
}

void listing_sort(struct listing *l)
{
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (l->count[s] > 0) qsort(l->picture[s], (size_t)l->count[s], sizeof *l->picture[s], compare_listed);
}

// ---- a person's own pictures

static char *below(const char *folder, const char *name)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    return path.at;
}

static int add_own_class(struct listing *l, const char *folder, const char *name)
{
    struct synsets *own = l->own;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return fail(ERR_INPUT, "%s has a folder with a control character in its name, which can name no class", folder);
    if (own->count == SYNSETS_MAX) return fail(ERR_INPUT, "%s has more than %d folders of classes", folder, SYNSETS_MAX);
    own->wnid[own->count] = own->name[own->count] = arena_text(&l->names, "%s", name);
    own->count++;
    return 0;
}

// The folders name the classes, in the order of their bytes.
static int take_classes(struct listing *l, const char *folder, struct folder *names)
{
    TRY(folder_list(folder, FOLDER_BY_BYTES, names));
    l->synsets = l->own = zalloc(sizeof *l->own);
    int rc = 0;
    for (int i = 0; i < names->count && rc == 0; i++) {
        char *path = below(folder, names->entry[i]->d_name);
        if (folder_is(path)) rc = add_own_class(l, folder, names->entry[i]->d_name);
        free(path);
    }
    if (rc < 0 || l->own->count > 1) return rc;
    return fail(ERR_INPUT, "%s has %s: a folder for each class, two at least, holds its pictures", folder,
                l->own->count == 0 ? "no folder" : "one folder alone");
}

// Every tenth picture of each class, for a tenth.
static void take_share(struct listing *l, double share)
{
    struct listed *all = l->picture[SPLIT_TRAIN];
    int64_t count = l->count[SPLIT_TRAIN], kept = 0, in_class = 0;
    for (int64_t i = 0, label = -1; i < count; i++, in_class++) {
        if (all[i].label != label) in_class = 0, label = all[i].label;
        const struct listed one = all[i];
        if (floor((double)(in_class + 1) * share) > floor((double)in_class * share)) listing_add(l, SPLIT_TEST, &one, one.file);
        else all[kept++] = one;
    }
    l->count[SPLIT_TRAIN] = kept;
}

// Lists the pictures of SRC/train and SRC/val, or of SRC/train alone, or of class folders in SRC itself.
static int open_own(struct listing *l, const struct listing_choice *choice)
{
    struct folder names = {0};
    char *train = below(l->root, listing_split[SPLIT_TRAIN]), *val = below(l->root, listing_split[SPLIT_TEST]);
    const bool divided = folder_is(train) && folder_is(val);
    if (!divided && folder_is(train)) free(l->root), l->root = copy_text(train);
    int rc = take_classes(l, divided ? train : l->root, &names);
    for (int s = 0; s < SPLIT_COUNT && rc == 0 && divided; s++) rc = add_split(l, (enum split)s, choice);
    if (rc == 0 && !divided) {
        l->undivided = true;
        rc = add_classes(l, SPLIT_TRAIN, choice, l->root, &names);
        listing_sort(l);
        take_share(l, choice->share);
    }
    folder_end(&names);
    free(train), free(val);
    return rc;
}

int listing_open(const struct listing_choice *choice, const char *root, struct listing *l)
{
    *l = (struct listing){.synsets = choice->synsets, .root = copy_text(root)};
    int rc = choice->synsets == NULL ? open_own(l, choice) : 0;
    for (int s = 0; s < SPLIT_COUNT && rc == 0 && choice->synsets != NULL; s++) rc = add_split(l, (enum split)s, choice);
    listing_sort(l);
    if (rc == 0) rc = listing_check_classes(choice, l);
    if (rc < 0) listing_free(l);
    return rc;
}

void listing_digest(const struct listing *l, uint8_t digest[32])
{
    crypto_hash_sha256_state state;
    struct text line = {0};
    crypto_hash_sha256_init(&state);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        for (int64_t i = 0; i < l->count[s]; i++) {
            line.length = 0;
            if (l->undivided) text_add(&line, "%s ", listing_split[s]);
            listing_path(l, (enum split)s, i, &line);
            text_add(&line, " %d %d\n", l->picture[s][i].label, l->picture[s][i].bytes);
            crypto_hash_sha256_update(&state, (const uint8_t *)line.at, line.length);
        }
    }
    crypto_hash_sha256_final(&state, digest);
    text_free(&line);
}

// ---- reading

void listing_path(const struct listing *l, enum split split, int64_t index, struct text *path)
{
    const struct listed *picture = &l->picture[split][index];
    if (!l->undivided) text_add(path, "%s/", listing_split[split]);
    if (!l->flat[split]) text_add(path, "%s/", l->synsets->wnid[picture->label]);
    text_add(path, "%s", picture->file);
}

static int read_bytes(const char *path, int fd, int64_t size, int64_t want, void *into, int64_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s", path);
    if (st.st_size != size)
        return fail(ERR_INPUT, "%s has %lld bytes, but had %lld when the data set was opened", path, (long long)st.st_size,
                    (long long)size);
    for (int64_t have = 0; have < want;) {
        ssize_t got = pread(fd, (char *)into + have, (size_t)(want - have), have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(ERR_IO, errno, "cannot read %s", path);
        if (got == 0) return fail(ERR_INPUT, "%s became shorter while it was read", path);
        have += got;
    }
    *bytes = want;
    return 0;
}

int listing_head(const struct listing *l, enum split split, int64_t index, void *into, int64_t most, int64_t *bytes)
{
    int64_t size = l->picture[split][index].bytes;
    struct text path = {0};
    text_add(&path, "%s/", l->root);
    listing_path(l, split, index, &path);
    int fd = open(path.at, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    if (fd < 0) rc = fail_errno(ERR_IO, errno, "cannot open %s", path.at);
    else rc = read_bytes(path.at, fd, size, size < most ? size : most, into, bytes);
    if (fd >= 0) close(fd);
    text_free(&path);
    return rc;
}

int listing_read(const struct listing *l, enum split split, int64_t index, void *into, size_t capacity, int64_t *bytes)
{
    BUG_IF((size_t)l->picture[split][index].bytes > capacity);
    return listing_head(l, split, index, into, INT64_MAX, bytes);
}

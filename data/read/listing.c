// SPDX-License-Identifier: Apache-2.0
// Lists the pictures of a folder in the layout of ILSVRC2012 and of torchvision's ImageFolder.
//
// Invariant: nothing is left out silently. A folder that is not a class is an error, because it is probably misspelt. Files whose
// names are not those of pictures are counted.
// Cost: one scandir a class and one fstatat a picture: 3 s for ImageNet in the page cache, minutes from a disk. About 70 bytes
// of memory a picture.
#include "data/read/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/image/image.h"
#include "data/read/truth.h"
#include "runtime/base/text.h"

const char *const listing_split[SPLIT_COUNT] = {"train", "val"};

struct names {
    struct dirent **entry;
    int count;
};

static int any_but_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int scan_folder(const char *folder, struct names *names)
{
    names->count = scandir(folder, &names->entry, any_but_hidden, compare_names);
    if (names->count >= 0) return 0;
    names->count = 0;
    return fail_errno(ERR_INPUT, errno, "cannot list %s", folder);
}

static void names_end(struct names *names)
{
    for (int i = 0; i < names->count; i++) free(names->entry[i]);
    free(names->entry);
    *names = (struct names){0};
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void listing_add(struct listing *l, enum split split, const struct listed *picture, const char *file)
{
    if (l->count[split] == l->room[split]) {
        l->room[split] = l->room[split] * 2 + 1024;
        l->picture[split] = grow(l->picture[split], (size_t)l->room[split] * sizeof *l->picture[split]);
    }
    struct listed *added = &l->picture[split][l->count[split]++];
    *added = *picture;
    added->file = arena_text(&l->names, "%s", file);
}

void listing_free(struct listing *l)
{
    for (int s = 0; s < SPLIT_COUNT; s++) free(l->picture[s]);
    arena_free(&l->names);
    free(l->root);
    *l = (struct listing){0};
}

// ---- the walk

// Adds a file of a class's folder, or of a flat split, whose labels come from the list.
static int add_file(struct listing *l, enum split split, int at, const char *folder, const char *file, int label,
                    const struct truth *truth)
{
    struct stat st;
    if (!image_is_named(file)) {
        l->foreign++;
        return 0;
    }
    if (fstatat(at, file, &st, 0) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s/%s", folder, file);
    if (!S_ISREG(st.st_mode)) return fail(ERR_INPUT, "%s/%s is called like a picture and is no file", folder, file);
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
    struct names names = {0};
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return fail_errno(ERR_INPUT, errno, "cannot list %s", folder);
    int rc = scan_folder(folder, &names);
    for (int i = 0; i < names.count && rc == 0; i++) rc = add_file(l, split, at, folder, names.entry[i]->d_name, label, truth);
    names_end(&names);
    close(at);
    return rc;
}

static int add_classes(struct listing *l, enum split split, const struct listing_choice *choice, const char *folder,
                       const struct names *names)
{
    for (int i = 0; i < names->count; i++) {
        const char *name = names->entry[i]->d_name;
        struct text path = {0};
        text_add(&path, "%s/%s", folder, name);
        int label = synsets_find(l->synsets, name, strlen(name)), rc = 0;
        if (label >= 0) {
            rc = add_folder(l, split, path.at, label, NULL);
        } else if (is_folder(path.at)) {
            fail_unknown(ERR_INPUT, "class of this data set", name, l->synsets->wnid, NULL);
            rc = fail_prefix(ERR_INPUT, "%s (%s): ", path.at, choice->title);
        } else {
            l->foreign++;
        }
        text_free(&path);
        TRY(rc);
    }
    return 0;
}

// Pictures that lie in the split's own folder.
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
    struct names names = {0};
    text_add(&folder, "%s/%s", l->root, listing_split[split]);
    int rc = is_folder(folder.at) ? scan_folder(folder.at, &names)
                                  : fail(ERR_INPUT, "%s is missing: %s has the folders train and val", folder.at, choice->title);
    bool flat = false;
    for (int i = 0; i < names.count; i++) flat = flat || image_is_named(names.entry[i]->d_name);
    if (rc == 0 && flat) rc = add_flat(l, split, choice, folder.at);
    else if (rc == 0) rc = add_classes(l, split, choice, folder.at, &names);
    names_end(&names);
    text_free(&folder);
    return rc;
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
            return fail(ERR_INPUT, "%s/%s has no picture of %d of the %d classes of %s, the first of them %s", l->root,
                        listing_split[s], missing, l->synsets->count, choice->title, l->synsets->name[first]);
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

int listing_open(const struct listing_choice *choice, const char *root, struct listing *l)
{
    *l = (struct listing){.synsets = choice->synsets, .root = copy_text(root)};
    int rc = 0;
    for (int s = 0; s < SPLIT_COUNT && rc == 0; s++) rc = add_split(l, (enum split)s, choice);
    listing_sort(l);
    if (rc == 0) rc = listing_check_classes(choice, l);
    if (rc < 0) listing_free(l);
    return rc;
}

// ---- reading

void listing_path(const struct listing *l, enum split split, int64_t index, struct text *path)
{
    const struct listed *picture = &l->picture[split][index];
    text_add(path, "%s/", listing_split[split]);
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

int listing_read(const struct listing *l, enum split split, int64_t index, void *into, size_t room, int64_t *bytes)
{
    BUG_IF((size_t)l->picture[split][index].bytes > room);
    return listing_head(l, split, index, into, INT64_MAX, bytes);
}

// SPDX-License-Identifier: Apache-2.0
// Opens the source of a pack, and reads its pictures in random order.
//
// Invariant: pictures have the order of their classes and names, in folders and in archives, so the same pictures make the
// same pack. Cost: the walk over names; a gzipped tar is unpacked into an unnamed file, which a crash does not leave behind.
#include "data/pack/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/image/image.h"
#include "data/folder.h"
#include "data/pack/origin_md5.h"
#include "data/pack/tar.h"
#include "data/read/imagenet/truth.h"
#include "runtime/common/base/text.h"

#define SPOOL_MOST (INT64_C(1) << 34)
#define EXPECTED                                                                                                       \
    ORIGIN_TRAIN_TAR " and " ORIGIN_VAL_TAR " in one folder, folders train and val, or a tar with such folders"

// ---- members of archives

struct walk {
    struct origin *origin;
    const struct origin_choice *choice;
    struct tar_span *span;
    enum split split;
    int label;            // label of the inner tar
    struct truth *truth;  // NULL if there is none
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int add_member(struct walk *w, enum split split, const struct tar_member *m, const char *file, int label)
{
    if (file[0] == '.') return 0;  // macOS adds "._NAME" next to every file
    if (!image_is_named(file)) {
        w->origin->listing.foreign++;
        return 0;
    }
    if (m->bytes > LISTING_PICTURE_MAX)
        return fail(ERR_INPUT, "%s: %.200s has %lld bytes, more than the %d that a picture may have", w->span->path, m->name,
                    (long long)m->bytes, LISTING_PICTURE_MAX);
    listing_add(&w->origin->listing, split, &(struct listed){.offset = m->offset, .bytes = (int32_t)m->bytes, .label = label},
                file);
    return 0;
}

static int add_to_class(void *context, const struct tar_member *m)
{
    struct walk *w = context;
    return add_member(w, SPLIT_TRAIN, m, base_name(m->name), w->label);
}

// Adds the tar of a class inside the tar of ImageNet's training pictures.
static int add_inner_tar(void *context, const struct tar_member *m)
{
    struct walk *w = context;
    const char *file = base_name(m->name);
    size_t length = strlen(file);
    if (length < 4 || strcmp(file + length - 4, ".tar") != 0) {
        w->origin->listing.foreign++;
        return 0;
    }
    w->label = synsets_find(w->origin->listing.synsets, file, length - 4);
    if (w->label < 0)
        return fail(ERR_INPUT, "%s: %.200s is not a class of %s", w->span->path, m->name, w->choice->flavour->title);
    struct text path = {0};
    text_add(&path, "%s: %s", w->span->path, file);
    struct tar_span inner = {path.at, w->span->fd, m->offset, m->bytes};
    int rc = tar_walk(&inner, add_to_class, w);
    text_free(&path);
    return rc;
}

static int add_validation(void *context, const struct tar_member *m)
{
    struct walk *w = context;
    const char *file = base_name(m->name);
    int label = truth_of(w->truth, file);
    if (label < 0 && image_is_named(file) && file[0] != '.')
        return fail(ERR_INPUT, "%s: the ground truth list, of %lld pictures, does not have the number of %.200s", w->span->path,
                    (long long)w->truth->count, m->name);
    return add_member(w, SPLIT_TEST, m, file, label);
}

// ".../train/n01440764/NAME.JPEG": the split is the last folder but one, the class the last.
static int add_by_folders(void *context, const struct tar_member *m)
{
    struct walk *w = context;
    const char *file = base_name(m->name);
    const char *class = file - 1, *class_end;
    if (file == m->name) return add_member(w, SPLIT_TRAIN, m, ".", 0);
    for (class_end = class; class > m->name && class[-1] != '/'; class--) continue;
    for (int s = 0; s < SPLIT_COUNT && class > m->name; s++) {
        size_t length = strlen(listing_split[s]), before = (size_t)(class - 1 - m->name);
        if (before < length || memcmp(class - 1 - length, listing_split[s], length) != 0) continue;
        if (before > length && class[-(int)length - 2] != '/') continue;
        int label = synsets_find(w->origin->listing.synsets, class, (size_t)(class_end - class));
        if (label >= 0) return add_member(w, (enum split)s, m, file, label);
        if (!image_is_named(file) || file[0] == '.') break;
        return fail(ERR_INPUT, "%s: %.200s is in no folder of a class of %s", w->span->path, m->name, w->choice->flavour->title);
    }
    w->origin->listing.foreign += file[0] != '.';
    return 0;
}

// ---- archives

static int open_archive(struct origin *o, const char *path, struct tar_span *span)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot open %s", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail(ERR_INPUT, "%s is not a regular file", path);
    }
    *span = (struct tar_span){path, fd, 0, st.st_size};
    o->key[o->archives] = manifest_key_from(&st);
    o->archive[o->archives++] = copy_text(path);
    return 0;
}

static int read_truth(const struct origin_choice *choice, struct truth *truth)
{
    struct text list = {0}, kit = {0};
    const struct synsets *synsets = choice->flavour->synsets();
    text_add(&list, "%s/%s", choice->path, TRUTH_FILE);
    text_add(&kit, "%s/%s", choice->path, ORIGIN_DEVKIT);
    const char *path = choice->truth != NULL ? choice->truth : file_exists(list.at) ? list.at : kit.at;
    size_t length = strlen(path), count;
    char *bytes = NULL;
    int rc;
    if (choice->truth != NULL && !file_exists(path)) {
        rc = fail(ERR_MISSING, "there is no %s, which should have the labels of the validation pictures", path);
    } else if (!file_exists(path)) {
        rc = fail(ERR_MISSING, "the labels of the validation pictures are missing: give the development kit (%s) or its %s with "
                  "--labels, or put it into %s", ORIGIN_DEVKIT, TRUTH_FILE, choice->path);
    } else if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        rc = tar_extract(path, TRUTH_FILE, TRUTH_BYTES_MAX, &bytes, &count);
        if (rc == 0) rc = truth_parse(path, bytes, count, synsets, truth);
        free(bytes);
    } else {
        rc = truth_read(path, synsets, truth);
    }
    text_free(&list), text_free(&kit);
    return rc;
}

// Opens the two tars of ILSVRC2012.
static int open_tars(struct origin *o, const struct origin_choice *choice)
{
    static const char *const tars[SPLIT_COUNT] = {ORIGIN_TRAIN_TAR, ORIGIN_VAL_TAR};
    struct truth truth = {0};
    int rc = read_truth(choice, &truth);
    for (int s = 0; s < SPLIT_COUNT && rc == 0; s++) {
        struct text path = {0};
        struct tar_span span;
        text_add(&path, "%s/%s", choice->path, tars[s]);
        rc = open_archive(o, path.at, &span);
        if (rc == 0) {
            struct walk walk = {.origin = o, .choice = choice, .span = &span, .truth = &truth};
            o->fd[s] = span.fd;
            rc = tar_walk(&span, s == SPLIT_TRAIN ? add_inner_tar : add_validation, &walk);
        }
        text_free(&path);
    }
    o->listing.flat[SPLIT_TEST] = true;
    truth_free(&truth);
    return rc;
}

// Opens a file in the folder of `neighbour` and removes its name at once.
static int open_spool(const char *neighbour, int *fd)
{
    struct text path = {0};
    const char *slash = strrchr(neighbour, '/');
    text_add(&path, "%.*s.dawn-pack-XXXXXX", slash != NULL ? (int)(slash + 1 - neighbour) : 0, neighbour);
    *fd = mkostemp(path.at, O_CLOEXEC);
    int rc = *fd >= 0 ? 0 : fail_errno(ERR_IO, errno, "cannot write next to %s", neighbour);
    if (*fd >= 0) unlink(path.at);
    text_free(&path);
    return rc;
}

// Opens one archive with the folders train and val, gzipped or not.
static int open_single(struct origin *o, const struct origin_choice *choice)
{
    struct tar_span span;
    uint8_t magic[2] = {0};
    TRY(open_archive(o, choice->path, &span));
    o->fd[SPLIT_TRAIN] = span.fd;
    if (pread(span.fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
        close(span.fd);
        o->fd[SPLIT_TRAIN] = -1;
        TRY(open_spool(choice->scratch, &span.fd));
        o->fd[SPLIT_TRAIN] = span.fd;
        TRY(tar_spool(choice->path, span.fd, SPOOL_MOST, &span.bytes));
    }
    o->fd[SPLIT_TEST] = o->fd[SPLIT_TRAIN];
    struct walk walk = {.origin = o, .choice = choice, .span = &span};
    return tar_walk(&span, add_by_folders, &walk);
}

// ---- the interface

static bool is_there(const char *folder, const char *file, bool folders)
{
    struct stat st;
    struct text path = {0};
    text_add(&path, "%s%s%s", folder, file[0] != '\0' ? "/" : "", file);
    bool there = stat(path.at, &st) == 0 && (S_ISDIR(st.st_mode) != 0) == folders;
    text_free(&path);
    return there;
}

// Names the expected source and the one found instead.
static int fail_no_origin(const char *path)
{
    enum { SHOWN = 3 };
    struct folder entries = {0};
    struct text found = {0};
    if (!file_exists(path)) return fail(ERR_MISSING, "there is no %s: give " EXPECTED, path);
    TRY(folder_list(path, FOLDER_BY_BYTES, &entries));
    const char *names[SHOWN + 1];
    char more[32];
    int shown = entries.count <= SHOWN + 1 ? entries.count : SHOWN;
    for (int i = 0; i < shown && i < SHOWN + 1; i++) names[i] = entries.entry[i]->d_name;
    if (shown < entries.count) {
        snprintf(more, sizeof more, "%d more", entries.count - shown);
        names[shown++] = more;
    }
    text_list(&found, names, shown, " and ");
    int rc = fail(ERR_MISSING, "%s %s%.200s; expected are " EXPECTED, path, entries.count > 0 ? "has " : "is empty",
                  entries.count > 0 ? found.at : "");
    text_free(&found);
    folder_end(&entries);
    return rc;
}

static int open_parts(struct origin *o, const struct origin_choice *choice)
{
    struct listing_choice listing = {choice->own ? "your own pictures" : choice->flavour->title, choice->truth,
                                     choice->own ? NULL : choice->flavour->synsets(), choice->partial, choice->share};
    if (choice->own && !is_there(choice->path, "", true))
        return fail(ERR_INPUT, "%s is no folder: --own takes folders of classes", choice->path);
    if (choice->own) return listing_open(&listing, choice->path, &o->listing);
    o->listing.synsets = listing.synsets;
    if (is_there(choice->path, ORIGIN_TRAIN_TAR, false)) {
        o->listing.root = copy_text(choice->path);
        TRY(open_tars(o, choice));
    } else if (is_there(choice->path, "", false)) {
        o->listing.root = copy_text(choice->path);
        TRY(open_single(o, choice));
    } else {
        char *root = imagenet_find_root(choice->flavour, choice->path);
        if (root == NULL) return fail_no_origin(choice->path);
        int rc = listing_open(&listing, root, &o->listing);
        free(root);
        return rc;
    }
    listing_sort(&o->listing);
    return listing_check_classes(&listing, &o->listing);
}

int origin_open(const struct origin_choice *choice, struct origin **opened)
{
    struct origin *o = zalloc(sizeof *o);
    *opened = NULL;
    *o = (struct origin){.flavour = choice->flavour, .fd = {-1, -1}};
    int rc = open_parts(o, choice);
    if (rc < 0) {
        origin_close(o);
        return rc;
    }
    o->md5 = origin_md5_start(o->archives, o->archive);
    *opened = o;
    return 0;
}

void origin_close(struct origin *o)
{
    if (o == NULL) return;
    origin_md5_stop(o->md5);
    if (o->fd[SPLIT_TEST] >= 0 && o->fd[SPLIT_TEST] != o->fd[SPLIT_TRAIN]) close(o->fd[SPLIT_TEST]);
    if (o->fd[SPLIT_TRAIN] >= 0) close(o->fd[SPLIT_TRAIN]);
    for (int i = 0; i < o->archives; i++) free(o->archive[i]);
    listing_free(&o->listing);
    free(o);
}

int origin_read(const struct origin *o, enum split split, int64_t index, void *into, size_t capacity, int64_t *bytes)
{
    const struct listed *picture = &o->listing.picture[split][index];
    if (o->fd[split] < 0) return listing_read(&o->listing, split, index, into, capacity, bytes);
    BUG_IF((size_t)picture->bytes > capacity);
    for (int64_t have = 0; have < picture->bytes;) {
        ssize_t got = pread(o->fd[split], (char *)into + have, (size_t)(picture->bytes - have), picture->offset + have);
        if (got < 0 && errno == EINTR) continue;
        const char *path = o->archive[o->archives > 1 ? split : 0];
        if (got < 0) return fail_errno(ERR_IO, errno, "cannot read %s", path);
        if (got == 0) return fail(ERR_INPUT, "%s became shorter while it was read", path);
        have += got;
    }
    *bytes = picture->bytes;
    return 0;
}

void origin_digest(const struct origin *o, uint8_t digest[PACK_DIGEST])
{
    listing_digest(&o->listing, digest);
}

void origin_version(const struct origin *o, uint8_t digest[PACK_DIGEST])
{
    crypto_hash_sha256_state state;
    memset(digest, 0, PACK_DIGEST);
    if (o->archives == 0) return;
    crypto_hash_sha256_init(&state);
    for (int i = 0; i < o->archives; i++) {
        struct manifest_key key = o->key[i];
        key.device = 0;  // a network file system gets another number with every mount
        crypto_hash_sha256_update(&state, (const uint8_t *)&key, sizeof key);
    }
    crypto_hash_sha256_final(&state, digest);
}

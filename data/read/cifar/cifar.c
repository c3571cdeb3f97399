// SPDX-License-Identifier: Apache-2.0
// Reads CIFAR-10's binary layout: six files of 3,073-byte records, published or made by `dawn data import`.
//
// Invariant: sizes are checked when the set is opened, and every label when it is read. If a file shrinks in between, the
// error names the byte; no sample is lost silently. Cost: one pread and one pass of byte shuffles for every 64 records (192
// KB, which fit into the L2 cache).
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/read/cifar/cifar.h"
#include "data/read/cifar/cifar_digest.h"
#include "data/kind.h"
#include "data/read/planes.h"
#include "data/fetch/source.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { CIFAR_PIECE = 64, CIFAR_NOTE_MAX = 4096 };

const char *const cifar_class_names[CIFAR_CLASSES + 1] = {"airplane", "automobile", "bird", "cat",   "deer", "dog",
                                                          "frog",     "horse",      "ship", "truck", NULL};

int cifar_decode(const char *file, int64_t offset, const uint8_t *bytes, size_t size, int64_t count, uint8_t *images,
                 uint8_t *labels)
{
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *record = bytes + i * CIFAR_RECORD;
        int64_t at = offset + i * CIFAR_RECORD;
        if (size < (size_t)(i + 1) * CIFAR_RECORD) {
            return fail(ERR_INPUT,
                        "%s is short: the record at byte %lld should have %d bytes and the file ends at byte %lld",
                        file, (long long)at, CIFAR_RECORD, (long long)offset + (long long)size);
        }
        if (record[0] >= CIFAR_CLASSES) {
            return fail(ERR_INPUT, "%s: the label at byte %lld must be between 0 and %d; got %d", file,
                        (long long)at, CIFAR_CLASSES - 1, record[0]);
        }
        if (labels != NULL) labels[i] = record[0];
        if (images != NULL) planes_interleave(record + 1, CIFAR_PIXELS, images + i * CIFAR_IMAGE);
    }
    return 0;
}

void cifar_encode(const uint8_t *image, uint8_t label, uint8_t record[CIFAR_RECORD])
{
    record[0] = label;
    planes_split(image, CIFAR_PIXELS, record + 1);
}

static const struct source_file *cifar_batch(int i)
{
    return &cifar10_source.file[i];
}

int cifar_parse_note(const char *file, const char *bytes, size_t size, int64_t records[CIFAR_FILES])
{
    json_error_t error;
    json_t *note = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (note == NULL) return fail(ERR_INPUT, "%s: line %d: %s", file, error.line, error.text);
    int rc = 0;
    const json_t *counts = json_object_get(note, "records");
    for (int i = 0; i < CIFAR_FILES && rc == 0; i++) {
        const json_t *count = json_object_get(counts, cifar_batch(i)->name);
        records[i] = json_integer_value(count);
        if (!json_is_integer(count) || records[i] < 0 || records[i] > 100 * 1000 * 1000) {
            rc = fail(ERR_INPUT, "%s does not say how many records %s holds (0 to 100,000,000)", file,
                      cifar_batch(i)->name);
        }
    }
    json_decref(note);
    return rc;
}

// Only imported batches have a note.
static int cifar_read_note(const char *folder, struct cifar *cifar)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, CIFAR_IMPORT_NOTE);
    int rc = 0;
    if (file_exists(path.at)) {
        char *bytes = NULL;
        size_t size = 0;
        rc = file_read(path.at, CIFAR_NOTE_MAX, &bytes, &size);
        if (rc == 0) rc = cifar_parse_note(path.at, bytes, size, cifar->records);
        free(bytes);
    } else {
        for (int i = 0; i < CIFAR_FILES; i++) cifar->records[i] = cifar_batch(i)->bytes / CIFAR_RECORD;
    }
    text_free(&path);
    return rc;
}

static int cifar_open_file(struct cifar *cifar, int i)
{
    const char *path = cifar->path[i];
    cifar->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
    if (cifar->fd[i] < 0 && errno == ENOENT) {
        return fail(ERR_INPUT, "%s is missing; \"dawn data fetch cifar10\" gets the data set", path);
    }
    if (cifar->fd[i] < 0) return fail_errno(ERR_IO, errno, "cannot open %s", path);
    struct stat st;
    if (fstat(cifar->fd[i], &st) != 0) return fail_errno(ERR_IO, errno, "cannot get the size of %s", path);
    if (!S_ISREG(st.st_mode)) return fail(ERR_INPUT, "%s is not a file", path);
    int64_t want = cifar->records[i] * CIFAR_RECORD, have = st.st_size;
    if (have < want) {
        return fail(ERR_INPUT, "%s is short: it ends at byte %lld of %lld, %s the record that begins at byte %lld",
                    path, (long long)have, (long long)want, have % CIFAR_RECORD == 0 ? "before" : "inside",
                    (long long)(have / CIFAR_RECORD * CIFAR_RECORD));
    }
    if (have > want) {
        return fail(ERR_INPUT, "%s is too long: its %lld records end at byte %lld, but it has %lld bytes", path,
                    (long long)cifar->records[i], (long long)want, (long long)have);
    }
    return 0;
}

// Finds the batches in the given folder or in its sub-folder with the archive's name.
static int cifar_find_folder(const char *given, const struct source *source, char **found)
{
    for (int inside = 0; inside < 2; inside++) {
        struct text folder = {0};
        text_add(&folder, inside ? "%s/%s" : "%s", given, source->folder);
        for (int i = 0; i < CIFAR_FILES; i++) {
            struct text path = {0};
            text_add(&path, "%s/%s", folder.at, cifar_batch(i)->name);
            bool there = access(path.at, F_OK) == 0;
            text_free(&path);
            if (there) {
                *found = folder.at;
                return 0;
            }
        }
        text_free(&folder);
    }
    return source_absent(source, given, cifar_batch(0)->name);
}

static void cifar_published(struct dataset_facts *facts)
{
    // Measured over the 50,000 published training images.
    static const float mean[3] = {0.4913997f, 0.4821584f, 0.4465309f}, std[3] = {0.2470322f, 0.2434851f, 0.2615878f};
    facts->title = cifar10_source.title;
    kind_images(facts, CIFAR_SIDE, CIFAR_SIDE, 3, cifar_class_names);
    memcpy(facts->mean, mean, sizeof mean);
    memcpy(facts->std, std, sizeof std);
    for (int i = 0; i < CIFAR_FILES; i++) facts->count[cifar_batch(i)->split] += cifar_batch(i)->bytes / CIFAR_RECORD;
}

static void cifar_fill_facts(struct dataset *ds)
{
    const struct cifar *cifar = ds->own;
    struct dataset_facts *facts = &ds->facts;
    cifar_published(facts);
    facts->folder = cifar->folder;
    memset(facts->count, 0, sizeof facts->count);  // imported images have their own counts
    for (int i = 0; i < CIFAR_FILES; i++) facts->count[cifar_batch(i)->split] += cifar->records[i];
}

static int cifar_open(struct dataset *ds, const char *given)
{
    struct cifar *cifar = ds->own = zalloc(sizeof *cifar);
    for (int i = 0; i < CIFAR_FILES; i++) cifar->fd[i] = -1;
    TRY(cifar_find_folder(given, ds->source, &cifar->folder));
    TRY(cifar_read_note(cifar->folder, cifar));
    for (int i = 0; i < CIFAR_FILES; i++) {
        struct text path = {0};
        text_add(&path, "%s/%s", cifar->folder, cifar_batch(i)->name);
        cifar->path[i] = path.at;
        cifar->split[i] = cifar_batch(i)->split;
        TRY(cifar_open_file(cifar, i));
    }
    cifar_fill_facts(ds);
    return 0;
}

static void cifar_close(struct dataset *ds)
{
    struct cifar *cifar = ds->own;
    if (cifar == NULL) return;
    for (int i = 0; i < CIFAR_FILES; i++) {
        if (cifar->fd[i] >= 0) close(cifar->fd[i]);
        free(cifar->path[i]);
    }
    free(cifar->folder);
    free(cifar);
}

static int read_records(const struct cifar *cifar, int file, int64_t first, int64_t count, uint8_t *records)
{
    size_t want = (size_t)count * CIFAR_RECORD, have = 0;
    int64_t offset = first * CIFAR_RECORD;
    while (have < want) {
        ssize_t got = pread(cifar->fd[file], records + have, want - have, offset + (int64_t)have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return fail_errno(ERR_IO, errno, "cannot read %s at byte %lld", cifar->path[file],
                              (long long)(offset + (int64_t)have));
        }
        if (got == 0) {
            return fail(ERR_INPUT, "%s is short: it ends at byte %lld of %lld, but was longer when it was opened",
                        cifar->path[file], (long long)(offset + (int64_t)have),
                        (long long)cifar->records[file] * CIFAR_RECORD);
        }
        have += (size_t)got;
    }
    return 0;
}

int cifar_each(const struct cifar *cifar, enum split split, int64_t first, int64_t count, cifar_visit *visit,
               void *context)
{
    uint8_t *records = malloc(CIFAR_PIECE * CIFAR_RECORD);
    if (records == NULL) return fail(ERR_MEMORY, "not enough memory to read %s", cifar->folder);
    int64_t begins = 0, done = 0;  // position within the split and the current file
    int rc = 0;
    for (int file = 0; file < CIFAR_FILES && rc == 0; file++) {
        if (cifar->split[file] != split) continue;
        while (rc == 0 && done < count && first + done < begins + cifar->records[file]) {
            int64_t at = first + done - begins, n = cifar->records[file] - at;
            if (n > count - done) n = count - done;
            if (n > CIFAR_PIECE) n = CIFAR_PIECE;
            rc = read_records(cifar, file, at, n, records);
            if (rc == 0) rc = visit(context, cifar->path[file], at * CIFAR_RECORD, records, n, done);
            done += n;
        }
        begins += cifar->records[file];
    }
    free(records);
    return rc;
}

struct cifar_into {
    uint8_t *images, *labels;
};

static int cifar_visit_decode(void *context, const char *path, int64_t offset, const uint8_t *records, int64_t n,
                              int64_t done)
{
    const struct cifar_into *into = context;
    return cifar_decode(path, offset, records, (size_t)n * CIFAR_RECORD, n,
                        into->images == NULL ? NULL : into->images + done * CIFAR_IMAGE,
                        into->labels == NULL ? NULL : into->labels + done);
}

static int cifar_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                      void *bytes)
{
    bool images = kind_field_is(field, "images");
    struct cifar_into into = {images ? bytes : NULL, images ? NULL : bytes};
    return cifar_each(ds->own, split, first, count, cifar_visit_decode, &into);
}

static void cifar_want(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count)
{
    (void)field;
    const struct cifar *cifar = ds->own;
    int64_t begins = 0;  // of the file, within the split
    for (int file = 0; file < CIFAR_FILES; file++) {
        if (cifar->split[file] != split) continue;
        int64_t at = first > begins ? first - begins : 0, end = first + count - begins;
        if (end > cifar->records[file]) end = cifar->records[file];
        if (at < end)
            (void)posix_fadvise(cifar->fd[file], (off_t)(at * CIFAR_RECORD), (off_t)((end - at) * CIFAR_RECORD),
                                POSIX_FADV_WILLNEED);
        begins += cifar->records[file];
    }
}

const struct kind cifar_kind = {
    .name = "cifar10",
    .source = &cifar10_source,
    .published = cifar_published,
    .open = cifar_open,
    .close = cifar_close,
    .read = cifar_read,
    .want = cifar_want,
    .digest = cifar_digest,
    .content_digest = cifar_content_digest,
    .verify = cifar_verify,
};

// SPDX-License-Identifier: Apache-2.0
// MNIST (LeCun, Cortes, Burges 1998): 60,000 + 10,000 digits of 28 x 28 gray pixels in four IDX files, plain or compressed by
// gzip as they are published.
//
// Invariant: a file is read whole and checked when the set is opened, so a read cannot fail. Cost: 55 MB of memory; 30 ms from
// the page cache, 0.3 s of gzip, and 0.1 s of SHA-256 when a digest is first requested.
#include "data/read/mnist/mnist.h"

#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/read/mnist/idx.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { FILES = 4, FILE_MOST = 1 << 30, BLOCK = 1 << 16 };
#define MIRROR "https://ossci-datasets.s3.amazonaws.com/mnist/"
#define NETWORK                                                                                                                \
    "https://raw.githubusercontent.com/abdulfatir/gan-metrics-pytorch/c56c62bffd747943898ceb6f52a09c62407244c3/models/"
#define ELSEWHERE "https://storage.googleapis.com/cvdf-datasets/mnist/"

static const char *const class_names[IDX_CLASSES + 1] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL};

static const struct source mnist_source = {
    .name = "mnist",
    .title = "MNIST",
    .page = "http://yann.lecun.com/exdb/mnist/",
    .part = {{MIRROR "train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
             {MIRROR "train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
             {MIRROR "t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
             {MIRROR "t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
             {.url = NETWORK "lenet.pth"}},
    .folder = "mnist",
    .file = {{"train-images-idx3-ubyte", SPLIT_TRAIN, 47040016,
              "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
             {"train-labels-idx1-ubyte", SPLIT_TRAIN, 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
             {"t10k-images-idx3-ubyte", SPLIT_TEST, 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
             {"t10k-labels-idx1-ubyte", SPLIT_TEST, 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
             {"lenet.pth", SPLIT_COUNT, 248652, "e4bed3817dd7723c605580e7b7393538a5dfc3508aacc4890b07e7f07c16bebf"}},
    .checked = "The authors' page no longer has the files. PyTorch and TensorFlow keep copies; DAWN takes PyTorch's, and the "
               "other is in " ELSEWHERE ". The SHA-256 of the compressed files are those that loaders of both carry; those of "
               "the unpacked files were computed from a third copy, which has the published MD5. With the images comes a network "
               "that was trained on them (Apache-2.0), in whose features made pictures are compared.",
};

struct mnist_file {
    char *path, *bytes;
    size_t size;
    struct idx idx;
    char hex[DIGEST_HEX];  // "" until the first request
};
struct mnist {
    char *folder;
    struct mnist_file file[FILES];  // in the order of the source: pictures and labels of each split
};

void mnist_describe(struct dataset_facts *facts)
{
    kind_images(facts, IDX_SIDE, IDX_SIDE, 1, class_names);
}

static void mnist_published(struct dataset_facts *facts)
{
    facts->title = mnist_source.title;
    facts->count[SPLIT_TRAIN] = 60000, facts->count[SPLIT_TEST] = 10000;
    mnist_describe(facts);
    facts->mean[0] = 0.1306605f, facts->std[0] = 0.3081078f;  // over the 60,000 published training pictures
}

// ---- files

static int inflate_all(struct archive *archive, struct mnist_file *file)
{
    size_t capacity = 0;
    for (;;) {
        if (capacity - file->size < BLOCK) {
            char *more = realloc(file->bytes, capacity = 2 * capacity + BLOCK);
            if (more == NULL) return fail(ERR_MEMORY, "not enough memory to unpack %s", file->path);
            file->bytes = more;
        }
        const la_ssize_t got = archive_read_data(archive, file->bytes + file->size, BLOCK);
        if (got < 0) return fail(ERR_INPUT, "cannot unpack %s: %s", file->path, archive_error_string(archive));
        if (got == 0) return 0;
        file->size += (size_t)got;
        if (file->size > FILE_MOST) return fail(ERR_INPUT, "%s unpacks to more than 1 GiB", file->path);
    }
}

static int read_compressed(struct mnist_file *file)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    int rc;
    if (archive == NULL) return fail(ERR_MEMORY, "not enough memory to unpack %s", file->path);
    if (archive_read_support_filter_gzip(archive) == ARCHIVE_FATAL || archive_read_support_format_raw(archive) == ARCHIVE_FATAL ||
        archive_read_open_filename(archive, file->path, BLOCK) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        rc = fail(ERR_INPUT, "cannot unpack %s: %s", file->path, archive_error_string(archive));
    else rc = inflate_all(archive, file);
    archive_read_free(archive);
    return rc;
}

static int open_file(struct mnist *mnist, int i)
{
    struct mnist_file *file = &mnist->file[i];
    struct text path = {0};
    text_add(&path, "%s/%s", mnist->folder, mnist_source.file[i].name);
    const bool plain = file_exists(path.at);
    if (!plain) text_add(&path, ".gz");
    file->path = path.at;
    if (!plain && !file_exists(path.at)) return source_absent(&mnist_source, mnist->folder, mnist_source.file[i].name);
    TRY(plain ? file_read(file->path, FILE_MOST, &file->bytes, &file->size) : read_compressed(file));
    const uint8_t *bytes = (const uint8_t *)file->bytes;
    return (i % 2 == 0 ? idx_pictures : idx_labels)(file->path, bytes, file->size, &file->idx);
}

static int find_files(const char *given, char **folder)
{
    struct text packed = {0};
    const char *first = mnist_source.file[0].name;
    text_add(&packed, "%s.gz", first);
    const bool there = source_find_folder(mnist_source.folder, given, first, folder) ||
                       source_find_folder(mnist_source.folder, given, packed.at, folder);
    text_free(&packed);
    return there ? 0 : source_absent(&mnist_source, given, first);
}

static int mnist_open(struct dataset *ds, const char *given)
{
    struct mnist *mnist = ds->own = zalloc(sizeof *mnist);
    mnist_published(&ds->facts);
    TRY(find_files(given, &mnist->folder));
    ds->facts.folder = mnist->folder;
    for (int i = 0; i < FILES; i++) TRY(open_file(mnist, i));
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        const struct mnist_file *pictures = &mnist->file[2 * s], *labels = pictures + 1;
        if (pictures->idx.count != labels->idx.count)
            return fail(ERR_INPUT, "%s has %lld pictures and %s has %lld labels", pictures->path, (long long)pictures->idx.count,
                        labels->path, (long long)labels->idx.count);
        if (pictures->idx.count == 0) return fail(ERR_INPUT, "%s has no picture", pictures->path);
        ds->facts.count[s] = pictures->idx.count;
    }
    return 0;
}

static void mnist_close(struct dataset *ds)
{
    struct mnist *mnist = ds->own;
    for (int i = 0; i < FILES && mnist != NULL; i++) {
        free(mnist->file[i].path);
        free(mnist->file[i].bytes);
    }
    if (mnist != NULL) free(mnist->folder);
    free(mnist);
}

static int mnist_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    const struct mnist *mnist = ds->own;
    const bool pictures = kind_field_is(field, "images");
    const int64_t bytes = pictures ? IDX_PICTURE : 1;
    if (into != NULL)
        memcpy(into, mnist->file[2 * split + (pictures ? 0 : 1)].idx.at + first * bytes, (size_t)(count * bytes));
    return 0;
}

// ---- digests, of the unpacked files

static const char *hex_of(struct mnist *mnist, int i)
{
    struct mnist_file *file = &mnist->file[i];
    if (file->hex[0] == '\0') digest_bytes(file->bytes, file->size, file->hex);
    return file->hex;
}

// As source_digest makes it of plain files.
static int mnist_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    struct text lines = {0};
    for (int k = 0, i = 2 * (int)split; k < 2; k++, i++)
        text_add(&lines, "%s  %s\n", hex_of(ds->own, i), mnist_source.file[i].name);
    digest_bytes(lines.at, lines.length, hex);
    text_free(&lines);
    return 0;
}

static int mnist_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    (void)read;  // all was read when the set was opened
    *verdict = DATASET_OFFICIAL;
    for (int i = 0; i < FILES; i++)
        if (strcmp(hex_of(ds->own, i), mnist_source.file[i].sha256) != 0) *verdict = DATASET_CUSTOM;
    return 0;
}

// ---- a picture in characters

int mnist_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    static const char shades[] = " .:-=+*#%@";
    uint8_t pixels[IDX_PICTURE], label;
    TRY(dataset_item(ds, split, "labels", number - 1, &label, 1, NULL));
    TRY(dataset_item(ds, split, "images", number - 1, pixels, sizeof pixels, NULL));
    text_entry(into, "label", "%d", label);
    for (int y = 0; y < IDX_SIDE; y++) {
        char line[2 * IDX_SIDE + 1];
        int n = 0;
        for (int x = 0; x < IDX_SIDE; x++, n += 2) line[n] = line[n + 1] = shades[pixels[y * IDX_SIDE + x] * 9 / 255];
        while (n > 0 && line[n - 1] == ' ') n--;
        line[n] = '\0';
        text_add(into, "%s%s\n", n > 0 ? "  " : "", line);
    }
    return 0;
}

static const struct kind mnist_kind = {
    .name = "mnist", .source = &mnist_source, .published = mnist_published, .open = mnist_open, .close = mnist_close,
    .read = mnist_read, .digest = mnist_digest, .content_digest = mnist_digest, .verify = mnist_verify, .sample = "picture",
    .show = mnist_show,
};
const struct kind *const kinds_mnist[] = {&mnist_kind, &mnist_drawn_kind, NULL};

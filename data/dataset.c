// SPDX-License-Identifier: Apache-2.0
// The front of every data set: which kinds there are, where they are kept, ranges checked before a kind sees them.
//
// Invariant: a kind only ever meets ranges that lie inside a split.
// Cost: nothing beyond the kind's own; large ranges are cut into pieces for the threads.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/noise.h"
#include "data/fetch/source.h"
#include "data/read/synthetic.h"
#include "runtime/base/arena.h"
#include "runtime/base/text.h"

// The list of data sets.
static const struct kind *const kinds[] = {&cifar_kind, &synthetic_kind, NULL};
const char *const dataset_names[] = {"cifar10", "synthetic", NULL};

char *dataset_default_folder(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"DAWN_DATA", ""}, {"XDG_DATA_HOME", "/dawn"}, {"HOME", "/.local/share/dawn"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *value = getenv(places[i].variable);
        if (value == NULL || value[0] == '\0') continue;
        struct text path = {0};
        text_add(&path, "%s%s", value, places[i].below);
        return path.at;
    }
    return NULL;
}

static int dataset_open_kind(const struct kind *kind, const char *folder, struct dataset *ds)
{
    ds->kind = kind;
    ds->facts.name = kind->name;
    if (folder != NULL || kind == &synthetic_kind) return kind->open(ds, folder);
    char *standard = dataset_default_folder();
    if (standard == NULL) {
        return fail(ERR_MISSING, "no folder is known that could hold %s: name it with --data, or set DAWN_DATA",
                    kind->name);
    }
    int rc = kind->open(ds, standard);
    free(standard);
    return rc;
}

static int dataset_find_kind(const char *name, const struct kind **kind)
{
    for (int i = 0; kinds[i] != NULL; i++) {
        *kind = kinds[i];
        if (strcmp(kinds[i]->name, name) == 0) return 0;
    }
    const char *nearest = text_nearest(name, dataset_names);
    if (nearest != NULL) return fail(ERR_USAGE, "there is no data set \"%s\"; did you mean \"%s\"?", name, nearest);
    return fail(ERR_USAGE, "there is no data set \"%s\"; there are cifar10 and synthetic", name);
}

int dataset_open(const char *name, const char *folder, struct dataset **opened)
{
    *opened = NULL;
    const struct kind *kind = NULL;
    TRY(dataset_find_kind(name, &kind));
    struct dataset *ds = zalloc(sizeof *ds);
    int rc = dataset_open_kind(kind, folder, ds);
    if (rc < 0) {
        dataset_close(ds);
        return rc;
    }
    *opened = ds;
    return 0;
}

int dataset_open_noise(const char *name, struct dataset **opened)
{
    *opened = NULL;
    const struct kind *kind = NULL;
    TRY(dataset_find_kind(name, &kind));
    struct dataset *ds = zalloc(sizeof *ds);
    ds->kind = &noise_kind;
    ds->facts.name = kind->name;
    kind->published(&ds->facts);
    ds->facts.synthetic = true;
    *opened = ds;
    return 0;
}

int dataset_open_synthetic(int64_t train, int64_t test, struct dataset **opened)
{
    *opened = NULL;
    if (train < 1 || test < 1 || train > SYNTHETIC_MAX || test > SYNTHETIC_MAX) {
        return fail(ERR_USAGE, "synthetic data needs 1 to %d images in each split, not %lld and %lld", SYNTHETIC_MAX,
                    (long long)train, (long long)test);
    }
    TRY(dataset_open("synthetic", NULL, opened));
    (*opened)->facts.count[SPLIT_TRAIN] = train;
    (*opened)->facts.count[SPLIT_TEST] = test;
    return 0;
}

void dataset_close(struct dataset *ds)
{
    if (ds == NULL) return;
    ds->kind->close(ds);
    free(ds);
}

const struct dataset_facts *dataset_facts(const struct dataset *ds)
{
    return &ds->facts;
}

const char *split_name(enum split split)
{
    return split == SPLIT_TRAIN ? "train" : "test";
}

struct dataset_range {
    struct dataset *ds;
    enum split split;
    int64_t first;
    uint8_t *images, *labels;
};

static int dataset_read_piece(void *context, int64_t begin, int64_t end)
{
    const struct dataset_range *range = context;
    const struct dataset_facts *facts = &range->ds->facts;
    int64_t image = (int64_t)facts->height * facts->width * facts->channels;
    return range->ds->kind->read(range->ds, range->split, range->first + begin, end - begin,
                                 range->images == NULL ? NULL : range->images + begin * image,
                                 range->labels == NULL ? NULL : range->labels + begin);
}

int dataset_read(struct dataset *ds, enum split split, int64_t first, int64_t count, uint8_t *images, uint8_t *labels)
{
    int64_t n = ds->facts.count[split];
    if (first < 0 || count < 0 || first > n || count > n - first) {
        return fail(ERR_USAGE, "%s has %lld %s images: there is no range of %lld from %lld", ds->facts.name,
                    (long long)n, split_name(split), (long long)count, (long long)first);
    }
    if (count == 0) return 0;
    struct dataset_range range = {ds, split, first, images, labels};
    if (count < 256) return dataset_read_piece(&range, 0, count);  // not worth waking threads
    return pieces_for(count, 64, dataset_read_piece, &range);
}

int dataset_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return ds->kind->digest(ds, split, hex);
}

int dataset_content_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return ds->kind->content_digest(ds, split, hex);
}

int dataset_verify(struct dataset *ds, enum dataset_verdict *verdict)
{
    TRY(ds->kind->verify(ds, verdict));
    ds->facts.official = *verdict == DATASET_OFFICIAL || *verdict == DATASET_REORDERED;
    return 0;
}

const char *dataset_verdict_text(enum dataset_verdict verdict)
{
    static const char *const texts[] = {
        [DATASET_OFFICIAL] = "official",
        [DATASET_REORDERED] = "complete, other order",
        [DATASET_CUSTOM] = "custom: not the published images",
        [DATASET_SYNTHETIC] = "synthetic",
    };
    return texts[verdict];
}

void dataset_hex(const uint8_t *bytes, char hex[DIGEST_HEX])
{
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

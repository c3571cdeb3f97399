// SPDX-License-Identifier: Apache-2.0
// The front end of every data set: the table of kinds, their folders, and checks of ranges before a kind sees them.
//
// Invariant: a kind gets only ranges inside a split. Cost: nothing beyond the kind's own; large ranges are cut into pieces
// for the threads.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/kind.h"
#include "data/read/noise.h"
#include "data/read/pictures.h"
#include "data/fetch/source.h"
#include "data/pieces.h"
#include "data/read/synthetic.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

// Drawn data sets that belong to no folder.
static const struct kind *const drawn_kinds[] = {&synthetic_kind, &pictures_kind, NULL};
enum { KINDS_MAX = 64 };

static const struct kind *kind_in(const struct kind *const *list, bool drawn, int *i)
{
    for (; *list != NULL; list++)
        if ((*list)->drawn == drawn && (*i)-- == 0) return *list;
    return NULL;
}

static const struct kind *kind_in_folders(bool drawn, int *i)
{
    const struct kind *kind = NULL;
    for (int f = 0; kind_folders[f] != NULL && kind == NULL; f++) kind = kind_in(kind_folders[f], drawn, i);
    return kind;
}

const struct kind *dataset_kind(int i)
{
    const struct kind *kind = kind_in_folders(false, &i);
    if (kind == NULL) kind = kind_in(drawn_kinds, true, &i);
    return kind != NULL ? kind : kind_in_folders(true, &i);
}

const char *dataset_name(int i)
{
    const struct kind *kind = dataset_kind(i);
    return kind != NULL ? kind->name : NULL;
}

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

// DAWN_DATA may name a data set, where a task takes its data. A folder of that name wins.
static bool names_data_set(const char *standard)
{
    for (int i = 0; dataset_name(i) != NULL; i++)
        if (strcmp(dataset_name(i), standard) == 0) return access(standard, F_OK) != 0;
    return false;
}

static int dataset_open_kind(const struct kind *kind, const char *folder, struct dataset *ds)
{
    ds->kind = kind;
    ds->source = kind->source;
    ds->facts.name = kind->name;
    ds->facts.unfit_seed = -1;
    if (folder != NULL && kind->drawn)
        return fail(ERR_USAGE, "%s is part of the program and is read from no folder: --data %s is too much", kind->name, folder);
    if (folder != NULL || kind->drawn) return kind->open(ds, folder);
    char *standard = dataset_default_folder();
    if (standard == NULL) {
        return fail(ERR_MISSING, "no folder is known that could hold %s: name it with --data, or set DAWN_DATA",
                    kind->name);
    }
    int rc = names_data_set(standard)
                 ? fail(ERR_MISSING, "DAWN_DATA names the data set %s, not a folder that could hold %s: --data names one",
                        standard, kind->name)
                 : kind->open(ds, standard);
    free(standard);
    return rc;
}

static int dataset_find_kind(const char *name, const struct kind **kind)
{
    const char *names[KINDS_MAX + 1] = {NULL};
    for (int i = 0; (*kind = dataset_kind(i)) != NULL; i++) {
        BUG_IF(i == KINDS_MAX);
        names[i] = (*kind)->name;
        if (strcmp(names[i], name) == 0) return 0;
    }
    return fail_unknown(ERR_USAGE, "data set", name, names, NULL);
}

// Defaults for facts that a kind does not set.
static void dataset_complete_facts(struct dataset_facts *facts)
{
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (facts->split_name[s] == NULL) facts->split_name[s] = split_name(s);
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
    dataset_complete_facts(&ds->facts);
    *opened = ds;
    return 0;
}

int dataset_open_noise(const char *name, struct dataset **opened)
{
    *opened = NULL;
    const struct kind *kind = NULL;
    TRY(dataset_find_kind(name, &kind));
    struct dataset *ds = zalloc(sizeof *ds);
    ds->facts.name = kind->name;
    ds->facts.unfit_seed = -1;
    kind->published(&ds->facts);
    ds->kind = dataset_field(ds, "jpeg") != NULL ? &pictures_noise_kind : &noise_kind;
    dataset_complete_facts(&ds->facts);
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
    if (ds->kind->close != NULL) ds->kind->close(ds);
    free(ds);
}

const struct dataset_facts *dataset_facts(const struct dataset *ds)
{
    return &ds->facts;
}

static const struct field *dataset_facts_field(const struct dataset_facts *facts, const char *name)
{
    for (int i = 0; i < facts->fields; i++)
        if (strcmp(facts->field[i].name, name) == 0) return &facts->field[i];
    return NULL;
}

void dataset_samples_text(const struct dataset_facts *facts, struct text *text)
{
    const char *names[DATASET_FIELDS];
    if (facts->height > 0) {
        text_add(text, "images of %d x %d", facts->width, facts->height);
        return;
    }
    if (dataset_facts_field(facts, "jpeg") != NULL) {
        text_add(text, "pictures of many sizes");
        return;
    }
    for (int i = 0; i < facts->fields; i++) names[i] = facts->field[i].name;
    text_add(text, "samples of ");
    text_list(text, names, facts->fields, " and ");
}

const char *split_name(enum split split)
{
    return split == SPLIT_TRAIN ? "train" : "test";
}

// ---- fields

int64_t field_elements(const struct field *field, int64_t length)
{
    struct shape shape = field->shape;
    if (field->ragged != FIELD_FIXED) shape.dim[field->ragged] = length;
    return shape_count(&shape);
}

int64_t field_bytes(const struct field *field, int64_t length)
{
    return field_elements(field, length) * (int64_t)dtype_size(field->dtype);
}

bool kind_field_is(const struct field *field, const char *name)
{
    return strcmp(field->name, name) == 0;
}

void kind_images(struct dataset_facts *facts, int height, int width, int channels, const char *const *class_names)
{
    facts->height = height, facts->width = width, facts->channels = channels;
    facts->class_names = class_names;
    for (facts->classes = 0; class_names[facts->classes] != NULL; facts->classes++) continue;
    facts->field[0] = (struct field){"images", U8, SHAPE(height, width, channels), FIELD_FIXED, 0};
    facts->field[1] = (struct field){"labels", U8, {0}, FIELD_FIXED, facts->classes};
    facts->fields = 2;
}

void kind_known(struct dataset *ds, bool official)
{
    ds->known = true;
    ds->verdict = official ? DATASET_OFFICIAL : DATASET_CUSTOM;
}

void kind_drawn(struct dataset *ds, int version, int seed)
{
    char text[128];
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        int n = snprintf(text, sizeof text, "dawn %s version %d seed %d split %s", ds->kind->name, version, seed, split_name(s));
        digest_bytes(text, (size_t)n, ds->digest[s]);
    }
    kind_known(ds, false);
}

int kind_too_small(struct dataset *ds, enum split split, const struct field *field, int64_t index, int64_t bytes, size_t capacity)
{
    return fail(ERR_USAGE, "%s: %s of %s sample %lld has %lld bytes, and the buffer holds %zu", ds->facts.name, field->name,
                ds->facts.split_name[split], (long long)index, (long long)bytes, capacity);
}

const struct field *dataset_field(const struct dataset *ds, const char *name)
{
    return dataset_facts_field(&ds->facts, name);
}

static int dataset_find_field(const struct dataset *ds, const char *name, const struct field **field)
{
    *field = dataset_field(ds, name);
    if (*field != NULL) return 0;
    const char *names[DATASET_FIELDS];
    for (int i = 0; i < ds->facts.fields; i++) names[i] = ds->facts.field[i].name;
    struct text all = {0};
    text_list(&all, names, ds->facts.fields, " and ");
    int rc = fail(ERR_USAGE, "%s has no field \"%s\"; it has %s", ds->facts.name, name, all.at);
    text_free(&all);
    return rc;
}

static int dataset_check_range(const struct dataset *ds, enum split split, int64_t first, int64_t count)
{
    int64_t n = ds->facts.count[split];
    if (first >= 0 && count >= 0 && first <= n && count <= n - first) return 0;
    return fail(ERR_USAGE, "%s has %lld %s samples: there is no range of %lld from %lld", ds->facts.name, (long long)n,
                ds->facts.split_name[split], (long long)count, (long long)first);
}

struct dataset_range {
    struct dataset *ds;
    enum split split;
    const struct field *field;
    int64_t first, bytes;  // bytes: size of a sample
    char *into;
};

static int dataset_read_piece(void *context, int64_t begin, int64_t end)
{
    const struct dataset_range *range = context;
    return range->ds->kind->read(range->ds, range->split, range->field, range->first + begin, end - begin,
                                 range->into == NULL ? NULL : range->into + begin * range->bytes);
}

int dataset_read(struct dataset *ds, enum split split, const char *name, int64_t first, int64_t count, void *into)
{
    const struct field *field;
    TRY(dataset_find_field(ds, name, &field));
    if (field->ragged != FIELD_FIXED)
        return fail(ERR_USAGE, "%s of %s has samples of different lengths, which are read one by one", name, ds->facts.name);
    TRY(dataset_check_range(ds, split, first, count));
    if (count == 0) return 0;
    struct dataset_range range = {ds, split, field, first, field_bytes(field, 1), into};
    if (count < 256) return dataset_read_piece(&range, 0, count);  // too few samples to wake threads
    return pieces_for(count, 64, dataset_read_piece, &range);
}

int dataset_item(struct dataset *ds, enum split split, const char *name, int64_t index, void *into, size_t capacity,
                 int64_t *length)
{
    const struct field *field;
    TRY(dataset_find_field(ds, name, &field));
    return dataset_item_of(ds, split, field, index, into, capacity, length);
}

int dataset_item_of(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                    int64_t *length)
{
    int64_t found = 1;
    TRY(dataset_check_range(ds, split, index, 1));
    if (field->ragged != FIELD_FIXED) {
        TRY(ds->kind->item(ds, split, field, index, into, capacity, &found));
    } else {
        const int64_t bytes = field_bytes(field, 1);
        if ((size_t)bytes > capacity) return kind_too_small(ds, split, field, index, bytes, capacity);
        TRY(ds->kind->read(ds, split, field, index, 1, into));
    }
    if (length != NULL) *length = found;
    return 0;
}

int dataset_lengths(struct dataset *ds, enum split split, const char *name, int32_t *lengths)
{
    const struct field *field;
    TRY(dataset_find_field(ds, name, &field));
    if (field->ragged != FIELD_FIXED) return ds->kind->lengths(ds, split, field, lengths);
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = 1;
    return 0;
}

void dataset_want(struct dataset *ds, enum split split, const char *name, int64_t first, int64_t count)
{
    const struct field *field = dataset_field(ds, name);
    if (ds->kind->want != NULL && field != NULL && count > 0) ds->kind->want(ds, split, field, first, count);
}

void dataset_sample_name(struct dataset *ds, enum split split, int64_t index, struct text *text)
{
    if (ds->kind->sample_name != NULL) ds->kind->sample_name(ds, split, index, text);
    else text_add(text, "sample %lld", (long long)index);
}

void dataset_sample_path(struct dataset *ds, enum split split, int64_t index, struct text *text)
{
    if (ds->facts.folder != NULL) text_add(text, "%s/", ds->facts.folder);
    dataset_sample_name(ds, split, index, text);
}

int dataset_name_failure(struct dataset *ds, enum split split, int64_t index, int rc)
{
    struct text name = {0};
    if (rc >= 0 || ds->kind->sample_name == NULL) return rc;
    dataset_sample_path(ds, split, index, &name);
    fail(rc, "%.700s (%.300s)", error_text(), name.at);
    text_free(&name);
    return rc;
}

// ---- digests

static int dataset_known_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    memcpy(hex, ds->digest[split], DIGEST_HEX);
    return 0;
}

int dataset_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return (ds->kind->digest != NULL ? ds->kind->digest : ds->known ? dataset_known_digest : source_digest)(ds, split, hex);
}

int dataset_content_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return (ds->kind->content_digest != NULL ? ds->kind->content_digest
            : ds->known                      ? dataset_known_digest
                                             : source_digest)(ds, split, hex);
}

int dataset_layout(struct dataset *ds, char hex[DIGEST_HEX])
{
    if (!ds->laid_out && ds->kind->layout != NULL) TRY(ds->kind->layout(ds, ds->layout));
    ds->laid_out = true;
    memcpy(hex, ds->layout, DIGEST_HEX);
    return 0;
}

static int dataset_judge(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    if (ds->facts.synthetic) *verdict = DATASET_SYNTHETIC;
    else if (ds->known) *verdict = ds->verdict;
    else TRY((ds->kind->verify != NULL ? ds->kind->verify : source_verify)(ds, read, verdict));
    ds->facts.official = *verdict == DATASET_OFFICIAL || *verdict == DATASET_REORDERED;
    return 0;
}

int dataset_verify(struct dataset *ds, enum dataset_verdict *verdict)
{
    return dataset_judge(ds, true, verdict);
}

void dataset_watch(struct dataset *ds, dataset_progress progress, void *context)
{
    ds->progress = progress, ds->listener = context;
}

int dataset_check(struct dataset *ds, enum dataset_verdict *verdict)
{
    return dataset_judge(ds, false, verdict);
}

const char *dataset_verdict_text(enum dataset_verdict verdict)
{
    static const char *const texts[] = {
        [DATASET_OFFICIAL] = "official",
        [DATASET_REORDERED] = "official, other order",
        [DATASET_CUSTOM] = "custom: not the published samples",
        [DATASET_SYNTHETIC] = "synthetic",
    };
    return texts[verdict];
}

// SPDX-License-Identifier: Apache-2.0
// The interface of a kind of data set, and the list of kinds. Only data/ includes this, and tasks that make one set from
// another (tasks/common/step/task.h: view). All other code uses dataset.h.
#pragma once

#include "data/dataset.h"

struct source;
struct text;

struct dataset {
    struct dataset_facts facts;
    const struct kind *kind;
    const struct source *source;  // the kind's
    void *own;                    // the kind's state
    // A kind whose opening reads all bytes sets these instead of digest, content_digest and verify (kind_drawn, kind_known).
    bool known;
    enum dataset_verdict verdict;
    char digest[SPLIT_COUNT][DIGEST_HEX];
    char layout[DIGEST_HEX];      // after the first call of dataset_layout
    dataset_progress progress;    // NULL: nobody watches
    void *listener;
    bool laid_out;
};

struct kind {
    const char *name;
    bool drawn;  // drawn by this program, or part of it: without a folder
    const struct source *source;  // its publication, or its parent set's; NULL: there is none
    const char *elsewhere;        // how people get it if it is not fetched: the end of a sentence; NULL: fetched or drawn
    void (*published)(struct dataset_facts *);  // facts that need no file: shape, counts, classes
    // Fills in facts, source and own. After a failure `close` frees `own`. NULL: such a set is never opened by name.
    int (*open)(struct dataset *, const char *folder);
    void (*close)(struct dataset *);  // NULL: there is nothing to free
    // Reads a piece of a range of a fixed field. The range is inside the split. Several threads call it at once. NULL if the kind
    // has no such field.
    int (*read)(struct dataset *, enum split, const struct field *, int64_t first, int64_t count, void *into);
    // For ragged fields; NULL if the kind has none. `into` holds `capacity` bytes; a longer sample is an error
    // (kind_too_small).
    int (*item)(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
                int64_t *length);
    int (*lengths)(struct dataset *, enum split, const struct field *, int32_t *);
    // Adds the name of a sample; NULL: samples have only numbers.
    void (*sample_name)(struct dataset *, enum split, int64_t index, struct text *);
    // Starts reading samples that will be needed soon into the page cache and returns. NULL: no use.
    void (*want)(struct dataset *, enum split, const struct field *, int64_t first, int64_t count);
    // All three may be NULL in a kind whose `source` lists its files with their SHA-256 (source_digest, source_verify), or that
    // sets dataset.known. A set that is drawn needs no `verify`.
    int (*digest)(struct dataset *, enum split, char hex[DIGEST_HEX]);
    int (*content_digest)(struct dataset *, enum split, char hex[DIGEST_HEX]);
    // A digest that differs between copies with the same content whose batches would differ; NULL: there are none.
    int (*layout)(struct dataset *, char hex[DIGEST_HEX]);
    // `read`: read all bytes even if digests are remembered. Sets facts.remembered if there are files.
    int (*verify)(struct dataset *, bool read, enum dataset_verdict *);
    // "dawn data show NAME N": sample `number`, from 1, as lines of text; NULL: images, of which a sheet is drawn. `sample` is
    // the noun: "question". `draw` draws it, too, as a PNG; `whole` writes the split as COCO's truth where no number is given.
    // NULL: samples are not drawn, and a number is needed. `remark` adds lines about a split to "dawn data verify"; NULL: there
    // are none.
    const char *sample;
    int (*show)(struct dataset *, enum split, int64_t number, struct text *);
    int (*draw)(struct dataset *, enum split, int64_t number, const char *path);
    int (*whole)(struct dataset *, enum split, const char *path);
    void (*remark)(struct dataset *, enum split, struct text *);
};

// The kinds of each folder of data/read, a list that ends with NULL; the Makefile finds them (kinds_FOLDER) and makes the table,
// which ends with NULL, too.
extern const struct kind *const *const kind_folders[];
extern const struct kind cifar_kind, imagenet_kind, imagenette_kind, squad_kind, squad_split_kind;
extern const struct kind multi30k_kind, multi30k_val_kind, wmt16_kind, wmt17_kind;
extern const struct kind wiki_sample_kind, wiki_kind;
extern const struct kind synthetic_kind, pictures_kind, stories_kind, phrases_kind, articles_kind;  // drawn
extern const struct kind cells_kind, people_kind, chords_kind;  // drawn
extern const struct kind pennfudan_kind, librispeech_100_kind, librispeech_kind;
extern const struct source cifar10_source, imagenette_source, squad_source, multi30k_source, wiki_sample_source;
const struct kind *dataset_kind(int i);  // first those that people get from elsewhere; NULL after the last

// Sets the fields "images" and "labels" of a set of images, and the members that describe them.
void kind_images(struct dataset_facts *, int height, int width, int channels, const char *const *class_names);
bool kind_field_is(const struct field *, const char *name);
// Sets the digests of a drawn set, which have the version and the seed of its procedure.
void kind_drawn(struct dataset *, int version, int seed);
void kind_known(struct dataset *, bool official);
int kind_too_small(struct dataset *, enum split, const struct field *, int64_t index, int64_t bytes, size_t capacity) MUST_CHECK;

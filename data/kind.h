// SPDX-License-Identifier: Apache-2.0
// The interface of a kind of data set, and the list of kinds. Only data/ includes this, and tasks that make a
// set from another one (tasks/step/task.h: view). All others use dataset.h.
#ifndef DAWN_DATA_KIND_H
#define DAWN_DATA_KIND_H

#include "data/dataset.h"

struct source;
struct text;

struct dataset {
    struct dataset_facts facts;
    const struct kind *kind;
    const struct source *source;  // where it was published; NULL for synthetic data
    void *own;                    // the kind's state
};

struct kind {
    const char *name;
    bool drawn;  // by this program: there is no folder
    void (*published)(struct dataset_facts *);  // facts that need no file: shape, counts, classes
    // Fills facts, source and own. After a failure `close` ends whatever is in `own`.
    int (*open)(struct dataset *, const char *folder);
    void (*close)(struct dataset *);
    // One piece of a range of a fixed field, known to be inside the split; called from several threads at once.
    int (*read)(struct dataset *, enum split, const struct field *, int64_t first, int64_t count, void *into);
    // Of ragged fields; NULL where a kind has none. `into` has room for `room` bytes: more is an error (kind_no_room).
    int (*item)(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t room,
                int64_t *length);
    int (*lengths)(struct dataset *, enum split, const struct field *, int32_t *);
    // Adds what a sample is called; NULL: samples have numbers alone.
    void (*sample_name)(struct dataset *, enum split, int64_t index, struct text *);
    // Samples that will be read soon: starts reading them into the page cache and returns. NULL: no use.
    void (*want)(struct dataset *, enum split, const struct field *, int64_t first, int64_t count);
    int (*digest)(struct dataset *, enum split, char hex[DIGEST_HEX]);
    int (*content_digest)(struct dataset *, enum split, char hex[DIGEST_HEX]);
    // Tells copies with the same content apart that would not give the same batches; NULL: there are none.
    int (*layout)(struct dataset *, char hex[DIGEST_HEX]);
    // `read`: read all bytes even if digests are remembered. Sets facts.remembered and facts.read_ms if there are files.
    int (*verify)(struct dataset *, bool read, enum dataset_verdict *);
};

extern const struct kind cifar_kind, imagenet_kind, imagenette_kind, squad_kind, squad_split_kind;
extern const struct kind synthetic_kind, pictures_kind, stories_kind;  // drawn

// Sets the fields "images" and "labels" of a set of images, and the conveniences that go with them.
void kind_images(struct dataset_facts *, int height, int width, int channels, const char *const *class_names);
bool kind_field_is(const struct field *, const char *name);
int kind_no_room(struct dataset *, enum split, const struct field *, int64_t index, int64_t bytes, size_t room) MUST_CHECK;

void dataset_hex(const uint8_t *bytes, char hex[DIGEST_HEX]);  // 32 bytes

// threads_for with calls that can fail: the sentence of the lowest piece that failed reaches the caller's thread.
int pieces_for(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end),
               void *context) MUST_CHECK;

// As pieces_for, on threads of its own: for work concurrent with another thread's, where a second team of the pool would compete
// for the cores. Each thread takes the next piece of `grain`.
int crew_for(int64_t n, int64_t grain, int (*fn)(void *context, int64_t begin, int64_t end), void *context) MUST_CHECK;

#endif

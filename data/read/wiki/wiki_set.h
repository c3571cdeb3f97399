// SPDX-License-Identifier: Apache-2.0
// Articles in memory as a data set, whatever filled it. Only this folder includes this.
#ifndef DAWN_DATA_WIKI_SET_H
#define DAWN_DATA_WIKI_SET_H

#include "data/kind.h"
#include "data/read/wiki/wiki.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

struct wiki_set {
    char *folder;
    struct wiki_articles split[SPLIT_COUNT];
    char digest[SPLIT_COUNT][DIGEST_HEX];  // of a kind that has its own
    bool changed;                          // another file than a published one
};

void wiki_fields(struct dataset_facts *, int64_t longest);  // in bytes
// Sets counts and fields. Refuses a split of one article: a sentence of another one could not be drawn.
int wiki_filled(struct dataset *) MUST_CHECK;

// Members of struct kind.
void wiki_close(struct dataset *);
int wiki_read(struct dataset *, enum split, const struct field *, int64_t first, int64_t count, void *into) MUST_CHECK;
int wiki_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t room,
              int64_t *length) MUST_CHECK;
int wiki_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
int wiki_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;

#endif

// SPDX-License-Identifier: Apache-2.0
// Articles in memory as a data set, from any source. Private to this folder.
#pragma once

#include "data/kind.h"
#include "data/read/wiki/wiki.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

struct wiki_set {
    char *folder;
    struct wiki_articles split[SPLIT_COUNT];
};

void wiki_fields(struct dataset_facts *, int64_t longest);  // in bytes
// Sets counts and fields. Refuses a split of one article: a sentence of another one could not be drawn.
int wiki_filled(struct dataset *) MUST_CHECK;

// Members of struct kind.
void wiki_close(struct dataset *);
int wiki_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
              int64_t *length) MUST_CHECK;
int wiki_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
int wiki_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;

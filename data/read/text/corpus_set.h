// SPDX-License-Identifier: Apache-2.0
// What the kinds of this folder share: struct dataset.own begins with a struct corpus. Only this folder includes this.
#pragma once

#include "data/kind.h"
#include "data/read/text/corpus.h"

struct corpus {
    int64_t block, length[SPLIT_COUNT];
    int (*read)(const struct corpus *, enum split, int64_t first, int64_t count, int32_t *into);
    struct corpus_symbols symbols;      // count 0: tokens are no characters
    char *text, *folder;                // both splits, the training first
};

void corpus_fields(struct dataset_facts *, int64_t block, int tokens);  // `tokens`: different ones
int64_t corpus_blocks(int64_t length, int64_t block);
// Takes a text, which corpus_close frees even after a failure: its first `train` characters are for training. Sets facts.
int corpus_take(struct dataset *, const char *name, char *text, size_t n, size_t train) MUST_CHECK;
int corpus_check(struct dataset *, const char *name) MUST_CHECK;  // counts blocks; refuses a split that has not even one

extern const struct kind shakespeare_kind, lines_kind, fineweb_kind;

// Members of struct kind.
void corpus_close(struct dataset *);
int corpus_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
                int64_t *length) MUST_CHECK;
int corpus_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
int corpus_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;
int corpus_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;  // of the characters

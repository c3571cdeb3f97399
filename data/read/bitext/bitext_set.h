// SPDX-License-Identifier: Apache-2.0
// Parallel text in memory as the fields of a data set, from any source. Only this folder includes this.
#pragma once

#include "data/kind.h"
#include "data/read/bitext/bitext.h"
#include "runtime/common/base/arena.h"

struct bitext_set {
    char *folder, *subtokens;            // subtokens: the file of their vocabulary; NULL: there is none
    struct bitext_file {
        char *name, *text;               // name: its path, or what people call it
        struct bitext_lines lines;
    } file[SPLIT_COUNT][BITEXT_SIDES];
};

void bitext_fields(struct dataset_facts *, int64_t longest);  // in bytes
// Takes the text of a file, which it frees with the set, even after a failure.
int bitext_take(struct bitext_file *, const char *name, char *text, size_t n) MUST_CHECK;
// Refuses files with different numbers of lines.
int bitext_match(const struct bitext_lines *, const struct bitext_lines *, const char *source, const char *target) MUST_CHECK;
// Sets counts and fields. `source` and `target` name the files of the split, unless they have names.
int bitext_pair(struct dataset *, enum split, const char *source, const char *target) MUST_CHECK;

// Members of struct kind.
void bitext_close(struct dataset *);
int bitext_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
                int64_t *length) MUST_CHECK;
int bitext_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
int bitext_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;

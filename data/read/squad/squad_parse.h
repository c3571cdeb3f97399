// SPDX-License-Identifier: Apache-2.0
// The parser of SQuAD's JSON, and the parts shared by its kinds. Only this folder and its tests include this.
#pragma once

#include "data/read/squad/squad_kind.h"

enum { SQUAD_BYTES = 128 << 20, SQUAD_QUESTIONS = 4 << 20, SQUAD_ANSWERS = 1024 /* of a question */ };

struct text;

// Pure. Texts and tables go into the arena. Errors name the file, the article, the paragraph and the question.
int squad_parse(const char *name, const char *bytes, size_t count, struct arena *, struct squad *) MUST_CHECK;

// The state of a data set of questions, filled by squad_kind.c or stories.c.
struct squad_set {
    struct arena arena;
    struct squad split[SPLIT_COUNT];
    char *folder;
};

void squad_fields(struct dataset_facts *, int64_t context, int64_t question);  // sets the longest lengths in bytes
void squad_fill_facts(struct dataset *);  // sets counts and fields from the contents
void squad_close(struct dataset *);
int squad_read(struct dataset *, enum split, const struct field *, int64_t first, int64_t count, void *into) MUST_CHECK;
int squad_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
               int64_t *length) MUST_CHECK;
int squad_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
int squad_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;
void squad_remark(struct dataset *, enum split, struct text *);
#define SQUAD_KIND                                                                                                            \
    .close = squad_close, .read = squad_read, .item = squad_item, .lengths = squad_lengths, .sample = "question",             \
    .show = squad_show, .remark = squad_remark

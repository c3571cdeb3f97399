// SPDX-License-Identifier: Apache-2.0
// Answers to the questions of SQuAD in the form that its published evaluation takes: {"ID": "TEXT", ...}.
#pragma once

#include "tasks/squad/evaluate.h"

enum { PREDICTIONS_BYTES = 256 << 20 };

struct predictions;
// Pure; `name` names the file in errors, which also name the id. Two texts for one id are an error.
int predictions_parse(const char *name, const char *bytes, size_t count, struct predictions **) MUST_CHECK;
int predictions_open(const char *path, struct predictions **) MUST_CHECK;
void predictions_free(struct predictions *);  // NULL is fine

int64_t predictions_count(const struct predictions *);
const char *predictions_of(const struct predictions *, const char *id);  // NULL: no prediction

// Scores all questions of a split in the order of the file.
struct evaluate_total predictions_score(const struct predictions *, const struct squad *);
// The member of the task's judge: reads both files and adds their scores.
int predictions_evaluate(const char *truth, const char *answers, bool json, struct text *) MUST_CHECK;

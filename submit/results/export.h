// SPDX-License-Identifier: Apache-2.0
// Exports the record to other programs' formats. Figures stay exact: integers in JSON and CSV; in DAWNBench's files decimal
// fractions with no more digits than were measured.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/results/record.h"

// All runs with their points, groups and latencies, or the one run `id` (0: all).
int export_json(struct results *, int64_t id, struct text *into) MUST_CHECK;
// One table with a header line; `id` 0: all runs. Writes nothing for a table that the file's format lacks.
int export_csv(struct results *, const char *table, int64_t id, struct text *into) MUST_CHECK;
// Rows of groups, each with its figures (group_text_json); `id` 0: all groups.
int export_groups(struct results *, int64_t id, json_t **rows) MUST_CHECK;
// Any rows as CSV: these members of each, after a header line. `names` ends with NULL.
void export_rows(const json_t *rows, const char *const names[], struct text *into);
extern const char *const export_tables[];  // NULL-terminated; the first is "runs"

// DAWNBench's files below `folder`: CIFAR10/train/STEM.json and .tsv, and CIFAR10/inference/STEM.json for each eligible
// latency of the run. Refuses runs on synthetic data, runs without an evaluation, and runs on unpublished data (unless an
// outside program chose the data). `written` (may be NULL) gets one line per file.
struct export_entry {
    const char *author, *code_url;  // NULL: empty
};
int export_dawnbench(struct results *, int64_t id, const char *folder, const struct export_entry *,
                     struct text *written) MUST_CHECK;

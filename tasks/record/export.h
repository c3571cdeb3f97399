// SPDX-License-Identifier: Apache-2.0
// The record in other programs' formats. Figures are passed on exactly: integers in JSON and CSV; in DAWNBench's
// files, decimal fractions that never say more than was measured.
#ifndef DAWN_TASKS_EXPORT_H
#define DAWN_TASKS_EXPORT_H

#include "runtime/base/text.h"
#include "tasks/record/record.h"

// All runs with all that belongs to them, groups and latencies; or the one run `id` (0: all).
int export_json(struct results *, int64_t id, struct text *into) MUST_CHECK;
// One table with a header line; `id` 0: all runs. Nothing at all for a table that the file's format does not have.
int export_csv(struct results *, const char *table, int64_t id, struct text *into) MUST_CHECK;
extern const char *const export_tables[];  // NULL-terminated; the first is "runs"

// DAWNBench's files below `folder`: CIFAR10/train/STEM.json and .tsv, and CIFAR10/inference/STEM.json for each
// eligible latency of the run. Refuses runs on synthetic data, on other data than the published (unless an outside
// program chose them) and without an evaluation. `written` (may be NULL) gets a line a file.
struct export_entry {
    const char *author, *code_url;  // NULL: left empty
};
int export_dawnbench(struct results *, int64_t id, const char *folder, const struct export_entry *,
                     struct text *written) MUST_CHECK;

#endif

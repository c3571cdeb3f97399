// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the files of the report: the data that were read, and the parts of the report.
#pragma once

#include "tasks/tools/report/report.h"

// Measurements that differ in the batch only, ordered by batch. Of equal batches the last is kept.
struct report_group {
    const json_t **row;  // rows of `benches`
    int rows;
};
struct report_data {
    json_t *runs;                          // as record_read returns them, with `broken`, its first fault, if a chain is broken
    int64_t all_runs;                      // of the record; `runs` has the newest
    json_t *benches, *memory, *operators;  // rows
    json_t *scalings, *reductions;         // of --scaling: rows
    json_t *machines, *software;
    struct sheet groups_of_runs;
    struct report_group *group;
    int groups;
    struct text pictures, answers;  // as HTML
};

// Adds the setting that a group measured: "record, bf16, cpu with 2 threads".
void report_group_name(const struct report_group *, struct text *into);

// ---- report_tables.c
void report_runs(const struct report_data *, struct sheet *);
void report_throughput(const struct report_group *, struct sheet *);
void report_all_throughput(const struct report_data *, struct sheet *);  // all groups in one table
void report_lines(const struct report_group *, struct sheet *);          // the fitted lines; no row for steps without one
void report_machines(const struct report_data *, struct sheet *);
void report_software(const struct report_data *, struct sheet *);

// ---- report_scaling.c
void report_scaling(const struct report_data *, size_t *at, struct sheet *);  // the command at row *at; moves behind it
void report_predictions(const struct report_data *, size_t at, struct sheet *);
void report_add_scaling_rows(const struct report_data *, struct sheet *);     // of all commands, to report_all_throughput's table

// ---- report_charts.c
void report_curves(const struct report_data *, const char *task, struct text *into);
void report_group_charts(const struct report_data *, int group, struct text *into);

// ---- report_answers.c
void report_answers(struct results *, const struct report_data *, struct text *html);

// ---- report_pictures.c
int report_add_picture(const char *path, struct text *html) MUST_CHECK;
// Adds SVG, PNG or JPEG. False, and nothing added: the bytes are something else.
bool report_put_picture(const char *caption, const char *bytes, size_t count, struct text *html);

// SPDX-License-Identifier: Apache-2.0
// What the files of the report share: everything that was read, and the pieces that it is made of.
#ifndef DAWN_REPORT_INSIDE_H
#define DAWN_REPORT_INSIDE_H

#include "tasks/report/report.h"
#include "tasks/report/sheet.h"

// Measurements that differ in the batch alone, in its order; of equal ones the last.
struct report_group {
    const json_t **row;  // of `benches`
    int rows;
};
struct report_data {
    json_t *runs;                          // as record_read gives them
    json_t *benches, *memory, *operators;  // rows
    json_t *machines, *software;
    struct report_group *group;
    int groups;
};

// "record, bf16, cpu with 2 threads": what a group measured.
void report_group_name(const struct report_group *, struct text *into);

// ---- report_tables.c
void report_runs(const struct report_data *, struct sheet *);
void report_throughput(const struct report_group *, struct sheet *);
void report_all_throughput(const struct report_data *, struct sheet *);  // of all groups, in one table
void report_lines(const struct report_group *, struct sheet *);          // the fits; no row if there is one batch
void report_machines(const struct report_data *, struct sheet *);
void report_software(const struct report_data *, struct sheet *);

// ---- report_charts.c
void report_curves(const struct report_data *, const char *task, struct text *into);
void report_group_charts(const struct report_data *, int group, struct text *into);

#endif

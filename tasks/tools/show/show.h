// SPDX-License-Identifier: Apache-2.0
// Texts of a record in 80 columns. tasks/tools/show/cmd_results.c prints them.
#pragma once

#include "tasks/tools/show/plain.h"
#include "tasks/tools/show/sheet.h"

int show_run(struct results *, int64_t id, const struct plain_style *, struct text *into) MUST_CHECK;
// The facts of a run as rows of a label and a value, for the page in a terminal and for documents; sheet_free ends them.
void show_facts(const json_t *run, bool unicode, struct sheet *);
void show_machine(const json_t *run, struct sheet *);
void show_digests(const json_t *run, struct sheet *);
void show_clocks(const json_t *run, struct sheet *);  // rows of a clock, to the target, to the last evaluation
int show_group(struct results *, int64_t group, const struct plain_style *, struct text *into) MUST_CHECK;
void show_latencies(struct text *, const json_t *rows, const struct plain_style *, const char *title);
char *show_epochs(const json_t *run, char into[TEXT_FIGURE]);  // epochs of its whole schedule: "10.5"; "" if unknown

// Selects the runs of a list. NULL selects all; group 0 or less: all groups.
struct show_filter {
    const char *task, *status, *model, *tag;
    int64_t group, seed;  // seed negative: all
    const char *sort;     // one of show_orders, which ends with NULL; NULL: by number
    int64_t limit;        // 0: none
    bool groups;          // lists groups with their figures instead of runs
};
extern const struct show_filter show_everything;
extern const char *const show_orders[];
int show_list(struct results *, const struct show_filter *, const struct plain_style *, struct text *into) MUST_CHECK;
// The same runs for programs: an array of objects, or lines of CSV.
int show_list_json(struct results *, const struct show_filter *, struct text *into) MUST_CHECK;
int show_list_csv(struct results *, const struct show_filter *, struct text *into) MUST_CHECK;

// Whole schedules on real data as rows of submit/format/score/references.json, one per line; `id` 0: of all runs. Runs that were
// changed since their training are left out.
int show_reference(struct results *, int64_t id, struct text *into) MUST_CHECK;
// Adds why a run, as record_read gives it, is better than reference runs of its recipe make believable. False: it is not.
bool show_better(const json_t *run, struct text *into);

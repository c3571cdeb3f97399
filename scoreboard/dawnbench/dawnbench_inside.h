// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the DAWNBench import.
#pragma once

#include <jansson.h>

#include "scoreboard/dawnbench/dawnbench.h"

enum { DAWNBENCH_FILE = 1 << 20, DAWNBENCH_STEM = 200, DAWNBENCH_WORDS = 400 };

// ---- dawnbench.c
struct dawnbench_entry *dawnbench_new(void);  // without a figure
int dawnbench_date(const char *date) MUST_CHECK;  // fails unless it is a day as YYYY-MM-DD

// ---- dawnbench_clean.c: text that may be kept and shown
// Copies without e-mail addresses; true if there was one. `at` is UTF-8. A second call changes nothing.
bool dawnbench_drop_mail(const char *at, size_t count, struct text *into);
// The same inside every string and key of a valid JSON text. Other bytes stay unchanged.
bool dawnbench_drop_mail_json(const char *at, size_t count, struct text *into);
enum {
    DAWNBENCH_PADDED = 1,     // blanks before or behind
    DAWNBENCH_WIDE = 2,       // full-width commas or spaces
    DAWNBENCH_UNSHOWN = 4,    // characters that must not be shown to people
};
// Text for one cell of a page, without those characters. `flags` gets the kinds found.
char *dawnbench_words(struct arena *, const char *text, int *flags);
// Makes any bytes safe for one line of a terminal: control characters become "?".
void dawnbench_line(const char *bytes, struct text *into);
int dawnbench_devices(const char *hardware);

// ---- dawnbench_log.c: the TSV of a training. `e` has contest, source and arena; fills points and reports quirks.
int dawnbench_log(struct dawnbench_entry *, const char *tsv, size_t count) MUST_CHECK;
// True if scores up to `highest` are in the other unit (82.5 for a share, 0.825 for points of 100).
bool dawnbench_other_unit(const struct contest *, double highest);
double dawnbench_in_unit(const struct contest *, double score);  // such a score in the contest's unit
bool dawnbench_whole(const struct contest *, double score);      // true if it is k of N, or if the metric is no count
double dawnbench_goal(const struct contest *, int target);       // in the contest's unit

// ---- dawnbench_quirk.c
// Adds "json: sentence" or "tsv: sentence" to the quirks.
void dawnbench_quirk(struct dawnbench_entry *, const char *file, const char *format, ...) __attribute__((format(printf, 3, 4)));

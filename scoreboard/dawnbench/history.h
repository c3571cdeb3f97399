// SPDX-License-Identifier: Apache-2.0
// The published history of a race (modded-nanogpt, airbench): reference rows that an operator imports. They are shown as
// imported, never as checked; nothing in them was signed, and their clocks may be other ones.
//
// The file is UTF-8 in lines of cells between tabs. Lines that begin with "#" are comments. The first other line names the
// columns, in any order: task, date (YYYY-MM-DD), seconds, score (0.9401, or 38.76 for BLEU), author, hardware, model, framework,
// link and note; task, date, seconds and score are needed. Each line after it is a row. E-mail addresses are not kept.
#ifndef DAWN_SCOREBOARD_HISTORY_H
#define DAWN_SCOREBOARD_HISTORY_H

#include "scoreboard/dawnbench/dawnbench.h"

enum { HISTORY_ROWS = 10000 };
// A row is an entry with `history` set, and with names and row as its tsv, which is a history of one row. Its stem is NAME-DATE,
// and NAME-DATE-2 for the second row of a task on this day. Pure; errors name the line. Nothing is left to free after a failure.
int history_read(const char *name, const char *bytes, size_t count, struct dawnbench_archive *) MUST_CHECK;
// The entry of such a tsv again.
int history_row(const char *stem, const char *tsv, struct dawnbench_entry **) MUST_CHECK;

#endif

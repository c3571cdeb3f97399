// SPDX-License-Identifier: Apache-2.0
// DAWNBench's files: TASK/train/STEM.json with STEM.tsv, TASK/inference/STEM.json. The pure parsers accept every
// irregularity of the historic archive and report it; a refusal names its reason. The export (board_export.h) writes files that
// can be imported again without loss.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "submit/format/score/contest.h"

struct dawnbench_point {
    double epoch, hours, score;  // score in the file's unit (percent, or a share for SQuAD); epochs may be fractions
};
struct dawnbench_entry {
    struct arena arena;            // owns all that follows
    const struct contest *contest;
    bool training, history;        // history: a row of a published history (below), timed to its one point
    const char *stem, *source;     // source: "CIFAR10/train/STEM"; of a history "CIFAR10/history/STEM"
    const char *author, *framework, *model, *hardware, *code_url, *date;  // cleaned: e-mails dropped, blanks trimmed; never NULL
    const char *note;              // of a history
    double cost_per_hour;          // negative: not given
    double latency_ms, cost_per_item;  // inference; negative: not given
    double score;                  // inference: the file's, as a share 0 to 1; negative: not given
    struct dawnbench_point *points;
    int point_count;
    const char *json, *tsv;        // the original bytes without e-mail addresses; tsv "" for inference
    struct text quirks;            // one per line; freed by dawnbench_free
    // Derived, for each of the contest's targets (same index):
    double seconds[CONTEST_TARGETS];       // hours x 3600 of the first row, in file order, that meets the target; negative: none
    double accuracy[CONTEST_TARGETS];      // share, at that row; inference: the score, if it meets; negative: not met
    int devices;                   // parsed from the hardware text if it is clear; 0: unknown
};
// `json` and `tsv` (NULL for inference) are a file's bytes.
int dawnbench_read(const struct contest *, bool training, const char *stem, const char *json, size_t json_count, const char *tsv,
                   size_t tsv_count, struct dawnbench_entry **) MUST_CHECK;
void dawnbench_free(struct dawnbench_entry *);
const char *dawnbench_kind(const struct dawnbench_entry *);  // "train", "inference" or "history"
bool dawnbench_stem(const char *stem);  // valid in a file's name and an address

// Reads a whole archive. Calls `said` with one line per quirk ("CIFAR10/train/a.tsv: ...") and per refused file. A refused file
// is no error; an unreadable folder is one.
struct dawnbench_archive {
    struct dawnbench_entry **at;
    int count, refused;
};
void dawnbench_archive_free(struct dawnbench_archive *);
int dawnbench_folder(const char *folder, int (*said)(void *, const char *line), void *, struct dawnbench_archive *) MUST_CHECK;

// ---- dawnbench_history.c
// The published history of a race (modded-nanogpt, airbench): reference rows that an operator imports. They are shown as
// imported, never as checked; nothing in them was signed, and their clocks may be other ones.
//
// The file is UTF-8 in lines of cells between tabs. Lines that begin with "#" are comments. The first other line names the
// columns, in any order: task, date (YYYY-MM-DD), seconds, score (0.9401, or 38.76 for BLEU), author, hardware, model, framework,
// link and note; task, date, seconds and score are needed. Each line after it is a row. E-mail addresses are not kept.
enum { HISTORY_ROWS = 10000 };
// A row is an entry with `history` set, and with names and row as its tsv, which is a history of one row. Its stem is NAME-DATE,
// and NAME-DATE-2 for the second row of a task on this day. Pure; errors name the line. Nothing is left to free after a failure.
int history_read(const char *name, const char *bytes, size_t count, struct dawnbench_archive *) MUST_CHECK;
// The entry of such a tsv again.
int history_row(const char *stem, const char *tsv, struct dawnbench_entry **) MUST_CHECK;

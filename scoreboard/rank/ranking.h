// SPDX-License-Identifier: Apache-2.0
// Turns statements into rows of boards: docs/rules.md as code. Pure functions of statements, so rankings can be rebuilt from
// the log and compared (store_check).
#pragma once

#include "scoreboard/rank/board.h"
#include "submit/format/score/group.h"
#include "submit/format/statement.h"

struct ranked {
    enum board board;
    enum rank rank;
    struct entry entry;  // without id, board, order and rank; texts in the arena
    bool stated;         // of a board of costs: by a price of its author's own, not by one of the table
};
// Both return the number of rows, at most one per board. The store adds facts that are not in the statement: id, place, trust,
// flags, sequence, server time and source. It also adds team, address of the code and tags, which may have been amended. A run
// that missed its target, failed or was interrupted has no row. The caller leaves out withdrawn and superseded runs.
// `target_micro`: one of the contest's, at most the run's own (SQuAD's 0.73 besides its 0.75); the demonstration has one alone.
int ranking_of_run(const struct statement *, int64_t target_micro, struct arena *, struct ranked rows[BOARDS]);
// `runs`: the counting runs of a group of `planned` runs, by index. It makes rows only if the group is official (group.h), and
// `facts` always.
int ranking_of_group(const struct statement *const *runs, int count, int planned, struct arena *, struct group_facts *facts,
                     struct ranked rows[BOARDS]);
// The same at another target.
int ranking_of_group_at(const struct statement *const *runs, int count, int planned, int64_t target_micro, struct arena *,
                        struct group_facts *facts, struct ranked rows[BOARDS]);
// The part of a run that a group's rank and page need: without the recipe, and of points, segments and latencies only the last
// point, the last evaluation, the last segment and the best latencies. Some KB for any run; json_decref ends it.
json_t *ranking_brief(const json_t *run);
// SHA-256 over the facts of a run that a reproduction shares: task, recipe, seed, binary, data and the points (epoch, samples, k,
// loss; no times).
int ranking_curve(const struct statement *, char hex[DIGEST_HEX]) MUST_CHECK;
// The same over the task and the figures of the first point alone. What another program, recipe or seed is said to have computed
// has the same one, if the figures were taken over.
int ranking_opening(const json_t *run, char hex[DIGEST_HEX]) MUST_CHECK;
// "2 x NVIDIA H200", "AMD EPYC 9R14, 2 threads": what a run or a latency computed on, as boards and pages show it.
const char *ranking_hardware(const json_t *of, struct arena *);
// The machine of such a text, with any number of devices or threads: "NVIDIA H200". Its word in addresses is
// "nvidia-h200". A name with other characters than letters, digits and single blanks has a hash behind its letters, so that two
// names share a word only if nothing but the case of letters differs. All return `into`.
enum { RANKING_MACHINE = 80, RANKING_MACHINE_NAME = 200 };
char *ranking_machine_name(const char *hardware, char into[RANKING_MACHINE_NAME]);
char *ranking_machine(const char *hardware, char into[RANKING_MACHINE]);
char *ranking_machine_plain(const char *hardware, char into[RANKING_MACHINE]);  // without that hash, as the record has it
const struct contest *ranking_contest(const json_t *run);  // NULL: there is none

// True if a target is harder than another, by the direction of the run's first metric.
bool ranking_is_harder(const json_t *run, int64_t target_micro, int64_t than_micro);

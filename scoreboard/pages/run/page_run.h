// SPDX-License-Identifier: Apache-2.0
// A statement as pages show it: its stored facts and its parsed payload.
#pragma once

#include "runtime/common/draw/chart.h"
#include "scoreboard/pages/page.h"
#include "submit/format/check/check.h"
#include "submit/format/score/curve.h"
#include "submit/format/score/replay.h"

struct shown {
    struct stored stored;
    struct statement statement;  // statement_free() ends it
    const struct contest *contest;  // of a run: the demonstration's if it is synthetic; NULL for other types
    const struct contest *measured;  // whose metric its scores have: the task's own, also if the data are synthetic
    struct run_metric metrics[RUN_METRICS_MAX];  // of a run; the first is the board's
    int metric_count;
};
int shown_read(struct page *, const char *id, struct shown *) MUST_CHECK;
void shown_fill(struct shown *);  // contest and metrics, from the statement of a run
int64_t shown_int(const struct shown *, const char *path);
const char *shown_text(const struct shown *, const char *path);
int64_t shown_whole_ns(const struct shown *);          // end-to-end to the last evaluation, as groups count it; 0: none
double shown_last(const struct shown *);               // score of the last evaluation: k / N or a value; NAN: none
bool shown_reached(const struct shown *);
const char *shown_hardware(struct page *, const struct shown *);
// The evaluated points as seconds and scores; returns how many.
int shown_curve(struct page *, const struct shown *, struct chart_point **);
int shown_losses(struct page *, const struct shown *, struct chart_point **);  // the same of training losses
double shown_target(const struct shown *);             // in the curve's unit
double shown_ranked_cost(const struct shown *);        // USD: the classic clock x price; negative: not known
// Scores in charts: percent, others as they are.
double shown_score(const struct contest *, double score);
struct chart_axis shown_axis(const struct contest *);
struct chart_axis shown_loss_axis(void);
const char *shown_where(struct page *, const struct shown *);     // "one thread of AMD EPYC", "8 x NVIDIA H200"
const char *shown_sentence(struct page *, const struct shown *);  // "94% in 13.08 s on one thread of AMD EPYC"
// Begins the page of a run, or of a group by one of its runs: a sentence with the result, then "MODEL by AUTHOR (run 3)" for the
// name "run 3".
void shown_begin(struct page *, const struct shown *, const char *sentence, const char *name, const char *about);

// The curve of several runs as one: at each common point the means, the lowest and the highest of time and score, or of loss if
// a run was evaluated only once. Returns the number of points; 0 if the runs have no two points in common.
struct band {
    struct chart_point *at;
    int count, runs;
    bool is_loss;
};
int band_read(struct page *, const struct stored *runs, int count, struct band *) MUST_CHECK;  // page_group_curve.c

// Replays: a run that says it repeats another. Both pages show the other and how the figures compare (page_replay.c).
struct replay_line {
    struct stored stored;  // the other run
    enum replay_verdict verdict;
    bool group, copy;      // the interval is of a group; both took equally long at each point
    const char *differs;
};
struct replays {
    const char *of;        // last hash of the run that this one says it repeats; ""
    bool known;            // that run is on this board
    struct replay_line original, *at;
    int count, unheard;    // unheard: of people without standing, who do not agree
};
int replays_read(struct page *, const struct shown *, struct replays *) MUST_CHECK;
void run_replays(struct page *, const struct shown *, const struct replays *);

// Objections to a run, and decisions about them (page_objection.c).
void run_objections(struct page *, const struct shown *, const struct objections *, int64_t skipped);
void objection_notes(struct page *, const struct objections *);  // of the upheld ones, for the head of the page

// The draw (page_drawn.c): a paragraph about a run that was drawn, and rows of the facts of the rules.
void drawn_note(struct page *, const struct drawn *);
void drawn_rules(struct page *, const struct shown *);

// Tickets (page_ticket.c): rows of the facts of a run with a ticket, and of a ticket's own page.
int ticket_facts(struct page *, const struct shown *) MUST_CHECK;
int ticket_state(struct page *, const struct shown *) MUST_CHECK;

// The lower half of a run's page (page_run_facts.c).
void run_latencies(struct page *, const struct shown *);
void run_machine(struct page *, const struct shown *);
void run_data(struct page *, const struct shown *);
void run_checks(struct page *, const struct shown *, const struct drawn *);  // NULL: it was not drawn
void run_verify(struct page *, const struct shown *);

// Measurements (page_bench.c): the body of a statement's page, and its settings as rows of a machine's page. And (page_scaling.c)
// the rows of a scaling there, and its table and picture on its own page.
void bench_page(struct page *, const struct shown *);
int bench_rows(struct page *, const struct stored *) MUST_CHECK;
int scaling_rows(struct page *, const struct stored *) MUST_CHECK;
void scaling_table(struct page *);  // opens the table of such rows
void scaling_body(struct page *, const json_t *bench);

// SPDX-License-Identifier: Apache-2.0
// The checks of a statement's figures: one implementation, used by `dawn` before it signs and by the server after.
// A statement with a REJECT never counts; a FLAG is shown with it and keeps it from being called checked.
#pragma once

#include "submit/format/statement.h"

enum check_level { CHECK_REJECT, CHECK_FLAG };

// CHECK(NAME, code in the API, level, the condition)
#define CHECK_LIST                                                                                                     \
    CHECK(TASK, "unknown-task", REJECT, "the task is one that has boards, with the rules of its digest")               \
    CHECK(TARGET, "unknown-target", REJECT, "a board of the task has the run's target")                                \
    CHECK(DATA, "unknown-data", REJECT, "data called official have the published digests, on the whole test set")      \
    CHECK(DIVISION, "division", REJECT, "the closed division holds only runs that the harness evaluated")              \
    CHECK(TIME_ORDER, "time-order", REJECT, "time grows from point to point, on every clock that must")                \
    CHECK(EPOCH_ORDER, "epoch-order", REJECT, "steps, epochs and samples grow from point to point")                    \
    CHECK(SCORE, "score-range", REJECT, "scores are of metrics of the run, within the contest's bounds; counts are 0 to N")\
    CHECK(SCALE, "score-scale", REJECT, "no count is given as a percentage, nor the reverse")                          \
    CHECK(CHAIN, "chain-broken", REJECT, "every point's hash follows from the one before and from the root")           \
    CHECK(CROSSING, "crossing", REJECT, "the target is first met at the point that is claimed, at its clocks")         \
    CHECK(STATUS, "status", REJECT, "done or missed follows from the last evaluation")                                 \
    CHECK(CLOCKS, "clocks", REJECT, "segments leave no gap and sum to the clocks that are claimed")                    \
    CHECK(GROUP, "group-index", REJECT, "a group's run has a number within those announced, before it began")          \
    CHECK(SEED, "seed-twice", REJECT, "no seed is used twice in a group")                                              \
    CHECK(COST, "cost", REJECT, "the cost follows from time and price")                                                \
    CHECK(PRICE, "price", REJECT, "a named instance has the price and the hardware of the table of prices")            \
    CHECK(LATENCY, "latency-order", REJECT, "percentiles grow, and the mean lies where it can")                        \
    CHECK(ELIGIBLE, "latency-eligible", REJECT, "a latency called eligible meets the target on the whole test set")    \
    CHECK(SPEED, "above-peak", REJECT, "the arithmetic does not exceed the peak of the stated hardware")               \
    CHECK(CLIENT_TIME, "client-time", REJECT, "dated within 30 days past and 10 minutes to come, as its stopwatch says") \
    CHECK(WORK, "work", REJECT, "the samples follow from epochs and data, and time was spent on training them")       \
    CHECK(TWIN, "same-times", REJECT, "no run has the times of another, nor the losses of one in its group")             \
    CHECK(CONTRADICTION, "contradiction", REJECT, "its members do not exclude each other")                             \
    CHECK(TEXT, "text", REJECT, "no text holds invisible characters or piles of marks")                                \
    CHECK(TICKET, "ticket", REJECT, "its seed comes from its ticket")                                                  \
    CHECK(RECIPE, "recipe", REJECT, "the recipe of a run of DAWN is JSON that states its epochs and its batch")        \
    CHECK(OVERLAP, "overlap", FLAG, "runs of a group on the same hardware follow each other")                          \
    CHECK(PACE, "same-pace", FLAG, "most of its intervals differ from another run's times one factor")                 \
    CHECK(SPEED_HIGH, "near-peak", FLAG, "the arithmetic is below 70% of the hardware's")                              \
    CHECK(SUPERLINEAR, "superlinear", FLAG, "no row of a scaling is above 125% of the ideal speedup")                  \
    CHECK(SPEED_UNKNOWN, "unknown-peak", FLAG, "the model's arithmetic and the hardware's peak are known")             \
    CHECK(EVEN, "even-intervals", FLAG, "intervals between points are not exactly equal")                              \
    CHECK(CONSTANT, "constant-loss", FLAG, "the loss changes from point to point")                                     \
    CHECK(CADENCE, "cadence", FLAG, "intervals between points take equally long, for the work in them, within 25%")    \
    CHECK(LEFT_OUT, "left-out", FLAG, "evaluations and checkpoints take the time that their work explains")            \
    CHECK(PRICE_OLD, "price-old", FLAG, "the price was at most 90 days old, and is one of the table")                  \
    CHECK(DIRTY, "sources-changed", FLAG, "the sources of the program equal its commit")                               \
    CHECK(SOURCES, "sources-unknown", FLAG, "the program was built in git, which knows its sources")                   \
    CHECK(DATES, "dates", FLAG, "its dates are as far apart as its stopwatch says")                                    \
    CHECK(BETTER, "better-than-reference", FLAG, "it is not better than reference runs of its recipe make believable")  \
    CHECK(SELF, "self-evaluated", FLAG, "the harness evaluated, not the program that was trained")             \
    CHECK(OBJECTION, "objection", FLAG, "no objection to the run was upheld")                                          \
    CHECK(REPEATED, "repeated", FLAG, "the operator did not train the run again with other figures")
enum check {
#define CHECK(name, code, level, what) CHECK_##name,
    CHECK_LIST
#undef CHECK
        CHECKS
};
const char *check_code(enum check);
enum check_level check_level(enum check);
const char *check_what(enum check);

enum { CHECK_PARTS_MAX = 16 };  // parts of a schedule (image sizes) that the checks of pace can read
enum { FINDINGS_MAX = 64, FINDING_TEXT = 200 };
struct findings {
    int count;  // counts all findings; the first FINDINGS_MAX are kept
    int rejects, flags;
    struct {
        enum check check;
        char text[FINDING_TEXT];  // a sentence with the figures
    } at[FINDINGS_MAX];
};
void finding_add(struct findings *, enum check, const char *format, ...) __attribute__((format(printf, 3, 4)));

// All checks that need one statement alone. `now_ms` is an argument, so a check years later gives the same findings (the server
// passes the moment of acceptance).
void check_statement(const struct statement *, int64_t now_ms, struct findings *);
// CHECK_SEED, CHECK_TWIN, CHECK_PACE, CHECK_OVERLAP: the checks against another run of the group. Call it for each earlier run;
// each check adds at most one finding for all of them. With a brief (ranking_brief) for `other` the curves are not compared.
void check_group_mate(const struct statement *, const json_t *other, struct findings *);
// CHECK_TWIN, CHECK_PACE against an older run of any person: a run with its times is a copy, even if all else differs.
void check_copied(const struct statement *, const json_t *other, int64_t sequence, struct findings *);
// CHECK_BETTER for the group that this run completes: the mean score of its `runs` runs against reference runs of their recipe.
void check_group_mean(const json_t *run, double mean, int runs, struct findings *);
// True if the last points of two runs nearly agree in time or in loss. Then their curves must be compared, however many mates
// there are.
bool check_alike(const json_t *run, const json_t *other);
// True if the intervals between common points agree within some millionths, or most of them times one factor: then neither run
// counts as a repetition of the other.
bool check_same_times(const json_t *run, const json_t *other);

// Peak arithmetic of stated hardware in FLOP/s at a precision, a generous bound (peaks.json; for processors: threads x the widest
// units in their flags x 6 GHz). 0: unknown.
double check_peak(const struct statement *);
// The same for a part with its own device, precision, threads and hardware (a latency).
double check_peak_of(const json_t *);

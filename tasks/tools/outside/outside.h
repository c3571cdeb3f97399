// SPDX-License-Identifier: Apache-2.0
// The lines by which an outside program reports to `dawn record`, in DAWN's own form or in MLPerf's (docs/record.md). A pure
// parser: it knows no clock, no file and no process.
#pragma once

#include "runtime/common/base/file.h"
#include "submit/format/score/contest.h"
#include "submit/results/machine/stopwatch.h"

// Bytes of one stream, cut into lines. A line ends at a line feed or a carriage return (progress bars). A line longer than
// OUTSIDE_LINE is skipped whole, because no report is that long.
enum { OUTSIDE_LINE = 64 << 10 };
struct outside_stream {
    char *at;        // OUTSIDE_LINE bytes, allocated with the first byte
    size_t length;
    bool skipping;   // the current line is too long
    int64_t number;  // line feeds so far: the current line is number + 1
};
// `line` gets each whole line without its end, and its number. Its failure is returned at once.
typedef int outside_line_taker(void *context, const char *line, size_t count, int64_t number);
int outside_feed(struct outside_stream *, const char *bytes, size_t count, outside_line_taker *, void *context) MUST_CHECK;
// Passes on a last line without an end.
int outside_finish(struct outside_stream *, outside_line_taker *, void *context) MUST_CHECK;
void outside_free(struct outside_stream *);

enum outside_kind {
    OUTSIDE_NOTHING,  // a line for people
    OUTSIDE_EPOCH,
    OUTSIDE_SEGMENT,
    OUTSIDE_ABOUT,
};
struct outside_epoch {
    int64_t epoch;    // the reported epoch, 1 for the first; negative: absent, so it follows the last one
    int64_t step;     // optimiser steps done; negative: absent, so epochs are counted
    int64_t epoch_micro;  // epochs done in millionths; negative: absent, so epochs are whole
    bool from_zero;   // MLPerf's programs may count from 0, DAWN's count from 1
    int64_t samples;  // since the start; negative: absent
    int64_t k;        // correct of the contest's items; negative: not evaluated
    double loss;      // NaN: absent
};
// Absent members are negative or empty.
struct outside_about {
    char model[97], framework[65], precision[17];
    char weights[DIGEST_HEX];
    int64_t parameters, flops_per_sample, batch, views, input_size;
    int64_t seed;
    bool has_seed;
};
struct outside_line {
    enum outside_kind kind;
    struct outside_epoch epoch;
    enum segment segment;
    struct outside_about about;
};
double outside_most(const struct contest *);  // largest value of a score: 1 of a share, 100 of BLEU
// Reads one line for a contest. A line without a mark is OUTSIDE_NOTHING. A marked line with an error is
// ERR_INPUT with a sentence, because a typing error must not cost hours of training.
int outside_read(const char *line, size_t count, const struct contest *, struct outside_line *) MUST_CHECK;

// A share of 1, or a value of another unit, as k of the items of the contest, rounded down; `what` begins the sentence.
int outside_share(const char *what, double share, const struct contest *, int64_t *k) MUST_CHECK;
// Checks that text may be stored in the record and shown on a board; `what` begins the sentence.
int outside_check_words(const char *what, const char *text, size_t most) MUST_CHECK;

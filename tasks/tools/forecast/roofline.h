// SPDX-License-Identifier: Apache-2.0
// A lower bound of a program's time: for each node the larger of its arithmetic at the measured rate of a matrix product and
// its bytes at the measured rate of a copy (S. Williams et al., "Roofline", 2009). With a profile, also the measured time.
//
// The bound holds for data in memory: a node with cached inputs can be faster. If no peak was measured, times and shares are
// 0.
#pragma once

#include "runtime/common/base/text.h"
#include "runtime/device.h"

struct roofline_row {
    const char *name;   // name of the operator
    const char *scope;  // scope of the node; NULL in a sum of several nodes
    enum phase pass;    // pass of its first node
    int nodes;
    double flops, bytes;
    double arithmetic, moving;  // seconds at the peaks
    double seconds;             // sum over the nodes of the larger of the two
    double measured;            // seconds; 0 unless a profile was given
};

enum roofline_group { ROOFLINE_OPERATORS, ROOFLINE_PASSES, ROOFLINE_NODES };  // PASSES: operators, each pass apart
struct roofline {
    struct roofline_row *row, all;  // the most expensive first: by measured time, else by bound, else by FLOPs
    int rows;
};
// `ns`: a profile (struct device_type) with one time for each position of the plan, or NULL.
void roofline_of(const struct plan *, const struct device_facts *, enum roofline_group, const int64_t *ns,
                 struct roofline *);
void roofline_free(struct roofline *);
// Joins all rows after the first `rows` - 1 into a last one, "others". Sums do not change.
void roofline_shorten(struct roofline *, int rows);

const char *roofline_pass(enum phase);  // "forward", "backward", "update"
// The type whose rate bounds a node: its 16-bit type if it multiplies 16-bit operands, else f32.
enum dtype roofline_dtype(const struct graph *, const struct node *);
double roofline_seconds(const struct plan *, const struct device_facts *);  // of a whole program

// Figures of tables, "-" for 0: 1.23 M; a share in percent.
const char *roofline_figure(char into[TEXT_FIGURE], double value);
const char *roofline_share(char into[TEXT_FIGURE], double part, double whole);
char *roofline_span(char into[TEXT_FIGURE], double seconds);  // as text_span, but with three digits below ten seconds; "-" for 0
// A table in 80 columns: the bound of each row or, with a profile, its measured time and rates.
void roofline_text(const struct roofline *, struct text *into);
struct json_t *roofline_json(const struct roofline *);  // an array with one object per row

// SPDX-License-Identifier: Apache-2.0
// What a program must cost: for each node the larger of its arithmetic at the measured rate of a matrix product and
// its bytes at the measured rate of a copy (S. Williams et al., "Roofline", 2009), and beside it what it did cost.
//
// It is a bound for data that come from memory: a node whose inputs still lie in a cache can beat it. Where a peak is
// not known (nothing was measured) the times are 0, and shares fall back on nothing.
#ifndef DAWN_TASKS_ROOFLINE_H
#define DAWN_TASKS_ROOFLINE_H

#include "runtime/base/text.h"
#include "runtime/device.h"

struct roofline_row {
    const char *name;   // of the operator
    const char *scope;  // of the node; NULL where several are summed
    int nodes;
    double flops, bytes;
    double arithmetic, moving;  // seconds at the peaks
    double seconds;             // sum over the nodes of the larger of the two
    double measured;            // seconds; 0 unless a profile was given
};

enum roofline_group { ROOFLINE_OPERATORS, ROOFLINE_NODES };
struct roofline {
    struct roofline_row *row, all;  // dearest first: by measured time, else by bound, else by arithmetic
    int rows;
};
// `ns`: a profile (struct device_type), a position of the plan each, or NULL.
void roofline_of(const struct plan *, const struct device_facts *, enum roofline_group, const int64_t *ns,
                 struct roofline *);
void roofline_free(struct roofline *);
// Joins what stands behind the first `rows` - 1 rows into a last one, "N others". Sums stay.
void roofline_shorten(struct roofline *, int rows);

// The type whose rate bounds a node: the 16-bit one where it multiplies 16-bit operands, else f32.
enum dtype roofline_dtype(const struct graph *, const struct node *);
double roofline_seconds(const struct plan *, const struct device_facts *);  // of a whole program

char *roofline_span(char into[TEXT_FIGURE], double seconds);  // as text_span, with three figures below ten; "-" for 0
// A table in 80 columns: the bound of each row, or, where a profile was given, what it took and how near it came.
void roofline_text(const struct roofline *, struct text *into);
struct json_t *roofline_json(const struct roofline *);  // an array with an object a row

#endif

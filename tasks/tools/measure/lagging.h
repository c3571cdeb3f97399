// SPDX-License-Identifier: Apache-2.0
// Which operators compute far below what the device can: the rate of each timed case as a share of the measured product rate
// of its type. A case is compute-bound if its arithmetic at that rate takes longer than its bytes at the measured copy rate
// (roofline.h); only then does the share say anything. If no peak was measured, there are no shares.
#pragma once

#include "runtime/cases/cases.h"
#include "runtime/common/base/text.h"

#define LAGGING_SHARE 0.3  // a compute-bound case below it is named

struct lagging_case {
    const char *name;  // borrowed from the list of cases
    enum dtype type;
    double share;
};
struct lagging {
    struct lagging_case *row;  // the cases below LAGGING_SHARE, unsorted until lagging_text or lagging_json
    int rows, bound, timed;    // bound: compute-bound cases; timed: all
};
// Returns the case's share of the product rate; 0 if it is bound by memory or no peak was measured.
double lagging_add(struct lagging *, const struct device_facts *, const struct case_speed *);
// Names the cases, slowest share first: two lines of names in 80 columns at most, then how many more.
void lagging_text(struct lagging *, struct text *into);
struct json_t *lagging_json(struct lagging *);  // an object with all of them
void lagging_free(struct lagging *);

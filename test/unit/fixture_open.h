// SPDX-License-Identifier: Apache-2.0
// An open record for each test, in a folder of its own.
#ifndef DAWN_TEST_FIXTURE_OPEN_H
#define DAWN_TEST_FIXTURE_OPEN_H

#include "test/unit/fixture_folder.h"
#include "test/unit/fixture_result.h"

static char db[96];
static struct results *r;

static inline int setup(void **state)
{
    assert_int_equal(enter(state), 0);
    snprintf(db, sizeof db, "%s/results.db", folder);
    return results_open(db, RESULTS_WRITE, &r);
}

static inline int teardown(void **state)
{
    results_close(r);
    return leave(state);
}

#endif

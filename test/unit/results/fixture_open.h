// SPDX-License-Identifier: Apache-2.0
// An open record for each test, in a folder of its own.
#ifndef DAWN_TEST_FIXTURE_OPEN_H
#define DAWN_TEST_FIXTURE_OPEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "test/unit/fixture_result.h"

#include <cmocka.h>

static char folder[64], db[96];
static struct results *r;

static inline int setup(void **state)
{
    (void)state;
    fixture_folder(folder);
    snprintf(db, sizeof db, "%s/results.db", folder);
    return results_open(db, RESULTS_WRITE, &r);
}

static inline int teardown(void **state)
{
    (void)state;
    results_close(r);
    fixture_remove(folder);
    return 0;
}

#endif

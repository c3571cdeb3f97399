// SPDX-License-Identifier: Apache-2.0
// An open record for each test, in a folder of its own.
#pragma once

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

// The number of lines of a page, none of which is wider than a terminal.
static inline int count_lines(const struct text *text, bool ascii)
{
    int lines = 0;
    for (const char *line = text->at; *line != 0; line += strcspn(line, "\n") + 1, lines++) {
        size_t n = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < n; i++) {
            columns += ((unsigned char)line[i] & 0xc0) != 0x80;
            if (ascii) assert_true(line[i] >= 0x20 && line[i] < 0x7f);
        }
        if (columns > 80) fail_msg("too wide: %.*s", (int)n, line);
    }
    return lines;
}

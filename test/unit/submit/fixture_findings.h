// SPDX-License-Identifier: Apache-2.0
// What the checks say of a statement, which they end.
#pragma once

#include "submit/format/check/check.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

static inline struct findings findings_at(json_t *payload, int64_t now_ms)
{
    struct statement s;
    struct findings f;
    if (statement_make(payload, &s) < 0) fail_msg("%s", error_text());
    check_statement(&s, now_ms, &f);
    statement_free(&s);
    return f;
}

static inline bool finds_check(json_t *payload, enum check check)
{
    const struct findings f = findings_at(payload, FIXTURE_NOW_MS);
    bool found = false;
    for (int i = 0; i < f.count && i < FINDINGS_MAX; i++) found = found || f.at[i].check == check;
    return found;
}

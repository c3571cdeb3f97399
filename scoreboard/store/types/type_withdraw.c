// SPDX-License-Identifier: Apache-2.0
// A withdrawal takes an own run or measurement off the boards. Withdrawals are free of limits, because there cannot be more of
// them than runs.
#include "scoreboard/store/types/types.h"

static int apply_withdrawal(struct store *s, const struct incoming *in)
{
    struct about_run run;
    TRY(type_bench_withdraw(s, in));
    TRY(about_run_find(s, canonical_text(in->statement->json, "statement"), &run));
    if (run.sequence == 0) return 0;  // a measurement
    TRY(sql_do(&s->sql, "UPDATE runs SET withdrawn = ?, withdrawn_reason = ? WHERE sequence = ?", "iti", in->sequence,
               canonical_text(in->statement->json, "reason"), run.sequence));
    return about_run_rank(s, &run, true);
}

const struct store_type type_withdraw = {.check = about_run_check, .apply = apply_withdrawal};

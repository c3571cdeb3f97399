// SPDX-License-Identifier: Apache-2.0
// The board's word that the clock of a run with a ticket agreed with its own.
#include "scoreboard/store/types/types.h"

static int check_vouch(struct store *s, const struct incoming *in, struct ruling *out)
{
    int64_t there;
    TRY(sql_int(&s->sql, &there, 0, "SELECT count(*) FROM vouches v JOIN runs r ON r.first = v.run WHERE r.digest = ?", "t",
                canonical_text(in->statement->json, "statement")));
    if (there != 0) return problem_rule(out, PROBLEM_CONFLICT, "the board has vouched for this run already");
    return about_run_check(s, in, out);
}

static int apply_vouch(struct store *s, const struct incoming *in)
{
    struct about_run run;
    TRY(sql_do(&s->sql, "INSERT INTO vouches (run, sequence) SELECT first, ? FROM runs WHERE digest = ?", "it", in->sequence,
               canonical_text(in->statement->json, "statement")));
    TRY(about_run_find(s, canonical_text(in->statement->json, "statement"), &run));
    return about_run_rank(s, &run, false);
}

const struct store_type type_vouch = {.own = true, .check = check_vouch, .apply = apply_vouch};

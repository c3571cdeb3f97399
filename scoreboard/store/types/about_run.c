// SPDX-License-Identifier: Apache-2.0
// What withdrawals, amendments, audits and vouches share: they are about a run, by its digest.
#include <stdio.h>
#include <string.h>

#include "scoreboard/store/types/types.h"

int about_run_check(struct store *s, const struct incoming *in, struct ruling *out)
{
    const char *digest = canonical_text(in->statement->json, "statement"), *what = statement_type_name(in->statement->type);
    const bool withdraws = in->statement->type == STATEMENT_WITHDRAW;
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row,
                  "SELECT s.handle, s.type, coalesce(r.withdrawn, b.withdrawn, 0), coalesce(r.superseded, 0) FROM statements s "
                  "LEFT JOIN runs r USING (sequence) LEFT JOIN benches b USING (sequence) WHERE s.digest = ?",
                  "t", digest));
    int rc = sql_next(&s->sql, row);
    if (rc == 0) rc = problem_rule(out, PROBLEM_NOT_FOUND, "there is no statement %s here to %s", digest, what);
    else if (rc < 0) ;
    else if (!in->own && strcmp(sql_text(row, 0), in->handle) != 0)
        rc = problem_rule(out, PROBLEM_NOT_YOURS, "statement %s belongs to \"%s\"", digest, sql_text(row, 0));
    else if (strcmp(sql_text(row, 1), statement_type_name(STATEMENT_RUN)) != 0 &&
             !(withdraws && strcmp(sql_text(row, 1), statement_type_name(STATEMENT_BENCH)) == 0))
        rc = problem_rule(out, PROBLEM_CONFLICT, "statement %s is of type \"%s\"; %s needs a run%s", digest,
                          sql_text(row, 1), what, withdraws ? " or a measurement" : "");
    else if (sql_column(row, 2) != 0)
        rc = problem_rule(out, PROBLEM_CONFLICT, "statement %s has been withdrawn already", digest);
    else if (sql_column(row, 3) != 0)
        rc = problem_rule(out, PROBLEM_CONFLICT, "statement %s has been superseded by statement %lld", digest,
                          (long long)sql_column(row, 3));
    else rc = 0;
    sql_end(row);
    return rc;
}

int about_run_find(struct store *s, const char *digest, struct about_run *run)
{
    sqlite3_stmt *row;
    *run = (struct about_run){0};
    TRY(sql_start(&s->sql, &row, "SELECT sequence, group_nonce, curve FROM runs WHERE digest = ?", "t", digest));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) {
        run->sequence = sql_column(row, 0);
        snprintf(run->group, sizeof run->group, "%s", sql_text(row, 1));
        snprintf(run->curve, sizeof run->curve, "%s", sql_text(row, 2));
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

int about_run_rank(struct store *s, const struct about_run *run, bool repeated)
{
    TRY(store_rank_curve(s, run->curve));
    if (repeated) TRY(store_rank_repeated(s, run->sequence, run->group));
    TRY(store_rank_run(s, run->sequence));
    return store_rank_group(s, run->group);
}

int about_run_unaudit(struct store *s, const struct about_run *run)
{
    TRY(sql_do(&s->sql, "UPDATE runs SET trust = CASE WHEN flags = 0 THEN ? ELSE ? END, reproduced_by = 0 WHERE sequence = ?",
               "iii", (int64_t)TRUST_CHECKED, (int64_t)TRUST_SIGNED, run->sequence));
    return about_run_rank(s, run, false);
}

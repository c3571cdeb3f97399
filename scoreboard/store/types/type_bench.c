// SPDX-License-Identifier: Apache-2.0
// Measurements in the record. They are on no board, so nothing is ranked. Invariant: as for runs, the table follows from the
// statements alone. Cost: a few indexed rows.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"

int store_bench_figures(const struct statement *s, char hex[DIGEST_HEX])
{
    static const char *const names[] = {"task", "data", "noise", "model", "device", "threads", "measured_ms", "settings",
                                        "scaling", "hardware"};
    json_t *figures = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set(figures, names[i], json_object_get(s->json, names[i]));
    return canonical_digest(figures, hex);
}

int store_put_bench(struct store *s, const struct incoming *in)
{
    struct arena arena = {0};
    char figures[DIGEST_HEX], word[RANKING_MACHINE];
    const char *hardware = ranking_hardware(in->statement->json, &arena);
    int rc = store_bench_figures(in->statement, figures);
    if (rc == 0)
        rc = sql_do(&s->sql, "INSERT INTO benches (sequence, figures, machine, hardware, flags, accepted_ms) "
                    "VALUES (?, ?, ?, ?, ?, ?)", "itttii", in->sequence, figures, ranking_machine_plain(hardware, word), hardware,
                    (int64_t)in->findings->flags, in->accepted_ms);
    arena_free(&arena);
    return rc;
}

int store_withdraw_bench(struct store *s, const struct incoming *in)
{
    const json_t *withdraw = in->statement->json;
    return sql_do(&s->sql, "UPDATE benches SET withdrawn = ?, withdrawn_reason = ? WHERE sequence = "
                  "(SELECT sequence FROM statements WHERE digest = ?)", "itt", in->sequence, canonical_text(withdraw, "reason"),
                  canonical_text(withdraw, "statement"));
}

int store_bench_state(struct sql *sql, struct stored *at, int count, struct arena *arena)
{
    int rc = 0;
    for (int i = 0; i < count && rc >= 0; i++) {
        sqlite3_stmt *row;
        if (at[i].type != STATEMENT_BENCH) continue;
        TRY(sql_start(sql, &row, "SELECT withdrawn, withdrawn_reason FROM benches WHERE sequence = ?", "i", at[i].sequence));
        rc = sql_next(sql, row);
        if (rc > 0) at[i].withdrawn = sql_column(row, 0), at[i].withdrawn_reason = sql_keep(row, 1, arena);
        sql_end(row);
    }
    return rc < 0 ? rc : 0;
}

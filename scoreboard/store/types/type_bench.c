// SPDX-License-Identifier: Apache-2.0
// Measurements. They are on no board, so nothing is ranked. Cost: a few indexed rows.
#include "scoreboard/store/types/types.h"

// Digest of the measurement, its time and its machine.
static int digest_figures(const json_t *bench, char hex[DIGEST_HEX])
{
    static const char *const names[] = {"task", "data", "noise", "model", "device", "threads", "measured_ms", "settings",
                                        "scaling", "hardware"};
    json_t *figures = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set(figures, names[i], json_object_get(bench, names[i]));
    return canonical_digest(figures, hex);
}

// The figures are the author's alone; a copy of them would be one more word for the same thing.
static int check_bench(struct store *s, const struct incoming *in, struct ruling *out)
{
    char figures[DIGEST_HEX];
    int64_t earlier;
    TRY(digest_figures(in->statement->json, figures));
    TRY(sql_int(&s->sql, &earlier, 0, "SELECT sequence FROM benches WHERE figures = ?", "t", figures));
    if (earlier == 0) return 0;
    return problem_rule(out, PROBLEM_CONFLICT, "this measurement has been submitted as statement %lld", (long long)earlier);
}

#define BENCH_COLUMNS(C)                                                                                               \
    C(t, figures, figures)                                                                                             \
    C(t, machine, ranking_machine_plain(hardware, word))                                                               \
    C(t, hardware, hardware)                                                                                           \
    C(i, flags, in->findings->flags)                                                                                   \
    C(i, accepted_ms, in->accepted_ms)

static int apply_bench(struct store *s, const struct incoming *in)
{
    struct arena arena = {0};
    char figures[DIGEST_HEX], word[RANKING_MACHINE];
    const char *hardware = ranking_hardware(in->statement->json, &arena);
    int rc = digest_figures(in->statement->json, figures);
    if (rc == 0) rc = SQL_INSERT(&s->sql, "benches", in->sequence, BENCH_COLUMNS);
    arena_free(&arena);
    return rc;
}

const struct store_type type_bench = {.first = true, .quarters = {4, 4}, .check = check_bench, .apply = apply_bench};

int type_bench_withdraw(struct store *s, const struct incoming *in)
{
    const json_t *withdraw = in->statement->json;
    return sql_do(&s->sql, "UPDATE benches SET withdrawn = ?, withdrawn_reason = ? WHERE sequence = "
                  "(SELECT sequence FROM statements WHERE digest = ?)", "itt", in->sequence, canonical_text(withdraw, "reason"),
                  canonical_text(withdraw, "statement"));
}

int type_bench_state(struct sql *sql, struct stored *at, int count, struct arena *arena)
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

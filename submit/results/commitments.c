// SPDX-License-Identifier: Apache-2.0
// Invariant: a row is in the file before its digest leaves the machine, and an accepted one is never removed. Cost: one
// transaction a commitment; reading looks at all rows, which are few.
#include "submit/results/commitments.h"

#include <string.h>

#include "submit/results/result_inside.h"

static int add_rows(struct results *r, const struct commitment *c, int count)
{
    for (int i = 0; i < count; i++)
        TRY(result_do(r, "keep the commitment",
                      "INSERT INTO commitments (run, competition, name, board, server_key, handle, statement, payload, made_ms)"
                      " VALUES (?,?,?,?,?,?,?,?,?)", "itttttt" "ti", c[i].run, c[i].competition, c[i].name, c[i].board,
                      c[i].server_key, c[i].handle, c[i].statement, c[i].payload, c[i].made_ms));
    return 0;
}

int commitments_add(struct results *r, const struct commitment *c, int count)
{
    TRY(result_begin_transaction(r));
    return result_end_transaction(r, add_rows(r, c, count));
}

int commitments_read(struct results *r, const char *competition, json_t **rows)
{
    json_t *all, *row;
    size_t i;
    *rows = NULL;
    TRY(record_rows(r, "SELECT * FROM commitments ORDER BY run", 0, &all));
    *rows = json_array();
    json_array_foreach(all, i, row)
        if (strcmp(record_text(row, "competition"), competition) == 0) json_array_append(*rows, row);
    json_decref(all);
    return 0;
}

int commitments_of_run(struct results *r, int64_t run, const char *key, json_t **found)
{
    json_t *rows, *row;
    size_t i;
    *found = NULL;
    TRY(record_rows(r, "SELECT * FROM commitments WHERE run = ? ORDER BY made_ms DESC", run, &rows));
    json_array_foreach(rows, i, row)
        if (*found == NULL && (key == NULL || strcmp(record_text(row, "server_key"), key) == 0)) *found = json_incref(row);
    json_decref(rows);
    return 0;
}

int commitments_accept(struct results *r, const char *competition, int64_t sequence, const char *receipt, const char *signature)
{
    return result_do(r, "keep the receipt",
                     "UPDATE commitments SET sequence = ?, receipt = ?, signature = ? WHERE competition = ?", "pttt", sequence,
                     receipt, signature, competition);
}

int commitments_drop(struct results *r, const char *competition)
{
    return result_do(r, "drop the commitment", "DELETE FROM commitments WHERE competition = ? AND sequence IS NULL", "t",
                     competition);
}

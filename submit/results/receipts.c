// SPDX-License-Identifier: Apache-2.0
// Receipts in results.db. Invariant: there is one row for a board and a statement, so a caller that was interrupted between
// the server's answer and this file may repeat both. Several boards may have the same name (a new board, or servers without
// a name). A row therefore counts only for the key that signed it, and the newest answer to the same statement replaces the
// row. Cost: one transaction per receipt.
#include "submit/results/receipts.h"

#include <string.h>

#include "submit/results/result_inside.h"

static int add_of_sweep(struct results *r, const struct receipt_row *row)
{
    return result_do(r, "keep the receipt",
                     "INSERT INTO bench_receipts (sweep, board, server, statement, sequence, accepted_ms, server_key, receipt,"
                     " signature) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (board, statement) DO UPDATE SET"
                     " server = excluded.server, sequence = excluded.sequence, accepted_ms = excluded.accepted_ms,"
                     " server_key = excluded.server_key, receipt = excluded.receipt, signature = excluded.signature",
                     "ittt" "ii" "ttt", row->run, row->board, row->server, row->statement, row->sequence, row->accepted_ms,
                     row->server_key, row->receipt, row->signature);
}

int receipts_add(struct results *r, const struct receipt_row *row)
{
    if (strcmp(row->type, "bench") == 0) return add_of_sweep(r, row);
    return result_do(r, "keep the receipt",
                     "INSERT INTO receipts (run, type, board, server, statement, supersedes, sequence, accepted_ms, server_key,"
                     " receipt, signature) VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (board, statement)"
                     " DO UPDATE SET server = excluded.server,"
                     " sequence = excluded.sequence, accepted_ms = excluded.accepted_ms, server_key = excluded.server_key,"
                     " receipt = excluded.receipt, signature = excluded.signature",
                     "ittt" "ttii" "ttt", row->run, row->type, row->board, row->server, row->statement, row->supersedes,
                     row->sequence, row->accepted_ms, row->server_key, row->receipt, row->signature);
}

// The first row of a query with a number as parameter ?1 and texts as ?2 to ?4. `whole` reads that row.
static int first_row_of(struct results *r, const char *sql, const char *whole, int64_t run, const char *const texts[3],
                        json_t **row)
{
    sqlite3_stmt *statement;
    *row = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "read the receipts");
    sqlite3_bind_int64(statement, 1, run);
    for (int i = 0; i < 3; i++) sqlite3_bind_text(statement, i + 2, texts[i], -1, SQLITE_STATIC);
    int step = sqlite3_step(statement);
    int64_t id = step == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    int rc = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : result_fail(r, "read the receipts");
    sqlite3_finalize(statement);
    if (rc < 0 || id == 0) return rc;
    json_t *rows;
    TRY(record_rows(r, whole, id, &rows));
    *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    return 0;
}

static int first_row(struct results *r, const char *sql, int64_t run, const char *const texts[3], json_t **row)
{
    return first_row_of(r, sql, "SELECT * FROM receipts WHERE id = ?", run, texts, row);
}

int receipts_of_sweep(struct results *r, int64_t sweep, const char *board, const char *key, json_t **row)
{
    return first_row_of(r, "SELECT id FROM bench_receipts WHERE sweep = ?1 AND board = ?2"
                           " AND server_key = coalesce(?3, server_key) AND ?4 IS NULL ORDER BY sequence DESC, id DESC LIMIT 1",
                        "SELECT * FROM bench_receipts WHERE id = ?", sweep, (const char *const[]){board, key, NULL}, row);
}

int receipts_last(struct results *r, int64_t run, const char *type, const char *board, const char *key, json_t **row)
{
    return first_row(r, "SELECT id FROM receipts WHERE run = ?1 AND type = ?2 AND board = ?3"
                        " AND server_key = coalesce(?4, server_key)"
                        " ORDER BY sequence DESC, id DESC LIMIT 1",
                     run, (const char *const[]){type, board, key}, row);
}

int receipts_find(struct results *r, const char *board, const char *key, const char *digest, json_t **row)
{
    return first_row(r, "SELECT id FROM receipts WHERE ?1 = 0 AND board = ?2 AND server_key = ?3 AND statement = ?4", 0,
                     (const char *const[]){board, key, digest}, row);
}

int receipts_other_key(struct results *r, const char *board, const char *server, const char *key, json_t **row)
{
    return first_row(r, "SELECT id FROM receipts WHERE ?1 = 0 AND (board = ?2 OR server = ?3) AND NOT EXISTS"
                        " (SELECT 1 FROM receipts WHERE board = ?2 AND server_key = ?4) ORDER BY id DESC LIMIT 1",
                     0, (const char *const[]){board, server, key}, row);
}

int receipts_other_address(struct results *r, const char *server, const char *key, json_t **row)
{
    return first_row(r, "SELECT id FROM receipts WHERE ?1 = 0 AND server_key = ?3 AND NOT EXISTS (SELECT 1 FROM receipts"
                        " WHERE server = ?2 AND server_key = ?3) ORDER BY id DESC LIMIT 1",
                     0, (const char *const[]){server, key, ""}, row);
}

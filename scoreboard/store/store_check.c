// SPDX-License-Identifier: Apache-2.0
// Checks the whole record: SQLite's own checks, every statement's bytes, signatures and receipt, and all derived tables (the
// boards, the log's tree), which are rebuilt in a temporary database and compared. Cost: milliseconds per statement. It reads
// one consistent moment and does not block the server.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/store/boards/entry_columns.h"
#include "scoreboard/store/store_inside.h"

struct checking {
    struct sql from;      // the record
    struct store rebuilt; // the same from the statements alone
    const struct store *store;
    int (*say)(void *, const char *);
    void *to;
    int faults;
    int64_t last;         // sequence of the statement before
    struct checkpoint head;
    bool signed_;         // there is one
};

static int report_fault(struct checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int report_fault(struct checking *c, const char *format, ...)
{
    char sentence[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    c->faults++;
    return c->say != NULL ? c->say(c->to, sentence) : 0;
}

static int check_sqlite(struct checking *c)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&c->from, &row, "PRAGMA integrity_check(20)", ""));
    while ((rc = sql_next(&c->from, row)) > 0)
        if (strcmp(sql_text(row, 0), "ok") != 0 && (rc = report_fault(c, "the file is damaged: %s", sql_text(row, 0))) < 0)
            break;
    sql_end(row);
    TRY(rc);
    TRY(sql_start(&c->from, &row, "PRAGMA foreign_key_check", ""));
    while ((rc = sql_next(&c->from, row)) > 0)
        if ((rc = report_fault(c, "row %lld of %s refers to nothing", (long long)sql_column(row, 1), sql_text(row, 0))) < 0)
            break;
    sql_end(row);
    return rc;
}

// ---- the statements' bytes
struct taken {
    struct statement statement;
    struct incoming in;
    struct findings findings;
};

static int check_signature(struct checking *c, struct taken *t)
{
    const struct statement *s = &t->statement;
    struct sshkey key;
    char id[SSHKEY_ID];
    long long number = t->in.sequence;
    const char *space = statement_namespace(s->type);
    if (sshsig_verify(t->in.signature, strlen(t->in.signature), space, s->payload, s->count, &key) < 0)
        return report_fault(c, "statement %lld: its signature does not fit: %s", number, error_text());
    if (strcmp(sshkey_id(&key, id), t->in.key) != 0)
        return report_fault(c, "statement %lld: it was signed by %s, not by %s", number, id, t->in.key);
    sshkey_line(&key, t->in.key_line);
    if (s->type != STATEMENT_ROTATE) return 0;
    if (sshsig_verify(t->in.countersignature, strlen(t->in.countersignature), space, s->payload, s->count, &key) < 0 ||
        strcmp(sshkey_id(&key, id), t->in.next_key) != 0)
        return report_fault(c, "statement %lld: its countersignature does not fit", number);
    return 0;
}

// A receipt's head must be the head of the tree of all statements before it.
static bool leads_to_log(struct checking *c, const struct receipt *r, const struct sshkey *key)
{
    struct checkpoint head;
    struct tree with = c->rebuilt.tree;
    struct tree_hash leaf, root, tops[TREE_TOPS];
    if (proof_check(r, key, &head) < 0) return false;
    proof_leaf(r, &leaf);
    tree_add(&with, &leaf, tops);
    tree_root(&with, &root);
    return with.size == head.size && tree_same(&root, &head.root);
}

static int check_receipt(struct checking *c, const struct taken *t)
{
    struct receipt receipt;
    struct sshkey key;
    long long number = t->in.sequence;
    if (receipt_read(t->in.receipt, strlen(t->in.receipt), t->in.receipt_signature, &receipt, &key) < 0)
        return report_fault(c, "statement %lld: its receipt does not hold: %s", number, error_text());
    if (!sshkey_same(&key, &c->store->key))
        return report_fault(c, "statement %lld: another key signed its receipt", number);
    if (receipt.sequence != number || receipt.accepted_ms != t->in.accepted_ms || strcmp(receipt.board, c->store->origin) != 0 ||
        strcmp(receipt.payload, t->statement.digest) != 0 || strcmp(receipt.signer, t->in.key) != 0)
        return report_fault(c, "statement %lld: its receipt differs from the record", number);
    if (leads_to_log(c, &receipt, &key)) return 0;
    return report_fault(c, "statement %lld: its receipt does not lead into the log", number);
}

// Findings about hardware depend on a table that grows, so any two findings of that kind count as equal.
static bool hangs_on_peaks(enum check check)
{
    return check == CHECK_SPEED || check == CHECK_SPEED_HIGH || check == CHECK_SPEED_UNKNOWN;
}

static bool stands_for(enum check stored, enum check now)
{
    return stored == now || (hangs_on_peaks(stored) && hangs_on_peaks(now));
}

// Checks that no flag was removed since, and that no stored statement would be refused: as of the moment that the receipt states,
// and after the statements before it. A flag of reference runs is the
// exception: they grow with the program, and a removed flag looks like one that the earlier program did not have.
static int check_again(struct checking *c, struct taken *t)
{
    struct findings now = {0};
    struct ruling ruling = {0};
    TRY(store_findings(&c->from, t->in.sequence, &t->findings));
    check_statement(&t->statement, t->in.accepted_ms, &now);
    t->in.findings = &now;
    TRY(store_type(t->statement.type)->check(&c->rebuilt, &t->in, &ruling));
    t->in.findings = &t->findings;
    if (ruling.problem != PROBLEM_NONE)
        TRY(report_fault(c, "statement %lld: it should have been refused: %s", (long long)t->in.sequence, ruling.detail));
    for (int i = 0; i < now.count && i < FINDINGS_MAX; i++) {
        enum check check = now.at[i].check;
        bool there = false;
        for (int n = 0; n < t->findings.count && n < FINDINGS_MAX; n++)
            there = there || stands_for(t->findings.at[n].check, check);
        if (there || check == CHECK_BETTER) continue;
        if (check_level(check) == CHECK_REJECT)
            TRY(report_fault(c, "statement %lld: it fails the check %s: %s", (long long)t->in.sequence, check_code(check),
                      now.at[i].text));
        else
            TRY(report_fault(c, "statement %lld: its flag %s is missing: %s", (long long)t->in.sequence, check_code(check),
                      now.at[i].text));
    }
    return 0;
}

// The owner of a statement: the handle in its payload, else the signing key's handle; never the record's column.
static int check_owner(struct checking *c, struct taken *t, const char *said)
{
    sqlite3_stmt *row;
    const char *own = canonical_text(t->statement.json, "handle");
    TRY(sql_start(&c->rebuilt.sql, &row, "SELECT handle FROM keys WHERE id = ?", "t", t->in.key));
    int known = sql_next(&c->rebuilt.sql, row);
    snprintf(t->in.handle, sizeof t->in.handle, "%s", *own == 0 && known > 0 ? sql_text(row, 0) : own);
    sql_end(row);
    TRY(known);
    t->in.new_key = known == 0;
    if (strcmp(said, t->in.handle) == 0) return 0;
    return report_fault(c, "statement %lld: it is of \"%s\", not of \"%.80s\" as the record says", (long long)t->in.sequence,
                 t->in.handle, said);
}

static int read_next_key(struct taken *t)
{
    struct sshkey key;
    if (t->statement.type != STATEMENT_ROTATE) return 0;
    const char *line = canonical_text(t->statement.json, "key");
    TRY(sshkey_read_line(line, strlen(line), &key));
    key.comment[0] = 0;
    sshkey_id(&key, t->in.next_key);
    sshkey_line(&key, t->in.next_line);
    return 0;
}

static int replay_statement(struct checking *c, sqlite3_stmt *row, struct taken *t, struct arena *arena)
{
    int64_t number = sql_column(row, 0);
    if (number != c->last + 1) TRY(report_fault(c, "statement %lld: the one before it is missing", (long long)number));
    c->last = number;
    if (statement_read(sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2), &t->statement) < 0)
        return report_fault(c, "statement %lld: its bytes are not a statement: %s", (long long)number, error_text());
    t->in = (struct incoming){
        .statement = &t->statement, .signature = sql_keep(row, 3, arena), .countersignature = sql_keep(row, 4, arena),
        .sequence = number, .accepted_ms = sql_column(row, 7), .findings = &t->findings, .receipt = sql_keep(row, 8, arena),
        .receipt_signature = sql_keep(row, 9, arena),
    };
    snprintf(t->in.key, sizeof t->in.key, "%s", sql_text(row, 5));
    t->in.own = strcmp(t->in.key, c->store->key_id) == 0;
    if (strcmp(t->statement.digest, sql_text(row, 1)) != 0)
        TRY(report_fault(c, "statement %lld: its bytes do not have the digest %s", (long long)number, sql_text(row, 1)));
    if (strcmp(statement_type_name(t->statement.type), sql_text(row, 10)) != 0)
        TRY(report_fault(c, "statement %lld: it is of another type than the record says", (long long)number));
    TRY(read_next_key(t));
    TRY(check_signature(c, t));
    TRY(check_receipt(c, t));
    TRY(check_owner(c, t, sql_text(row, 6)));
    TRY(check_again(c, t));
    c->rebuilt.stamp++;
    if (store_append(&c->rebuilt, &t->in) < 0)
        return report_fault(c, "statement %lld: it does not fit the statements before it: %s", (long long)number, error_text());
    return 0;
}

static int replay_all(struct checking *c)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&c->from, &row,
                  "SELECT sequence, s.digest, payload, signature, countersignature, s.key, s.handle, accepted_ms, receipt, "
                  "receipt_signature, s.type FROM statements s ORDER BY sequence", ""));
    while ((rc = sql_next(&c->from, row)) > 0) {
        struct arena arena = {0};
        struct taken *t = zalloc(sizeof *t);
        rc = replay_statement(c, row, t, &arena);
        statement_free(&t->statement);
        free(t);
        arena_free(&arena);
        if (rc < 0) break;
    }
    sql_end(row);
    return rc;
}

static int replay_import(struct checking *c, sqlite3_stmt *row)
{
    struct dawnbench_entry *entry;
    const struct contest *contest = contest_find(sql_text(row, 1));
    const char *source = sql_text(row, 0);
    const struct imported is = {source, sql_text(row, 1), sql_text(row, 2), sql_text(row, 3),
                                sql_text(row, 4), sql_text(row, 5), ""};
    if (contest == NULL) return report_fault(c, "import %s: there is no contest %s", source, is.task);
    if (imported_read(&is, contest, &entry) < 0)
        return report_fault(c, "import %s: its files cannot be read again: %s", source, error_text());
    int rc = store_put_import(&c->rebuilt, entry, 0);
    dawnbench_free(entry);
    return rc < 0 ? report_fault(c, "import %s: %s", source, error_text()) : 0;
}

static int replay_imports(struct checking *c)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&c->from, &row, "SELECT source, contest, kind, stem, json, tsv FROM imports ORDER BY source", ""));
    while ((rc = sql_next(&c->from, row)) > 0)
        if ((rc = replay_import(c, row)) < 0) break;
    sql_end(row);
    return rc;
}

// ---- derived tables
// Runs the same query on both databases; the first two columns name a row.
static const struct {
    const char *what, *sql;
} tables[] = {
    {"key", "SELECT id, '', * FROM keys ORDER BY 1, 2"},
    {"run", "SELECT sequence, '', * FROM runs ORDER BY 1, 2"},
    {"pace of a run", "SELECT run, key FROM paces ORDER BY 1, 2"},
    {"replay", "SELECT sequence, '', * FROM replays ORDER BY 1, 2"},
    {"judgement of runs", "SELECT run || ' and ' || by, '', * FROM judged ORDER BY 1, 2"},
    {"competition", "SELECT sequence, '', * FROM competitions ORDER BY 1, 2"},
    {"commitment", "SELECT sequence, '', * FROM commitments ORDER BY 1, 2"},
    {"committed run", "SELECT digest, '', * FROM committed ORDER BY 1, 2"},
    {"objection", "SELECT sequence, '', * FROM objections ORDER BY 1, 2"},
    {"rule of the draw,", "SELECT sequence, '', * FROM draws ORDER BY 1, 2"},
    {"key of the draw,", "SELECT draw || ' ' || key, '', * FROM draw_keys ORDER BY 1, 2"},
    {"draw of run", "SELECT run, '', * FROM drawn ORDER BY 1, 2"},
    {"ticket", "SELECT sequence, '', * FROM tickets ORDER BY 1, 2"},
    {"vouch", "SELECT run, '', * FROM vouches ORDER BY 1, 2"},
    {"hash of the log,", "SELECT (level << 50) + number, 'level ' || level, hex(hash) AS hash FROM hashes ORDER BY 1"},
    {"measurement", "SELECT sequence, '', * FROM benches ORDER BY 1, 2"},
    {"row of a board", "SELECT source, contest || ' ' || board || ' ' || rank || ' ' || target_micro" ENTRY_COLUMNS(SQL_NAME)
     " FROM entries WHERE alive = 1 ORDER BY 1, 2"},
};

// Doubles may differ in their last bits between machines with different mathematics libraries.
static bool same_column(sqlite3_stmt *a, sqlite3_stmt *b, int i)
{
    if (sqlite3_column_type(a, i) != SQLITE_FLOAT || sqlite3_column_type(b, i) != SQLITE_FLOAT)
        return strcmp(sql_text(a, i), sql_text(b, i)) == 0;
    double x = sqlite3_column_double(a, i), y = sqlite3_column_double(b, i);
    return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

static int compare_names(sqlite3_stmt *a, sqlite3_stmt *b)
{
    if (sqlite3_column_type(a, 0) == SQLITE_INTEGER && sqlite3_column_type(b, 0) == SQLITE_INTEGER)
        return (sql_column(a, 0) > sql_column(b, 0)) - (sql_column(a, 0) < sql_column(b, 0));
    int sign = strcmp(sql_text(a, 0), sql_text(b, 0));
    return sign != 0 ? sign : strcmp(sql_text(a, 1), sql_text(b, 1));
}

static int compare_rows(struct checking *c, const char *what, sqlite3_stmt *here, sqlite3_stmt *there)
{
    for (int i = 2; i < sqlite3_column_count(here); i++)
        if (!same_column(here, there, i))
            return report_fault(c, "%s %s %s: %s is \"%.80s\", but the statements give \"%.80s\"", what, sql_text(here, 0),
                         sql_text(here, 1), sqlite3_column_name(here, i), sql_text(here, i), sql_text(there, i));
    return 0;
}

static int compare_table(struct checking *c, const char *what, sqlite3_stmt *here, sqlite3_stmt *there)
{
    int a = sql_next(&c->from, here), b = sql_next(&c->rebuilt.sql, there);
    while (a > 0 || b > 0) {
        int sign = a <= 0 ? 1 : b <= 0 ? -1 : compare_names(here, there);
        if (a < 0 || b < 0) break;
        if (sign < 0)
            TRY(report_fault(c, "%s %s %s: it is there, but no statement leads to it", what, sql_text(here, 0),
                             sql_text(here, 1)));
        else if (sign > 0)
            TRY(report_fault(c, "%s %s %s: it should be there, and is not", what, sql_text(there, 0), sql_text(there, 1)));
        else TRY(compare_rows(c, what, here, there));
        if (sign <= 0) a = sql_next(&c->from, here);
        if (sign >= 0) b = sql_next(&c->rebuilt.sql, there);
    }
    return a < 0 ? a : b;
}

static int compare_tables(struct checking *c)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        sqlite3_stmt *here, *there;
        TRY(sql_start(&c->from, &here, tables[i].sql, ""));
        TRY(sql_start(&c->rebuilt.sql, &there, tables[i].sql, ""));
        int rc = compare_table(c, tables[i].what, here, there);
        sql_end(here);
        sql_end(there);
        TRY(rc);
    }
    return 0;
}

// The checkpoint is read first: a server that runs may sign more before the record is read.
static int read_head(struct checking *c)
{
    int rc = store_signed_note(c->store, NULL, &c->head);
    c->signed_ = rc == 0;
    if (rc == ERR_DATABASE) return report_fault(c, "%s", error_text());
    return rc == ERR_MISSING ? 0 : rc;
}

static int check_head(struct checking *c)
{
    bool holds = true;
    if (!c->signed_) return 0;
    if (store_tree_holds(&c->from, &c->head, &holds) < 0) return report_fault(c, "%s", error_text());
    return holds ? 0 : report_fault(c, "the last checkpoint that the board signed, of %lld statements, is not of this record",
                             (long long)c->head.size);
}

static int check_inside(struct checking *c)
{
    char line[SSHKEY_TEXT];
    TRY(read_head(c));
    TRY(sql_do(&c->from, "BEGIN", ""));
    TRY(sql_do(&c->rebuilt.sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, '', 0)", "tt", c->store->key_id,
               sshkey_line(&c->store->key, line)));
    TRY(sql_do(&c->rebuilt.sql, "BEGIN", ""));
    TRY(check_sqlite(c));
    TRY(replay_all(c));
    TRY(replay_imports(c));
    TRY(check_head(c));
    return compare_tables(c);
}

int store_check(struct store *s, int (*say)(void *, const char *), void *to, int *faults)
{
    struct checking c = {.store = s, .say = say, .to = to};
    *faults = 0;
    TRY(sql_open(s->path, SQL_READ, &c.from));
    memcpy(c.rebuilt.key_id, s->key_id, sizeof s->key_id);
    int rc = sql_open(NULL, SQL_SCRATCH, &c.rebuilt.sql);
    if (rc == 0) {
        rc = check_inside(&c);
        sqlite3_exec(c.rebuilt.sql.db, "ROLLBACK", NULL, NULL, NULL);
        sql_close(&c.rebuilt.sql);
    }
    sqlite3_exec(c.from.db, "ROLLBACK", NULL, NULL, NULL);
    sql_close(&c.from);
    *faults = c.faults;
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
// Reads statements, groups, people and imports. Workload: pages of one item each. Cost: a few indexed queries.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/store_inside.h"

enum { PERSON_STATEMENTS = 100 };

// Finding the bytes suffices: in canonical JSON only the member has them, because quotes inside a text have backslashes.
#define HAS_STATUS(word) "WHEN instr(s.payload, CAST('\"status\":\"" word "\"' AS BLOB)) > 0 THEN '" word "' "
#define STATUS "CASE WHEN s.type <> 'run' THEN '' " HAS_STATUS("failed") HAS_STATUS("interrupted") "ELSE '' END"

// The members of struct stored and where they come from, in the kinds of sql_start.
#define LARGE_MEMBERS(C)                                                                                               \
    C(t, payload, "s.payload") C(t, signature, "s.signature") C(t, countersignature, "s.countersignature")             \
    C(t, receipt, "s.receipt") C(t, receipt_signature, "s.receipt_signature")
#define STORED_MEMBERS(C)                                                                                              \
    C(i, sequence, "s.sequence") C(i, accepted_ms, "s.accepted_ms") C(t, digest, "s.digest") C(t, key, "s.key")        \
    C(t, handle, "s.handle") C(t, key_line, "k.line") C(i, withdrawn, "coalesce(r.withdrawn, 0)")                      \
    C(i, superseded, "coalesce(r.superseded, 0)") C(t, withdrawn_reason, "r.withdrawn_reason") C(t, team, "r.team")    \
    C(t, note, "r.note") C(t, code_url, "r.code_url") C(t, tags, "r.tags") C(t, group, "r.group_nonce")                \
    C(i, reproduced_by, "coalesce(r.reproduced_by, 0)") C(i, revoked, "k.revoked") C(t, status, STATUS)
#define MEMBER_FROM(kind, member, from) ", " from
#define MEMBER_NONE(kind, member, from) ", ''"
#define MEMBER_TAKE(kind, member, from) out->member = MEMBER_TAKE_##kind;
#define MEMBER_TAKE_i sql_column(row, at++)
#define MEMBER_TAKE_t sql_keep(row, at++, arena)

// A list leaves out the large members: a payload may have 1 MiB, and a group a thousand of them.
#define STORED_COLUMNS(large)                                                                                          \
    "s.type, coalesce(r.trust, 1)" LARGE_MEMBERS(large) STORED_MEMBERS(MEMBER_FROM)                                    \
    " FROM statements s JOIN keys k ON k.id = s.key LEFT JOIN runs r ON r.sequence = s.sequence "
#define WHOLE_COLUMNS STORED_COLUMNS(MEMBER_FROM)
#define LIST_COLUMNS STORED_COLUMNS(MEMBER_NONE)

static int take_stored(sqlite3_stmt *row, struct arena *arena, struct stored *out)
{
    const char *type = sql_text(row, 0);
    const int64_t trust = sql_column(row, 1);
    enum statement_type t = 0;
    int at = 2;
    while (t < STATEMENT_TYPES && strcmp(statement_type_name(t), type) != 0) t++;
    *out = (struct stored){.type = t, .trust = (enum trust)trust, .payload_count = (size_t)sqlite3_column_bytes(row, at)};
    LARGE_MEMBERS(MEMBER_TAKE)
    STORED_MEMBERS(MEMBER_TAKE)
    if (t < STATEMENT_TYPES && trust >= 0 && trust < TRUSTS) return 0;
    return fail(ERR_DATABASE, "statement %lld of the record has been altered", (long long)out->sequence);
}

int store_findings(struct sql *sql, int64_t sequence, struct findings *into)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(sql, &row, "SELECT code, text FROM findings WHERE sequence = ? ORDER BY number", "i", sequence));
    while ((rc = sql_next(sql, row)) > 0)
        for (int i = 0; i < CHECKS; i++)
            if (strcmp(check_code((enum check)i), sql_text(row, 0)) == 0)
                finding_add(into, (enum check)i, "%s", sql_text(row, 1));
    sql_end(row);
    return rc;
}

// Takes all rows of a started query.
static int take_all(struct reader *r, sqlite3_stmt *row, struct arena *arena, struct stored **list, int *count)
{
    struct stored *found = NULL;
    int rc;
    *count = 0;
    while ((rc = sql_next(&r->sql, row)) > 0) {
        found = grow(found, (size_t)(*count + 1) * sizeof *found);
        rc = take_stored(row, arena, &found[*count]);
        if (rc < 0) break;
        ++*count;
    }
    sql_end(row);
    if (rc == 0) rc = type_bench_state(&r->sql, found, *count, arena);
    *list = arena_alloc(arena, (size_t)(*count + 1) * sizeof **list);
    if (*count > 0) memcpy(*list, found, (size_t)*count * sizeof **list);
    free(found);
    return rc;
}

int store_statement(struct reader *r, const char *id, struct arena *arena, struct stored *out)
{
    sqlite3_stmt *row;
    int64_t sequence = 0;
    struct stored *list;
    int count;
    if (digest_is_hex(id)) TRY(sql_start(&r->sql, &row, "SELECT " WHOLE_COLUMNS "WHERE s.digest = ?", "t", id));
    else {
        if (id[0] < '1' || id[0] > '9' || id[strspn(id, "0123456789")] != 0 || text_to_int(id, 1, INT64_MAX, &sequence) < 0)
            return fail(ERR_MISSING, "a statement is named by its number or its digest; got \"%.80s\"", id);
        TRY(sql_start(&r->sql, &row, "SELECT " WHOLE_COLUMNS "WHERE s.sequence = ?", "i", sequence));
    }
    TRY(take_all(r, row, arena, &list, &count));
    if (count == 0) return fail(ERR_MISSING, "there is no statement %s", id);
    *out = list[0];
    out->findings = arena_alloc(arena, sizeof *out->findings);
    TRY(store_findings(&r->sql, out->sequence, out->findings));
    TRY(drawn_findings(&r->sql, out->sequence, out->findings));
    return type_object_findings(&r->sql, out->sequence, out->findings);
}

// The server's key signs little, so its index finds the few statements to look into.
int store_audit_of(struct reader *r, const char *digest, struct arena *arena, struct stored *out)
{
    sqlite3_stmt *row;
    struct stored *list;
    int count;
    TRY(sql_start(&r->sql, &row, "SELECT " WHOLE_COLUMNS "WHERE s.key IN (SELECT id FROM keys WHERE handle = '') AND "
                  "s.type = 'audit' AND instr(s.payload, CAST('\"statement\":\"' || ? || '\"' AS BLOB)) > 0 "
                  "ORDER BY s.sequence DESC LIMIT 1", "t", digest));
    TRY(take_all(r, row, arena, &list, &count));
    if (count == 0) return fail(ERR_MISSING, "nobody has audited statement %s", digest);
    *out = list[0];
    return 0;
}

int store_log(struct reader *r, int64_t after, int limit, struct arena *arena, struct stored **list, int *count)
{
    sqlite3_stmt *row;
    TRY(sql_start(&r->sql, &row, "SELECT " LIST_COLUMNS "WHERE s.sequence > ? ORDER BY s.sequence LIMIT ?", "ii", after,
                  (int64_t)limit));
    return take_all(r, row, arena, list, count);
}

// A run that the board saw while it went on takes as long as it says. (`finished` leads to the index by handles.)
#define STANDING "FROM runs h WHERE h.finished = 1 AND h.trust >= ?2 AND h.withdrawn = 0 AND h.superseded = 0 AND "

int store_has_standing(struct reader *r, const char *handle, bool *has)
{
    int64_t found;
    TRY(sql_int(&r->sql, &found, 0, "SELECT EXISTS (SELECT 1 " STANDING "h.handle = ?1)", "ti", handle,
                (int64_t)TRUST_WITNESSED));
    *has = found != 0;
    return 0;
}

int store_replays(struct reader *r, const char *head, int limit, struct arena *arena, struct stored **list, int *count)
{
    sqlite3_stmt *row;
    TRY(sql_start(&r->sql, &row, "SELECT " WHOLE_COLUMNS "JOIN replays p ON p.sequence = s.sequence WHERE p.head = ?1 "
                  "AND r.superseded = 0 ORDER BY EXISTS (SELECT 1 " STANDING "h.handle = s.handle) DESC, s.sequence LIMIT ?3",
                  "tii", head, (int64_t)TRUST_WITNESSED, (int64_t)limit));
    return take_all(r, row, arena, list, count);
}

int store_run_of_head(struct reader *r, const char *head, struct arena *arena, struct stored *out)
{
    sqlite3_stmt *row;
    struct stored *list;
    int count;
    TRY(sql_start(&r->sql, &row, "SELECT " WHOLE_COLUMNS "WHERE r.head = ? AND r.superseded = 0 LIMIT 1", "t", head));
    TRY(take_all(r, row, arena, &list, &count));
    if (count == 0) return fail(ERR_MISSING, "there is no run whose last hash is %.64s", head);
    *out = list[0];
    return 0;
}

int store_group(struct reader *r, const char *nonce, struct arena *arena, struct stored **list, int *count, int *planned)
{
    sqlite3_stmt *row;
    int64_t number;
    *count = 0;
    TRY(sql_int(&r->sql, &number, 0, "SELECT max(planned) FROM runs WHERE group_nonce = ? AND group_nonce <> ''", "t", nonce));
    *planned = (int)number;
    if (number == 0) return fail(ERR_MISSING, "there is no group %.64s", nonce);
    TRY(sql_start(&r->sql, &row, "SELECT " LIST_COLUMNS "WHERE r.group_nonce = ? AND r.group_nonce <> '' AND r.superseded = 0 "
                  "ORDER BY r.group_index, s.sequence", "t", nonce));
    return take_all(r, row, arena, list, count);
}

int store_group_run(struct reader *r, int64_t sequence, struct statement *out)
{
    sqlite3_stmt *row;
    *out = (struct statement){0};
    TRY(sql_start(&r->sql, &row, "SELECT brief FROM runs WHERE sequence = ?", "i", sequence));
    int rc = sql_next(&r->sql, row);
    if (rc == 0) rc = fail(ERR_MISSING, "there is no run %lld", (long long)sequence);
    else if (rc > 0) rc = store_take_brief(row, 0, out);
    sql_end(row);
    return rc;
}

static int read_keys(struct reader *r, struct arena *arena, struct person *out)
{
    sqlite3_stmt *row;
    struct person_key *found = NULL;
    int rc;
    TRY(sql_start(&r->sql, &row,
                  "SELECT id, line, since, revoked, replaced, revoked_reason FROM keys WHERE handle = ? COLLATE NOCASE "
                  "ORDER BY since, id",
                  "t", out->handle));
    while ((rc = sql_next(&r->sql, row)) > 0) {
        found = grow(found, (size_t)(out->key_count + 1) * sizeof *found);
        found[out->key_count++] = (struct person_key){sql_keep(row, 0, arena), sql_keep(row, 1, arena), sql_column(row, 2),
                                                      sql_column(row, 3), sql_column(row, 4), sql_keep(row, 5, arena)};
    }
    sql_end(row);
    out->keys = arena_alloc(arena, (size_t)(out->key_count + 1) * sizeof *out->keys);
    if (out->key_count > 0) memcpy(out->keys, found, (size_t)out->key_count * sizeof *found);
    free(found);
    return rc;
}

int store_person(struct reader *r, const char *handle, struct arena *arena, struct person *out)
{
    return store_person_before(r, handle, INT64_MAX, arena, out);
}

int store_person_before(struct reader *r, const char *handle, int64_t before, struct arena *arena, struct person *out)
{
    sqlite3_stmt *row;
    *out = (struct person){0};
    TRY(sql_start(&r->sql, &row, "SELECT handle FROM keys WHERE handle = ? COLLATE NOCASE AND handle <> '' LIMIT 1", "t",
                  handle));
    int rc = sql_next(&r->sql, row);
    if (rc > 0) out->handle = sql_keep(row, 0, arena);
    sql_end(row);
    TRY(rc);
    if (rc == 0) return fail(ERR_MISSING, "there is no person \"%.80s\"", handle);
    TRY(read_keys(r, arena, out));
    TRY(sql_start(&r->sql, &row, "SELECT " LIST_COLUMNS "WHERE s.handle = ? AND s.sequence < ? ORDER BY s.sequence DESC LIMIT ?",
                  "tii", out->handle, before, (int64_t)PERSON_STATEMENTS + 1));
    TRY(take_all(r, row, arena, &out->statements, &out->statement_count));
    if (out->statement_count <= PERSON_STATEMENTS) return 0;
    out->statement_count = PERSON_STATEMENTS;
    out->next = out->statements[PERSON_STATEMENTS - 1].sequence;
    return 0;
}

int store_people(struct reader *r, const char *part, int limit, struct arena *arena, struct people *out)
{
    sqlite3_stmt *row;
    int rc;
    *out = (struct people){.at = arena_alloc(arena, (size_t)(limit + 1) * sizeof *out->at)};
    TRY(sql_start(&r->sql, &row, "SELECT handle, sum(withdrawn = 0 AND superseded = 0), max(sequence) FROM runs "
                  "WHERE instr(lower(handle), lower(?)) > 0 OR ? = '' GROUP BY handle ORDER BY 3 DESC LIMIT ?", "tti", part, part,
                  (int64_t)limit));
    while ((rc = sql_next(&r->sql, row)) > 0)
        out->at[out->count++] = (struct person_line){sql_keep(row, 0, arena), sql_column(row, 1), sql_column(row, 2)};
    sql_end(row);
    return rc;
}

const char *store_key_id(const char *word, struct arena *arena)
{
    char *id = arena_text(arena, "%s%.160s", strncmp(word, "SHA256:", 7) == 0 ? "" : "SHA256:", word), *to = id + 7;
    for (const char *at = to; *at != 0; to++) {
        const bool slash = strncmp(at, "%2F", 3) == 0;
        *to = slash || *at == '_' ? '/' : *at == '-' ? '+' : *at;
        at += slash ? 3 : 1;
    }
    *to = 0;
    return id;
}

int store_person_of_key(struct reader *r, const char *key_id, struct arena *arena, struct person *out)
{
    sqlite3_stmt *row;
    const char *handle = NULL, *id = store_key_id(key_id, arena);
    *out = (struct person){0};
    TRY(sql_start(&r->sql, &row, "SELECT handle FROM keys WHERE id = ? AND handle <> ''", "t", id));
    int rc = sql_next(&r->sql, row);
    if (rc > 0) handle = sql_keep(row, 0, arena);
    sql_end(row);
    TRY(rc);
    return handle != NULL ? store_person(r, handle, arena, out) : fail(ERR_MISSING, "there is no key %.80s", id);
}

// ---- imports
#define IMPORT_COLUMNS "source, task, kind, stem, json, tsv, quirks FROM imports "

static struct imported take_import(sqlite3_stmt *row, struct arena *arena)
{
    return (struct imported){sql_keep(row, 0, arena), sql_keep(row, 1, arena), sql_keep(row, 2, arena), sql_keep(row, 3, arena),
                             sql_keep(row, 4, arena), sql_keep(row, 5, arena), sql_keep(row, 6, arena)};
}

int store_imported(struct reader *r, const char *source, struct arena *arena, struct imported *out)
{
    sqlite3_stmt *row;
    TRY(sql_start(&r->sql, &row, "SELECT " IMPORT_COLUMNS "WHERE source = ?", "t", source));
    int rc = sql_next(&r->sql, row);
    if (rc > 0) *out = take_import(row, arena);
    sql_end(row);
    TRY(rc);
    return rc > 0 ? 0 : fail(ERR_MISSING, "there is no imported entry %.200s", source);
}

int store_imports(struct reader *r, struct arena *arena, struct imported **list, int *count)
{
    sqlite3_stmt *row;
    struct imported *found = NULL;
    int rc;
    *count = 0;
    TRY(sql_start(&r->sql, &row, "SELECT " IMPORT_COLUMNS "WHERE kind <> 'history' ORDER BY source", ""));
    while ((rc = sql_next(&r->sql, row)) > 0) {
        found = grow(found, (size_t)(*count + 1) * sizeof *found);
        found[(*count)++] = take_import(row, arena);
    }
    sql_end(row);
    *list = arena_alloc(arena, (size_t)(*count + 1) * sizeof **list);
    if (*count > 0) memcpy(*list, found, (size_t)*count * sizeof **list);
    free(found);
    return rc;
}

int store_totals(struct reader *r, struct totals *t)
{
    int64_t newest;
    *t = (struct totals){0};
    TRY(sql_int(&r->sql, &t->statements, 0, "SELECT count(*) FROM statements", ""));
    TRY(sql_int(&r->sql, &t->runs, 0, "SELECT count(*) FROM runs WHERE withdrawn = 0 AND superseded = 0", ""));
    TRY(sql_int(&r->sql, &t->groups, 0, "SELECT count(DISTINCT group_nonce) FROM runs WHERE group_nonce <> ''", ""));
    TRY(sql_int(&r->sql, &t->people, 0, "SELECT count(DISTINCT handle) FROM keys WHERE handle <> ''", ""));
    TRY(sql_int(&r->sql, &t->imports, 0, "SELECT count(*) FROM imports", ""));
    TRY(sql_int(&r->sql, &t->newest_ms, 0, "SELECT accepted_ms FROM statements ORDER BY sequence DESC LIMIT 1", ""));
    TRY(sql_int(&r->sql, &newest, 0, "SELECT coalesce(max(imported_ms), 0) FROM imports", ""));
    if (newest > t->newest_ms) t->newest_ms = newest;
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Applies an accepted statement to the record. Invariant: the statements in their order determine all tables, so a replay
// (store_check.c) gives the same ones. Runs inside the caller's transaction.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"
#include "submit/format/score/curve.h"

int store_group_terms(const struct statement *statement, char hex[DIGEST_HEX])
{
    const json_t *run = statement->json;
    hex[0] = 0;
    if (canonical_at(run, "group") == NULL) return 0;
    json_t *terms = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "task", canonical_text(run, "task_digest"), "model",
                              canonical_text(run, "model.name"), "recipe", canonical_text(run, "recipe.digest"), "target",
                              (json_int_t)canonical_int(run, "target_micro"), "planned",
                              (json_int_t)canonical_int(run, "group.planned"), "announced_ms",
                              (json_int_t)canonical_int(run, "group.announced_ms"), "synthetic",
                              (json_int_t)canonical_int(run, "synthetic"));
    return canonical_digest(terms, hex);
}

const char *store_chain_head(const struct statement *statement)
{
    const json_t *points = canonical_at(statement->json, "points");
    size_t count = json_array_size(points);
    return count > 0 ? canonical_text(json_array_get(points, count - 1), "hash") : canonical_text(statement->json, "chain_root");
}

// Only a run that the harness evaluated can be reproduced; without an evaluation there is nothing to compare.
int store_curve(const struct statement *statement, char hex[DIGEST_HEX])
{
    const struct run_metric board = curve_board(statement->json);
    hex[0] = 0;
    if (strcmp(canonical_text(statement->json, "evaluated_by"), "harness") != 0) return 0;
    return curve_last(statement->json, &board) != RUN_SCORE_NONE ? ranking_curve(statement, hex) : 0;
}

static void write_tags(const json_t *tags, struct text *into)
{
    size_t i;
    json_t *tag;
    text_add(into, "%s", "");
    json_array_foreach((json_t *)tags, i, tag) text_add(into, "%s%s", i > 0 ? " " : "", json_string_value(tag));
}

// Besides these only "division" may change: a run may turn out to be of the open one.
static const char *differs(const json_t *a, const json_t *b, bool opened)
{
    static const char *const may[] = {"latencies", "supersedes", "team", "note", "code_url", "tags", "board_key", NULL};
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)a, name, value)
    {
        int i = 0;
        while (may[i] != NULL && strcmp(may[i], name) != 0) i++;
        if (may[i] != NULL || (opened && strcmp(name, "division") == 0)) continue;
        if (!json_equal(value, json_object_get(b, name))) return name;
    }
    return NULL;
}

const char *store_said_anew(const json_t *old, const json_t *run)
{
    bool opened = strcmp(canonical_text(run, "division"), "open") == 0;
    const char *name = differs(old, run, opened);
    return name != NULL ? name : differs(run, old, opened);
}

struct replaced {
    int64_t sequence, first;
    char curve[DIGEST_HEX];
};

static int supersede(struct store *s, const struct incoming *in, struct replaced *old)
{
    sqlite3_stmt *row;
    *old = (struct replaced){.first = in->sequence};
    const char *digest = canonical_text(in->statement->json, "supersedes");
    if (*digest == 0) return 0;
    TRY(sql_start(&s->sql, &row, "SELECT sequence, first, curve FROM runs WHERE digest = ?", "t", digest));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) {
        old->sequence = sql_column(row, 0);
        old->first = sql_column(row, 1);
        strncpy(old->curve, sql_text(row, 2), DIGEST_HEX - 1);
    }
    sql_end(row);
    TRY(rc);
    return sql_do(&s->sql, "UPDATE runs SET superseded = ? WHERE sequence = ?", "ii", in->sequence, old->sequence);
}

static int brief_of(const json_t *run, char **bytes)
{
    size_t count;
    *bytes = NULL;
    if (canonical_at(run, "group") == NULL) return 0;
    json_t *brief = ranking_brief(run);
    int rc = canonical_write(brief, bytes, &count);
    json_decref(brief);
    return rc;
}

static int insert_run(struct store *s, const struct incoming *in, int64_t first, const char *curve)
{
    const json_t *run = in->statement->json;
    char terms[DIGEST_HEX], *brief;
    struct text tags = {0};
    const struct contest *contest = ranking_contest(run);
    int64_t flags;
    TRY(store_objection_flags(&s->sql, canonical_text(run, "nonce"), &flags));
    flags += in->findings->flags;
    TRY(store_group_terms(in->statement, terms));
    TRY(brief_of(run, &brief));
    write_tags(canonical_at(run, "tags"), &tags);
    int rc = sql_do(&s->sql, "INSERT INTO runs (sequence, digest, nonce, head, contest, handle, first, group_nonce, group_index, "
                    "planned, group_terms, seed, curve, flags, trust, team, note, code_url, tags, brief) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "ittttti" "tiititi" "ittttt",
                    in->sequence, in->statement->digest, canonical_text(run, "nonce"), store_chain_head(in->statement),
                    contest != NULL ? contest->name : "", in->handle, first, canonical_text(run, "group.nonce"),
                    canonical_int(run, "group.index"),
                    canonical_int(run, "group.planned"), terms, canonical_int(run, "seed"), curve, flags,
                    (int64_t)(flags == 0 ? TRUST_CHECKED : TRUST_SIGNED), canonical_text(run, "team"),
                    canonical_text(run, "note"), canonical_text(run, "code_url"), tags.at,
                    brief != NULL ? brief : "");
    text_free(&tags);
    free(brief);
    const char *repeats = canonical_text(run, "replay_of");
    if (rc == 0 && *repeats != 0)
        rc = sql_do(&s->sql, "INSERT INTO replays (sequence, head) VALUES (?, ?)", "it", in->sequence, repeats);
    return rc;
}

static int apply_run(struct store *s, const struct incoming *in)
{
    struct replaced old;
    char curve[DIGEST_HEX];
    TRY(supersede(s, in, &old));
    TRY(store_curve(in->statement, curve));
    TRY(insert_run(s, in, old.first, curve));
    TRY(store_ticket_apply(s, in));
    TRY(store_rank_curve(s, curve));
    if (old.sequence != 0 && strcmp(old.curve, curve) != 0) TRY(store_rank_curve(s, old.curve));
    TRY(store_rank_repeated(s, in->sequence, canonical_text(in->statement->json, "group.nonce")));
    if (old.sequence != 0) TRY(store_rank_run(s, old.sequence));
    TRY(store_rank_run(s, in->sequence));
    return store_rank_group(s, canonical_text(in->statement->json, "group.nonce"));
}

// Finds the run of a withdrawal or an amendment; its group and curve live in the arena.
static int find_run(struct store *s, const struct incoming *in, struct arena *arena, int64_t *sequence, const char **group,
                    const char **curve)
{
    sqlite3_stmt *row;
    *sequence = 0;
    *group = *curve = "";
    TRY(sql_start(&s->sql, &row, "SELECT sequence, group_nonce, curve FROM runs WHERE digest = ?", "t",
                  canonical_text(in->statement->json, "statement")));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) {
        *sequence = sql_column(row, 0);
        *group = sql_keep(row, 1, arena);
        *curve = sql_keep(row, 2, arena);
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int apply_withdraw(struct store *s, const struct incoming *in, struct arena *arena)
{
    int64_t sequence;
    const char *group, *curve;
    TRY(store_withdraw_bench(s, in));
    TRY(find_run(s, in, arena, &sequence, &group, &curve));
    if (sequence == 0) return 0;  // a measurement
    TRY(sql_do(&s->sql, "UPDATE runs SET withdrawn = ?, withdrawn_reason = ? WHERE sequence = ?", "iti", in->sequence,
               canonical_text(in->statement->json, "reason"), sequence));
    TRY(store_rank_curve(s, curve));
    TRY(store_rank_repeated(s, sequence, group));
    TRY(store_rank_run(s, sequence));
    return store_rank_group(s, group);
}

static int amend_words(struct store *s, const json_t *amend, int64_t sequence)
{
    if (json_object_get(amend, "team") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET team = ? WHERE sequence = ?", "ti", canonical_text(amend, "team"), sequence));
    if (json_object_get(amend, "note") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET note = ? WHERE sequence = ?", "ti", canonical_text(amend, "note"), sequence));
    if (json_object_get(amend, "code_url") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET code_url = ? WHERE sequence = ?", "ti", canonical_text(amend, "code_url"),
                   sequence));
    if (json_object_get(amend, "tags") == NULL) return 0;
    struct text tags = {0};
    write_tags(json_object_get(amend, "tags"), &tags);
    int rc = sql_do(&s->sql, "UPDATE runs SET tags = ? WHERE sequence = ?", "ti", tags.at, sequence);
    text_free(&tags);
    return rc;
}

static int apply_amend(struct store *s, const struct incoming *in, struct arena *arena)
{
    int64_t sequence;
    const char *group, *curve;
    TRY(find_run(s, in, arena, &sequence, &group, &curve));
    TRY(amend_words(s, in->statement->json, sequence));
    TRY(store_rank_run(s, sequence));
    return store_rank_group(s, group);
}

static int apply_vouch(struct store *s, const struct incoming *in, struct arena *arena)
{
    int64_t sequence;
    const char *group, *curve;
    TRY(store_ticket_apply(s, in));
    TRY(find_run(s, in, arena, &sequence, &group, &curve));
    TRY(store_rank_curve(s, curve));
    TRY(store_rank_run(s, sequence));
    return store_rank_group(s, group);
}

// Without a confirmation the level again follows from the checks and from reproductions.
static int apply_audit(struct store *s, const struct incoming *in, struct arena *arena)
{
    int64_t sequence;
    const char *group, *curve;
    bool confirms = strcmp(canonical_text(in->statement->json, "verdict"), "confirmed") == 0;
    TRY(find_run(s, in, arena, &sequence, &group, &curve));
    if (confirms) TRY(sql_do(&s->sql, "UPDATE runs SET trust = ? WHERE sequence = ?", "ii", (int64_t)TRUST_AUDITED, sequence));
    else
        TRY(sql_do(&s->sql, "UPDATE runs SET trust = CASE WHEN flags = 0 THEN ? ELSE ? END, reproduced_by = 0 WHERE sequence = ?",
                   "iii", (int64_t)TRUST_CHECKED, (int64_t)TRUST_SIGNED, sequence));
    TRY(store_rank_curve(s, curve));
    TRY(store_rank_run(s, sequence));
    return store_rank_group(s, group);
}

static int apply_rotate(struct store *s, const struct incoming *in)
{
    TRY(sql_do(&s->sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, ?, ?)", "ttti", in->next_key, in->next_line,
               in->handle, in->sequence));
    return sql_do(&s->sql, "UPDATE keys SET replaced = ? WHERE id = ?", "it", in->sequence, in->key);
}

static int apply_revoke(struct store *s, const struct incoming *in)
{
    const json_t *revoke = in->statement->json;
    return sql_do(&s->sql, "UPDATE keys SET revoked = ?, revoked_reason = ? WHERE id = ?", "itt", in->sequence,
                  canonical_text(revoke, "reason"), canonical_text(revoke, "key"));
}

static int insert_statement(struct store *s, const struct incoming *in)
{
    const struct statement *statement = in->statement;
    if (in->new_key)
        TRY(sql_do(&s->sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, ?, ?)", "ttti", in->key, in->key_line,
                   in->handle, in->sequence));
    TRY(sql_do(&s->sql, "INSERT INTO statements (sequence, digest, type, payload, signature, countersignature, key, handle, "
               "accepted_ms, receipt, receipt_signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "ittbttttitt",
               in->sequence, statement->digest, statement_type_name(statement->type), (const void *)statement->payload,
               statement->count, in->signature, in->countersignature, in->key, in->handle, in->accepted_ms, in->receipt,
               in->receipt_signature));
    TRY(store_tree_add(s, in));
    for (int i = 0; i < in->findings->count && i < FINDINGS_MAX; i++)
        TRY(sql_do(&s->sql, "INSERT INTO findings (sequence, number, code, text) VALUES (?, ?, ?, ?)", "iitt", in->sequence,
                   (int64_t)i, check_code(in->findings->at[i].check), in->findings->at[i].text));
    return 0;
}

static bool is_about_run(const struct statement *audit)
{
    return !store_competition_decides(audit) && !store_objection_decides(audit);
}

int store_apply(struct store *s, const struct incoming *in)
{
    struct arena arena = {0};
    int rc = insert_statement(s, in);
    if (rc == 0) {
        switch (in->statement->type) {
        case STATEMENT_RUN: rc = apply_run(s, in); break;
        case STATEMENT_WITHDRAW: rc = apply_withdraw(s, in, &arena); break;
        case STATEMENT_AMEND: rc = apply_amend(s, in, &arena); break;
        case STATEMENT_ROTATE: rc = apply_rotate(s, in); break;
        case STATEMENT_REVOKE: rc = apply_revoke(s, in); break;
        case STATEMENT_AUDIT: rc = is_about_run(in->statement) ? apply_audit(s, in, &arena) : 0; break;
        case STATEMENT_BENCH: rc = store_put_bench(s, in); break;
        case STATEMENT_COMPETITION:
        case STATEMENT_COMMIT:
        case STATEMENT_OBJECT: break;
        case STATEMENT_TICKET: rc = store_ticket_apply(s, in); break;
        case STATEMENT_VOUCH: rc = apply_vouch(s, in, &arena); break;
        default: BUG("there is no such type of statement");
        }
        if (rc == 0) rc = store_competition_apply(s, in);
        if (rc == 0) rc = store_objection_apply(s, in);
    }
    arena_free(&arena);
    return rc;
}

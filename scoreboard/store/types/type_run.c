// SPDX-License-Identifier: Apache-2.0
// Runs: what one may not repeat of earlier statements, its row, and the ranks that it changes.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/types/types.h"
#include "submit/format/score/curve.h"

// The hash of the last point; of a run without points, the root.
static const char *head_of_chain(const json_t *run)
{
    const json_t *points = canonical_at(run, "points");
    size_t count = json_array_size(points);
    return count > 0 ? canonical_text(json_array_get(points, count - 1), "hash") : canonical_text(run, "chain_root");
}

// ---- earlier statements of the same run
// Besides these only "division" may change: a run may turn out to be of the open one.
static const char *find_difference(const json_t *a, const json_t *b, bool opened)
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

// The first member that must not differ from the superseded statement but does; NULL: none.
static const char *find_change(const json_t *old, const json_t *run)
{
    bool opened = strcmp(canonical_text(run, "division"), "open") == 0;
    const char *name = find_difference(old, run, opened);
    return name != NULL ? name : find_difference(run, old, opened);
}

struct earlier {
    int64_t sequence, withdrawn;
    bool same;  // nonce and head both
    const char *digest;
};

static int compare_members(struct store *s, const json_t *run, const struct earlier *e, struct ruling *out)
{
    struct statement old = {0};
    int rc = 0;
    TRY(store_payload(&s->sql, e->sequence, &old));
    const char *name = find_change(old.json, run);
    if (name != NULL)
        rc = problem_rule(out, PROBLEM_CONFLICT, "statement %s has another \"%.40s\"; only latencies and texts may change",
                          e->digest, name);
    statement_free(&old);
    return rc;
}

static int compare_with_earlier(struct store *s, const json_t *run, const struct earlier *e, struct ruling *out)
{
    const char *supersedes = canonical_text(run, "supersedes");
    if (e->withdrawn != 0)
        return problem_rule(out, PROBLEM_CONFLICT, "this run was submitted as statement %s and withdrawn; it cannot come back",
                            e->digest);
    if (strcmp(supersedes, e->digest) != 0)
        return problem_rule(out, PROBLEM_CONFLICT,
                            "this run has been submitted as statement %s; name that as \"supersedes\" to replace it", e->digest);
    if (!e->same)
        return problem_rule(out, PROBLEM_CONFLICT, "statement %s has another nonce or other points; only the same run can take "
                            "its place", e->digest);
    return compare_members(s, run, e, out);
}

// Finds runs with the same nonce or the same chain. `*superseded` becomes the run that this statement replaces.
static int check_conflicts(struct store *s, const struct incoming *in, int64_t *superseded, struct ruling *out)
{
    const json_t *run = in->statement->json;
    sqlite3_stmt *row;
    int rc, refused = 0;
    const char *nonce = canonical_text(run, "nonce"), *head = head_of_chain(run);
    *superseded = 0;
    TRY(sql_start(
        &s->sql, &row,
        "SELECT sequence, withdrawn, nonce = ?1 AND head = ?2, digest, handle, superseded FROM runs WHERE nonce = ?1 UNION "
        "SELECT sequence, withdrawn, nonce = ?1 AND head = ?2, digest, handle, superseded FROM runs WHERE head = ?2 ORDER BY 1",
        "tt", nonce, head));
    while (refused == 0 && (rc = sql_next(&s->sql, row)) != 0) {
        if (rc < 0) {
            refused = rc;
            break;
        }
        const struct earlier e = {sql_column(row, 0), sql_column(row, 1), sql_column(row, 2) != 0, sql_text(row, 3)};
        if (strcmp(sql_text(row, 4), in->handle) != 0)
            refused = problem_rule(out, PROBLEM_CONFLICT, "this run has been submitted by another person, as statement %lld",
                                   (long long)e.sequence);
        else if (sql_column(row, 5) == 0) {
            refused = compare_with_earlier(s, run, &e, out);
            *superseded = e.sequence;
        }
    }
    sql_end(row);
    if (refused == 0 && *superseded == 0 && canonical_at(run, "supersedes") != NULL)
        return problem_rule(out, PROBLEM_CONFLICT, "\"supersedes\" names no statement of this run that still counts");
    return refused;
}

static int check_run(struct store *s, const struct incoming *in, struct ruling *out)
{
    int64_t superseded;
    STEP(type_commit_check_run(s, in, out));
    STEP(type_ticket_check_run(s, in, out));
    STEP(check_conflicts(s, in, &superseded, out));
    return run_others_check(s, in, superseded, out);
}

// ---- its row
void type_run_tags(const json_t *statement, struct text *into)
{
    size_t i;
    json_t *tag;
    text_add(into, "%s", "");
    json_array_foreach(json_object_get(statement, "tags"), i, tag)
        text_add(into, "%s%s", i > 0 ? " " : "", json_string_value(tag));
}

struct replaced {
    int64_t sequence, first;
    char curve[DIGEST_HEX];
};

static int mark_superseded(struct store *s, const struct incoming *in, struct replaced *old)
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

static int write_brief(const json_t *run, char **bytes)
{
    size_t count;
    *bytes = NULL;
    if (canonical_at(run, "group") == NULL) return 0;
    json_t *brief = ranking_brief(run);
    int rc = canonical_write(brief, bytes, &count);
    json_decref(brief);
    return rc;
}

static bool is_finished(const json_t *run)
{
    const struct run_metric board = curve_board(run);
    return curve_ended(run) && curve_last(run, &board) != RUN_SCORE_NONE;
}

#define RUN_COLUMNS(C)                                                                                                 \
    C(t, digest, in->statement->digest)                                                                                \
    C(t, nonce, canonical_text(run, "nonce"))                                                                          \
    C(t, head, head_of_chain(run))                                                                                     \
    C(t, contest, contest != NULL ? contest->name : "")                                                                \
    C(t, handle, in->handle)                                                                                           \
    C(i, first, old->first)                                                                                            \
    C(t, group_nonce, canonical_text(run, "group.nonce"))                                                              \
    C(i, group_index, canonical_int(run, "group.index"))                                                               \
    C(i, planned, canonical_int(run, "group.planned"))                                                                 \
    C(t, group_terms, terms)                                                                                           \
    C(i, seed, canonical_int(run, "seed"))                                                                             \
    C(t, curve, curve)                                                                                                 \
    C(t, opening, opening)                                                                                             \
    C(i, finished, is_finished(run))                                                                                   \
    C(i, flags, flags)                                                                                                 \
    C(i, trust, flags == 0 ? TRUST_CHECKED : TRUST_SIGNED)                                                             \
    C(t, team, canonical_text(run, "team"))                                                                            \
    C(t, note, canonical_text(run, "note"))                                                                            \
    C(t, code_url, canonical_text(run, "code_url"))                                                                    \
    C(t, tags, tags.at)                                                                                                \
    C(t, brief, brief != NULL ? brief : "")

static int insert_run(struct store *s, const struct incoming *in, const struct replaced *old, const char *curve)
{
    const json_t *run = in->statement->json;
    const struct contest *contest = ranking_contest(run);
    char terms[DIGEST_HEX], opening[DIGEST_HEX] = "", *brief;
    struct text tags = {0};
    int64_t flags, differs;
    TRY(type_object_flags(&s->sql, canonical_text(run, "nonce"), &flags));
    TRY(drawn_flags(&s->sql, canonical_text(run, "nonce"), &differs));
    flags += in->findings->flags + differs;
    TRY(run_others_terms(run, terms));
    if (*curve != 0) TRY(ranking_opening(run, opening));
    TRY(write_brief(run, &brief));
    type_run_tags(run, &tags);
    int rc = SQL_INSERT(&s->sql, "runs", in->sequence, RUN_COLUMNS);
    text_free(&tags);
    free(brief);
    return rc;
}

static int apply_run(struct store *s, const struct incoming *in)
{
    const json_t *run = in->statement->json;
    const char *group = canonical_text(run, "group.nonce"), *repeats = canonical_text(run, "replay_of");
    struct replaced old;
    char curve[DIGEST_HEX];
    TRY(mark_superseded(s, in, &old));
    TRY(run_others_curve(in->statement, curve));
    TRY(insert_run(s, in, &old, curve));
    TRY(run_pace_put(&s->sql, in->sequence, run));
    if (*repeats != 0) TRY(sql_do(&s->sql, "INSERT INTO replays (sequence, head) VALUES (?, ?)", "it", in->sequence, repeats));
    TRY(type_ticket_apply_run(s, in));
    if (canonical_at(run, "competition") != NULL)
        TRY(sql_do(&s->sql, "UPDATE committed SET run = ? WHERE digest = ?", "it", in->sequence, in->statement->digest));
    TRY(store_rank_curve(s, curve));
    if (old.sequence != 0 && strcmp(old.curve, curve) != 0) TRY(store_rank_curve(s, old.curve));
    TRY(store_rank_repeated(s, in->sequence, group));
    if (old.sequence != 0) TRY(store_rank_run(s, old.sequence));
    TRY(store_rank_run(s, in->sequence));
    return store_rank_group(s, group);
}

const struct store_type type_run = {.first = true, .quarters = {4, 4}, .check = check_run, .apply = apply_run};

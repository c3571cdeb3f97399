// SPDX-License-Identifier: Apache-2.0
// Keeps the rows of boards up to date. Invariant: after each call the living rows of a source are exactly those that ranking.h
// derives from the statements that count now. Cost: one payload per run. A group may have a thousand runs; it costs a few KB for
// each, and only when all its runs have arrived. Two payloads for each new pair of a run and one that may repeat it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/boards/entry_columns.h"
#include "scoreboard/store/boards/store_boards.h"
#include "submit/format/score/replay.h"

int store_drop_entries(struct store *s, const char *source)
{
    return sql_do(&s->sql, "UPDATE entries SET alive = 0, stamp = ? WHERE source = ? AND alive = 1", "it", s->stamp, source);
}

int store_put_entry(struct store *s, const struct ranked *row, int64_t target_micro)
{
    const struct entry *e = &row->entry;
    return sql_do(&s->sql,
                  "INSERT INTO entries (contest, board, rank, target_micro, stamp, alive" ENTRY_COLUMNS(SQL_NAME)
                  ") VALUES (?, ?, ?, ?, ?, 1" ENTRY_COLUMNS(SQL_MARK)
                  ") ON CONFLICT (source, contest, board, rank, target_micro) DO UPDATE SET alive = 1, stamp = excluded.stamp"
                  ENTRY_COLUMNS(SQL_REPLACE), "tiiii" ENTRY_COLUMNS(SQL_KIND), e->contest, (int64_t)row->board,
                  (int64_t)row->rank, target_micro, s->stamp ENTRY_COLUMNS(SQL_VALUE));
}

// A run with the record's own facts about it.
struct counted {
    struct statement statement;
    int64_t sequence, accepted_ms, flags;
    int64_t first_ms;  // acceptance of the run's first statement
    enum trust trust;
    bool counts;
    const char *contest, *team, *code_url, *tags;  // in the arena
};

#define COUNTED_COLUMNS(words)                                                                                         \
    "sequence, accepted_ms, flags, trust, withdrawn = 0 AND superseded = 0, contest, team, code_url, tags, " words     \
    ", (SELECT f.accepted_ms FROM statements f WHERE f.sequence = first) FROM runs JOIN statements USING (sequence) "

static void read_counted(sqlite3_stmt *row, struct arena *arena, struct counted *c)
{
    int64_t trust = sql_column(row, 3);
    *c = (struct counted){
        .sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 1), .flags = sql_column(row, 2),
        .trust = trust >= 0 && trust < TRUSTS ? (enum trust)trust : TRUST_SIGNED, .counts = sql_column(row, 4) != 0,
        .contest = sql_keep(row, 5, arena), .team = sql_keep(row, 6, arena), .code_url = sql_keep(row, 7, arena),
        .tags = sql_keep(row, 8, arena), .first_ms = sql_column(row, 10),
    };
}

int store_take_brief(sqlite3_stmt *row, int column, struct statement *out)
{
    *out = (struct statement){.type = STATEMENT_RUN};
    const char *brief = sql_text(row, column);
    if (canonical_read(brief, strlen(brief), &out->json) == 0) return 0;
    return fail(ERR_DATABASE, "the record of a group's run has been altered");
}

// The targets of a run's boards. The demonstration has one board for all targets.
static int targets_of(const char *name, const struct statement *statement, int64_t targets[CONTEST_TARGETS],
                      int64_t shelves[CONTEST_TARGETS])
{
    const struct contest *contest = contest_find(name);
    int count = 0;
    if (contest == NULL) return 0;
    if (contest->synthetic) {
        targets[0] = canonical_int(statement->json, "target_micro");
        shelves[0] = contest->target_micro[0];
        return 1;
    }
    for (; count < CONTEST_TARGETS && contest->target_micro[count] != 0; count++)
        targets[count] = shelves[count] = contest->target_micro[count];
    return count;
}

// A level belongs to the figure that earned it. The board's stamps and a repetition are about the time of training; they do not
// show latencies, which may be replaced. A price of the author's own is checked by nothing: such a cost is only signed, so boards
// show it behind the listed ones. A person who audits looks at all of it.
static enum trust level_of(const struct ranked *row, const struct counted *c)
{
    const enum trust most = row->stated ? TRUST_SIGNED
                            : row->board == BOARD_TRAINING_TIME || row->board == BOARD_TRAINING_COST ? TRUST_AUDITED
                                                                                                    : TRUST_CHECKED;
    return c->trust > most && c->trust != TRUST_AUDITED ? most : c->trust;
}

// A training row is dated by the run's first statement, even if superseded; a latency may be newer.
static void complete_entry(struct ranked *row, const struct counted *c, const char *source)
{
    bool training = row->board == BOARD_TRAINING_TIME || row->board == BOARD_TRAINING_COST;
    struct entry *e = &row->entry;
    e->source = source;
    e->sequence = c->sequence;
    e->accepted_ms = training ? c->first_ms : c->accepted_ms;
    e->flags = c->flags;
    e->trust = level_of(row, c);
    e->team = c->team;
    e->code_url = c->code_url;
    e->tags = c->tags;
}

static int put_run(struct store *s, const struct counted *c, const char *source, struct arena *arena)
{
    int64_t targets[CONTEST_TARGETS], shelves[CONTEST_TARGETS];
    int count = targets_of(c->contest, &c->statement, targets, shelves);
    for (int i = 0; i < count; i++) {
        struct ranked rows[BOARDS];
        int found = ranking_of_run(&c->statement, targets[i], arena, rows);
        for (int n = 0; n < found; n++) {
            complete_entry(&rows[n], c, source);
            TRY(store_put_entry(s, &rows[n], shelves[i]));
        }
    }
    return 0;
}

int store_rank_run(struct store *s, int64_t sequence)
{
    char source[32];
    struct arena arena = {0};
    struct counted c = {0};
    sqlite3_stmt *row;
    snprintf(source, sizeof source, "#%lld", (long long)sequence);
    TRY(store_drop_entries(s, source));
    TRY(sql_start(&s->sql, &row, "SELECT " COUNTED_COLUMNS("payload") "WHERE sequence = ?", "i", sequence));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) read_counted(row, &arena, &c);
    if (rc > 0 && c.counts)
        rc = statement_read(sqlite3_column_blob(row, 9), (size_t)sqlite3_column_bytes(row, 9), &c.statement);
    sql_end(row);
    if (rc >= 0 && c.counts) rc = put_run(s, &c, source, &arena);
    statement_free(&c.statement);
    arena_free(&arena);
    return rc < 0 ? rc : 0;
}

static int read_group(struct store *s, const char *nonce, struct arena *arena, struct counted *runs, int planned, int *count)
{
    sqlite3_stmt *row;
    int rc = 0;
    *count = 0;
    TRY(sql_start(&s->sql, &row, "SELECT " COUNTED_COLUMNS("brief")
                  "WHERE group_nonce = ? AND group_nonce <> '' AND withdrawn = 0 "
                  "AND superseded = 0 ORDER BY group_index", "t", nonce));
    while (*count < planned && (rc = sql_next(&s->sql, row)) > 0) {
        read_counted(row, arena, &runs[*count]);
        rc = store_take_brief(row, 9, &runs[(*count)++].statement);
        if (rc < 0) break;
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int put_group(struct store *s, const char *source, const struct counted *runs, int count, struct arena *arena)
{
    const struct statement **statements = arena_alloc(arena, (size_t)count * sizeof *statements);
    struct counted whole = runs[0];  // texts of the first run; lowest trust of all
    for (int i = 0; i < count; i++) {
        statements[i] = &runs[i].statement;
        if (runs[i].trust < whole.trust) whole.trust = runs[i].trust;
        if (runs[i].sequence > whole.sequence) whole.sequence = runs[i].sequence;
        if (runs[i].accepted_ms > whole.accepted_ms) whole.accepted_ms = runs[i].accepted_ms;
        if (runs[i].first_ms > whole.first_ms) whole.first_ms = runs[i].first_ms;
        if (i > 0) whole.flags += runs[i].flags;
    }
    int64_t targets[CONTEST_TARGETS], shelves[CONTEST_TARGETS];
    int targets_count = targets_of(whole.contest, &runs[0].statement, targets, shelves);
    for (int i = 0; i < targets_count; i++) {
        struct ranked rows[BOARDS];
        struct group_facts facts;
        const json_t *first = runs[0].statement.json;
        if (ranking_is_harder(first, targets[i], canonical_int(first, "target_micro"))) continue;
        int found = ranking_of_group_at(statements, count, count, targets[i], arena, &facts, rows);
        for (int n = 0; n < found; n++) {
            complete_entry(&rows[n], &whole, source);
            TRY(store_put_entry(s, &rows[n], shelves[i]));
        }
    }
    return 0;
}

int store_rank_group(struct store *s, const char *nonce)
{
    char source[64];
    int64_t there, planned;
    if (*nonce == 0) return 0;
    snprintf(source, sizeof source, "group %s", nonce);
    TRY(store_drop_entries(s, source));
    TRY(sql_int(&s->sql, &planned, 0, "SELECT max(planned) FROM runs WHERE group_nonce = ? AND group_nonce <> ''", "t", nonce));
    TRY(sql_int(&s->sql, &there, 0, "SELECT count(*) FROM runs WHERE group_nonce = ? AND group_nonce <> '' AND withdrawn = 0 "
                "AND superseded = 0", "t", nonce));
    if (there < planned || planned < GROUP_MINIMUM || there > planned) return 0;
    struct arena arena = {0};
    struct counted *runs = zalloc((size_t)planned * sizeof *runs);
    int count;
    int rc = read_group(s, nonce, &arena, runs, (int)planned, &count);
    if (rc == 0 && count == planned) rc = put_group(s, source, runs, count, &arena);
    for (int i = 0; i < planned; i++) statement_free(&runs[i].statement);
    free(runs);
    arena_free(&arena);
    return rc;
}

// ---- reproductions
struct copy {
    int64_t sequence, trust, reproduced_by, flags, vouched;
    int64_t equal;     // the operator trained it again to the same figures
    int64_t followed;  // an older run of another person, withdrawn or not, begins with the same figures
    const char *handle, *group;
};

static int read_copies(struct store *s, const char *curve, struct arena *arena, struct copy **copies, int *count)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&s->sql, &row, "SELECT sequence, trust, reproduced_by, flags, handle, group_nonce, "
                  "EXISTS (SELECT 1 FROM vouches v WHERE v.run = runs.first), "
                  "EXISTS (SELECT 1 FROM drawn d WHERE d.run = runs.first AND d.verdict = 1), " STORE_FOLLOWED("runs")
                  "> 0 FROM runs WHERE curve = ? "
                  "AND curve <> '' AND withdrawn = 0 AND superseded = 0 ORDER BY first", "t", curve));
    while ((rc = sql_next(&s->sql, row)) > 0) {
        *copies = grow(*copies, (size_t)(*count + 1) * sizeof **copies);
        (*copies)[(*count)++] = (struct copy){sql_column(row, 0), sql_column(row, 1), sql_column(row, 2), sql_column(row, 3),
                                              sql_column(row, 6), sql_column(row, 7), sql_column(row, 8), sql_keep(row, 4, arena),
                                              sql_keep(row, 5, arena)};
    }
    sql_end(row);
    return rc;
}

int store_payload(struct sql *sql, int64_t sequence, struct statement *out)
{
    sqlite3_stmt *row;
    TRY(sql_start(sql, &row, "SELECT payload FROM statements WHERE sequence = ?", "i", sequence));
    int rc = sql_next(sql, row);
    if (rc > 0) rc = statement_read(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0), out);
    else if (rc == 0) rc = fail(ERR_DATABASE, "statement %lld is not in the record", (long long)sequence);
    sql_end(row);
    return rc;
}

// What a run is to an earlier one whose curve it has, or which it says it repeats.
enum pair_verdict {
    PAIR_COPY,   // a copy, which repeats nothing
    PAIR_OTHER,  // it came to other figures
    PAIR_EXACT,
    PAIR_SCORE   // the group of the earlier run decides about its score
};
struct pair_judged {
    enum pair_verdict verdict;
    double score;  // 0 unless PAIR_SCORE
};

static struct pair_judged judge_figures(const json_t *run, const json_t *other)
{
    struct replay_judged j;
    struct pair_judged found = {.verdict = PAIR_OTHER};
    replay_judge(run, other, NULL, &j);
    if (j.verdict == REPLAY_EXACT) found.verdict = PAIR_EXACT;
    else if (j.verdict != REPLAY_NONE && j.settings > 0 && j.score[1] != RUN_SCORE_NONE)
        found = (struct pair_judged){PAIR_SCORE, run_metric_value(&j.board, j.score[1])};
    replay_free(&j);
    return found;
}

// A copy is no reproduction.
static int judge_pair(struct sql *sql, int64_t sequence, int64_t by, struct pair_judged *out)
{
    struct statement run = {0}, other = {0};
    int rc = store_payload(sql, sequence, &run);
    if (rc == 0) rc = store_payload(sql, by, &other);
    if (rc == 0)
        *out = check_same_times(run.json, other.json) ? (struct pair_judged){.verdict = PAIR_COPY}
                                                      : judge_figures(run.json, other.json);
    statement_free(&run);
    statement_free(&other);
    return rc;
}

// Judging a pair reads two payloads of up to a MiB each, so the verdict is stored and reused. Otherwise, each new run of a group
// of a thousand runs with many replays would read all their payloads again.
enum { PAIRS = 64 };  // replays of an original that are considered: the first ones
struct candidate {
    int64_t sequence;
    bool known;
    struct pair_judged judged;
};

// A query's rows: sequence, verdict, score; the last two are null where nobody has judged yet.
static int read_candidates(struct store *s, sqlite3_stmt *row, struct candidate at[PAIRS], int *count)
{
    int rc;
    *count = 0;
    while (*count < PAIRS && (rc = sql_next(&s->sql, row)) > 0) {
        int64_t verdict = sql_column(row, 1);
        at[(*count)++] = (struct candidate){
            sql_column(row, 0), sqlite3_column_type(row, 1) != SQLITE_NULL && verdict >= PAIR_COPY && verdict <= PAIR_SCORE,
            {(enum pair_verdict)verdict, sqlite3_column_double(row, 2)}};
    }
    sql_end(row);
    return *count < PAIRS ? rc : 0;
}

static int judge_candidates(struct store *s, int64_t sequence, struct candidate at[], int count)
{
    for (int i = 0; i < count; i++) {
        struct pair_judged *j = &at[i].judged;
        if (at[i].known) continue;
        TRY(judge_pair(&s->sql, sequence, at[i].sequence, j));
        TRY(sql_do(&s->sql, "INSERT OR REPLACE INTO judged (run, by, verdict, score) VALUES (?, ?, ?, ?)", "iiid", sequence,
                   at[i].sequence, (int64_t)j->verdict, j->score));
    }
    return 0;
}

// A key costs nothing, so only those that the operator lists repeat a run (docs/decisions/draw.md).
#define BY_LISTED                                                                                                      \
    "EXISTS (SELECT 1 FROM statements s JOIN draw_keys k ON k.key = s.key WHERE s.sequence = r.sequence AND k.draw = " \
    "(SELECT max(sequence) FROM draws)) "

// The first unflagged run of another person with the same curve that is no copy.
static int find_equal(struct store *s, const struct copy *original, const char *curve, int64_t *by)
{
    struct candidate found[PAIRS];
    int count;
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row, "SELECT r.sequence, j.verdict, j.score FROM runs r LEFT JOIN judged j ON j.run = ?1 AND "
                  "j.by = r.sequence WHERE r.curve = ?2 AND r.curve <> '' AND r.withdrawn = 0 AND r.superseded = 0 AND "
                  "r.flags = 0 AND r.handle <> ?3 AND " BY_LISTED "ORDER BY r.first LIMIT ?4", "itti", original->sequence, curve,
                  original->handle, (int64_t)PAIRS));
    TRY(read_candidates(s, row, found, &count));
    for (int i = 0; i < count && *by == 0; i++) {
        TRY(judge_candidates(s, original->sequence, &found[i], 1));
        if (found[i].judged.verdict != PAIR_COPY) *by = found[i].sequence;
    }
    return 0;
}

// ---- replays: runs that say which run they repeat. Their curves may differ, for example on another device.

// One statement may rank all runs of a group again. Each asks for the interval of the group, and may change its row.
struct group_known {
    const char *later;  // the group that the caller ranks afterwards
    char nonce[64];     // whose interval this is
    bool has_interval;
    double low, high;
};

static int facts_of_group(struct store *s, const char *nonce, struct group_facts *facts)
{
    struct arena arena = {0};
    struct ranked rows[BOARDS];
    int64_t planned;
    int count = 0;
    *facts = (struct group_facts){0};
    if (*nonce == 0) return 0;
    TRY(sql_int(&s->sql, &planned, 0, "SELECT max(planned) FROM runs WHERE group_nonce = ? AND group_nonce <> ''", "t", nonce));
    struct counted *runs = zalloc((size_t)(planned + 1) * sizeof *runs);
    int rc = read_group(s, nonce, &arena, runs, (int)planned, &count);
    const struct statement **statements = arena_alloc(&arena, (size_t)(count + 1) * sizeof *statements);
    for (int i = 0; i < count; i++) statements[i] = &runs[i].statement;
    if (rc == 0 && count > 0) ranking_of_group(statements, count, (int)planned, &arena, facts, rows);
    for (int i = 0; i < count; i++) statement_free(&runs[i].statement);
    free(runs);
    arena_free(&arena);
    return rc;
}

static int know_group(struct store *s, const char *nonce, struct group_known *group)
{
    struct group_facts facts;
    if (strcmp(group->nonce, nonce) == 0) return 0;  // a run outside groups has no interval, as at the beginning
    TRY(facts_of_group(s, nonce, &facts));
    group->has_interval = replay_interval(&facts, &group->low, &group->high);
    snprintf(group->nonce, sizeof group->nonce, "%s", nonce);
    return 0;
}

// The first unflagged replay by another person that agrees: bit for bit, or within the interval of the original's group. One
// evaluation alone has an interval too wide to prove anything. All are judged, so that a later run of the group reads none.
static int find_replay(struct store *s, const struct copy *original, struct group_known *group, int64_t *by)
{
    struct candidate found[PAIRS];
    int count;
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row, "SELECT r.sequence, j.verdict, j.score FROM replays p JOIN runs r ON r.sequence = p.sequence "
                  "LEFT JOIN judged j ON j.run = ?1 AND j.by = r.sequence "
                  "WHERE p.head = (SELECT head FROM runs WHERE sequence = ?1) AND r.withdrawn = 0 AND r.superseded = 0 "
                  "AND r.flags = 0 AND r.handle <> ?2 AND " BY_LISTED "ORDER BY r.first LIMIT ?3", "iti", original->sequence,
                  original->handle, (int64_t)PAIRS));
    TRY(read_candidates(s, row, found, &count));
    TRY(judge_candidates(s, original->sequence, found, count));
    for (int i = 0; i < count && *by == 0; i++) {
        const struct pair_judged *j = &found[i].judged;
        if (j->verdict == PAIR_SCORE) TRY(know_group(s, original->group, group));
        if (j->verdict == PAIR_EXACT || (j->verdict == PAIR_SCORE && group->has_interval &&
                                         replay_lies_between(j->score, group->low, group->high)))
            *by = found[i].sequence;
    }
    return 0;
}

// The earliest run of a curve becomes reproduced, by the first later run of a listed key of another person, unless one of the two
// is flagged; and each run that the operator trained again to the same figures. Figures that another person had published before
// prove no training: neither counts then.
// `first` orders them: a run that supersedes an earlier statement of itself keeps its age.
static int set_trust(struct store *s, const char *curve, const struct copy *copy, bool first, struct group_known *group)
{
    int64_t by = 0, trust = copy->flags != 0 ? TRUST_SIGNED : copy->vouched != 0 ? TRUST_WITNESSED : TRUST_CHECKED;
    const bool may = copy->flags == 0 && copy->followed == 0;
    if (first && may) TRY(find_equal(s, copy, curve, &by));
    if (first && may && by == 0) TRY(find_replay(s, copy, group, &by));
    if (by != 0 || (copy->equal != 0 && may)) trust = TRUST_REPRODUCED;
    if (copy->trust == TRUST_AUDITED) trust = TRUST_AUDITED;  // until a person withdraws it
    if (trust == copy->trust && by == copy->reproduced_by) return 0;
    TRY(sql_do(&s->sql, "UPDATE runs SET trust = ?, reproduced_by = ? WHERE sequence = ?", "iii", trust, by, copy->sequence));
    TRY(store_rank_run(s, copy->sequence));
    return strcmp(copy->group, group->later) != 0 ? store_rank_group(s, copy->group) : 0;
}

static int rank_curve(struct store *s, const char *curve, struct group_known *group)
{
    struct arena arena = {0};
    struct copy *copies = NULL;
    int count = 0;
    int rc = *curve != 0 ? read_copies(s, curve, &arena, &copies, &count) : 0;
    for (int i = 0; i < count && rc == 0; i++) rc = set_trust(s, curve, &copies[i], i == 0, group);
    free(copies);
    arena_free(&arena);
    return rc;
}

int store_rank_curve(struct store *s, const char *curve)
{
    return rank_curve(s, curve, &(struct group_known){.later = ""});
}

// Rows of the query: curves.
static int rank_curves(struct store *s, sqlite3_stmt *row, const char *later)
{
    struct arena arena = {0};
    struct group_known known = {.later = later};
    const char **curves = NULL;
    int rc, count = 0;
    while ((rc = sql_next(&s->sql, row)) > 0) {
        curves = grow(curves, (size_t)(count + 1) * sizeof *curves);
        curves[count++] = sql_keep(row, 0, &arena);
    }
    sql_end(row);
    for (int i = 0; i < count && rc == 0; i++) rc = rank_curve(s, curves[i], &known);
    free(curves);
    arena_free(&arena);
    return rc;
}

int store_rank_listed(struct store *s, int64_t draw)
{
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row, "SELECT curve FROM runs WHERE reproduced_by <> 0 UNION SELECT r.curve FROM draw_keys k "
                  "JOIN statements s ON s.key = k.key JOIN runs r ON r.sequence = s.sequence WHERE k.draw = ?1 UNION "
                  "SELECT o.curve FROM draw_keys k JOIN statements s ON s.key = k.key JOIN replays p ON p.sequence = s.sequence "
                  "JOIN runs o ON o.head = p.head WHERE k.draw = ?1", "i", draw));
    return rank_curves(s, row, "");
}

int store_rank_repeated(struct store *s, int64_t sequence, const char *group)
{
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row, "SELECT o.curve FROM replays p JOIN runs o ON o.head = p.head WHERE p.sequence = ?1 UNION "
                  "SELECT m.curve FROM runs m WHERE m.group_nonce = ?2 AND m.group_nonce <> '' AND m.superseded = 0 AND "
                  "EXISTS (SELECT 1 FROM judged j WHERE j.run = m.sequence AND j.verdict = ?3)", "iti", sequence, group,
                  (int64_t)PAIR_SCORE));
    return rank_curves(s, row, group);
}

// SPDX-License-Identifier: Apache-2.0
// Cost: each run is read whole.
#include "tasks/tools/show/cmd_chain.h"

#include <limits.h>
#include <stdio.h>

#define ONE_OR_ALL "SELECT id FROM runs WHERE ?1 IN (0, id) ORDER BY id"

// Without `tell`, says on standard error which runs are broken, in the name of the command.
static int each_of(struct results *r, const char *sql, int64_t id, void (*tell)(const json_t *run, const char *broken),
                   const char *command)
{
    json_t *rows, *row, *run;
    size_t i;
    int broken = 0, rc = 0;
    TRY(record_rows(r, sql, id, &rows));
    json_array_foreach(rows, i, row)
    {
        rc = record_read(r, record_int(row, "id"), &run);
        if (rc < 0) break;
        int fault = record_chain(run);
        if (tell != NULL) tell(run, fault < 0 ? error_text() : NULL);
        else if (fault < 0)
            fprintf(stderr, "%s %s: run %lld was changed since the training wrote it: %s\n", error_program, command,
                    (long long)record_int(run, "id"), error_text());
        broken += fault < 0;
        json_decref(run);
    }
    json_decref(rows);
    return rc < 0 ? rc : broken;
}

// Rows of other tables, and receipts and commitments, may still name a run that is gone.
#define NAMED                                                                                                          \
    "SELECT run FROM points UNION SELECT run FROM segments UNION SELECT run FROM data_sets UNION SELECT run FROM latencies "  \
    "UNION SELECT run FROM commitments"
#define GAPS                                                                                                           \
    "SELECT last + 1 AS first, id - 1 AS last FROM (SELECT id, lag(id, 1, 0) OVER (ORDER BY id) AS last FROM (SELECT id FROM "  \
    "runs UNION SELECT run FROM deletions UNION SELECT max(run) + 1 FROM (" NAMED ") HAVING max(run) IS NOT NULL)) "            \
    "WHERE id > last + 1 AND ?1 = 0 ORDER BY id"
// Runs of a group begin one after the other, and each announced run of a complete group has ended.
#define LACKING                                                                                                        \
    "SELECT g.id AS id, g.planned AS planned, max(CASE WHEN g.status = 'done' THEN g.planned ELSE 0 END, coalesce(max("         \
    "r.group_index), 0)) - count(r.id) AS missing FROM groups g LEFT JOIN runs r ON r.group_id = g.id WHERE ?1 = 0 "           \
    "GROUP BY g.id HAVING missing > 0 ORDER BY g.id"

static int64_t add_gaps(const json_t *gaps, struct text *into)
{
    const json_t *row;
    int64_t missing = 0;
    size_t i;
    json_array_foreach(gaps, i, row)
    {
        const int64_t first = record_int(row, "first"), last = record_int(row, "last");
        if (first == last) text_add(into, "run %lld  MISSING: no run has this number\n", (long long)first);
        else text_add(into, "runs %lld to %lld  MISSING: no runs have these numbers\n", (long long)first, (long long)last);
        missing += last - first + 1;
    }
    return missing;
}

static int64_t add_lacking(const json_t *groups, struct text *into)
{
    const json_t *row;
    int64_t missing = 0;
    size_t i;
    json_array_foreach(groups, i, row)
    {
        const int64_t count = record_int(row, "missing");
        text_add(into, "group %lld  MISSING: %lld of its %lld runs %s not in the record\n", (long long)record_int(row, "id"),
                 (long long)count, (long long)record_int(row, "planned"), count == 1 ? "is" : "are");
        missing += count;
    }
    return missing;
}

int cmd_chain_deleted(struct results *r, json_t **runs, struct text *into)
{
    const json_t *row;
    size_t i;
    char date[TEXT_FIGURE];
    TRY(record_rows(r, "SELECT * FROM deletions ORDER BY run", 0, runs));
    json_array_foreach(*runs, i, row)
        text_add(into, "run %lld  deleted on %s\n", (long long)record_int(row, "run"),
                 text_moment(date, record_int(row, "deleted_ms")));
    return 0;
}

int cmd_chain_missing(struct results *r, struct text *into)
{
    json_t *gaps = NULL, *groups = NULL;
    int64_t missing = 0;
    int rc = record_rows(r, GAPS, 0, &gaps);
    if (rc == 0) rc = record_rows(r, LACKING, 0, &groups);
    if (rc == 0) {
        const int64_t of_gaps = add_gaps(gaps, into), of_groups = add_lacking(groups, into);
        missing = of_gaps > of_groups ? of_gaps : of_groups;  // mostly the same runs
    }
    json_decref(gaps);
    json_decref(groups);
    return rc < 0 ? rc : missing < INT_MAX ? (int)missing : INT_MAX;
}

int cmd_chain_each(struct results *r, int64_t id, void (*tell)(const json_t *run, const char *broken))
{
    return each_of(r, ONE_OR_ALL, id, tell, NULL);
}

int cmd_chain_warn(const char *command, struct results *r, int64_t id)
{
    int broken = each_of(r, ONE_OR_ALL, id, NULL, command);
    return broken < 0 ? broken : 0;
}

int cmd_chain_warn_group(const char *command, struct results *r, int64_t group)
{
    int broken = each_of(r, "SELECT id FROM runs WHERE group_id = ?1 ORDER BY id", group, NULL, command);
    return broken < 0 ? broken : 0;
}

int cmd_chain_find(struct results *r, const char *word, int64_t *id)
{
    int same;
    TRY(record_find(r, word, id));
    TRY(same = record_namesakes(r, word, *id));
    if (same > 1)
        fprintf(stderr, "%d runs are named \"%s\"; run %lld is the newest of them\n", same, word, (long long)*id);
    return 0;
}

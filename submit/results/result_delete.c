// SPDX-License-Identifier: Apache-2.0
// Deletes runs. Their numbers are not used again, and `dawn results verify` says that they were deleted: a failed run must leave
// a trace. Keeps runs that others may still ask for: submitted ones, committed ones, and parts of groups.
#include "submit/results/record.h"
#include "submit/results/result_inside.h"

#include <string.h>

#include "runtime/common/base/clock.h"

static int delete_run(struct results *r, const json_t *run)
{
    const int64_t id = record_int(run, "id");
    json_t *bound;
    if (strcmp(record_text(run, "status"), "running") == 0) return fail(ERR_USAGE, "run %lld is still running", (long long)id);
    TRY(record_rows(r, "SELECT run FROM receipts WHERE run = ?1 UNION SELECT run FROM commitments WHERE run = ?1", id, &bound));
    const bool sent = json_array_size(bound) > 0;
    json_decref(bound);
    if (sent)
        return fail(ERR_USAGE, "run %lld was submitted: its receipts are needed to amend or withdraw it, so it stays",
                    (long long)id);
    TRY(result_do(r, "note the deletion", "INSERT INTO deletions (run, group_id, nonce, deleted_ms) VALUES (?,?,?,?)", "ipti", id,
                  record_int(run, "group_id"), record_text(run, "nonce"), clock_unix_ms()));
    return result_do(r, "delete the run", "DELETE FROM runs WHERE id = ?", "i", id);
}

static int check_group(struct results *r, const json_t *runs, int64_t id)
{
    json_t *running;
    if (json_array_size(runs) == 0)
        return fail(ERR_USAGE, "there is no group g%lld with runs in %s", (long long)id, r->path);
    TRY(record_rows(r, "SELECT id FROM groups WHERE id = ? AND status = 'running'", id, &running));
    const bool runs_on = json_array_size(running) > 0;
    json_decref(running);
    return runs_on ? fail(ERR_USAGE, "group g%lld is still running", (long long)id) : 0;
}

static int delete_rows(struct results *r, const json_t *runs, bool group, int64_t id)
{
    json_t *run;
    size_t i;
    const int64_t whole = record_int(json_array_get(runs, 0), "group_id");
    if (!group && whole > 0)
        return fail(ERR_USAGE,
                    "run %lld belongs to group %lld, whose runs are all reported: only g%lld as a whole can be deleted",
                    (long long)id, (long long)whole, (long long)whole);
    if (group) TRY(check_group(r, runs, id));
    json_array_foreach((json_t *)runs, i, run) TRY(delete_run(r, run));
    return group ? result_do(r, "delete the group", "DELETE FROM groups WHERE id = ?", "i", id) : 0;
}

int result_delete(struct results *r, bool group, int64_t id)
{
    json_t *runs = NULL;
    TRY(result_begin_transaction(r));  // first, so that nothing that was read changes before it is deleted
    int rc = record_rows(r, group ? "SELECT id, nonce, status, group_id FROM runs WHERE group_id = ?"
                                  : "SELECT id, nonce, status, group_id FROM runs WHERE id = ?", id, &runs);
    if (rc == 0) rc = delete_rows(r, runs, group, id);
    json_decref(runs);
    return result_end_transaction(r, rc);
}

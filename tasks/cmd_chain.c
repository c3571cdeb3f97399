// SPDX-License-Identifier: Apache-2.0
// Cost: each run is read whole.
#include "tasks/cmd_chain.h"

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

// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard check: checks the whole record.
#include <stdio.h>

#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"

static int print_fault(void *faults, const char *sentence)
{
    json_t **list = faults;
    if (*list != NULL) json_text_row(list, json_string(sentence));
    else printf("%s\n", sentence);
    return 0;
}

// `error`: why the record could not be read to its end, or NULL.
static int print_json(const char *db, int count, json_t *faults, const char *error)
{
    return json_text_print(json_pack("{ss sb si so ss*}", "record", db, "good", error == NULL && count == 0, "count", count,
                                     "faults", faults, "error", error));
}

int cmd_check(int argc, char **argv)
{
    const char *db = "scoreboard.db";
    bool json = false;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "check",
        .operands = "[OPTIONS]",
        .about = "Reads the whole record again: the file, every statement's bytes, signatures and receipt, "
                 "and every row that the boards derive from them. The server may run meanwhile.",
        .options = options,
        .more = "Prints a line for each fault; exit status 1 if there is one.",
    };
    int rc = options_parse(&usage, &argc, argv), faults = 0;
    if (rc != 0) return rc;
    if (argc > 1) return fail(ERR_USAGE, "check does not take \"%s\"", argv[1]);
    struct store *store = NULL;
    json_t *list = json ? json_array() : NULL;
    rc = store_open(&(struct store_settings){.path = db}, STORE_READ, &store);
    if (rc == 0) rc = store_check(store, print_fault, &list, &faults);
    store_close(store);
    int printed = json ? print_json(db, faults, list, rc < 0 ? error_text() : NULL) : 0;
    TRY(rc);
    TRY(printed);
    if (faults > 0) return fail(ERR_DATABASE, "%s has %d fault%s", db, faults, faults == 1 ? "" : "s");
    if (!json) printf("%s is whole\n", db);
    return 0;
}

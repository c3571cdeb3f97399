// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard check: checks the whole record.
#include <stdio.h>

#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"

static int print_fault(void *unused, const char *sentence)
{
    (void)unused;
    printf("%s\n", sentence);
    return 0;
}

int cmd_check(int argc, char **argv)
{
    const char *db = "scoreboard.db";
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
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
    int rc = options_parse(&usage, &argc, argv), faults;
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc > 1) return fail(ERR_USAGE, "check does not take \"%s\"", argv[1]);
    struct store *store;
    TRY(store_open(&(struct store_settings){.path = db}, STORE_READ, &store));
    rc = store_check(store, print_fault, NULL, &faults);
    store_close(store);
    TRY(rc);
    if (faults > 0) return fail(ERR_DATABASE, "%s has %d fault%s", db, faults, faults == 1 ? "" : "s");
    printf("%s is whole\n", db);
    return 0;
}

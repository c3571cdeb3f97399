// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard export dawnbench DIR: writes the boards as DAWNBench's files, as far as that format goes.
#include <stdio.h>
#include <string.h>

#include "runtime/base/cli/options.h"
#include "scoreboard/commands.h"
#include "scoreboard/export.h"

static int print_path(void *unused, const char *path)
{
    (void)unused;
    printf("%s\n", path);
    return 0;
}

static int export_from(const char *db, const char *folder)
{
    const struct store_settings settings = {.path = db};
    struct exported written;
    struct store *store;
    struct reader *reader;
    TRY(store_open(&settings, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = export_dawnbench(reader, folder, print_path, NULL, &written);
        store_reader_close(reader);
    }
    store_close(store);
    if (rc == 0)
        printf("exported: %d imported entries and %d rows of own runs, %d files\n", written.imports, written.runs, written.files);
    return rc;
}

int cmd_export(int argc, char **argv)
{
    const char *db = "scoreboard.db";
    const struct option options[] = {
        {OPTION_TEXT, 0, "db", "FILE", "the scoreboard's database", &db, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "export",
        .operands = "dawnbench DIR [OPTIONS]",
        .about = "Writes the boards as DAWNBench's files below DIR: TASK/train/NAME.json with NAME.tsv, and "
                 "TASK/inference/NAME.json. Imported entries are written as they were, without e-mail addresses; signed runs as "
                 "DAWNBench asked for them. Groups have no such format.",
        .options = options,
        .more = "Example:\n"
                "  dawn-scoreboard export dawnbench archive",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc != 3 || strcmp(argv[1], "dawnbench") != 0)
        return fail(ERR_USAGE, "name the folder to export to: export dawnbench DIR");
    return export_from(db, argv[2]);
}

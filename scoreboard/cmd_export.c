// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard export dawnbench DIR: writes the boards as DAWNBench's files, as far as that format goes. export site DIR:
// writes the board itself as files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/board_export.h"
#include "scoreboard/routes.h"
#include "scoreboard/site/site.h"

static int print_path(void *unused, const char *path)
{
    (void)unused;
    printf("%s\n", path);
    return 0;
}

static int export_from(const char *db, const char *folder)
{
    const struct store_settings settings = {.path = db};
    struct board_exported written;
    struct store *store;
    struct reader *reader;
    TRY(store_open(&settings, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = board_export_dawnbench(reader, folder, print_path, NULL, &written);
        store_reader_close(reader);
    }
    store_close(store);
    if (rc == 0)
        printf("exported: %d imported entries and %d rows of own runs, %d files\n", written.imports, written.runs, written.files);
    return rc;
}

static int export_site(const char *db, const char *folder, const char *base)
{
    const struct store_settings settings = {.path = db};
    struct site_written written;
    struct store *store;
    char size[TEXT_FIGURE];
    TRY(store_open(&settings, STORE_READ, &store));
    const struct site_settings site = {.store = store, .routes = route_table, .folder = folder, .base = base,
                                       .now_ms = clock_unix_ms()};
    int rc = site_write(&site, &written);
    store_close(store);
    if (rc == 0)
        printf("exported: %lld files (%s) in %s, with %lld entries of the log\n", (long long)written.files,
               text_size(size, (double)written.bytes), folder, (long long)written.entries);
    return rc;
}

// It is printed in feeds and in commands that people copy into a shell.
static int check_base(char *base)
{
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/') base[--length] = 0;
    const char *host = strncmp(base, "https://", 8) == 0 ? base + 8 : strncmp(base, "http://", 7) == 0 ? base + 7 : "";
    const size_t count = strlen(host);
    if (count > 0 && count < 200 &&
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~:[]/") == count)
        return 0;
    return fail(ERR_USAGE, "--base takes an address such as https://ann.example/board; got \"%.80s\"", base);
}

static int export_named(int argc, char **argv, const char *db, const char *base)
{
    const bool site = argc == 3 && strcmp(argv[1], "site") == 0;
    if (!site && (argc != 3 || strcmp(argv[1], "dawnbench") != 0))
        return fail(ERR_USAGE, "name what to export, and the folder to export to: export dawnbench DIR, or export site DIR");
    if (!site && base != NULL) return fail(ERR_USAGE, "--base is for export site");
    if (!site) return export_from(db, argv[2]);
    char *clean = base != NULL ? copy_text(base) : NULL;
    int rc = clean != NULL ? check_base(clean) : 0;
    if (rc == 0) rc = export_site(db, argv[2], clean);
    free(clean);
    return rc;
}

int cmd_export(int argc, char **argv)
{
    const char *db = "scoreboard.db", *base = NULL;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the scoreboard's database", &db, 0, 0},
        {OPTION_TEXT, 0, "base", "URL", "where the site will be served, for its feeds and commands", &base, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "export",
        .operands = "dawnbench|site DIR [OPTIONS]",
        .about = "dawnbench: writes the boards as DAWNBench's files below DIR: TASK/train/NAME.json with NAME.tsv, and "
                 "TASK/inference/NAME.json. Imported entries are written as they were, without e-mail addresses; signed runs as "
                 "DAWNBench asked for them. Groups have no such format.\n\n"
                 "site: writes the whole board as files that any web host serves, with its pages, statements and log; \"dawn "
                 "verify\" takes them. An earlier copy in DIR is replaced at once. The server may run meanwhile.",
        .options = options,
        .more = "Example:\n"
                "  dawn-scoreboard export dawnbench archive\n"
                "  dawn-scoreboard export site public --base https://ann.github.io/board",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    return export_named(argc, argv, db, base);
}

// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard import dawnbench DIR: puts DAWNBench's archive on the boards. It prints a line for each accepted oddity and
// each refused file. import records FILE does the same with a published history. A second import of the same changes nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/store/store.h"

static int print_line(void *unused, const char *line)
{
    (void)unused;
    printf("%s\n", line);
    return 0;
}

static int count_imports(struct store *store, int64_t *imports)
{
    struct reader *reader;
    struct totals totals;
    TRY(store_reader(store, &reader));
    int rc = store_totals(reader, &totals);
    store_reader_close(reader);
    if (rc == 0) *imports = totals.imports;
    return rc;
}

static int write_archive(struct store *store, const struct dawnbench_archive *archive, int64_t *added)
{
    int64_t before = 0, after = 0;
    TRY(count_imports(store, &before));
    TRY(store_import(store, (const struct dawnbench_entry *const *)archive->at, archive->count, clock_unix_ms()));
    TRY(count_imports(store, &after));
    *added = after - before;
    return 0;
}

static int import_into(const char *db, const char *origin, const struct dawnbench_archive *archive)
{
    const struct store_settings settings = {.path = db, .origin = origin};
    struct store *store;
    int64_t added = 0;
    TRY(store_open(&settings, STORE_WRITE, &store));
    int rc = write_archive(store, archive, &added);
    store_close(store);
    if (rc == 0) printf("imported into %s: %d (%lld new)\n", db, archive->count, (long long)added);
    return rc;
}

// One line per folder, then the sum.
static void print_summary(const struct dawnbench_archive *archive)
{
    int quirky = 0;
    for (int i = 0, from = 0; i < archive->count; i++) {
        const struct dawnbench_entry *e = archive->at[i], *next = i + 1 < archive->count ? archive->at[i + 1] : NULL;
        quirky += e->quirks.length > 0;
        if (next != NULL && next->contest == e->contest && next->training == e->training) continue;
        printf("%s/%s: %d accepted\n", e->contest->title, e->training ? "train" : "inference", i + 1 - from);
        from = i + 1;
    }
    printf("accepted: %d (%d with irregularities); refused: %d\n", archive->count, quirky, archive->refused);
}

static int import_archive(const char *folder, const char *db, const char *origin, bool dry_run)
{
    struct dawnbench_archive archive;
    TRY(dawnbench_folder(folder, print_line, NULL, &archive));
    print_summary(&archive);
    int rc = archive.count > 0 ? 0 : fail(ERR_INPUT, "%s holds no entry that could be imported", folder);
    if (rc == 0 && !dry_run) rc = import_into(db, origin, &archive);
    dawnbench_archive_free(&archive);
    return rc;
}

// The name of a file without its folders and its ending.
static void history_name(const char *path, char name[], size_t capacity)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path, *dot = strrchr(from, '.');
    snprintf(name, capacity, "%.*s", (int)(dot && dot > from ? dot - from : (ptrdiff_t)strlen(from)), from);
}

static int import_history(const char *path, const char *db, const char *origin, bool dry_run)
{
    enum { MOST = 16 << 20 };
    struct dawnbench_archive archive;
    char *bytes, name[256];
    size_t count;
    TRY(file_read(path, MOST, &bytes, &count));
    history_name(path, name, sizeof name);
    int rc = history_read(name, bytes, count, &archive);
    free(bytes);
    TRY(rc);
    for (int i = 0; i < archive.count; i++) {
        const struct dawnbench_entry *e = archive.at[i];
        printf("%s: %.6g s, %s\n", e->source, e->points[0].hours * 3600, *e->author ? e->author : "no author");
    }
    printf("accepted: %d\n", archive.count);
    if (!dry_run) rc = import_into(db, origin, &archive);
    dawnbench_archive_free(&archive);
    return rc;
}

int cmd_import(int argc, char **argv)
{
    const char *db = "scoreboard.db", *origin = NULL;
    bool dry_run = false;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the scoreboard's database", &db, 0, 0},
        {OPTION_TEXT, 0, "origin", "NAME", "the board's name, of a new record", &origin, 0, 0},
        {OPTION_FLAG, 0, "dry-run", NULL, "read and report, but change nothing", &dry_run, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "import",
        .operands = "dawnbench DIR | records FILE [OPTIONS]",
        .about = "dawnbench: imports the archive of DAWNBench's entries. DIR holds a folder for each task, such as CIFAR10, with "
                 "train and inference. Task, kind and name identify a file: importing it again replaces the entry.\n\n"
                 "records: imports the published history of a race, such as a speedrun. FILE has lines of cells between "
                 "tabs; its first line names the columns: task, date, seconds, score, author, hardware, model, framework, link, "
                 "note. Boards show its rows as imported, never as checked.\n\n"
                 "E-mail addresses are not kept.",
        .options = options,
        .more = "Examples:\n"
                "  dawn-scoreboard import dawnbench dawn-bench-entries --dry-run\n"
                "  dawn-scoreboard import records airbench.tsv",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc == 3 && strcmp(argv[1], "dawnbench") == 0) return import_archive(argv[2], db, origin, dry_run);
    if (argc == 3 && strcmp(argv[1], "records") == 0) return import_history(argv[2], db, origin, dry_run);
    return fail(ERR_USAGE, "name what to import: import dawnbench DIR, or import records FILE");
}

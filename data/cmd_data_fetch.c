// SPDX-License-Identifier: Apache-2.0
// `dawn data fetch` and `dawn data import`.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data_sub.h"
#include "data/fetch/fetch.h"
#include "data/fetch/import.h"
#include "data/progress_bar.h"
#include "runtime/common/base/text.h"

// The folder to write to: `asked`, or the default folder; free() it.
static int folder_for(const char *asked, char **folder)
{
    struct text copy = {0};
    if (asked != NULL) text_add(&copy, "%s", asked);
    *folder = asked != NULL ? copy.at : dataset_default_folder();
    return *folder != NULL
               ? 0
               : fail(ERR_USAGE, "no folder is known that could hold data sets: name one with --to, or set DAWN_DATA");
}

// Opens the fetched or imported set before it is reported as present.
static int say_what_is_there(const char *name, const char *folder)
{
    struct dataset *ds;
    TRY(dataset_open(name, folder, &ds));
    const struct dataset_facts *facts = dataset_facts(ds);
    char train[TEXT_FIGURE], test[TEXT_FIGURE];
    printf("%s is in %s: %s %s for training, %s for testing\n", facts->title, facts->folder,
           text_count(train, facts->count[SPLIT_TRAIN]), facts->height > 0 ? "images" : "samples",
           text_count(test, facts->count[SPLIT_TEST]));
    dataset_close(ds);
    return 0;
}

// Reading the files takes half a second, which is cheaper than downloading them again.
static bool is_there(const char *name, const char *folder)
{
    struct dataset *ds;
    enum dataset_verdict verdict = DATASET_CUSTOM;
    if (dataset_open(name, folder, &ds) < 0) return false;
    bool sound = dataset_verify(ds, &verdict) == 0;
    dataset_close(ds);
    return sound && (verdict == DATASET_OFFICIAL || verdict == DATASET_REORDERED);
}

struct bars {
    struct progress_bar download, pack;
};

static void show_download(void *context, int64_t have, int64_t total)
{
    progress_bar_show(&((struct bars *)context)->download, have, total);
}

static void show_pack(void *context, int64_t have, int64_t total)
{
    struct bars *bars = context;
    progress_bar_end(&bars->download);
    progress_bar_show(&bars->pack, have, total);
}

static void note_fetch(void *context, const char *sentence)
{
    struct bars *bars = context;
    progress_bar_end(&bars->download);
    progress_bar_note(&bars->pack, sentence);
}

static int fetch_with_bar(const struct source *source, struct fetch_options *fetch)
{
    struct bars bars = {progress_bar_start(source->name, true), progress_bar_start("packing", false)};
    fetch->progress = show_download, fetch->packing = show_pack, fetch->note = note_fetch, fetch->context = &bars;
    int rc = fetch_source(source, fetch);
    progress_bar_end(&bars.download);
    progress_bar_end(&bars.pack);
    curl_global_cleanup();
    return rc;
}

static int no_source(const char *name)
{
    for (int i = 0; dataset_kind(i) != NULL; i++) {
        const struct kind *kind = dataset_kind(i);
        if (strcmp(name, kind->name) != 0) continue;
        if (kind->elsewhere != NULL) return fail(ERR_USAGE, "%s is %s", name, kind->elsewhere);
        return fail(ERR_USAGE, "%s data is drawn by this program or part of it: there is nothing to fetch", name);
    }
    struct text all = {0};
    for (int i = 0; source_at(i) != NULL; i++) text_add(&all, "%s%s", i > 0 ? ", " : "", source_at(i)->name);
    int rc = fail(ERR_USAGE, "there is no published data set \"%s\" to fetch; there are: %s", name, all.at);
    text_free(&all);
    return rc;
}

int cmd_data_fetch(int argc, char **argv)
{
    struct fetch_options fetch = {0};
    const char *to = NULL;
    const struct option options[] = {
        {OPTION_TEXT, 0, "mirror", "URL",
         "another source of its parts: the URL of their folder or of the one archive (https; http only here)",
         &fetch.mirror, 0, 0},
        {OPTION_PATH, 0, "from", "FILE",
         "its archive, or a folder with its parts where it has several; they are checked, too",
         &fetch.from, 0, 0},
        {OPTION_PATH, 0, "to", "DIR", "the folder for data sets " DATA_PLACES, &to, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "data fetch", "NAME [OPTIONS]",
        "Downloads a published data set, checks its size and SHA-256, and unpacks an archive (imagenette is packed into one "
        "file). An interrupted download resumes where it stopped.",
        options, "Example:\n  dawn data fetch cifar10"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(cmd_data_operands(&usage, argc, argv, 1));
    const struct source *source = source_find(argv[1]);
    if (source == NULL) return no_source(argv[1]);
    const char *mirror = fetch.mirror;
    if (mirror != NULL && strncmp(mirror, "https://", 8) != 0 && strncmp(mirror, "http://", 7) != 0)
        return fail(ERR_USAGE, "--mirror must begin with https:// or http://; got \"%.200s\"", mirror);
    char *folder = NULL;
    TRY(folder_for(to, &folder));
    fetch.to = folder;
    if (!is_there(source->name, folder)) rc = fetch_with_bar(source, &fetch);
    if (rc == 0) rc = say_what_is_there(source->name, folder);
    free(folder);
    return rc;
}

int cmd_data_import(int argc, char **argv)
{
    const char *to = NULL;
    const struct option options[] = {
        {OPTION_PATH, 0, "to", "DIR", "the folder for data sets " DATA_PLACES, &to, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "data import", "NAME DIR [OPTIONS]",
        "Turns folders of PNG or JPEG pictures, DIR/train/CLASS and DIR/test/CLASS, into the binary layout "
        "of CIFAR-10. Pictures of another size are cut to their middle square and resized to 32 x 32.",
        options, "Example:\n  dawn data import cifar10 pictures --to mine\n  dawn train cifar10 --data mine"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(cmd_data_operands(&usage, argc, argv, 2));
    if (strcmp(argv[1], "cifar10") != 0)
        return fail(ERR_USAGE, "pictures can only be imported as cifar10, not as \"%s\"", argv[1]);
    char *folder = NULL;
    TRY(folder_for(to, &folder));
    struct progress_bar bar = progress_bar_start("pictures", false);
    struct import_options import = {argv[2], folder, progress_bar_show, &bar};
    struct import_report report;
    rc = import_cifar(&import, &report);
    progress_bar_end(&bar);
    if (rc == 0) rc = say_what_is_there("cifar10", folder);
    if (rc == 0 && report.resized > 0) printf("%lld pictures were resized to 32 x 32\n", (long long)report.resized);
    if (rc == 0 && report.passed > 0)
        printf("%lld files are not named .png, .jpg or .jpeg and were left out\n", (long long)report.passed);
    free(folder);
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
// `dawn data fetch` and `dawn data import`: everything that brings images here, and the bar that shows it.
//
// On a terminal progress is one line that is drawn again; elsewhere a plain line every tenth. It goes to standard
// error, so that standard output holds results alone.
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/cmd_data_sub.h"
#include "data/fetch/fetch.h"
#include "data/fetch/import.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

enum { BAR_WIDTH = 20 };

struct bar {
    const char *what;
    bool terminal, bytes;
    int64_t first, first_ns;  // where this bar began: what was there before does not count as speed
    int tenths;               // printed so far, when plain
    bool open;                // a line of the terminal is unfinished
};

static void bar_figures(const struct bar *bar, int64_t have, int64_t total, char into[120])
{
    double seconds = (double)(clock_ns() - bar->first_ns) * 1e-9;
    double rate = seconds > 0.05 ? (double)(have - bar->first) / seconds : 0;
    char done[TEXT_FIGURE], all[TEXT_FIGURE], speed[TEXT_FIGURE], left[TEXT_FIGURE];
    if (bar->bytes) {
        text_size(done, (double)have), text_size(all, (double)total), text_size(speed, rate);
    } else {
        text_count(done, have), text_count(all, total), text_count(speed, (int64_t)rate);
    }
    int length = snprintf(into, 120, "%s of %s", done, all);
    if (rate > 0) length += snprintf(into + length, 120 - (size_t)length, ", %s/s", speed);
    if (rate > 0 && have < total)
        snprintf(into + length, 120 - (size_t)length, ", %s left", text_span(left, (double)(total - have) / rate));
}

static void bar_show(void *context, int64_t have, int64_t total)
{
    struct bar *bar = context;
    if (bar->first_ns == 0) bar->first_ns = clock_ns(), bar->first = have;
    char figures[120];
    bar_figures(bar, have, total, figures);
    if (bar->terminal) {
        char filled[BAR_WIDTH + 1];
        int full = total > 0 ? (int)(have * BAR_WIDTH / total) : BAR_WIDTH;
        for (int i = 0; i < BAR_WIDTH; i++) filled[i] = i < full ? '#' : '.';
        filled[BAR_WIDTH] = '\0';
        fprintf(stderr, "\r%s [%s] %s\033[K", bar->what, filled, figures);
        bar->open = true;
        return;
    }
    int tenths = total > 0 ? (int)(have * 10 / total) : 10;
    if (tenths <= bar->tenths) return;
    bar->tenths = tenths;
    fprintf(stderr, "%s: %d%%, %s\n", bar->what, tenths * 10, figures);
}

static void bar_end(struct bar *bar)
{
    if (bar->open) fputc('\n', stderr);
    bar->open = false;
}

static void bar_note(void *context, const char *sentence)
{
    bar_end(context);
    fprintf(stderr, "%s\n", sentence);
}

static struct bar bar_start(const char *what, bool bytes)
{
    return (struct bar){.what = what, .bytes = bytes, .terminal = isatty(STDERR_FILENO) == 1};
}

// The folder to write to: what was asked for, or the standard one. free() it.
static int folder_for(const char *asked, char **folder)
{
    struct text copy = {0};
    if (asked != NULL) text_add(&copy, "%s", asked);
    *folder = asked != NULL ? copy.at : dataset_default_folder();
    return *folder != NULL
               ? 0
               : fail(ERR_USAGE, "no folder is known that could hold data sets: name one with --to, or set DAWN_DATA");
}

// What a fetch or an import brought is opened again before anybody is told that it is there.
static int say_what_is_there(const char *name, const char *folder)
{
    struct dataset *ds;
    TRY(dataset_open(name, folder, &ds));
    const struct dataset_facts *facts = dataset_facts(ds);
    char train[TEXT_FIGURE], test[TEXT_FIGURE];
    printf("%s is in %s: %s images for training, %s for testing\n", facts->title, facts->folder,
           text_count(train, facts->count[SPLIT_TRAIN]), text_count(test, facts->count[SPLIT_TEST]));
    dataset_close(ds);
    return 0;
}

// Half a second of reading is cheaper for everybody than a download of what is there.
static bool is_there(const char *name, const char *folder)
{
    struct dataset *ds;
    enum dataset_verdict verdict = DATASET_CUSTOM;
    if (dataset_open(name, folder, &ds) < 0) return false;
    bool sound = dataset_verify(ds, &verdict) == 0;
    dataset_close(ds);
    return sound && (verdict == DATASET_OFFICIAL || verdict == DATASET_REORDERED);
}

static int fetch_with_bar(const struct source *source, struct fetch_options *fetch)
{
    struct bar bar = bar_start(source->name, true);
    fetch->progress = bar_show, fetch->note = bar_note, fetch->context = &bar;
    int rc = fetch_source(source, fetch);
    bar_end(&bar);
    curl_global_cleanup();
    return rc;
}

static int no_source(const char *name)
{
    struct text all = {0};
    for (int i = 0; source_name(i) != NULL; i++) text_add(&all, "%s%s", i > 0 ? ", " : "", source_name(i));
    int rc = fail(ERR_USAGE, "there is no published data set \"%s\" to fetch; to be had are: %s", name, all.at);
    text_free(&all);
    return rc;
}

int cmd_data_fetch(int argc, char **argv)
{
    struct fetch_options fetch = {0};
    const char *to = NULL;
    const struct option options[] = {
        {OPTION_TEXT, 0, "mirror", "URL",
         "where to get the archive instead: its URL, or that of its folder (https; http only here)", &fetch.mirror, 0,
         0},
        {OPTION_TEXT, 0, "from", "FILE", "an archive that is here already; checked all the same", &fetch.from, 0, 0},
        {OPTION_TEXT, 0, "to", "DIR", "the folder for data sets " DATA_PLACES, &to, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "data fetch", "NAME [OPTIONS]",
        "Downloads a published data set, checks its size and SHA-256, and unpacks it. A download that "
        "broke goes on where it stopped.",
        options, "Example:\n  dawn data fetch cifar10"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(cmd_data_operands(&usage, argc, argv, 1));
    const struct source *source = source_find(argv[1]);
    if (source == NULL) {
        if (strcmp(argv[1], "synthetic") == 0)
            return fail(ERR_USAGE, "synthetic data is drawn by this program: there is nothing to fetch");
        return no_source(argv[1]);
    }
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
        {OPTION_TEXT, 0, "to", "DIR", "the folder for data sets " DATA_PLACES, &to, 0, 0},
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
    struct bar bar = bar_start("pictures", false);
    struct import_options import = {argv[2], folder, bar_show, &bar};
    struct import_report report;
    rc = import_cifar(&import, &report);
    bar_end(&bar);
    if (rc == 0) rc = say_what_is_there("cifar10", folder);
    if (rc == 0 && report.resized > 0) printf("%lld pictures were resized to 32 x 32\n", (long long)report.resized);
    if (rc == 0 && report.passed > 0)
        printf("%lld files are not named .png, .jpg or .jpeg and were left out\n", (long long)report.passed);
    free(folder);
    return rc;
}

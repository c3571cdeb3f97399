// SPDX-License-Identifier: Apache-2.0
// dawn report: a results.db as a page (tasks/tools/report/report.h). It changes nothing in the record.
#include "runtime/common/base/file.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/tools/report/report.h"
#include "tasks/tools/show/cmd_chain.h"

#include <stdio.h>
#include <string.h>

static const char *const forms[] = {"html", "md", "csv", NULL};

// Uses --format, else the ending of the file's name. A name without an ending, and standard output, get HTML.
static int choose_form(const char *format, const char *to, enum sheet_form *form)
{
    const char *slash = strrchr(to, '/'), *name = slash ? slash + 1 : to, *end = *name ? strrchr(name + 1, '.') : NULL;
    const char *wanted = format ? format : end ? end + 1 : forms[SHEET_HTML];
    for (int i = 0; forms[i]; i++) {
        *form = (enum sheet_form)i;
        if (!strcmp(wanted, forms[i])) return 0;
    }
    if (format) return fail_unknown(ERR_USAGE, "format", format, forms, NULL);
    return fail(ERR_USAGE, "the name %.200s must end in .html, .md or .csv, unless --format names the format", to);
}

static int write_report(const char *db, enum sheet_form form, const struct report_pictures *pictures, const char *to)
{
    struct results *r;
    struct text text = {0};
    TRY(results_open(db, RESULTS_READ, &r));
    int rc = form == SHEET_CSV ? 0 : cmd_chain_warn("report", r, 0);  // its CSV has no figures of runs
    if (rc == 0) rc = report_write(r, form, pictures, &text);
    results_close(r);
    if (rc == 0 && !strcmp(to, "-")) fwrite(text.at, 1, text.length, stdout);
    else if (rc == 0) rc = file_write(to, text.at, text.length);
    if (rc == 0 && strcmp(to, "-") != 0) printf("%s\n", to);
    text_free(&text);
    return rc;
}

int cmd_report(int argc, char **argv)
{
    const char *to = "report.html", *format = NULL;
    enum sheet_form form;
    struct report_pictures pictures = {0};
    bool alone = false;
    const struct option options[] = {
        {OPTION_PATH, 'o', "output", "FILE", "file to write; -: standard output", &to, 0, 0},
        {OPTION_TEXT, 'f', "format", "FORMAT", "html, md or csv (default: by the name of FILE)", &format, 0, 0},
        {OPTION_LIST, 0, "picture", "FILE", "show this SVG, PNG or JPEG, such as one of \"dawn infer --attention\"",
         &pictures.files, 0, 0},
        {OPTION_FLAG, 0, "no-answers", NULL, "do not look at test samples with the weights of runs", &alone, 0, 0},
        {0},
    };
    const struct usage usage = {
        "report", "[RESULTS.DB] [OPTIONS]",
        "Makes a page of a record: runs and their curves, the throughput that \"dawn bench\" measured, rooflines, memory and "
        "machines. HTML is one file without scripts, for screen and paper; Markdown has the tables; CSV has the throughput. "
        "Tables of throughput begin with DLPerf's columns. Where a task's answers can be seen (boxes in photographs), the newest "
        "run with weights looks at the test samples again, for 20 s at most.",
        options,
        "Examples:\n"
        "  dawn report                                   report.html of results.db\n"
        "  dawn report other.db -o throughput.md\n"
        "  dawn report --picture map.svg\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 2) return fail(ERR_USAGE, "expected one file; \"%.60s\" is one too many", argv[2]);
    TRY(choose_form(format, to, &form));
    if (pictures.files.count > 0 && form != SHEET_HTML) return fail(ERR_USAGE, "--picture is for HTML: %s has none", forms[form]);
    pictures.answers = !alone;
    return write_report(argc > 1 ? argv[1] : NULL, form, &pictures, to);
}

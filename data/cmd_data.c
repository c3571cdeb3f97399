// SPDX-License-Identifier: Apache-2.0
// `dawn data`: the table of its sub-commands, and the ones that only read: list, verify, show.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "data/cmd_data_sub.h"
#include "data/kind.h"
#include "data/image/contact_sheet.h"
#include "data/fetch/source.h"
#include "data/progress_bar.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"

int cmd_data_operands(const struct usage *usage, int argc, char **argv, int want)
{
    if (argc - 1 == want) return 0;
    if (argc - 1 > want) return fail(ERR_USAGE, "%s does not take \"%.60s\"", usage->command, argv[want + 1]);
    const char *missing = want == 1 ? "one data set, such as cifar10" : "a data set and a folder, such as cifar10 pictures";
    return fail(ERR_USAGE, "%s needs %s", usage->command, missing);
}

// Adds the facts of a local data set, or why it cannot be opened.
static void describe_one(const char *name, const char *folder, struct text *into)
{
    struct dataset *ds;
    if (dataset_open(name, folder, &ds) < 0) {
        text_add(into, "%s", error_text());
        return;
    }
    const struct dataset_facts *facts = dataset_facts(ds);
    char train[TEXT_FIGURE], test[TEXT_FIGURE];
    text_add(into, "%s + %s ", text_count(train, facts->count[SPLIT_TRAIN]), text_count(test, facts->count[SPLIT_TEST]));
    dataset_samples_text(facts, into);
    if (facts->classes > 0) text_add(into, ", %d classes", facts->classes);
    text_add(into, ", %s", facts->synthetic ? "drawn by this program" : facts->folder ? facts->folder : "part of this program");
    dataset_close(ds);
}

static void list_one(const char *name, const char *folder)
{
    enum { COLUMN = 13 };
    struct text words = {0}, row = {0};
    describe_one(name, folder, &words);
    text_add(&row, "%-*s  ", COLUMN - 2, name);
    text_wrap(&row, words.at, (int)row.length, COLUMN);
    printf("%s\n", row.at);
    text_free(&words);
    text_free(&row);
}

static json_t *describe_json(const char *name, const char *folder)
{
    struct dataset *ds;
    if (dataset_open(name, folder, &ds) < 0) return json_pack("{ss sb ss}", "name", name, "here", false, "why", error_text());
    const struct dataset_facts *f = dataset_facts(ds);
    json_t *row = json_pack("{ss sb sI sI si sb ss*}", "name", name, "here", true, "train", (json_int_t)f->count[SPLIT_TRAIN],
                            "test", (json_int_t)f->count[SPLIT_TEST], "classes", f->classes, "synthetic", f->synthetic, "folder",
                            f->synthetic ? NULL : f->folder);
    dataset_close(ds);
    return row;
}

static int data_list(int argc, char **argv)
{
    const char *folder = NULL;
    bool json = false;
    const struct option options[] = {
        {OPTION_PATH, 0, "data", "DIR", "where to look (else $DAWN_DATA, $XDG_DATA_HOME/dawn, ~/.local/share/dawn)",
         &folder, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON array instead of text", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {"data list", "[OPTIONS]", "Lists the data sets DAWN knows and which of them are here.",
                                options, NULL};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(cmd_data_operands(&usage, argc, argv, 0));
    json_t *rows = json_array();
    for (int i = 0; dataset_name(i) != NULL; i++) {
        if (json) json_text_row(&rows, describe_json(dataset_name(i), folder));
        else list_one(dataset_name(i), folder);
    }
    if (json) return json_text_print(rows);
    json_decref(rows);
    return 0;
}

enum { QUIET_NS = 1000000000, SHOW_NS = 100000000 };  // small sets show no progress

struct watched {
    const struct dataset_facts *facts;
    struct progress_bar bar;
    int64_t next_ns;
    enum split split;
};

static void show_reading(void *context, enum split split, int64_t done, int64_t all)
{
    struct watched *w = context;
    if (clock_ns() < w->next_ns) return;
    if (split != w->split || w->bar.what == NULL) {
        progress_bar_erase(&w->bar);
        w->bar = progress_bar_start(w->facts->split_name[split], false);
        w->split = split;
    }
    progress_bar_show(&w->bar, done, all);
    w->next_ns = clock_ns() + SHOW_NS;
}

static int read_whole(struct dataset *ds, enum dataset_verdict *verdict)
{
    struct watched w = {.facts = dataset_facts(ds), .next_ns = clock_ns() + QUIET_NS};
    dataset_watch(ds, show_reading, &w);
    int rc = dataset_verify(ds, verdict);
    dataset_watch(ds, NULL, NULL);
    progress_bar_erase(&w.bar);
    return rc;
}

static int verify_open(struct dataset *ds)
{
    const struct dataset_facts *facts = dataset_facts(ds);
    enum dataset_verdict verdict;
    TRY(read_whole(ds, &verdict));
    for (int split = 0; split < SPLIT_COUNT; split++) {
        char hex[DIGEST_HEX], count[TEXT_FIGURE];
        TRY(dataset_content_digest(ds, split, hex));
        printf("%-5s  %s samples\n       content %s\n", facts->split_name[split], text_count(count, facts->count[split]), hex);
    }
    for (int split = 0; split < SPLIT_COUNT; split++) {
        struct text remark = {0};
        if (ds->kind->remark != NULL) ds->kind->remark(ds, split, &remark);
        if (remark.at != NULL) fputs(remark.at, stdout);
        text_free(&remark);
    }
    const char *what = facts->folder != NULL ? facts->folder : facts->title;
    if (facts->short_side > 0) printf("short side of larger pictures: %d pixels\n", facts->short_side);
    if (facts->quality > 0) printf("re-encoded pictures: JPEG quality %d\n", facts->quality);
    if (facts->left_out > 0)
        printf("%lld samples of its source are left out: they are empty or could not be read\n", (long long)facts->left_out);
    if (verdict == DATASET_CUSTOM) {
        return fail(ERR_INPUT,
                    "%s is complete and readable, but its samples differ from %s as published: results on it count "
                    "as custom",
                    what, facts->title);
    }
    printf("%s: %s\n", what, dataset_verdict_text(verdict));
    return 0;
}

// The same with one object on standard output; `rc`: the failure to open the data set, if any.
static int verify_json(const char *name, struct dataset *ds, int rc)
{
    json_t *said = json_pack("{ss sb}", "name", name, "good", false);
    enum dataset_verdict verdict = DATASET_CUSTOM;
    char hex[DIGEST_HEX];
    if (rc == 0) rc = read_whole(ds, &verdict);
    for (int split = 0; rc == 0 && split < SPLIT_COUNT; split++) {
        const struct dataset_facts *f = dataset_facts(ds);
        rc = dataset_content_digest(ds, split, hex);
        if (rc < 0) break;
        json_object_set_new(said, f->split_name[split],
                            json_pack("{sI ss}", "samples", (json_int_t)f->count[split], "content", hex));
    }
    if (rc == 0) json_object_set_new(said, "verdict", json_string(dataset_verdict_text(verdict)));
    if (rc == 0 && verdict == DATASET_CUSTOM) rc = fail(ERR_INPUT, "the samples differ from %s as published", name);
    if (rc < 0) json_object_set_new(said, "error", json_string(error_text()));
    else json_object_set_new(said, "good", json_true());
    int printed = json_text_print(said);
    return rc < 0 ? rc : printed;
}

static int data_verify(int argc, char **argv)
{
    const char *folder = NULL;
    bool json = false;
    const struct option options[] = {
        {OPTION_PATH, 0, "data", "DIR", "the folder that holds it " DATA_PLACES, &folder, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct text about = {0};
    text_add(&about,
             "Reads a data set whole, checks every label, and compares it with the published bytes: \"official\" (the "
             "published files), \"official, other order\" (the published images), or an error.");
    for (int i = 0; source_at(i) != NULL; i++)
        text_add(&about, "\n\n%s: %s", source_at(i)->title, source_at(i)->checked);
    const struct usage usage = {"data verify", "NAME [OPTIONS]", about.at, options, NULL};
    int rc = options_parse(&usage, &argc, argv);
    text_free(&about);
    if (rc != 0) return rc;
    TRY(cmd_data_operands(&usage, argc, argv, 1));
    struct dataset *ds = NULL;
    rc = dataset_open(argv[1], folder, &ds);
    if (rc == ERR_USAGE && folder == NULL && file_exists(argv[1]))
        return fail(rc, "there is no data set \"%.200s\"; a folder or a pack follows --data: "
                    "\"dawn data verify NAME --data %.200s\"", argv[1], argv[1]);
    if (json) rc = verify_json(argv[1], ds, rc);
    else if (rc == 0) rc = verify_open(ds);
    dataset_close(ds);
    return rc;
}

// What was shown: for people `words` alone.
struct shown {
    struct dataset *ds;
    enum split split;
    int64_t number;            // of the sample; 0: a sheet or a file of all
    const char *to;            // NULL: the file's standard name
    struct text file, words;  // file.at NULL: nothing is drawn
};

static int show_sheet(struct shown *s)
{
    const struct dataset_facts *facts = dataset_facts(s->ds);
    struct text rows = {0};
    text_add(&s->file, "%s%s", s->to ? s->to : facts->name, s->to ? "" : ".png");
    TRY(contact_sheet_write(s->ds, s->split, s->file.at));
    text_add(&rows, "%s shows, from top to bottom:", s->file.at);
    for (int i = 0; i < facts->classes; i++) text_add(&rows, "%s %s", i == 0 ? "" : ",", facts->class_names[i]);
    text_wrap(&s->words, rows.at, 0, 0);
    text_add(&s->words, "\n");
    text_free(&rows);
    return 0;
}

static int show_sample(struct shown *s, const char *word)
{
    const struct dataset_facts *facts = dataset_facts(s->ds);
    const struct kind *kind = s->ds->kind;
    const char *noun = kind->sample, *split = facts->split_name[s->split];
    long long count = facts->count[s->split];
    if (text_to_int(word, 1, count, &s->number) < 0)
        return fail(ERR_USAGE, "%s has the %s %ss 1 to %lld; \"%.40s\" is none of these numbers", facts->name, split, noun, count,
                    word);
    struct text *words = &s->words;
    if (kind->draw != NULL) {
        if (s->to != NULL) text_add(&s->file, "%s", s->to);
        else text_add(&s->file, "%s-%lld.png", facts->name, (long long)s->number);
        TRY(kind->draw(s->ds, s->split, s->number, s->file.at));
        text_add(words, "%s shows ", s->file.at);
    }
    text_add(words, "%s, %s %s %lld of %lld\n", facts->title, split, noun, (long long)s->number, count);
    return kind->show(s->ds, s->split, s->number, words);
}

static int write_whole(struct shown *s)
{
    const struct kind *kind = s->ds->kind;
    char count[TEXT_FIGURE];
    if (s->to != NULL) text_add(&s->file, "%s", s->to);
    else text_add(&s->file, "%s-%s.json", s->ds->facts.name, split_name(s->split));
    TRY(kind->whole(s->ds, s->split, s->file.at));
    text_add(&s->words, "%s has the boxes of %s %ss, as the truth of \"dawn eval coco\"\n", s->file.at,
             text_count(count, s->ds->facts.count[s->split]), kind->sample);
    return 0;
}

// ending NULL: no file is written
static int check_ending(const struct shown *s, const char *ending)
{
    if (s->to == NULL) return 0;
    if (ending == NULL) return fail(ERR_USAGE, "--to: %s are printed, not drawn", s->ds->facts.title);
    if (fnmatch(ending, s->to, 0) != 0) return fail(ERR_USAGE, "--to: %s must end in %s", s->to, ending + 1);
    return 0;
}

static int show_open(const struct usage *usage, int argc, char **argv, struct shown *s)
{
    const struct kind *kind = s->ds->kind;
    bool shows = kind->show != NULL && (argc > 2 || s->ds->facts.height == 0);  // of images of one size a sheet, or one of them
    bool whole = shows && argc == 2 && kind->whole != NULL;
    TRY(check_ending(s, whole ? "*.json" : shows && kind->draw == NULL ? NULL : "*.png"));
    if (shows && argc == 2 && kind->whole != NULL) return write_whole(s);
    if (shows && argc == 2) return fail(ERR_USAGE, "%s needs the number of a %s, such as 1", usage->command, kind->sample);
    if (argc > 3) return fail(ERR_USAGE, "%s does not take \"%.60s\"", usage->command, argv[3]);
    if (!shows) TRY(cmd_data_operands(usage, argc, argv, 1));
    return shows ? show_sample(s, argv[2]) : show_sheet(s);
}

static json_t *shown_json(const struct shown *s)
{
    const struct dataset_facts *f = dataset_facts(s->ds);
    json_t *said = json_pack("{ss ss sI ss* ss}", "name", f->name, "split", f->split_name[s->split], "samples",
                             (json_int_t)f->count[s->split], "file", s->file.at, "text", s->words.at);
    if (s->number) json_object_set_new(said, "sample", json_integer(s->number));
    return said;
}

static int data_show(int argc, char **argv)
{
    const char *folder = NULL, *to = NULL;
    bool test = false, json = false;
    const struct option options[] = {
        {OPTION_PATH, 0, "data", "DIR", "the folder that holds it " DATA_PLACES, &folder, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &json, 0, 0},
        {OPTION_PATH, 0, "to", "FILE", "the file to write (else NAME.png, NAME-N.png or NAME-SPLIT.json)", &to, 0, 0},
        {OPTION_FLAG, 0, "test", NULL, "use the test samples instead of the training samples", &test, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {"data show", "NAME [N] [OPTIONS]",
                                "Draws a contact sheet of images: one row per class, ten images in each. Of other data sets, "
                                "prints sample number N: a question with the answer marked in its context, a digit in characters "
                                "(without N a sheet of digits). A picture with boxes is drawn, too; without N the boxes of all "
                                "pictures are written as COCO's truth.", options,
                                "Examples:\n  dawn data show synthetic --to shapes.png\n  dawn data show stories 1"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 2) return cmd_data_operands(&usage, argc, argv, 1);
    struct shown s = {.split = test ? SPLIT_TEST : SPLIT_TRAIN, .to = to};
    TRY(dataset_open(argv[1], folder, &s.ds));
    if (s.ds->facts.count[SPLIT_TRAIN] == 1) s.split = SPLIT_TEST;  // only a start: training makes its own samples
    rc = show_open(&usage, argc, argv, &s);
    if (rc == 0 && json) rc = json_text_print(shown_json(&s));
    else if (rc == 0) fputs(s.words.at, stdout);
    text_free(&s.file);
    text_free(&s.words);
    dataset_close(s.ds);
    return rc;
}

const struct program_command cmd_data_subs[] = {
    {"fetch", cmd_data_fetch, "download a published data set, check and unpack it"},
    {"import", cmd_data_import, "turn folders of PNG or JPEG pictures into a data set"},
    {"pack", cmd_data_pack, "put the pictures of ImageNet or Imagenette into one file"},
    {"list", data_list, "list the data sets, and which of them are here"},
    {"verify", data_verify, "read a data set whole and compare it with the published bytes"},
    {"show", data_show, "draw a contact sheet of images as a PNG, or print a sample"},
    {NULL, NULL, NULL},
};
enum { SUBS = sizeof cmd_data_subs / sizeof cmd_data_subs[0] - 1 };

static int refuse_no_command(void)
{
    return fail(ERR_USAGE, "it needs one of fetch, import, pack, list, verify and show; \"dawn data -h\" explains more");
}

// Parses the options before a sub-command: only --help.
static int data_options(int argc, char **argv)
{
    struct text more = {0};
    text_add(&more, "Commands:\n");
    for (int i = 0; i < SUBS; i++) text_add(&more, "  %-8s %s\n", cmd_data_subs[i].name, cmd_data_subs[i].help);
    const struct option options[] = {{OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0}};
    const struct usage usage = {"data", "COMMAND ...",
                                "Fetches, packs, checks and shows data sets. \"dawn data COMMAND -h\" explains more.", options,
                                more.at};
    int rc = options_parse(&usage, &argc, argv);
    text_free(&more);
    return rc != 0 ? rc : refuse_no_command();
}

int cmd_data(int argc, char **argv)
{
    if (argc < 2) return refuse_no_command();
    if (argv[1][0] == '-') return data_options(argc, argv);
    const char *names[SUBS + 1] = {NULL};
    for (int i = 0; i < SUBS; i++) {
        names[i] = cmd_data_subs[i].name;
        if (strcmp(argv[1], cmd_data_subs[i].name) == 0) return cmd_data_subs[i].run(argc - 1, argv + 1);
    }
    return fail_unknown(ERR_USAGE, "data command", argv[1], names, NULL);
}

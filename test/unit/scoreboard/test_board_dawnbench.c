// SPDX-License-Identifier: Apache-2.0
// DAWNBench's files: every quirk and every refusal is a row of a table; then whole folders, and tables as text.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "scoreboard/dawnbench/dawnbench_inside.h"
#include "scoreboard/rank/table.h"

#define HEAD_WITHOUT_DATE                                                                                              \
    "\"version\": \"v1.0\", \"author\": \"Ann\", \"authorEmail\": \"\", \"framework\": \"Loops 1.0\", "                      \
    "\"model\": \"Net\", \"hardware\": \"8 * V100\", \"codeURL\": \"https://example.org/code\""
#define HEAD HEAD_WITHOUT_DATE ", \"timestamp\": \"2019-03-04\""
#define TRAIN "{" HEAD ", \"costPerHour\": 3.6, \"misc\": {}}"
#define COLUMNS "epoch\thours\ttop1Accuracy\n"
#define LOG COLUMNS "1\t0.5\t93.99\n2\t1\t94\n3\t1.5\t95\n"
#define OLD "{\"timestamp\": \"2019-03-04\""
#define LATENCY "\"latency\": 0.25, \"cost\": 1e-6, \"top1Accuracy\": 94.5, \"misc\": {}"

static struct dawnbench_entry *read_texts(const char *task, const char *json, const char *tsv)
{
    struct dawnbench_entry *e;
    const struct contest *contest = contest_find(task);
    assert_non_null(contest);
    int rc = dawnbench_read(contest, tsv != NULL, "ann_net", json, strlen(json), tsv, tsv != NULL ? strlen(tsv) : 0, &e);
    assert_int_equal(rc < 0, e == NULL);
    assert_true(rc == 0 || rc == ERR_INPUT);
    return e;
}

TEST(a_plain_entry_has_no_quirk)
{
    struct dawnbench_entry *e = read_texts("cifar10", TRAIN, LOG);
    assert_non_null(e);
    assert_string_equal(e->quirks.at, "");
    assert_string_equal(e->source, "CIFAR10/train/ann_net");
    assert_string_equal(e->author, "Ann");
    assert_string_equal(e->date, "2019-03-04");
    assert_string_equal(e->json, TRAIN);
    assert_string_equal(e->tsv, LOG);
    assert_int_equal(e->point_count, 3);
    assert_int_equal(e->devices, 8);
    assert_true(e->seconds[0] == 3600 && e->accuracy[0] == 0.94 && e->seconds[1] < 0);  // exactly at the target counts
    assert_true(e->cost_per_hour == 3.6 && e->latency_ms < 0 && e->cost_per_item < 0 && e->score < 0);
    dawnbench_free(e);
    e = read_texts("cifar10", TRAIN, "epoch\thours\ttop1Accuracy\r\n1\t1\t94\r\n");  // one oddity, one line
    assert_string_equal(e->quirks.at, "tsv: lines end with CR LF\n");
    dawnbench_free(e);
    e = read_texts("cifar10", "{" HEAD ", " LATENCY "}", NULL);
    assert_non_null(e);
    assert_string_equal(e->quirks.at, "");
    assert_true(e->latency_ms == 0.25 && e->cost_per_item == 1e-6 && e->accuracy[0] == e->score && e->seconds[0] < 0);
    dawnbench_free(e);
}

// tsv NULL: inference. `seconds` of a training, else milliseconds; negative: there is none.
static const struct quirk {
    const char *task, *json, *tsv, *said;
    double value;
} quirks[] = {
    {"cifar10", "\xef\xbb\xbf" TRAIN, LOG, "json: begins with a byte order mark", 3600},
    {"cifar10", TRAIN, "\xef\xbb\xbf" LOG, "tsv: begins with a byte order mark", 3600},
    {"cifar10", TRAIN, "epoch\thours\ttop1Accuracy\r\n1\t1.0\t94\r\n", "tsv: lines end with CR LF", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t1.0\t94", "tsv: the last line has no end", 3600},
    {"cifar10", TRAIN, LOG "\n \t\n", "tsv: blank lines at the end: 2", 3600},
    {"cifar10", TRAIN, COLUMNS "\n1\t1.0\t94\n", "tsv: blank lines between rows: 1", 3600},
    {"cifar10", TRAIN, "hours\ttop1Accuracy\tepoch\n1\t94.5\t7\n", "tsv: columns are in another order", 3600},
    {"cifar10", TRAIN, "epoch\tnote\thours\ttop1Accuracy\n1\tx\t2\t94\n", "", 7200},
    {"cifar10", TRAIN, COLUMNS "1\t  1.0  \t94\n", "tsv: rows with cells padded with blanks: 1", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t\xe3\x80\x80" "1.0\xc2\xa0\t94\n", "tsv: rows with cells padded with blanks: 1", 3600},
    {"cifar10", TRAIN, " epoch\thours\ttop1Accuracy\n1\t1.0\t94\n", "tsv: names of columns are padded", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t1.0\t94\tx\n", "tsv: rows with more cells than the header: 1", 3600},
    {"cifar10", TRAIN, COLUMNS "1.0009\t1.0\t94\n", "tsv: epochs that are fractions: 1", 3600},
    {"cifar10", TRAIN, COLUMNS "0\t1.0\t94\n", "tsv: epochs are counted from 0", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t0.5\t9\n1\t1.0\t94\n", "tsv: epochs that are repeated: 1", 3600},
    {"cifar10", TRAIN, COLUMNS "2\t0.5\t9\n1\t1.0\t94\n", "tsv: epochs smaller than the one before: 1", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t0.0\t9\n2\t1.0\t94\n", "tsv: hours start at 0", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t2\t94\n2\t1\t95\n", "tsv: rows at which hours do not grow: 1", 7200},
    {"cifar10", TRAIN, COLUMNS "1\t1\t94.003\n",
     "tsv: values of top1Accuracy that are no whole number of 10000 items: 1 of 1", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t1\t94.1900003\n", "", 3600},  // printed from a 32-bit float
    {"cifar10", TRAIN, COLUMNS "1\t1\t0.9412\n", "tsv: top1Accuracy is given as a share of 1", 3600},
    {"cifar10", TRAIN, COLUMNS "1\t1\t93.99\n", "tsv: no row meets the target of 94: not ranked", -1},
    {"cifar10", TRAIN, "epoch\thours\ttop1Accuracy\tby\n1\t1\t94\tann@example.org\n",
     "tsv: e-mail addresses were removed", 3600},
    {"imagenet", TRAIN, "epoch\thours\ttop1Accuracy\ttop5Accuracy\n1\t1\t94\t92\n2\t2\t70\t93\n", "", 7200},
    {"squad", TRAIN, "epoch\tf1Score\thours\n1\t0.74\t1\n2\t0.75\t2\n", "tsv: columns are in another order", 7200},
    {"squad", TRAIN, "epoch\thours\tf1Score\n1\t1\t74.9\n2\t2\t75\n",
     "tsv: f1Score is given in points of 100; read as a share of 1", 7200},
    {"squad", "{" HEAD ", \"latency\": 2, \"f1Score\": 82.52}", NULL, "json: f1Score is given in points of 100", 2},
    {"cifar10", "{" HEAD ", \"latency\": 2, \"top1Accuracy\": 0.9412}", NULL, "json: top1Accuracy is given as a share", 2},
    {"cifar10", "{" HEAD ", \"latency\": 2, \"top1Accuracy\": 94.003}", NULL, "json: top1Accuracy is no whole number", 2},
    {"cifar10", "{" HEAD ", \"latency\": 2, \"top1Accuracy\": 93.99}", NULL,
     "json: top1Accuracy misses the target: not ranked", 2},
    {"cifar10", "{" HEAD ", \"latency\": 2}", NULL, "json: top1Accuracy is missing: not ranked", 2},
    {"cifar10", "{" HEAD ", \"cost\": null, \"latency\": 2, \"top1Accuracy\": 94.5}", NULL,
     "json: cost is null: it counts as not given", 2},
    {"cifar10", "{" HEAD ", \"cost\": 2, \"latency\": null, \"top1Accuracy\": 94.5}", NULL, "json: latency is null", -1},
    {"cifar10", "{" HEAD ", \"cost\": 0, \"latency\": 2, \"top1Accuracy\": 94.5}", NULL,
     "json: cost is 0: it counts as not given", 2},
    {"cifar10", "{" HEAD ", \"costPerHour\": null}", LOG, "json: costPerHour is null: it counts as not given", 3600},
    {"cifar10", "{" HEAD ", \"costPerHour\": \"0.9\"}", LOG, "json: costPerHour is no number: it counts as not given", 3600},
    {"cifar10", "{" HEAD "}", LOG, "", 3600},
    {"cifar10", OLD ", \"version\": \"v1.0\", \"author\": \"A\", \"framework\": \"F\", \"model\": \"M\", \"hardware\": \"H\", "
                "\"codeURL\": \"http://example.org\", \"authorEmail\": \"ann@example.org\"}", LOG, "", 3600},
    {"cifar10", "{" HEAD ", \"misc\": \"ran well\"}", LOG, "json: misc is a text, not an object", 3600},
    {"cifar10", "{" HEAD ", \"misc\": [1]}", LOG, "json: misc is something else, not an object", 3600},
    {"cifar10", "{" HEAD ", \"momentum\": 0.9, \"usedBlacklist\": true}", LOG,
     "json: undocumented, kept and not interpreted: momentum, usedBlacklist", 3600},
    {"cifar10", "{" HEAD_WITHOUT_DATE ", \"timestamp\": \"2019-3-4\"}", LOG, "json: timestamp has no leading zeros", 3600},
    {"cifar10", "{\"version\": \"v2\", \"timestamp\": \"2019-03-04\"}", LOG, "json: version is not v1.0", 3600},
    {"cifar10", OLD "}", LOG, "json: author is missing", 3600},
    {"cifar10", OLD "}", LOG, "json: codeURL is missing", 3600},
    {"cifar10", OLD ", \"author\": 7}", LOG, "json: author is no text and is left out", 3600},
    {"cifar10", OLD ", \"codeURL\": \" http://example.org/x\"}", LOG, "json: codeURL is padded with blanks", 3600},
    {"cifar10", OLD ", \"codeURL\": \"javascript:alert(1)\"}", LOG, "json: codeURL is no web address", 3600},
    {"cifar10", OLD ", \"author\": \"A\xef\xbc\x8c" "B:\xe3\x80\x80" "C\"}", LOG,
     "json: author holds full-width commas or spaces", 3600},
    {"cifar10", OLD ", \"author\": \"A\\u202eB\"}", LOG, "json: author holds characters that cannot be shown", 3600},
    {"cifar10", "{" HEAD ", \"misc\": {\"ask\": \"ann@example.org\"}}", LOG,
     "json: e-mail addresses outside authorEmail were removed", 3600},
};

TEST(quirks_are_accepted_and_told)
{
    for (size_t i = 0; i < sizeof quirks / sizeof *quirks; i++) {
        const struct quirk *q = &quirks[i];
        struct dawnbench_entry *e = read_texts(q->task, q->json, q->tsv);
        if (e == NULL) fail_msg("row %zu: %s", i, error_text());
        if (*q->said == 0 ? *e->quirks.at != 0 : strstr(e->quirks.at, q->said) == NULL)
            fail_msg("row %zu, wanted \"%s\": %s", i, q->said, e->quirks.at);
        double value = q->tsv != NULL ? e->seconds[0] : e->latency_ms;
        if (value != q->value) fail_msg("row %zu: %g is not %g", i, value, q->value);
        dawnbench_free(e);
    }
}

static const struct {
    const char *json, *tsv, *said;  // tsv NULL: inference; "": empty
} refusals[] = {
    {"", LOG, "not JSON"},
    {"{" HEAD, LOG, "not JSON"},
    {"{" HEAD ",}", LOG, "not JSON"},
    {"{" HEAD "} x", LOG, "not JSON"},
    {"{" HEAD ", \"costPerHour\": NaN}", LOG, "not JSON"},
    {"{" HEAD ", \"costPerHour\": 1e999}", LOG, "not JSON"},
    {"{" HEAD ", \"model\": \"\xff\"}", LOG, "not JSON"},
    {"{" HEAD ", \"model\": \"Other\"}", LOG, "duplicate"},
    {"{" HEAD ", \"misc\": {\"a@example.org\": 1, \"b@example.org\": 2}}", LOG, "duplicate"},
    {"[1]", LOG, "is not an object"},
    {"{" HEAD ", \"costPerHour\": -1}", LOG, "costPerHour is negative"},
    {"{" HEAD ", \"costPerHour\": 1e30}", LOG, "more than"},
    {"{" HEAD_WITHOUT_DATE "}", LOG, "timestamp \"\" is not a date"},
    {"{" HEAD_WITHOUT_DATE ", \"timestamp\": \"2019-02-29\"}", LOG, "is not a date"},
    {"{" HEAD_WITHOUT_DATE ", \"timestamp\": \"4.3.2019\"}", LOG, "is not a date"},
    {TRAIN, "", "ann_net.tsv: is empty"},
    {TRAIN, COLUMNS "\n", "has no row"},
    {TRAIN, "epoch\thours\tf1Score\n1\t1\t94\n", "has no column \"top1Accuracy\""},
    {TRAIN, "epoch hours top1Accuracy\n1 1 94\n", "separated by tabs"},
    {TRAIN, "epoch\thours\thours\ttop1Accuracy\n1\t1\t2\t94\n", "column \"hours\" twice"},
    {TRAIN, COLUMNS "1\t1\n", "line 2 has no cell for \"top1Accuracy\""},
    {TRAIN, COLUMNS "1\t\t94\n", "line 2, column \"hours\": the cell is empty"},
    {TRAIN, COLUMNS "1\tone\t94\n", "must be a number"},
    {TRAIN, COLUMNS "1\t0,5\t94\n", "must be a number"},
    {TRAIN, COLUMNS "1\t0x10\t94\n", "must be a number"},
    {TRAIN, COLUMNS "1\t-1\t94\n", "column \"hours\": must be between"},
    {TRAIN, COLUMNS "1\tnan\t94\n", "must be a number"},
    {TRAIN, COLUMNS "1\t1\tinf\n", "must be a number"},
    {TRAIN, COLUMNS "1\t1e999\t94\n", "is too large"},
    {TRAIN, COLUMNS "1\t1\t101\n", "must be between"},
    {TRAIN, COLUMNS "1\t0\t94\n", "meets the target after 0 hours"},
    {TRAIN, COLUMNS "1\t1\t94\xff\n", "is not text in UTF-8"},
    {"{" HEAD ", \"top1Accuracy\": 94.5}", NULL, "neither a latency nor a cost"},
    {"{" HEAD ", \"latency\": -1, \"top1Accuracy\": 94.5}", NULL, "latency is negative"},
    {"{" HEAD ", \"latency\": 1, \"top1Accuracy\": 9450}", NULL, "top1Accuracy is 9450, more than 100"},
};

TEST(refusals_have_their_reason)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct dawnbench_entry *e = read_texts("cifar10", refusals[i].json, refusals[i].tsv);
        if (e != NULL) fail_msg("row %zu was accepted; wanted \"%s\"", i, refusals[i].said);
        if (strstr(error_text(), refusals[i].said) == NULL)
            fail_msg("row %zu: wanted \"%s\": %s", i, refusals[i].said, error_text());
        assert_int_equal(strncmp(error_text(), "CIFAR10/", 8), 0);
    }
    struct dawnbench_entry *e;
    const struct contest *contest = contest_find("cifar10");
    assert_fails(dawnbench_read(contest, true, "a", TRAIN, strlen(TRAIN), NULL, 0, &e), ERR_INPUT, "has no log (a.tsv)");
    assert_int_equal(dawnbench_read(contest, true, "a", TRAIN, strlen(TRAIN), "epoch\0", 6, &e), ERR_INPUT);
    assert_int_equal(dawnbench_read(contest, true, "../a", TRAIN, strlen(TRAIN), LOG, strlen(LOG), &e), ERR_INPUT);
    assert_int_equal(dawnbench_read(contest, true, ".a", TRAIN, strlen(TRAIN), LOG, strlen(LOG), &e), ERR_INPUT);
    char *large = zalloc(DAWNBENCH_FILE + 2);
    memset(large, ' ', DAWNBENCH_FILE + 1);
    assert_int_equal(dawnbench_read(contest, true, "a", large, DAWNBENCH_FILE + 1, LOG, strlen(LOG), &e), ERR_INPUT);
    assert_int_equal(dawnbench_read(contest, true, "a", TRAIN, strlen(TRAIN), large, DAWNBENCH_FILE + 1, &e), ERR_INPUT);
    free(large);
}

TEST(other_targets_count_as_well)
{
    struct dawnbench_entry *e = read_texts("squad", TRAIN, "epoch\thours\tf1Score\n1\t1\t0.73\n2\t2\t0.7499999\n3\t3\t0.75\n");
    assert_true(e->seconds[0] == 3 * 3600 && e->seconds[1] == 3600 && e->accuracy[1] == 0.73 && e->seconds[2] < 0);
    dawnbench_free(e);
    e = read_texts("squad", "{" HEAD ", \"latency\": 2, \"f1Score\": 0.74}", NULL);
    assert_true(e->accuracy[0] < 0 && e->accuracy[1] == 0.74);
    dawnbench_free(e);
}

TEST(addresses_leave_everywhere)
{
    static const struct {
        const char *text, *left;
    } rows[] = {
        {"ann@example.org", ""},
        {"Ann <ann.b+c@mail.example.org>, Bob", "Ann <>, Bob"},
        {"a@example.org, b@example.org", ", "},
        {"a@example.org.", "."},
        {"mailto:a_b%c@example.co.uk?x", "mailto:?x"},
        {"zo\xc3\xab@example.org", ""},
        {"a\xef\xbc\xa0" "example.org", ""},
        {"\xef\xbc\x8c" "a@example.org", "\xef\xbc\x8c"},
        {"x@a@example.org@b.org", "x@@b.org"},
        {"ann@Company", "ann@Company"},
        {"package@1.2.3", "package@1.2.3"},
        {"https://example.org/@ann", "https://example.org/@ann"},
        {"@example.org a@ b@.", "@example.org a@ b@."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text once = {0}, twice = {0};
        bool found = dawnbench_drop_mail(rows[i].text, strlen(rows[i].text), &once);
        assert_string_equal(once.at, rows[i].left);
        assert_int_equal(found, strcmp(rows[i].text, rows[i].left) != 0);
        assert_false(dawnbench_drop_mail(once.at, once.length, &twice));
        text_free(&once), text_free(&twice);
    }
    static const char json[] = OLD ", \"author\": \"Ann (ann@example.org)\", \"authorEmail\": \"a@b.org,\xef\xbc\x8c"
                               "c@d.org\",\r\n \"misc\": {\"k@l.org\": [\"\\u0061\\u0040b.org\", \"\\nx@y.org\\t\\\"\", 1.50]}}";
    struct dawnbench_entry *e = read_texts("cifar10", json, LOG);
    assert_string_equal(e->author, "Ann");
    assert_string_equal(e->json, OLD ", \"author\": \"Ann ()\", \"authorEmail\": \"\",\r\n \"misc\": "
                                 "{\"\": [\"\", \"\\n\\t\\\"\", 1.50]}}");
    dawnbench_free(e);
}

TEST(words_are_cleaned)
{
    static const struct {
        const char *text, *shown;
        int flags;
    } rows[] = {
        {"plain", "plain", 0},
        {"two  blanks", "two blanks", 0},
        {" padded ", "padded", DAWNBENCH_PADDED},
        {"a \xef\xbc\x8c" "b\xe3\x80\x80" "c", "a, b c", DAWNBENCH_WIDE},
        {"a\tb\nc\x1b[1m", "a b c [1m", DAWNBENCH_UNSHOWN},
        {"a\xe2\x80\xae" "b", "ab", DAWNBENCH_UNSHOWN},
        {"Ann <>", "Ann", 0},
        {"", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        int flags = 0;
        assert_string_equal(dawnbench_words(&arena, rows[i].text, &flags), rows[i].shown);
        assert_int_equal(flags, rows[i].flags);
        arena_free(&arena);
    }
    struct text line = {0};
    dawnbench_line("a\x1b[2Jb\xff", &line);
    assert_string_equal(line.at, "a?[2Jb?");
    text_free(&line);
}

TEST(devices_are_read_where_they_are_plain)
{
    static const struct {
        const char *hardware;
        int devices;
    } rows[] = {
        {"1 K80 / 30 GB / 8 CPU", 1}, {"8 * V100 (cloud)", 8}, {"Maker 8*V100-16GB/448 GB", 8}, {"Maker V100*2-16GB/56 GB", 2},
        {"Maker V100 * 4 GPU / 488 GB", 4}, {"Cloud - 4x GTX 1080 Ti", 4}, {"1 NVidia 2080 RTX (box)", 1},
        {"1 NVidia GTX-1080 Ti", 1},
        {"16 * 8 * Tesla-V100(cloud)", 128}, {"Cloud [1 T4 / 16 GB]", 1}, {"1 TPUv2", 1}, {"16 nodes (8*V100 each)", 0},
        {"V100", 0},
        {"60 GB / 16 CPU", 0}, {"1/4 of a TPUv2 Pod", 0}, {"16 p3.16xlarge", 0}, {"c8g1.2xlarge", 0}, {"2080 RTX", 0}, {"", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dawnbench_devices(rows[i].hardware) != rows[i].devices)
            fail_msg("%s: %d", rows[i].hardware, dawnbench_devices(rows[i].hardware));
}

// ---- folders

static int collect(void *lines, const char *line)
{
    text_add(lines, "%s\n", line);
    return 0;
}

TEST_WITH(a_folder_is_read_and_told, set_up, leave)
{
    struct dawnbench_archive archive;
    struct text lines = {0};
    make_folder("CIFAR10/train");
    make_folder("CIFAR10/inference");
    make_folder("SQuAD/train/folder.json");
    put_text("CIFAR10/train/b.json", TRAIN);
    put_text("CIFAR10/train/b.tsv", LOG);
    put_text("CIFAR10/inference/b.json", "{" HEAD ", " LATENCY "}");  // the same stem again
    put_text("CIFAR10/train/a.json", TRAIN);
    put_text("CIFAR10/train/a.tsv", "\xef\xbb\xbf" LOG);
    put_text("CIFAR10/train/c.json", TRAIN);
    put_text("CIFAR10/train/d.tsv", LOG);
    put_text("CIFAR10/train/e\n.json", TRAIN);
    put_text("CIFAR10/train/e\n.tsv", LOG);
    put_text("CIFAR10/train/notes.txt", "x");
    put_text("CIFAR10/train/.hidden.json", "x");
    assert_int_equal(symlink("b.json", in("CIFAR10/train/l.json")), 0);
    assert_int_equal(symlink("CIFAR10", in("ImageNet")), 0);
    assert_int_equal(dawnbench_folder(in("."), collect, &lines, &archive), 0);
    assert_int_equal(archive.count, 3);
    assert_int_equal(archive.refused, 7);
    assert_string_equal(archive.at[0]->source, "CIFAR10/train/a");
    assert_string_equal(archive.at[1]->source, "CIFAR10/train/b");
    assert_string_equal(archive.at[2]->source, "CIFAR10/inference/b");
    static const char *const said[] = {
        "CIFAR10/train/a.tsv: begins with a byte order mark\n", "CIFAR10/train/c.tsv: cannot be read",
        "CIFAR10/train/d.tsv: has no .json (refused)\n", "CIFAR10/train/e .json: the name is not",
        "CIFAR10/train/l.json: is a symbolic link (refused)\n", "CIFAR10/train/notes.txt: is neither",
        "SQuAD/train/folder.json: is not a regular file (refused)\n", "ImageNet: is not a folder (refused)\n",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strstr(lines.at, said[i]) == NULL) fail_msg("\"%s\" was not reported:\n%s", said[i], lines.at);
    for (int i = 0; i < archive.count; i++) dawnbench_free(archive.at[i]);
    free(archive.at);
    text_free(&lines);
}

static int stop(void *unused, const char *line)
{
    (void)unused, (void)line;
    return ERR_INTERRUPTED;
}

TEST_WITH(wrong_folders_get_a_hint, set_up, leave)
{
    struct dawnbench_archive archive;
    make_folder("CIFAR10/train");
    put_text("CIFAR10/train/c.json", TRAIN);
    assert_fails(dawnbench_folder(in("CIFAR10"), collect, NULL, &archive), ERR_INPUT, "is the folder of a single task");
    assert_fails(dawnbench_folder(in("CIFAR10/train"), collect, NULL, &archive), ERR_INPUT, "not an archive of DAWNBench");
    assert_int_equal(dawnbench_folder(in("CIFAR10/train/c.json"), collect, NULL, &archive), ERR_INPUT);
    assert_int_equal(dawnbench_folder(in("nowhere"), collect, NULL, &archive), ERR_IO);
    assert_int_equal(dawnbench_folder(in("."), stop, NULL, &archive), ERR_INTERRUPTED);
    assert_int_equal(archive.count, 0);
}

// ---- tables

TEST(numbers_are_read_back)
{
    static const double values[] = {0.1, 1.0 / 3, 2466.0000000000005, 1e-300, 0, 94, 3.1228484e-07, 178.00000000000003};
    char text[TABLE_NUMBER];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(strtod(table_number(values[i], text), NULL) == values[i]);
    assert_string_equal(table_number(0.1, text), "0.1");
}

TEST(tables_are_written)
{
    struct filter filter = {.contest = contest_find("cifar10"), .board = BOARD_TRAINING_TIME};
#define LONG "one very long description of a machine that nobody would ever read to its very end, would they"
    struct entry rows[2] = {
        {.rank = 1, .value = 0.1, .low = 0.1, .high = 0.1, .cost = -1, .accuracy = 0.94, .runs = 1, .author = "A\tn\nn \"x\", y",
         .team = "", .model = "Net", .hardware = LONG, .framework = "Loops", .precision = "", .date = "2019-03-04",
         .code_url = "", .source = "#1"},
        {.rank = 2, .value = 300, .low = 300, .high = 300, .cost = 0.5, .accuracy = 0.95, .runs = 1, .author = "\xe6\x9d\x8e",
         .team = "", .model = "Net", .hardware = "machine", .framework = "Loops", .precision = "", .date = "2019-03-05",
         .code_url = "", .source = "#2"},
    };
    struct entries entries = {.at = rows, .count = 2, .total = 2};
    struct text text = {0};
    table_write("tsv", &filter, &entries, 80, &text);
    assert_string_equal(text.at, "rank\tauthor\tmodel\thardware\tframework\tdate\tvalue\tunit\tsource\n"
                                 "1\tA n n \"x\", y\tNet\t" LONG "\tLoops\t2019-03-04\t0.1\ts\t#1\n"
                                 "2\t\xe6\x9d\x8e\tNet\tmachine\tLoops\t2019-03-05\t300\ts\t#2\n");
    text_free(&text);
    table_write("csv", &filter, &entries, 80, &text);
    assert_non_null(strstr(text.at, "\n1,\"A\tn\nn \"\"x\"\", y\",Net,"));
    text_free(&text);
    table_write("json", &filter, &entries, 80, &text);
    json_t *json = json_loads(text.at, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    const json_t *list = json_object_get(json, "entries");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "author")), "A\tn\nn \"x\", y");
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "cost")));
    assert_true(json_real_value(json_object_get(json_array_get(list, 0), "value")) == 0.1);
    json_decref(json);
    text_free(&text);
    rows[0].author = "Ann";
    table_write("table", &filter, &entries, 80, &text);
    char *at = text.at;
    for (int n = 0; *at != 0; n++, at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") > 81) fail_msg("line %d is too long: %s", n, at);  // one character is 3 bytes, but 2 columns
    assert_non_null(strstr(text.at, "5 min 00 s"));
    assert_non_null(strstr(text.at, ".."));
    text_free(&text);
    entries.count = 0;
    table_write("table", &filter, &entries, 80, &text);
    assert_non_null(strstr(text.at, "No entries"));
    text_free(&text);
}

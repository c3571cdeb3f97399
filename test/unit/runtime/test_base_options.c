// SPDX-License-Identifier: Apache-2.0
// One table with an option of every kind. Each case is a command line with its operands, its values or its sentence.
#include "runtime/common/cli/options.h"
#include "test/unit/test.h"

static bool verbose, stop, json;
static int64_t batch, seed;
static double rate;
static const char *data, *device, *log_to;
static struct option_list set;

static const struct option OPTIONS[] = {
    {OPTION_FLAG, 'v', "verbose", NULL, "say more", &verbose, 0, 0},
    {OPTION_FLAG, 0, "stop", NULL, "stop at the target", &stop, 0, 0},
    {OPTION_FLAG, 0, "json", NULL, "for machines", &json, 0, 0},
    {OPTION_INT, 'b', "batch", "N", "images per step", &batch, 1, 65536},
    {OPTION_INT, 's', "seed", "N", "where the random numbers start", &seed, 0, 0},
    {OPTION_FLOAT, 0, "rate", "X", "learning rate at the top of its schedule, in front of everything that scales it", &rate,
     0, 10},
    {OPTION_TEXT, 'd', "data", "DIR", "folder of the data set", &data, 0, 0},
    {OPTION_TEXT, 0, "device", "NAME", "where it runs", &device, 0, 0},
    {OPTION_PATH, 0, "log", "FILE", "a file that must have a name", &log_to, 0, 0},
    {OPTION_LIST, 0, "set", "KEY=VALUE", "replace one value of the recipe", &set, 0, 0},
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
};
static const struct usage USAGE = {"train", "TASK [OPTIONS]", "Trains a model.", OPTIONS, "Example:\n  dawn train cifar10"};

enum { WORDS_MAX = 80 };
static char *words[WORDS_MAX];
static int count;

// Splits at blanks and parses; `words` and `count` have the operands.
static int parse(const char *line)
{
    static char copy[4096];
    verbose = json = false, stop = true, batch = 512, seed = 1, rate = 0.5, data = NULL, device = "cpu";
    set.count = 0;
    snprintf(copy, sizeof copy, "train %s", line);
    count = 0;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    words[count] = NULL;
    return options_parse(&USAGE, &count, words);
}

TEST(test_values)
{
    assert_int_equal(parse("cifar10 --batch 64 -s 7 --rate=0.25 --data /d -v --set a=1 --set b=2 more"), 0);
    assert_int_equal(count, 3);
    assert_string_equal(words[0], "train");
    assert_string_equal(words[1], "cifar10");
    assert_string_equal(words[2], "more");
    assert_null(words[3]);
    assert_int_equal(batch, 64);
    assert_int_equal(seed, 7);
    assert_true(rate == 0.25);
    assert_string_equal(data, "/d");
    assert_string_equal(device, "cpu");
    assert_true(verbose && stop && !json);
    assert_int_equal(set.count, 2);
    assert_string_equal(set.word[0], "a=1");
    assert_string_equal(set.word[1], "b=2");
}

TEST(test_spellings)
{
    assert_int_equal(parse("-b32 -vs-4"), 0);
    assert_int_equal(batch, 32);
    assert_int_equal(seed, -4);
    assert_true(verbose);
    assert_int_equal(parse("--seed -3"), 0);
    assert_int_equal(seed, -3);
    assert_int_equal(parse("--data="), 0);
    assert_string_equal(data, "");
    assert_int_equal(parse("--data=--odd"), 0);
    assert_string_equal(data, "--odd");
    assert_int_equal(parse("--batch 2 --batch 3"), 0);  // the last one counts
    assert_int_equal(batch, 3);
    assert_int_equal(parse("--set a=b=c"), 0);
    assert_string_equal(set.word[0], "a=b=c");
    assert_int_equal(parse("- -5 -.5"), 0);  // a lone dash and negative numbers are operands
    assert_int_equal(count, 4);
}

TEST(test_flags)
{
    assert_int_equal(parse("--no-stop"), 0);
    assert_false(stop);
    assert_int_equal(parse("--no-stop --stop"), 0);
    assert_true(stop);
    assert_int_equal(parse("--no-st"), 0);
    assert_false(stop);
    assert_int_equal(parse("--json=1"), ERR_USAGE);
    assert_string_equal(error_text(), "--json takes no value");
    assert_int_equal(parse("--no-batch"), ERR_USAGE);  // only flags can be cleared
}

TEST(test_operands_after_dashes)
{
    assert_int_equal(parse("-v -- --batch -x --"), 0);
    assert_int_equal(count, 4);
    assert_string_equal(words[1], "--batch");
    assert_string_equal(words[2], "-x");
    assert_string_equal(words[3], "--");
    assert_int_equal(batch, 512);
}

TEST(test_abbreviations)
{
    assert_int_equal(parse("--ba 8 --dat /x"), 0);
    assert_int_equal(batch, 8);
    assert_string_equal(data, "/x");
    assert_int_equal(parse("--s 8"), ERR_USAGE);
    assert_string_equal(error_text(), "--s could be --stop or --seed; please write more of it");
    assert_int_equal(parse("--set x=1"), 0);  // exact, although --se is not
    assert_int_equal(parse("--=1"), ERR_USAGE);
}

TEST(test_nearest)
{
    assert_int_equal(parse("--bacth 8"), ERR_USAGE);
    assert_string_equal(error_text(), "there is no option --bacth; did you mean --batch?");
    assert_int_equal(parse("--bacth=8"), ERR_USAGE);
    assert_string_equal(error_text(), "there is no option --bacth; did you mean --batch?");
    assert_int_equal(parse("--no-stpo"), ERR_USAGE);
    assert_string_equal(error_text(), "there is no option --no-stpo; did you mean --no-stop?");
    assert_int_equal(parse("--quantum"), ERR_USAGE);
    assert_string_equal(error_text(), "there is no option --quantum; \"dawn train -h\" lists them "
                                      "(--set KEY=VALUE changes a key of the recipe)");
    assert_int_equal(parse("-q"), ERR_USAGE);
    assert_string_equal(error_text(), "there is no option -q; \"dawn train -h\" lists them");
}

TEST(test_bounds)
{
    assert_int_equal(parse("--batch 0"), ERR_USAGE);
    assert_string_equal(error_text(), "--batch must be between 1 and 65536; got 0");
    assert_int_equal(parse("--batch -1"), ERR_USAGE);
    assert_int_equal(parse("--batch 65537"), ERR_USAGE);
    assert_int_equal(parse("--batch 65536"), 0);
    assert_int_equal(parse("--batch 12x"), ERR_USAGE);
    assert_string_equal(error_text(), "--batch must be a whole number; got \"12x\"");
    assert_int_equal(parse("--rate 10.5"), ERR_USAGE);
    assert_int_equal(parse("--rate nan"), ERR_USAGE);
    assert_int_equal(parse("--rate 10"), 0);
    assert_int_equal(parse("--seed 9223372036854775807"), 0);
    assert_true(seed == INT64_MAX);
}

TEST(test_missing_values)
{
    assert_int_equal(parse("--batch"), ERR_USAGE);
    assert_string_equal(error_text(), "--batch needs a value (N)");
    assert_int_equal(parse("--data --batch 4"), ERR_USAGE);
    assert_string_equal(error_text(), "--data needs a value (DIR)");
    assert_int_equal(parse("--log="), ERR_USAGE);  // as of a variable that is not set
    assert_string_equal(error_text(), "--log must not be empty (FILE)");
    assert_int_equal(parse("--log=/x --data="), 0);
    assert_string_equal(log_to, "/x");
    assert_string_equal(data, "");
    assert_int_equal(parse("-b"), ERR_USAGE);
}

TEST(test_list_limit)
{
    char line[4096] = "";
    for (int i = 0; i < OPTION_LIST_MAX; i++) strcat(line, "--set=a ");
    assert_int_equal(parse(line), 0);
    assert_int_equal(set.count, OPTION_LIST_MAX);
    strcat(line, "--set=a ");
    assert_int_equal(parse(line), ERR_USAGE);
}

// The output of options_parse, caught in a file.
static const char *printed(const char *line, int *rc)
{
    static char said[8192];
    char path[] = "/tmp/dawn-help-XXXXXX";
    fflush(stdout);
    int file = mkstemp(path), out = dup(STDOUT_FILENO);
    assert_true(file >= 0 && out >= 0);
    dup2(file, STDOUT_FILENO);
    *rc = parse(line);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    ssize_t got = pread(file, said, sizeof said - 1, 0);
    close(file);
    unlink(path);
    assert_true(got >= 0);
    said[got] = 0;
    return said;
}

TEST(test_help)
{
    int rc;
    const char *help = printed("cifar10 --bacth -h", &rc);  // help comes before any complaint
    assert_int_equal(rc, OPTIONS_HELPED);
    assert_non_null(strstr(help, "Usage: dawn train TASK [OPTIONS]\n\nTrains a model.\n\nOptions:\n"));
    assert_non_null(strstr(help, "  -b, --batch N        images per step (default: 512)\n"));
    assert_non_null(strstr(help, "      --[no-]stop      stop at the target (default: yes)\n"));
    assert_non_null(strstr(help, "  -d, --data DIR       folder of the data set\n"));
    assert_non_null(strstr(help, "      --device NAME    where it runs (default: cpu)\n"));
    assert_non_null(strstr(help, "      --set KEY=VALUE  replace one value of the recipe (may be repeated)\n"));
    assert_non_null(strstr(help, "  -h, --help           show this help\n\nExample:\n  dawn train cifar10\n"));
    for (const char *at = help; *at;) {
        size_t length = strcspn(at, "\n");
        assert_in_range(length, 0, 80);
        at += length + (at[length] == '\n');
    }
    assert_string_equal(printed("--help", &rc), help);
    assert_string_equal(printed("-- --help", &rc), "");
    assert_int_equal(rc, 0);
    assert_non_null(strstr(printed("--hel", &rc), "Usage:"));
    assert_int_equal(rc, OPTIONS_HELPED);
}

static int command(int argc, char **argv)
{
    return options_parse(&USAGE, &argc, argv);
}

static void take_table(const struct usage *usage, void *with)
{
    struct text *text = with;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) {
        options_name(text, o);
        text_add(text, "%s ", options_takes_value(o) ? "=" : "");
    }
}

// Man pages and completion get the table of a command; afterwards --help prints again.
TEST(test_table)
{
    struct text text = {0};
    assert_int_equal(parse("--stop"), 0);
    assert_int_equal(options_of(command, "train", take_table, &text), 0);
    assert_string_equal(text.at, "--verbose --[no-]stop --json --batch= --seed= --rate= --data= --device= --log= --set= ");
    text_free(&text);
    options_explain(&text, &OPTIONS[3]);
    assert_string_equal(text.at, "images per step (default: 512)");
    text_free(&text);
    int rc;
    assert_non_null(strstr(printed("--help", &rc), "Usage:"));
}

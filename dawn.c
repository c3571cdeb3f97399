// SPDX-License-Identifier: Apache-2.0
// The front door: one table of commands, and the only place that sees them all and that ends the program.
#include "data/cmd_data.h"
#include "runtime/base/build.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "submit/commands.h"
#include "tasks/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int cmd_help(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} COMMANDS[] = {
    {"train", cmd_train, "train a model until it meets its target, and record the run"},
    {"record", cmd_record, "run any training program, time it, and record the run"},
    {"infer", cmd_infer, "measure the latency and the accuracy of a trained model"},
    {"data", cmd_data, "fetch, import, check and show data sets"},
    {"results", cmd_results, "list, show and export recorded runs"},
    {"keys", cmd_keys, "make, list, import, rotate and revoke the keys that sign"},
    {"submit", cmd_submit, "sign recorded runs and submit them to a scoreboard"},
    {"verify", cmd_verify, "check a signed run: signature, hash chain, figures, receipt"},
    {"withdraw", cmd_withdraw, "take an own entry off the boards"},
    {"amend", cmd_amend, "change what an own entry says in words"},
    {"models", cmd_models, "list the models of a task"},
    {"recipe", cmd_recipe, "print a recipe: everything a run can be told"},
    {"plan", cmd_plan, "say what a step will cost, without training"},
    {"bench", cmd_bench, "measure training steps or single operators"},
    {"doctor", cmd_doctor, "say what this machine and this build can do"},
    {"help", cmd_help, "show this, or the help of one command"},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static const struct command *find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMAND_COUNT + 1] = {0};
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = COMMANDS[i].name;
    const char *near = text_nearest(name, names);
    if (near) return fail(ERR_USAGE, "there is no command \"%.60s\". Did you mean \"%s\"?", name, near);
    return fail(ERR_USAGE, "there is no command \"%.60s\"; \"dawn help\" lists them", name);
}

static void overview(void)
{
    printf("Usage: dawn COMMAND [OPTIONS]\n\n"
           "DAWN measures how long a machine takes to train a network to a target accuracy.\n\nCommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) printf("  %-9s  %s\n", COMMANDS[i].name, COMMANDS[i].help);
    printf("\n\"dawn COMMAND -h\" tells more. A first run, with nothing to fetch:\n"
           "  dawn train cifar10 --data synthetic\n");
}

static int version(void)
{
    printf("dawn %s (%s%.12s%s%s)\n", build_version(), *build_commit() ? "commit " : "", build_commit(),
           build_dirty() ? ", changed since; " : *build_commit() ? "; " : "", build_compiler());
    return 0;
}

static int cmd_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
        overview();
        return 0;
    }
    const struct command *command = find(argv[1]);
    if (!command) return unknown(argv[1]);
    char help[] = "--help", *asked[] = {argv[1], help, NULL};
    return command->run(2, asked);
}

// What was printed must also have arrived, or a full disk would make "dawn results export > file" a silent loss.
static int flush_output(int rc)
{
    errno = 0;
    bool bad = fflush(stdout) != 0 || ferror(stdout);
    if (bad && rc >= 0 && errno != EPIPE) return fail_errno(ERR_IO, errno ? errno : EIO, "can not write the output");
    return rc;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);  // "dawn results list | head" ends as usual, and a lost server is an error, not a death
    signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error with a sentence, as a full disk is
    if (argc < 2) {
        overview();
        return error_exit_code(ERR_USAGE);
    }
    const char *name = argv[1];
    int rc = 0;
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        overview();
    } else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        rc = version();
    } else {
        const struct command *command = find(name);
        rc = command ? command->run(argc - 1, argv + 1) : unknown(name);
        if (!command) name = NULL;
    }
    rc = flush_output(rc);
    if (rc < 0) fprintf(stderr, "dawn%s%s: %s\n", name ? " " : "", name ? name : "", error_text());
    return error_exit_code(rc);
}

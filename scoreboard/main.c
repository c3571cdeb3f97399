// SPDX-License-Identifier: Apache-2.0
// The front door of dawn-scoreboard: one table of commands. Without a command, or with options first, it serves.
#include "runtime/base/build.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "scoreboard/commands.h"

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
    {"serve", cmd_serve, "answer over HTTP, until it is told to stop (the default)"},
    {"board", cmd_board, "print a board"},
    {"import", cmd_import, "take DAWNBench's archive in"},
    {"export", cmd_export, "write entries as DAWNBench's files"},
    {"check", cmd_check, "check the record from end to end, and the boards against it"},
    {"backup", cmd_backup, "copy the record while the server runs"},
    {"migrate", cmd_migrate, "bring the record to this version's form"},
    {"revoke", cmd_revoke, "declare that a key no longer counts"},
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
    return fail(ERR_USAGE, "there is no command \"%.60s\"; \"dawn-scoreboard help\" lists them", name);
}

static void overview(void)
{
    printf("Usage: dawn-scoreboard [COMMAND] [OPTIONS]\n\n"
           "Keeps signed records of training runs, checks them and shows who is fastest.\n\nCommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) printf("  %-8s  %s\n", COMMANDS[i].name, COMMANDS[i].help);
    printf("\n\"dawn-scoreboard COMMAND -h\" tells more. A board at http://127.0.0.1:8080/:\n"
           "  dawn-scoreboard --db scoreboard.db\n");
}

static int version(void)
{
    printf("dawn-scoreboard %s (%s%.12s%s%s)\n", build_version(), *build_commit() ? "commit " : "", build_commit(),
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

// What was printed must also have arrived, or a full disk would make "dawn-scoreboard export > file" a silent loss.
static int flush_output(int rc)
{
    errno = 0;
    bool bad = fflush(stdout) != 0 || ferror(stdout);
    if (bad && rc >= 0 && errno != EPIPE) return fail_errno(ERR_IO, errno ? errno : EIO, "can not write the output");
    return rc;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
        overview();
        return 0;
    }
    if (word && (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)) return version();
    if (!word || word[0] == '-') return cmd_serve(argc, argv);
    const struct command *command = find(word);
    return command ? command->run(argc - 1, argv + 1) : unknown(word);
}

int main(int argc, char **argv)
{
    error_program = "dawn-scoreboard";
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error with a sentence, as a full disk is
    const struct command *named = argc > 1 ? find(argv[1]) : NULL;  // before options are taken out of argv
    int rc = flush_output(run(argc, argv));
    if (rc < 0) fprintf(stderr, "dawn-scoreboard%s%s: %s\n", named ? " " : "", named ? named->name : "", error_text());
    return error_exit_code(rc);
}

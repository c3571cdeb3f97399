// SPDX-License-Identifier: Apache-2.0
// Invariant: an error is one line on stderr. It begins with the program's name, followed by the command's if there is one.
// An empty sentence prints nothing: another process of the same training has reported the failure. Besides its own commands every
// program has "help" and the options -h and -V.
#include "runtime/common/cli/program.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/build.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/cli/program_inside.h"
#include "runtime/common/base/error.h"
#include "runtime/common/base/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COMMANDS_MOST = 64 };
static const char HELP[] = "show this, or the help of one command";

static const struct program_command *find(const struct program *program, const char *name)
{
    return program_find(program->commands, name);
}

static int unknown(const struct program *program, const char *name)
{
    if (name[0] == '-')
        return fail(ERR_USAGE, "there is no option %.60s before a command; \"%s help\" lists the commands", name, program->name);
    const char *names[COMMANDS_MOST + 2] = {"help"};
    int count = 1;
    for (const struct program_command *c = program->commands; c->name != NULL && count <= COMMANDS_MOST; c++)
        names[count++] = c->name;
    char hint[64];
    snprintf(hint, sizeof hint, "\"%s help\" lists them", program->name);
    return fail_unknown(ERR_USAGE, "command", name, names, hint);
}

static int overview(const struct program *program)
{
    int width = (int)strlen("help");
    for (const struct program_command *c = program->commands; c->name != NULL; c++)
        if ((int)strlen(c->name) > width) width = (int)strlen(c->name);
    printf("Usage: %s %s\n\n%s\n\nCommands:\n", program->name, program->usage, program->about);
    for (const struct program_command *c = program->commands; c->name != NULL; c++)
        printf("  %-*s  %s\n", width, c->name, c->help);
    printf("  %-*s  %s\n\n\"%s COMMAND -h\" explains more. %s\n", width, "help", HELP, program->name, program->first);
    return 0;
}

static int version(const struct program *program)
{
    printf("%s %s (%s%.12s%s%s)\n", program->name, build_version(), *build_commit() ? "commit " : "", build_commit(),
           build_dirty() ? ", changed since; " : *build_commit() ? "; " : "", build_compiler());
    return 0;
}

// Answers `--man [COMMAND]` and `--complete WORD...`.
static int help_for_shells(const struct program *program, int argc, char **argv)
{
    if (strcmp(argv[1], "--man") == 0 && argc > 2 && !find(program, argv[2])) return unknown(program, argv[2]);
    struct text text = {0};
    int rc = strcmp(argv[1], "--man") == 0 ? program_man(program, argc > 2 ? argv[2] : NULL, &text)
                                           : program_complete(program, argc - 2, argv + 2, &text);
    if (rc == 0 && text.at) fputs(text.at, stdout);
    text_free(&text);
    return rc;
}

static int help(const struct program *program, int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--man") == 0 || strcmp(argv[1], "--complete") == 0))
        return help_for_shells(program, argc, argv);
    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') return overview(program);
    const struct program_command *command = find(program, argv[1]);
    if (!command) return unknown(program, argv[1]);
    char option[] = "--help", *asked[] = {argv[1], option, NULL};
    return command->run(2, asked);
}

// True if standard output is a pipe without a reader. An earlier write may have failed with EPIPE, and its errno is gone.
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

static int first_failure;  // errno of the first flush that failed; 0: none did

int program_flush(void)
{
    errno = 0;
    int rc = fflush(stdout);
    if (rc != 0 && first_failure == 0) first_failure = errno;
    return rc;
}

static int output = -1;  // standard output while it is aside

int program_aside(void)
{
    (void)program_flush();
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return 0;
    return fail_errno(ERR_IO, errno, "standard output cannot be kept for JSON");
}

void program_aside_end(void)
{
    (void)program_flush();
    (void)dup2(output, STDOUT_FILENO);
    close(output);
}

int program_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : TEXT_WIDTH;
}

static bool draws_nothing;

void program_draw_nothing(void)
{
    draws_nothing = true;
}

bool program_draws(int fd)
{
    const char *term = getenv("TERM");
    return !draws_nothing && isatty(fd) == 1 && term != NULL && *term != 0 && strcmp(term, "dumb") != 0;
}

static struct {
    enum program_status_mode mode;
    int64_t line_ns;  // when the last plain line was printed
    bool shown;
} status;

void program_status_show(enum program_status_mode mode)
{
    status.mode = mode, status.line_ns = clock_ns();
}

static void print_plain_status(const char *line)
{
    enum { EVERY_NS = 1000000000 };
    if (status.mode != PROGRAM_STATUS_LINES || clock_ns() - status.line_ns < EVERY_NS) return;
    fprintf(stderr, "%s ...\n", line);
    status.line_ns = clock_ns();
}

void program_status(const char *format, ...)
{
    char line[200];
    va_list args;
    if (status.mode == PROGRAM_STATUS_NONE) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!program_draws(STDERR_FILENO)) {
        print_plain_status(line);
        return;
    }
    int capacity = program_columns(STDERR_FILENO) - (int)strlen(" ... ");  // a wrapped line cannot be erased
    fprintf(stderr, "\r%.*s ...\033[K", capacity > 0 ? capacity : 0, line);
    status.shown = true;
}

void program_status_end(void)
{
    if (status.shown) fputs("\r\033[K", stderr);
    status.shown = false;
}

// Reports output that could not be written: on a full disk "dawn results export > file" must fail. An error keeps its exit
// status and its sentence.
static int flush_output(int rc)
{
    char reason[96] = "";
    bool bad = program_flush() != 0 || ferror(stdout);
    if (!bad || first_failure == EPIPE || reader_left()) return rc;
    if (first_failure) snprintf(reason, sizeof reason, ": %s", strerror(first_failure));
    if (rc >= 0) return fail(ERR_IO, "cannot write the output%s", reason);
    return *error_text() ? fail(rc, "%s; cannot write the output either%s", error_text(), reason) : rc;
}

static int run(const struct program *program, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) return overview(program);
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) return version(program);
    if (strcmp(word, "help") == 0) return help(program, argc - 1, argv + 1);
    if (program->otherwise != NULL && (argc < 2 || word[0] == '-')) return program->otherwise(argc, argv);
    const struct program_command *command = find(program, word);
    return command ? command->run(argc - 1, argv + 1) : unknown(program, word);
}

// A file that is opened under the number of a closed standard stream would get the output. So such a number is occupied, in a
// mode in which its use fails as before.
static void take_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void program_memory(void)
{
    json_set_alloc_funcs(zalloc, free);
    reserve_keep(64 << 10);
}

int program_main(const struct program *program, int argc, char **argv)
{
    program_memory();
    take_closed_streams();
    error_program = program->name;
    signal(SIGPIPE, SIG_IGN);  // a closed pipe or connection is an error, not a signal
    signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error with a sentence, as a full disk is
    if (argc < 2 && program->otherwise == NULL) {
        overview(program);
        return error_exit_code(ERR_USAGE);
    }
    const struct program_command *named = argc > 1 ? find(program, argv[1]) : NULL;  // before options leave argv
    int rc = run(program, argc, argv);
    program_status_end();
    rc = flush_output(rc);
    if (rc < 0 && *error_text())
        fprintf(stderr, "%s%s%s: %s\n", program->name, named ? " " : "", named ? named->name : "", error_text());
    return error_exit_code(rc);
}

// SPDX-License-Identifier: Apache-2.0
// The main of a program with commands: overview, help, version, unknown commands, errors and exit codes.
#pragma once

#include "runtime/common/base/text.h"

// Gets its own argv (argv[0] is its name) and prints the requested output. Returns 0, a negative error with its sentence,
// or its own exit status above 0.
typedef int (*command_run)(int argc, char **argv);

struct program {
    const char *name;   // "dawn"
    const char *usage;  // "COMMAND [OPTIONS]"
    const char *about;  // a sentence
    const char *first;  // end of the overview: a first command to try
    const struct program_command {
        const char *name;
        command_run run;
        const char *help;
    } *commands;         // ends with name NULL
    command_run otherwise;  // runs if no command is given; NULL: wrong usage, answered with the overview
    // Commands with sub-commands that have tables of their own; ends with name NULL. May be NULL.
    const struct program_group {
        const char *name;
        const struct program_command *subs;
    } *groups;
    // Variables of the environment; ends with name NULL. The man page of the program has all, with the rule below; the page of a
    // command has those that its texts name as $NAME. May be NULL.
    const struct program_variable {
        const char *name, *help;
    } *variables;
    // Candidates for values. `where` is "--model" (that option anywhere), "data NAME" (that operand of a
    // command) or "TASK" (the word in any table). `add` writes one name per line. Ends with where NULL. May be NULL.
    const struct program_words {
        const char *where;
        void (*add)(struct text *into);
    } *words;
};
// The whole of main(); returns the exit status. "help" also has, for installation:
//   help --man [COMMAND]       a man page of the program or of one command
//   help --complete WORD...    what may stand in place of the last WORD; WORDs are those after the program's name
int program_main(const struct program *, int argc, char **argv);
// How memory is taken in a program: JSON takes zalloc, because a value that lacks a member would be believed, and a reserve
// outlasts a short lack. program_main calls it first.
void program_memory(void);

// Flushes standard output, as fflush does. It keeps the reason of the first failure, which program_main reports at the end: the
// work goes on, because a training must not be lost with its output.
int program_flush(void);
// From program_aside to program_aside_end, output goes to standard error: the output is one JSON value.
int program_aside(void) MUST_CHECK;
void program_aside_end(void);
int program_columns(int fd);  // width of its terminal; TEXT_WIDTH if it is none, or does not say
// From now on no terminal is drawn on: several processes share their output, and mpirun gives each a terminal of its own.
void program_draw_nothing(void);
bool program_draws(int fd);   // true for a terminal on which a line can be drawn again: $TERM is set and not "dumb"

// What a command is doing now, as one line on standard error that the next one replaces. If standard error is no such terminal,
// nothing, or with PROGRAM_STATUS_LINES a plain line, at most one per second. program_status_end erases the line, before other
// output; program_main does so before an error.
enum program_status_mode { PROGRAM_STATUS_LIVE, PROGRAM_STATUS_LINES, PROGRAM_STATUS_NONE };
void program_status_show(enum program_status_mode);  // LIVE until the first call
void program_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
void program_status_end(void);

// SPDX-License-Identifier: Apache-2.0
// The front door of a program with commands: overview, help, version, unknown words, errors and exit codes.
#ifndef DAWN_BASE_PROGRAM_H
#define DAWN_BASE_PROGRAM_H

// Takes its own argv (argv[0] is its name), prints what the user asked for and returns 0 or a negative error with its
// sentence, or a status of its own above 0.
typedef int (*command_run)(int argc, char **argv);

struct program {
    const char *name;   // "dawn"
    const char *usage;  // "COMMAND [OPTIONS]"
    const char *about;  // a sentence
    const char *first;  // the end of the overview: what to try first
    const struct program_command {
        const char *name;
        command_run run;
        const char *help;
    } *commands;         // in order; one without a name ends them
    command_run otherwise;  // without a command, or with options first; NULL: wrong usage, and the overview helps
};
// All of main(): gives the exit status.
int program_main(const struct program *, int argc, char **argv);

#endif

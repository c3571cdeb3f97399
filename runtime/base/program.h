// SPDX-License-Identifier: Apache-2.0
// The main of a program with commands: overview, help, version, unknown commands, errors and exit codes.
#ifndef DAWN_BASE_PROGRAM_H
#define DAWN_BASE_PROGRAM_H

// Gets its own argv (argv[0] is its name) and prints what the user asked for. Returns 0, a negative error with its sentence,
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
};
// The whole of main(); returns the exit status.
int program_main(const struct program *, int argc, char **argv);

#endif

// SPDX-License-Identifier: Apache-2.0
// Command lines: one table of options gives parsing, abbreviations, bounds, -h and errors, the same for all commands.
#pragma once

#include "runtime/common/base/text.h"

// OPTION_PATH: a text that must not be empty, because an empty one, of a variable that is not set, would stand for the default.
// OPTION_GROUP: a number as OPTION_INT, or with a g before it, as groups of runs are shown ("g3").
enum option_kind { OPTION_END, OPTION_FLAG, OPTION_INT, OPTION_FLOAT, OPTION_TEXT, OPTION_PATH, OPTION_LIST, OPTION_GROUP };
enum { OPTION_LIST_MAX = 64 };
struct option_list {
    int count;
    const char *word[OPTION_LIST_MAX];  // borrowed from argv
};
struct option {
    enum option_kind kind;
    char letter;       // 0: none
    const char *name;  // long name without dashes; --no-NAME clears a flag
    const char *arg;   // name of the value in the help; NULL for flags
    const char *help;
    void *into;        // bool, int64_t, double, const char *, struct option_list
    double low, high;  // bounds of a number, both inclusive; both 0: no bounds
};
struct usage {
    const char *command;      // "train"; printed after the program's name
    const char *operands;     // "TASK [OPTIONS]"
    const char *about;        // what it does, one or more lines
    const struct option *options;
    const char *more;         // examples, notes; may be NULL
};

// Takes the options out of argv and leaves the operands, argv[0] first. Accepts "--name=value", "--name value" and
// unambiguous beginnings of names, anywhere before "--". Returns 0; ERR_USAGE with a sentence that names the nearest option;
// or OPTIONS_HELPED after -h or --help printed the help to standard output. A command returns any but 0 as it is: main's exit
// status is then 0 for OPTIONS_HELPED.
enum { OPTIONS_HELPED = 1 };
int options_parse(const struct usage *, int *argc, char **argv) MUST_CHECK;

// Runs a command with --help, and hands its table to `use` in place of printing it. The table lives for that call only.
// Returns 0, or the command's error.
typedef void (*options_use)(const struct usage *, void *with);
int options_of(int (*run)(int argc, char **argv), const char *name, options_use, void *with) MUST_CHECK;

bool options_takes_value(const struct option *);
// Adds the option as help shows it: "--[no-]name" if the flag is set, and the explanation with the default.
void options_name(struct text *, const struct option *);
void options_explain(struct text *, const struct option *);

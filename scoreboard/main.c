// SPDX-License-Identifier: Apache-2.0
// The table of commands of dawn-scoreboard. Without a command, or with options first, it serves.
#include "runtime/base/program.h"
#include "scoreboard/commands.h"

#include <stddef.h>

static const struct program_command commands[] = {
    {"serve", cmd_serve, "answer over HTTP, until it is told to stop (the default)"},
    {"board", cmd_board, "print a board"},
    {"import", cmd_import, "take DAWNBench's archive in"},
    {"export", cmd_export, "write entries as DAWNBench's files"},
    {"check", cmd_check, "check the record from end to end, and the boards against it"},
    {"backup", cmd_backup, "copy the record while the server runs"},
    {"migrate", cmd_migrate, "bring the record to this version's form"},
    {"revoke", cmd_revoke, "declare that a key no longer counts"},
    {NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    const struct program scoreboard = {
        .name = "dawn-scoreboard",
        .usage = "[COMMAND] [OPTIONS]",
        .about = "Keeps signed records of training runs, checks them and shows who is fastest.",
        .first = "A board at http://127.0.0.1:8080/:\n  dawn-scoreboard --db scoreboard.db",
        .commands = commands,
        .otherwise = cmd_serve,
    };
    return program_main(&scoreboard, argc, argv);
}

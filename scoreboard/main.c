// SPDX-License-Identifier: Apache-2.0
// The table of commands of dawn-scoreboard. Without a command, or with options first, it serves.
#include "runtime/common/cli/program.h"
#include "scoreboard/board_commands.h"

#include <stddef.h>

static const struct program_command commands[] = {
    {"serve", cmd_serve, "serve over HTTP until stopped (the default)"},
    {"board", cmd_board, "print a board"},
    {"import", cmd_import, "import DAWNBench's archive, or the history of a race"},
    {"export", cmd_export, "write a static site, or the entries as DAWNBench's files"},
    {"check", cmd_check, "verify the whole record and the boards derived from it"},
    {"backup", cmd_backup, "copy the record while the server runs"},
    {"revoke", cmd_revoke, "revoke a key"},
    {"audit", cmd_audit, "record a decision about a run or an objection; repeat drawn runs"},
    {"draw", cmd_draw, "say which runs the log draws, and whose repetitions count"},
    {"cosign", cmd_cosign, "have a witness cosign the log"},
    {"competition", cmd_competition, "open, list or cancel competitions"},
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

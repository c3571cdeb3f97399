// SPDX-License-Identifier: Apache-2.0
// The commands of submit/, one file each (cmd_NAME.c). Those of tasks/ are in tasks/commands.h.
#pragma once

#include "runtime/common/cli/program.h"
#include "submit/announce.h"

int cmd_keys(int argc, char **argv);
extern const struct program_command cmd_keys_subs[];  // those with options of their own
int cmd_keys_rotate(int argc, char **argv);  // of cmd_keys_change.c, as the next
int cmd_keys_revoke(int argc, char **argv);
int cmd_submit(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_withdraw(int argc, char **argv);
int cmd_amend(int argc, char **argv);
int cmd_object(int argc, char **argv);
extern const struct announce_type announcer_type;  // of dawn train (announcer.c)

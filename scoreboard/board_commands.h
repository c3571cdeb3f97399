// SPDX-License-Identifier: Apache-2.0
// The commands of dawn-scoreboard, one file each (cmd_NAME.c); main.c lists them. Without a command it serves.
#pragma once

#include "runtime/common/base/error.h"

int cmd_serve(int argc, char **argv);
int cmd_board(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_backup(int argc, char **argv);
int cmd_revoke(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_draw(int argc, char **argv);
int cmd_cosign(int argc, char **argv);
int cmd_competition(int argc, char **argv);

// Checks who decided and why, which a page shows. ERR_USAGE names the missing part, or the one that cannot be published.
int cmd_audit_check_words(const char *command, const char *by, const char *reason) MUST_CHECK;

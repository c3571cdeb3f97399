// SPDX-License-Identifier: Apache-2.0
// The sub-commands of `dawn data` that live in files of their own.
#pragma once

#include "data/dataset.h"
#include "runtime/common/cli/options.h"

// The default folders for -h texts.
#define DATA_PLACES "(else $DAWN_DATA, $XDG_DATA_HOME/dawn or ~/.local/share/dawn)"

// "data fetch" and so on; argv[0] is the sub-command.
int cmd_data_fetch(int argc, char **argv) MUST_CHECK;
int cmd_data_import(int argc, char **argv) MUST_CHECK;
int cmd_data_pack(int argc, char **argv) MUST_CHECK;

// Checks that there are `want` operands: none, a data set, or a data set and a folder of pictures.
int cmd_data_operands(const struct usage *, int argc, char **argv, int want) MUST_CHECK;

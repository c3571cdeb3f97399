// SPDX-License-Identifier: Apache-2.0
// `dawn data`: downloads, shows and checks data sets.
#ifndef DAWN_DATA_CMD_DATA_H
#define DAWN_DATA_CMD_DATA_H

#include "runtime/common/cli/program.h"

int cmd_data(int argc, char **argv);
extern const struct program_command cmd_data_subs[];

#endif

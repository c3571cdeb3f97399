// SPDX-License-Identifier: Apache-2.0
// `dawn data`: downloads, shows and checks data sets.
#pragma once

#include "runtime/common/cli/program.h"

int cmd_data(int argc, char **argv);
extern const struct program_command cmd_data_subs[];

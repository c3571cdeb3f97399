// SPDX-License-Identifier: Apache-2.0
// `dawn data`: gets, shows and checks data sets.
#ifndef DAWN_DATA_CMD_DATA_H
#define DAWN_DATA_CMD_DATA_H

int cmd_data(int argc, char **argv);

#endif

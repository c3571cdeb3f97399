// SPDX-License-Identifier: Apache-2.0
// Boards as DAWNBench's files.
#ifndef DAWN_SCOREBOARD_EXPORT_H
#define DAWN_SCOREBOARD_EXPORT_H

#include "scoreboard/store/store.h"

struct exported {
    int imports, runs;  // entries that came from an archive; own rows of the classic boards
    int files;
};
// Below `folder`, TASK/train/STEM.json and .tsv, TASK/inference/STEM.json. Imports leave byte for byte as they are kept;
// own runs that stand on a classic board leave as DAWNBench's instructions ask. Calls `wrote` with the path of each file.
int export_dawnbench(struct reader *, const char *folder, int (*wrote)(void *, const char *path), void *,
                     struct exported *) MUST_CHECK;

#endif

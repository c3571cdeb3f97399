// SPDX-License-Identifier: Apache-2.0
// Boards as DAWNBench's files.
#pragma once

#include "scoreboard/store/store.h"

struct board_exported {
    int imports, runs;  // entries that came from an archive; own rows of the classic boards
    int files;
};
// Writes TASK/train/STEM.json and .tsv and TASK/inference/STEM.json below `folder`. Imports keep their bytes. Own runs of a
// classic board take the form of DAWNBench's instructions. Calls `wrote` with the path of each file.
int board_export_dawnbench(struct reader *, const char *folder, int (*wrote)(void *, const char *path), void *,
                           struct board_exported *) MUST_CHECK;

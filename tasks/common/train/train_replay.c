// SPDX-License-Identifier: Apache-2.0
// A replay needs the data and the files of the run that it repeats. Others are refused before the training, because they alone
// would make the figures differ.
#include <string.h>

#include "submit/format/score/replay.h"
#include "tasks/common/train/train_inside.h"

int train_check_replay(const struct train_replay *replay, const struct run_data *data, int data_count,
                       const struct run_file *files, int file_count)
{
    const json_t *sets = json_object_get(replay->run, "data"), *others = json_object_get(replay->run, "files");
    for (int i = 0; i < data_count; i++)
        if (!replay_has(sets, "split", data[i].split, data[i].digest))
            return fail(ERR_INPUT, "the %s data of %s differ from the run's: their digest is %.12s...", data[i].split,
                        data[i].name, data[i].digest);
    for (int i = 0; i < file_count; i++)
        if (!replay_has(others, "kind", files[i].kind, files[i].digest))
            return fail(ERR_INPUT, "the original run used another file than --%s %s: its digest is %.12s...", files[i].kind,
                        files[i].name, files[i].digest);
    if ((size_t)file_count < json_array_size(others))
        return fail(ERR_USAGE, "the original run used %zu file%s besides its data (--weights, --vocab, --vectors), and %d %s "
                    "given", json_array_size(others), json_array_size(others) == 1 ? "" : "s", file_count,
                    file_count == 1 ? "is" : "are");
    return 0;
}

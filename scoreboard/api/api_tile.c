// SPDX-License-Identifier: Apache-2.0
// The log's files as C2SP's tlog-tiles has them. A tile never changes; the checkpoint does with every statement. Workload: a few
// tiles for each one who checks. Cost: an indexed query; two signatures checked for the checkpoint.
#include "scoreboard/api/api_inside.h"

int api_checkpoint(const struct request *request, struct answer *answer)
{
    TRY(store_checkpoint(request->store, &answer->body));
    answer->type = "text/plain; charset=utf-8";
    answer->live = true;  // it becomes newer when it is signed, a moment after the record
    return 0;
}

int api_tile(const struct request *request, struct answer *answer)
{
    struct tile tile;
    TRY(tile_read_path(request->path + sizeof "/log/" - 1, &tile));
    TRY(store_tile(request->reader, &tile, &answer->body));
    answer->type = "application/octet-stream";
    answer->immutable = true;
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A board as files that any host of files serves. The server's own handlers make every page; here only links are turned into
// relative ones, and addresses into paths (submit/format/copy_path.h).
//
// Contents: every page that a link without a query reaches; every view that such a page links to with a query (orders, targets);
// every board, history, chart, CSV and JSON of single runs or groups at each level of trust, all their pages; every statement of
// the API with its parts; the checkpoint and the tiles of the log. A link to anything else loses its address.
// All files come from one snapshot of the record.
// Workload: some thousand pages, now and then. Cost: every page is made twice; memory for the addresses alone.
#pragma once

#include "scoreboard/http/server.h"

struct site_settings {
    struct store *store;
    const struct route *routes;
    const char *folder;  // is put in place whole; replaced if it is such a copy already or empty, else ERR_IO
    const char *base;    // where it will be served, for feeds and commands; NULL: not known
    int64_t now_ms;
};
struct site_written {
    int64_t files, bytes, entries;  // entries: of the log
};
int site_write(const struct site_settings *, struct site_written *) MUST_CHECK;

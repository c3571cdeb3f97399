// SPDX-License-Identifier: Apache-2.0
// Where a static copy of a board (dawn-scoreboard export site) keeps what a server answers at an address: a page is a folder's
// index.html, JSON has its ending. Every host of files serves such a tree. Pure; the exporter and "dawn verify" share it.
#pragma once

#include "runtime/common/base/text.h"

// "/runs/12" -> "/runs/12/index.html", "/api/v1" -> "/api/v1.json", "/boards/a/b?x=1&y=2" -> "/boards/a/b/x=1,y=2.html". The
// address begins with a slash and is encoded as links are; so is the path.
void copy_path(const char *address, struct text *into);

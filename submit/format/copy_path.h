// SPDX-License-Identifier: Apache-2.0
// Maps an address of a board to the file of its static copy (dawn-scoreboard export site): a page is a folder's index.html, JSON
// gets its ending. Any static web server serves such a tree. Pure; the exporter and "dawn verify" share it.
#pragma once

#include "runtime/common/base/text.h"

// "/runs/12" -> "/runs/12/index.html", "/api/v1" -> "/api/v1.json", "/boards/a/b?x=1&y=2" -> "/boards/a/b/x=1,y=2.html". The
// address begins with a slash and is encoded as links are; so is the path.
void copy_path(const char *address, struct text *into);

// SPDX-License-Identifier: Apache-2.0
// A contact sheet: one row per class, its first training images from left to right.
#ifndef DAWN_DATA_SHEET_H
#define DAWN_DATA_SHEET_H

#include "data/dataset.h"

enum { SHEET_COLUMNS = 10, SHEET_ZOOM = 3 };

int sheet_write(struct dataset *, enum split, const char *path) MUST_CHECK;

#endif

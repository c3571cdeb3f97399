// SPDX-License-Identifier: Apache-2.0
// A contact sheet: one row per class, its first training images from left to right.
#pragma once

#include "data/dataset.h"

enum { CONTACT_SHEET_COLUMNS = 10, CONTACT_SHEET_ZOOM = 3 };

int contact_sheet_write(struct dataset *, enum split, const char *path) MUST_CHECK;

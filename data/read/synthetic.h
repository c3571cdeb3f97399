// SPDX-License-Identifier: Apache-2.0
// Ten classes of shapes and textures, drawn by a seeded procedure, for training without a download.
#pragma once

#include "data/dataset.h"

enum {
    SYNTHETIC_SIDE = 32,
    SYNTHETIC_CLASSES = 10,
    SYNTHETIC_TRAIN = 10000,
    SYNTHETIC_TEST = 2000,
    SYNTHETIC_MAX = 50000000
};

int synthetic_label(enum split, int64_t index);
// Image `index` of a split, HWC; depends on the arguments alone.
void synthetic_draw(enum split, int64_t index, uint8_t *image);
// The scene of that image in another size, image[height, width, 3]. Its square fills the shorter side and is centred.
void synthetic_draw_at(enum split, int64_t index, int height, int width, uint8_t *image);
void synthetic_describe(struct dataset_facts *);  // classes, their names, mean and deviation

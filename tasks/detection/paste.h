// SPDX-License-Identifier: Apache-2.0
// A mask of a two-stage network in the pixels of a picture, as torchvision's paste_masks_in_image: the mask gets a border of one
// zero, is enlarged to its box by bilinear interpolation, and a pixel above 0.5 is inside.
#pragma once

#include "tasks/detection/rle.h"

struct rle paste_mask(const float *mask, int side, const float box[4], const int32_t size[2]);  // width and height of the picture

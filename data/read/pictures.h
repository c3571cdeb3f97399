// SPDX-License-Identifier: Apache-2.0
// The synthetic shapes as JPEGs of many sizes, to try the image path without files.
#pragma once

#include "data/dataset.h"

enum { PICTURES_TRAIN = 400, PICTURES_TEST = 100, PICTURES_LONGEST = 24 << 10 };  // the last: upper bound of a picture in bytes

// The shape of another set of JPEGs (dataset_open_noise), filled with these pictures.
extern const struct kind pictures_noise_kind;

// SPDX-License-Identifier: Apache-2.0
// The kind behind dataset_open_noise: any data set's shape, filled with noise.
#ifndef DAWN_DATA_NOISE_H
#define DAWN_DATA_NOISE_H

#include "data/kind.h"

extern const struct kind noise_kind;

#endif

// SPDX-License-Identifier: Apache-2.0
// The kind behind dataset_open_noise: any data set's shape, filled with noise.
#pragma once

#include "data/kind.h"

extern const struct kind noise_kind;

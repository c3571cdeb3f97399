// SPDX-License-Identifier: Apache-2.0
// The random part of a photograph that trains SSD, as MLPerf's reference takes it (Liu et al. 2016). Pure; a draw depends on
// seed, epoch and sample alone.
#pragma once

#include "data/image/crop.h"

// In shares of the photograph's sides, as the boxes. One of seven with the same chance: the whole photograph, or a part that each
// box overlaps by more than 0.1, 0.3, 0.5, 0.7 or 0.9 (intersection over union), or without that bound. The sides of a part are
// uniform between 0.3 and 1, at most twice each other, its position is uniform, and a box has its centre inside. Where a part
// does not fit, all is drawn again.
struct area overlap_crop(uint64_t seed, uint32_t epoch, int64_t sample, const float (*box)[4], int64_t boxes);
bool overlap_crop_keeps(const struct area *, const float box[4]);  // the box's centre is inside

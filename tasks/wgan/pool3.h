// SPDX-License-Identifier: Apache-2.0
// The network in whose features FID is measured: Inception of December 2015, as pytorch-fid reads it. A picture of 32 x 32 is
// resized to 299 x 299 bilinearly, with values from -1 to 1; features are the average of the last block. It runs on a device, in
// f32.
//
// Cost: 5.7 G multiplications per picture; 96 MB of weights.
#pragma once

#include "runtime/device.h"

enum { POOL3_SIDE = 32, POOL3_PICTURE = POOL3_SIDE * POOL3_SIDE * 3, POOL3_FEATURES = 2048, POOL3_DRAWN = 128 };
#define POOL3_FILE "pt_inception-2015-12-05-6726825d.pth"
#define POOL3_DIGEST "6726825d0af5f729cebd5821db510b11b1cfad8faad88a03f1befd49fb9129b2"

struct pool3;
// The weights of a file with this SHA-256, or of any file where it is NULL. On a device of the caller; NULL: on its own.
int pool3_open(const char *path, const char *digest, struct device *, struct pool3 **) MUST_CHECK;
// Random weights of a fixed seed, a 16th of the channels, and 75 x 75 pixels, the smallest size: for pictures that are drawn.
int pool3_draw(struct device *, struct pool3 **) MUST_CHECK;
void pool3_free(struct pool3 *);

// pictures[count, 32, 32, 3] -> features[count, POOL3_FEATURES, or POOL3_DRAWN of random weights]
int pool3_features(struct pool3 *, const uint8_t *pictures, int64_t count, float *features) MUST_CHECK;

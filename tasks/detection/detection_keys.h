// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

enum fitting { FIT_STRETCH, FIT_KEEP };
enum mirroring { MIRROR_NEVER, MIRROR_BOTH, MIRROR_HORIZONTAL };
enum cropping { CROP_ZOOM, CROP_OVERLAP };
enum class_loss { CLASS_LOSS_FOCAL, CLASS_LOSS_VARIFOCAL };
enum box_loss { BOX_LOSS_SMOOTH, BOX_LOSS_GIOU };
struct detection_keys {
    int64_t height, width, cache;  // of the network's input; shorter side of photographs in memory
    struct recipe_list zoom, jitter;
    int flip, fit, crop;           // enum mirroring, enum fitting, enum cropping
    int64_t pyramid;
    double alpha, gamma, beta, box_factor;
    int class_loss, box_loss;      // enum class_loss, enum box_loss
};
static inline const struct detection_keys *detection_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct detection_keys, r);
}

extern const struct recipe_table recipe_table_detection;

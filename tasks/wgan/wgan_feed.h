// SPDX-License-Identifier: Apache-2.0
// Batches of WGAN: real pictures in training, padded to the networks' size by black, and the noise of the scored pictures.
#pragma once

#include "tasks/common/step/task.h"

int wgan_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;  // fields "pictures" (u8), "noise" (f32)

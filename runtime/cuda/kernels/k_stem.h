// SPDX-License-Identifier: Apache-2.0
// Forward convolution with few input channels; k_conv_forward() calls it if k_conv_is_stem() is true.
#pragma once

#include "runtime/cuda/kernels/k_conv.h"

K_LAUNCHER(k_stem);  // takes a struct k_conv_forward

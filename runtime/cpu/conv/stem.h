// SPDX-License-Identifier: Apache-2.0
// Convolutions with few input channels: the first layer of an image network.
#pragma once

#include "runtime/cpu/product/dnnl_prim.h"

bool stem_fits(const struct dnnl_conv *);     // false: use the general kernels
size_t stem_bytes(const struct dnnl_conv *);  // scratch
void stem_run(const struct dnnl_conv *, const void *x, const float *w, const float *bias, void *y, void *work);

// SPDX-License-Identifier: Apache-2.0
// Convolution whose results are few pixels, such as the last layers of a single image, in bf16.
#pragma once

#include "runtime/cpu/product/dnnl_prim.h"

bool pixels_fit(const struct dnnl_conv *);  // the kernel supports this forward convolution and is faster than oneDNN
size_t pixels_bytes(const struct dnnl_conv *, int threads);
// y = act(x * w + bias); filters are packed by direct_pack().
void pixels_run(const struct dnnl_conv *, const void *filters, const void *x, const float *bias, void *y, void *work);

// SPDX-License-Identifier: Apache-2.0
// Three planes to interleaved pixels and back.
#pragma once

#include <stdint.h>

// planes[3,n] -> pixels[n,3]
void planes_interleave(const uint8_t *planes, int64_t n, uint8_t *pixels);
// pixels[n,3] -> planes[3,n]
void planes_split(const uint8_t *pixels, int64_t n, uint8_t *planes);

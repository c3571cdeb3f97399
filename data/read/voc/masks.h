// SPDX-License-Identifier: Apache-2.0
// Objects as a grey PNG of the photograph's size: 0 is ground, each other value is one object.
#pragma once

#include "data/read/voc/voc.h"

// Pure; `name` begins each error. The objects are of class 0, in the order of their values, and a box is what its pixels reach.
// labels[height, width]: 0, or the object's position in the list, from 1; free() them.
int masks_parse(const char *name, const uint8_t *bytes, size_t n, struct voc *, uint8_t **labels) MUST_CHECK;
// Sets the boxes of the objects, each of which has a pixel, from their labels.
void masks_boxes(const uint8_t *labels, struct voc *);

// SPDX-License-Identifier: Apache-2.0
// MNIST as published and MNIST drawn: both have the field "images" u8[28,28,1] and the field "labels" u8, and are shown alike.
#pragma once

#include "data/kind.h"

extern const struct kind mnist_drawn_kind;

void mnist_describe(struct dataset_facts *);  // fields and classes
int mnist_show(struct dataset *, enum split, int64_t number, struct text *);

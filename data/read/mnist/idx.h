// SPDX-License-Identifier: Apache-2.0
// The form in which MNIST is published, IDX: a magic number and the sizes, big-endian, then one byte for each value.
#pragma once

#include "runtime/common/base/error.h"

enum { IDX_SIDE = 28, IDX_PICTURE = IDX_SIDE * IDX_SIDE, IDX_CLASSES = 10, IDX_PICTURES_HEAD = 16, IDX_LABELS_HEAD = 8 };

struct idx {
    const uint8_t *at;  // the first value, in the file's bytes
    int64_t count;      // pictures or labels
};
// Pure: the bytes of a whole file, which `file` names in errors. Refuses other magic numbers, pictures that are not of 28 x 28,
// labels above 9, and files that are shorter or longer than their head says.
int idx_pictures(const char *file, const uint8_t *bytes, size_t size, struct idx *) MUST_CHECK;
int idx_labels(const char *file, const uint8_t *bytes, size_t size, struct idx *) MUST_CHECK;

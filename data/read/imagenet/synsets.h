// SPDX-License-Identifier: Apache-2.0
// The classes of ImageNet (ILSVRC2012) and of Imagenette: WordNet ids, their order and their names. Of a person's own pictures:
// ids are the names of the folders.
#pragma once

#include "runtime/common/base/error.h"

enum { SYNSETS_MAX = 1000, SYNSETS_WNID = 9 };  // classes; characters of an id

// A label is the position of the class's id among the sorted ids, as in torchvision and in all published weights.
struct synsets {
    int count;
    const char *wnid[SYNSETS_MAX + 1];  // "n01440764", sorted by bytes; ends with NULL
    const char *name[SYNSETS_MAX + 1];  // "n01440764 tench"
};

const struct synsets *synsets_imagenet(void);
const struct synsets *synsets_imagenette(void);
int synsets_find(const struct synsets *, const char *wnid, size_t length);  // its label, or -1
int synsets_of_devkit(int id);  // the label of the class that the development kit numbers 1 to 1,000, or -1

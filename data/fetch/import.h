// SPDX-License-Identifier: Apache-2.0
// Converts folders of pictures to the binary layout of CIFAR-10.
#pragma once

#include "data/dataset.h"

struct import_options {
    const char *from;  // FROM/train/CLASS/* and FROM/test/CLASS/*, PNG or JPEG
    const char *to;    // the parent of cifar-10-batches-bin
    void (*progress)(void *context, int64_t done, int64_t total);  // may be NULL; every hundred pictures
    void *context;
};

struct import_report {
    int64_t count[SPLIT_COUNT];
    int64_t resized;  // pictures that were not 32 x 32
    int64_t passed;   // number of files that are not pictures by their names
};

// Every class needs a folder with a picture in both splits. Classes alternate in the order of CIFAR-10; the files of a class
// come in natural order (9.png before 10.png). Refuses to overwrite existing batches. Writes everything or nothing.
int import_cifar(const struct import_options *, struct import_report *) MUST_CHECK;

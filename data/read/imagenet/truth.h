// SPDX-License-Identifier: Apache-2.0
// The labels of ImageNet's validation pictures from the ground truth list. All pictures are in one folder without classes.
#pragma once

#include "data/read/imagenet/synsets.h"

#define TRUTH_FILE "ILSVRC2012_validation_ground_truth.txt"  // the development kit's name for it
enum { TRUTH_LINES_MAX = 1000000, TRUTH_BYTES_MAX = 1 << 26 };

struct truth {
    int64_t count;
    int16_t *label;  // of pictures 1 to count
};

// Pure. Line i is the class of picture i: a WordNet id, the development kit's number (1 to 1,000), or the position among the
// sorted ids (0 to 999). A 0 or a 1,000 in the list distinguishes the two numberings. A line may begin with the picture's name
// ("ILSVRC2012_val_00000001.JPEG 65"); then the name has the picture's number.
int truth_parse(const char *name, const char *bytes, size_t count, const struct synsets *, struct truth *) MUST_CHECK;
int truth_read(const char *path, const struct synsets *, struct truth *) MUST_CHECK;
void truth_free(struct truth *);

// The label of a picture by its file's name, whose last digits are its number; -1 if there is none.
int truth_of(const struct truth *, const char *file);
// The number at the end of a picture's name, before its ending; -1 if there is none.
int64_t truth_number(const char *file, size_t length);

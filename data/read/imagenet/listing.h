// SPDX-License-Identifier: Apache-2.0
// The pictures of a folder: train/CLASS/*.JPEG and val/CLASS/*.JPEG, or val/*.JPEG with a ground truth list.
#ifndef DAWN_DATA_LISTING_H
#define DAWN_DATA_LISTING_H

#include "data/dataset.h"
#include "data/read/imagenet/synsets.h"
#include "runtime/base/arena.h"

enum { LISTING_PICTURE_MAX = 1 << 26 };  // bytes of a picture; the largest of ImageNet has 15 MB

struct listed {
    const char *file;  // its name, without folders
    int64_t offset;    // in the file that holds it; 0 for a file of its own
    int32_t bytes, label;
};

struct listing {
    const struct synsets *synsets;
    char *root;              // holds train and val
    bool flat[SPLIT_COUNT];  // the pictures lie in the split's folder, not in that of their class
    struct listed *picture[SPLIT_COUNT];
    int64_t count[SPLIT_COUNT], room[SPLIT_COUNT];
    int64_t foreign;         // files whose names are not those of pictures
    struct arena names;
};

struct listing_choice {
    const char *title;       // "ImageNet"
    const char *truth;       // the ground truth list; NULL: TRUTH_FILE in the root
    const struct synsets *synsets;
    bool partial;            // classes without pictures are fine, as long as each split has some
};

extern const char *const listing_split[SPLIT_COUNT];  // "train", "val"

// Lists ROOT. The order is that of classes, then of names byte by byte: the same on every file system.
// An unknown folder, a class without a folder or without a picture, and a picture above LISTING_PICTURE_MAX are errors.
int listing_open(const struct listing_choice *, const char *root, struct listing *) MUST_CHECK;
void listing_free(struct listing *);  // {0} is fine
void listing_add(struct listing *, enum split, const struct listed *, const char *file);  // copies the name
void listing_sort(struct listing *);  // by class, then by name
// Of a sorted listing: every class has a picture in both splits, or `partial` and both have some; no picture is there twice.
int listing_check_classes(const struct listing_choice *, const struct listing *) MUST_CHECK;

// "train/n01440764/n01440764_10026.JPEG": the name of a picture, in archives and packs, too.
struct text;
void listing_path(const struct listing *, enum split, int64_t index, struct text *);
void listing_digest(const struct listing *, uint8_t digest[32]);  // SHA-256 of all names, labels and sizes in their order
// The bytes of a picture of an opened folder. A file that changed its size since it was listed is an error.
int listing_read(const struct listing *, enum split, int64_t index, void *into, size_t room, int64_t *bytes) MUST_CHECK;
// As listing_read, but at most the first `most` bytes.
int listing_head(const struct listing *, enum split, int64_t index, void *into, int64_t most, int64_t *bytes) MUST_CHECK;

#endif

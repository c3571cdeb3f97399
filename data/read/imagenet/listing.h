// SPDX-License-Identifier: Apache-2.0
// The pictures of a folder: train/CLASS/*.JPEG and val/CLASS/*.JPEG, or val/*.JPEG with a ground truth list; of a person's own
// pictures also CLASS/*.JPEG alone.
#pragma once

#include "data/dataset.h"
#include "data/read/imagenet/synsets.h"
#include "runtime/common/base/arena.h"

enum { LISTING_PICTURE_MAX = 1 << 26 };  // bytes of a picture; the largest of ImageNet has 15 MB

struct listed {
    const char *file;  // name without folders
    int64_t offset;    // in the file that contains it; 0 for a file of its own
    int32_t bytes, label;
};

struct listing {
    const struct synsets *synsets;
    struct synsets *own;     // whose classes are the names of folders; NULL: published ones
    bool undivided;          // classes are folders of the root: a share of each is the validation
    char *root;              // the folder with train and val
    bool flat[SPLIT_COUNT];  // the pictures are in the split's folder, not in folders of classes
    struct listed *picture[SPLIT_COUNT];
    int64_t count[SPLIT_COUNT], capacity[SPLIT_COUNT];
    int64_t foreign;         // number of files that are not pictures by their names
    struct arena names;
};

struct listing_choice {
    const char *title;       // "ImageNet"
    const char *truth;       // the ground truth list; NULL: TRUTH_FILE in the root
    const struct synsets *synsets;  // NULL: each folder is a class
    bool partial;            // classes may lack pictures, but each split has some
    double share;            // of the pictures of each class, for the validation where the folders have none
};

extern const char *const listing_split[SPLIT_COUNT];  // "train", "val"

// Lists ROOT, ordered by class, then by name byte by byte, on every file system. An unknown folder, a class without a folder
// or without a picture, and a picture above LISTING_PICTURE_MAX are errors.
int listing_open(const struct listing_choice *, const char *root, struct listing *) MUST_CHECK;
void listing_free(struct listing *);  // {0} is fine
void listing_add(struct listing *, enum split, const struct listed *, const char *file);  // copies the name
void listing_sort(struct listing *);  // by class, then by name
// For a sorted listing: every class has a picture in both splits, or `partial` is set and both splits have some. No picture
// occurs twice.
int listing_check_classes(const struct listing_choice *, const struct listing *) MUST_CHECK;

// Adds the name of a picture, as in archives and packs: "train/n01440764/n01440764_10026.JPEG".
struct text;
void listing_path(const struct listing *, enum split, int64_t index, struct text *);
void listing_digest(const struct listing *, uint8_t digest[32]);  // SHA-256 of all names, labels and sizes in their order
// Reads a picture of an opened folder. A file whose size has changed since it was listed is an error.
int listing_read(const struct listing *, enum split, int64_t index, void *into, size_t capacity, int64_t *bytes) MUST_CHECK;
// Like listing_read, but reads at most the first `most` bytes.
int listing_head(const struct listing *, enum split, int64_t index, void *into, int64_t most, int64_t *bytes) MUST_CHECK;

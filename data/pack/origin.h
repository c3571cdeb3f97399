// SPDX-License-Identifier: Apache-2.0
// The source of a pack: folders of pictures, the two tars of ILSVRC2012, or one gzipped tar with train and val in it.
#pragma once

#include "data/manifest.h"
#include "data/pack/md5.h"
#include "data/read/imagenet/imagenet_kind.h"

#define ORIGIN_TRAIN_TAR "ILSVRC2012_img_train.tar"
#define ORIGIN_VAL_TAR "ILSVRC2012_img_val.tar"
#define ORIGIN_DEVKIT "ILSVRC2012_devkit_t12.tar.gz"

struct origin_choice {
    const struct imagenet_flavour *flavour;
    const char *path;     // a folder, or an archive
    const char *truth;    // ground truth list or development kit for a flat val; NULL: in the folder
    const char *scratch;  // a gzipped tar is unpacked into an unnamed file in the folder of this path
    bool partial;         // classes may lack pictures
    bool own;             // the folders name the classes; no archive
    double share;         // listing.h
};

struct origin {
    const struct imagenet_flavour *flavour;
    struct listing listing;
    int archives;                // 0: folders
    char *archive[SPLIT_COUNT];  // their paths; one archive holds both splits
    struct manifest_key key[SPLIT_COUNT];  // of each archive when it was opened
    int fd[SPLIT_COUNT];         // the file with the pictures of a split; -1: files of their own
    struct origin_md5 *md5;      // being computed
};

int origin_open(const struct origin_choice *, struct origin **) MUST_CHECK;
void origin_close(struct origin *);  // NULL is fine
// Thread-safe. `into` must hold listing.picture[].bytes.
int origin_read(const struct origin *, enum split, int64_t index, void *into, size_t capacity, int64_t *bytes) MUST_CHECK;
void origin_digest(const struct origin *, uint8_t digest[PACK_DIGEST]);  // digest of all names, labels and sizes
// A digest of the file system's facts about the archives when they were opened. It changes if an archive is replaced or
// written to. Zeros for folders.
void origin_version(const struct origin *, uint8_t digest[PACK_DIGEST]);

// Waits for the archives' MD5s, which are computed from the moment they are opened. `says` gets a sentence about the result.
// An archive that changed meanwhile is an error.
int origin_official(struct origin *, bool *official, char says[ERROR_TEXT_MAX]) MUST_CHECK;
// Pure: the verdict. md5: of each archive, "" for none. labels: origin_labels_digest.
bool origin_is_official(const struct imagenet_flavour *, const int64_t count[SPLIT_COUNT], char md5[SPLIT_COUNT][MD5_HEX],
                        const char *labels);
// SHA-256 over the WordNet ids of the validation pictures in the order of their numbers, a line end between them.
void origin_labels_digest(const struct listing *, char hex[DIGEST_HEX]);

// SPDX-License-Identifier: Apache-2.0
// An open CIFAR-10, shared by its reader (cifar.c) and its checks (cifar_digest.c). Only these include it.
#pragma once

#include "data/read/cifar/cifar.h"

struct cifar {
    char *folder;
    char *path[CIFAR_FILES];
    int fd[CIFAR_FILES];
    enum split split[CIFAR_FILES];
    int64_t records[CIFAR_FILES];
    char content[SPLIT_COUNT][DIGEST_HEX];  // "" until they are known
};

// Calls `visit` for the records of a range in order, a few at a time: `n` of them from byte `offset` of `path`, after `done`
// earlier ones of the range. A failing visit ends the walk.
typedef int cifar_visit(void *context, const char *path, int64_t offset, const uint8_t *records, int64_t n,
                        int64_t done);
int cifar_each(const struct cifar *, enum split, int64_t first, int64_t count, cifar_visit *, void *context) MUST_CHECK;

int cifar_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int cifar_content_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int cifar_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;

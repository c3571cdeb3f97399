// SPDX-License-Identifier: Apache-2.0
// The binary layout of CIFAR-10: records of one label byte and three planes of 32 x 32 bytes (red, green, blue).
#pragma once

#include "data/dataset.h"

enum {
    CIFAR_SIDE = 32,
    CIFAR_PIXELS = CIFAR_SIDE * CIFAR_SIDE,
    CIFAR_IMAGE = 3 * CIFAR_PIXELS,
    CIFAR_RECORD = 1 + CIFAR_IMAGE,
    CIFAR_CLASSES = 10,
    CIFAR_FILES = 6,  // five batches for training, one for testing
};

extern const char *const cifar_class_names[CIFAR_CLASSES + 1];

// The note of `dawn data import` next to its batches, which holds their counts of records.
#define CIFAR_IMPORT_NOTE "dawn-import.json"

// Pure: `bytes` are those at `offset` of `file` and hold at most `count` records. Either destination may be NULL. Errors name the
// file and the byte.
int cifar_decode(const char *file, int64_t offset, const uint8_t *bytes, size_t size, int64_t count, uint8_t *images,
                 uint8_t *labels) MUST_CHECK;
// The reverse of cifar_decode: writes one image in HWC and its label as a record.
void cifar_encode(const uint8_t *image, uint8_t label, uint8_t record[CIFAR_RECORD]);
// Pure: reads an import note; records[i] is the number of records in the i-th batch.
int cifar_parse_note(const char *file, const char *bytes, size_t size, int64_t records[CIFAR_FILES]) MUST_CHECK;

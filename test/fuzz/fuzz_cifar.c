// SPDX-License-Identifier: Apache-2.0
// Fuzzes the parsers of CIFAR-10's files: the record decoder and the import note.
#include <stdlib.h>
#include <string.h>

#include "data/read/cifar/cifar.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    int64_t records[CIFAR_FILES];
    if (cifar_parse_note("note", (const char *)bytes, count, records) == 0) {
        for (int i = 0; i < CIFAR_FILES; i++) BUG_IF(records[i] < 0);
    }
    // Asks for one record more than the input has: the decoder must notice.
    int64_t n = (int64_t)count / CIFAR_RECORD + 1;
    uint8_t *images = malloc((size_t)n * CIFAR_IMAGE), *labels = malloc((size_t)n);
    BUG_IF(cifar_decode("file", 0, bytes, count, n, images, labels) == 0);
    if (cifar_decode("file", 0, bytes, count, n - 1, images, labels) == 0) {
        for (int64_t i = 0; i < n - 1; i++) {
            uint8_t record[CIFAR_RECORD];
            cifar_encode(images + i * CIFAR_IMAGE, labels[i], record);
            BUG_IF(memcmp(record, bytes + i * CIFAR_RECORD, CIFAR_RECORD) != 0);
        }
    }
    free(labels);
    free(images);
    return 0;
}

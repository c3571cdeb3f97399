// SPDX-License-Identifier: Apache-2.0
// Any bytes as an array of NumPy: refused in a sentence that begins with its name, or every row can be read.
#include "tasks/common/frechet/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct npy npy;
    if (npy_parse("file", (const char *)bytes, count, &npy) < 0) {
        BUG_IF(strncmp(error_text(), "file", 4) != 0);
        return 0;
    }
    const int64_t numbers = npy.rows * npy.columns;
    BUG_IF(npy.rows < 0 || npy.columns < 0 || npy.values + numbers * (npy.wide ? 8 : 4) != (const char *)bytes + count);
    if (npy.columns == 0 || numbers == 0) return 0;
    double *row = malloc((size_t)npy.columns * sizeof *row);
    BUG_IF(row == NULL);
    for (int64_t i = 0; i < npy.rows; i++) npy_row(&npy, i, row);
    free(row);
    return 0;
}

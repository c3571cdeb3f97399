// SPDX-License-Identifier: Apache-2.0
// Any bytes as the list of remembered digests. An accepted list stays within its limits, prints, and reads back the same.
#include "data/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct manifest m, again;
    if (manifest_parse("a manifest", (const char *)bytes, count, &m) < 0) {
        BUG_IF(m.files || m.values || m.file || m.value || !*error_text());
        return 0;
    }
    BUG_IF(m.files > MANIFEST_FILES || m.values > MANIFEST_VALUES);
    for (int i = 0; i < m.files; i++) BUG_IF(manifest_find(&m, m.file[i].path, &m.file[i].key) != &m.file[i]);
    for (int i = 0; i < m.values; i++) BUG_IF(manifest_find_value(&m, m.value[i].key) != &m.value[i]);
    char *json = manifest_print(&m);
    if (manifest_parse("its own print", json, strlen(json), &again) < 0) BUG(error_text());
    BUG_IF(again.files != m.files || again.values != m.values);
    char *second = manifest_print(&again);
    BUG_IF(strcmp(json, second) != 0);
    free(json);
    free(second);
    manifest_free(&m);
    manifest_free(&again);
    return 0;
}

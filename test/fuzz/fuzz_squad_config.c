// SPDX-License-Identifier: Apache-2.0
// Any bytes as the config.json of an encoder. An accepted file has no numbers, or numbers that fit. A refusal names the fault.
#include "tasks/squad/sample/config.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct config c = {0};
    if (config_parse("config", (const char *)bytes, count, &c) < 0) {
        BUG_IF(strncmp(error_text(), "config", 6) != 0);
        return 0;
    }
    const int64_t said[] = {c.layers, c.width, c.heads, c.feed_forward, c.positions, c.pieces};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) BUG_IF(said[i] < 0 || said[i] > INT32_MAX);
    return 0;
}

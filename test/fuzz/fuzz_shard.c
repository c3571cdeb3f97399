// SPDX-License-Identifier: Apache-2.0
// Any bytes as a shard of tokens: refused in a sentence that begins with its name, or every token is one of GPT-2's.
#include "data/read/text/shard.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    int64_t tokens;
    if (shard_parse("shard", bytes, count < SHARD_HEADER ? count : SHARD_HEADER, (int64_t)count, &tokens) < 0) {
        BUG_IF(strncmp(error_text(), "shard ", 6) != 0);
        return 0;
    }
    BUG_IF(tokens < 1 || (int64_t)count != SHARD_HEADER + 2 * tokens);
    int32_t *into = malloc((size_t)tokens * sizeof *into);
    BUG_IF(into == NULL);
    int rc = shard_tokens("shard", &(struct shard_piece){bytes + SHARD_HEADER, 0, tokens}, into);
    for (int64_t i = 0; i < tokens && rc == 0; i++) BUG_IF(into[i] < 0 || into[i] >= SHARD_TOKENS);
    BUG_IF(rc < 0 && strncmp(error_text(), "shard: token ", 13) != 0);
    free(into);
    return 0;
}

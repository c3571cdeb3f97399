// SPDX-License-Identifier: Apache-2.0
#include "data/read/text/shard.h"

static int32_t word(const unsigned char *b)
{
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

int shard_parse(const char *name, const unsigned char *bytes, size_t n, int64_t size, int64_t *tokens)
{
    if (n < SHARD_HEADER || size < SHARD_HEADER)
        return fail(ERR_INPUT, "%s has %lld bytes; the header of a shard has %d", name, (long long)size, SHARD_HEADER);
    if (word(bytes) != SHARD_MAGIC)
        return fail(ERR_INPUT, "%s is no shard of tokens: it begins with %d, not with %d", name, word(bytes), SHARD_MAGIC);
    if (word(bytes + 4) != SHARD_VERSION)
        return fail(ERR_INPUT, "%s is a shard of version %d; version %d is read", name, word(bytes + 4), SHARD_VERSION);
    *tokens = word(bytes + 8);
    if (*tokens < 1) return fail(ERR_INPUT, "%s says that it has %lld tokens", name, (long long)*tokens);
    if (size != SHARD_HEADER + 2 * *tokens)
        return fail(ERR_INPUT, "%s has %lld bytes, and its %lld tokens need %lld: it was cut, or damaged", name, (long long)size,
                    (long long)*tokens, (long long)(SHARD_HEADER + 2 * *tokens));
    return 0;
}

int shard_tokens(const char *name, const struct shard_piece *piece, int32_t *into)
{
    for (int64_t i = 0; i < piece->count; i++) {
        into[i] = piece->bytes[2 * i] | piece->bytes[2 * i + 1] << 8;
        if (into[i] >= SHARD_TOKENS)
            return fail(ERR_INPUT, "%s: token %lld is %d; GPT-2 has %d", name, (long long)(piece->first + i + 1), into[i],
                        SHARD_TOKENS);
    }
    return 0;
}

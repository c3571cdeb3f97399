// SPDX-License-Identifier: Apache-2.0
// A shard of tokens, as llm.c and modded-nanogpt write it: a header of 256 i32 (magic, version, number of tokens, zeros), then
// that many u16, little-endian.
#pragma once

#include "runtime/common/base/error.h"

enum { SHARD_HEADER = 1024, SHARD_MAGIC = 20240520, SHARD_VERSION = 1, SHARD_TOKENS = 50257 };

// Pure. `bytes` are the first `n` of a file of `size`; `name` names it in errors.
int shard_parse(const char *name, const unsigned char *bytes, size_t n, int64_t size, int64_t *tokens) MUST_CHECK;
// Tokens from number `first` of the shard on, of their bytes. Refuses those that GPT-2 does not have.
struct shard_piece {
    const unsigned char *bytes;
    int64_t first, count;
};
int shard_tokens(const char *name, const struct shard_piece *, int32_t *into) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Invariant: a run that is drawn at a share is drawn at every higher one. Cost: one SHA-256.
#include "submit/log/log_draw.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/text.h"

void log_draw_hash(const char *checkpoint_signature, char hex[DIGEST_HEX])
{
    digest_bytes(checkpoint_signature, strlen(checkpoint_signature), hex);
}

bool log_draw_has(const char *hash, const char *digest, int64_t share_micro)
{
    char hex[DIGEST_HEX], first[17];
    struct text words = {0};
    text_add(&words, "dawn-draw-v1\n%s\n%s\n", hash, digest);
    digest_bytes(words.at, words.length, hex);
    text_free(&words);
    memcpy(first, hex, 16), first[16] = 0;
    const unsigned __int128 number = strtoull(first, NULL, 16);  // times share / DRAW_WHOLE, without a rounding
    return number * DRAW_WHOLE < (unsigned __int128)share_micro << 64;
}

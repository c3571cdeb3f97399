// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of merges, and as a text that is learned and cut: ids are in range, and a line has no more ids than bytes.
#include "data/text/bpe.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void cut_text(struct bpe *bpe, const struct vocabulary *words, const char *text, size_t n)
{
    struct text into = {0};
    int32_t *id = malloc(n * sizeof *id + 1);
    bpe_number(bpe, words);
    int64_t ids = bpe_encode(bpe, text, n, id);
    BUG_IF(ids > (int64_t)n || ids != bpe_encode(bpe, text, n, NULL));
    for (int64_t i = 0; i < ids; i++) BUG_IF(id[i] < BPE_UNKNOWN || id[i] >= bpe_count(bpe));
    bpe_decode(bpe, id, ids, &into);
    bpe_segment(bpe, text, n, &into);
    text_free(&into);
    free(id);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *text = (const char *)bytes;
    struct vocabulary *words = vocabulary_new();
    struct text code = {0};
    struct bpe *bpe;
    BUG_IF(bpe_count_words(text, count, words) < 0 || bpe_learn(words, 100, &code) < 0);
    if (bpe_parse("code", text, count, &bpe) < 0) BUG_IF(bpe != NULL || strncmp(error_text(), "code", 4) != 0);
    else cut_text(bpe, words, text, count);
    bpe_free(bpe);
    vocabulary_free(words);
    text_free(&code);
    return 0;
}

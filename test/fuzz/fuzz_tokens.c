// SPDX-License-Identifier: Apache-2.0
// Any bytes as a vocabulary (up to the first zero byte) and as a text (behind it), for both tokenizers. Places rise, lie
// inside the text and begin and end at characters; no word is left out but spaces; every id is a line of the vocabulary.
#include "data/text/unicode.h"
#include "data/text/wordpiece.h"
#include "data/text/words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_pieces(const struct wordpiece *w, const char *text, size_t n, const char *starts)
{
    struct pieces pieces = {0};
    wordpiece_encode(w, text, n, &pieces);
    for (int64_t i = 0; i < pieces.count; i++) {
        int32_t begin = pieces.begin[i], end = pieces.end[i];
        BUG_IF(pieces.id[i] < 0 || pieces.id[i] >= wordpiece_count(w) || begin < 0 || begin >= end || (size_t)end > n);
        BUG_IF(!starts[begin] || !starts[end]);
        // Pieces of one decomposed character share its position.
        BUG_IF(i > 0 && begin < pieces.end[i - 1] && begin < pieces.begin[i - 1]);
    }
    pieces_free(&pieces);
}

static void check_words(const char *text, size_t n, const char *starts)
{
    struct words words = {0};
    words_split(text, n, &words);
    size_t at = 0;
    for (int64_t i = 0; i <= words.count; i++) {
        size_t begin = i < words.count ? (size_t)words.begin[i] : n;
        BUG_IF(begin < at || begin > n || !starts[begin]);
        while (at < begin) BUG_IF(!unicode_is_space(unicode_next(text, n, &at)));
        if (i == words.count) break;
        BUG_IF((size_t)words.end[i] <= begin || (size_t)words.end[i] > n || !starts[words.end[i]]);
        at = (size_t)words.end[i];
    }
    words_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char known[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nan\n##a\n##b\na\nb\ne\n##e\n.\n";
    const uint8_t *zero = count > 0 ? memchr(bytes, 0, count) : NULL;
    size_t lines = zero != NULL ? (size_t)(zero - bytes) : 0, first = zero != NULL ? lines + 1 : 0, n = count - first;
    char *text = malloc(n + 1), *starts = calloc(n + 1, 1);
    struct wordpiece *w = NULL;
    if (n > 0) memcpy(text, bytes + first, n);
    for (size_t at = 0; at < n;) {
        starts[at] = 1;
        unicode_next(text, n, &at);
    }
    starts[n] = 1;
    for (int lower = 0; lower < 2; lower++) {
        if (wordpiece_parse("known", known, sizeof known - 1, lower, &w) < 0) BUG(error_text());
        check_pieces(w, text, n, starts);
        wordpiece_free(w);
        if (wordpiece_parse("lines", (const char *)bytes, lines, lower, &w) < 0) {
            BUG_IF(w != NULL || strncmp(error_text(), "lines", 5) != 0);
            continue;
        }
        check_pieces(w, text, n, starts);
        wordpiece_free(w);
    }
    check_words(text, n, starts);
    free(starts);
    free(text);
    return 0;
}

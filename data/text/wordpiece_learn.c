// SPDX-License-Identifier: Apache-2.0
// Learns the pieces of BERT's vocabulary, for texts that bring none. The published learner was never released, and the
// library `tokenizers` learns other pieces in every run.
#include "data/text/bpe_inside.h"
#include "data/text/wordpiece.h"

static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
enum { SPECIAL = sizeof special / sizeof *special };

struct learned {
    struct vocabulary *piece;
    int32_t wanted;
};

static bool take_piece(void *context, const struct bpe_merge *m)
{
    struct learned *l = context;
    vocabulary_add(l->piece, m->both, m->both_bytes);  // two pairs may have one union
    return vocabulary_count(l->piece) < l->wanted;
}

static struct vocabulary *count_characters(const struct vocabulary *words)
{
    struct vocabulary *characters = vocabulary_new();
    for (int32_t i = 0; i < vocabulary_count(words); i++) {
        size_t n;
        const char *word = vocabulary_word(words, i, &n);
        for (size_t at = 0, from = 0; at < n; from = at) {
            char bytes[BPE_LAST];
            (void)unicode_next(word, n, &at);
            size_t length = at - from;
            const char *symbol = bpe_rest_character(word + from, &length, from, bytes);
            vocabulary_add_times(characters, symbol, length, vocabulary_times(words, i));
        }
    }
    return characters;
}

// Those that occur once are no pieces: their words are unknown.
static void add_characters(struct learned *l, const struct vocabulary *words)
{
    struct vocabulary *characters = count_characters(words);
    for (int32_t i = 0; i < vocabulary_count(characters); i++) {
        size_t n;
        const char *symbol = vocabulary_word(characters, i, &n);
        if (vocabulary_times(characters, i) > 1) vocabulary_add_times(l->piece, symbol, n, 0);
    }
    vocabulary_rank(l->piece, SPECIAL);  // equally frequent: by their bytes
    vocabulary_free(characters);
}

int wordpiece_learn(const struct vocabulary *words, int32_t pieces, struct text *list)
{
    struct learned l = {vocabulary_new(), pieces};
    for (int i = 0; i < SPECIAL; i++) vocabulary_add(l.piece, special[i], strlen(special[i]));
    add_characters(&l, words);
    int rc = 0;
    if (vocabulary_count(l.piece) < pieces)
        rc = bpe_learn_merges(words, &(struct bpe_learning){.pieces = true, .take = take_piece, .context = &l});
    for (int32_t i = 0; i < vocabulary_count(l.piece) && rc == 0; i++) {
        size_t n;
        const char *piece = vocabulary_word(l.piece, i, &n);
        text_bytes(list, piece, n);
        text_bytes(list, "\n", 1);
    }
    vocabulary_free(l.piece);
    return rc;
}

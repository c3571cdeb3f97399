// SPDX-License-Identifier: Apache-2.0
// BERT's WordPiece (Devlin et al. 2019): cuts text into pieces of a fixed vocabulary, each with its position in the text.
//
// Control characters are dropped. Text is split at white space and around punctuation and CJK ideographs. For a lower-case
// vocabulary it is also lowered, and accents are removed (canonical decomposition without marks). Each word is cut from the
// left into the longest pieces of the vocabulary, with "##" before all but the first. A word that cannot be cut in this way,
// or has more than 100 characters, is one [UNK]. Ids and positions equal the library `tokenizers`' (BertNormalizer,
// BertPreTokenizer, WordPiece), with one difference: here the names of special pieces in a text are plain text. Canonical
// reordering of marks is left out: spacing marks (Hangul tone marks) may get a neighbour's position. Cost: about 80 MB of
// English per second and core.
#pragma once

#include "data/text/vocabulary.h"

enum { WORDPIECE_CHARACTERS = 100 };  // of a word; longer ones are unknown

// id[i] is the piece at the bytes [begin[i], end[i]) of the text. Pieces of one decomposed character share its position.
struct pieces {
    int32_t *id, *begin, *end;
    int64_t count, capacity;
};
void pieces_clear(struct pieces *);  // keeps the memory
void pieces_add(struct pieces *, int32_t id);  // at no position of the text
void pieces_free(struct pieces *);

struct wordpiece;
// Opens BERT's vocab.txt: piece i is line i. It must hold [PAD], [UNK], [CLS] and [SEP].
int wordpiece_open(const char *path, bool lower, struct wordpiece **) MUST_CHECK;
int wordpiece_parse(const char *name, const char *bytes, size_t count, bool lower, struct wordpiece **) MUST_CHECK;
void wordpiece_free(struct wordpiece *);  // NULL is fine

// Appends the pieces of a text of at most INT32_MAX bytes. Any bytes are text; invalid UTF-8 and U+FFFD are dropped. No
// special pieces are added. Several threads may encode at once.
void wordpiece_encode(const struct wordpiece *, const char *text, size_t n, struct pieces *);

int32_t wordpiece_count(const struct wordpiece *);
const char *wordpiece_name(const struct wordpiece *, int32_t id);  // "##ing"
struct wordpiece_special {
    int32_t pad, unknown, first, separator;  // [PAD] [UNK] [CLS] [SEP]
    int32_t mask;                            // [MASK]; VOCABULARY_NONE: there is none
};
struct wordpiece_special wordpiece_special(const struct wordpiece *);

// Counts the words of a text as wordpiece_encode cuts it, lowered and without accents for a lower-case vocabulary; those with
// more than WORDPIECE_CHARACTERS characters are left out.
int wordpiece_count_words(const char *text, size_t n, bool lower, struct vocabulary *words) MUST_CHECK;
struct text;
// Learns the pieces of counted words and adds them to a text, one per line, as wordpiece_parse reads them: [PAD], [UNK], [CLS],
// [SEP], [MASK]; the characters that occur twice or more, "##" before those inside a word, by their bytes; then again and again
// the union of the most frequent pair of neighbours, of equally frequent pairs the one with the larger strings. Ends with
// `pieces` pieces, or where no pair occurs twice. Depends on the counted words alone.
int wordpiece_learn(const struct vocabulary *words, int32_t pieces, struct text *list) MUST_CHECK;

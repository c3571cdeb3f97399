// SPDX-License-Identifier: Apache-2.0
#include "data/read/bitext/bitext_symbols.h"

#include "data/text/subtokens.h"
#include "runtime/common/base/arena.h"

#include <stdlib.h>

struct bitext_symbols {
    struct bpe *bpe;
    struct subtokens *subtokens;  // one of both
    char digest[DIGEST_HEX];
};

int bitext_read(struct dataset *stored, enum split split, int64_t sample, enum bitext_side side, struct text *into)
{
    const struct field *f = dataset_field(stored, side == BITEXT_SOURCE ? "source" : "target");
    if (!f || f->ragged == FIELD_FIXED || f->dtype != U8)
        return fail(ERR_INPUT, "%s has no pairs of lines", dataset_facts(stored)->name);
    size_t capacity = (size_t)f->shape.dim[f->ragged];
    int64_t length;
    if (into->capacity <= capacity) into->at = grow(into->at, into->capacity = capacity + 1);
    TRY(dataset_item_of(stored, split, f, sample, into->at, capacity, &length));
    into->at[into->length = (size_t)length] = 0;
    return 0;
}

static int count_words(struct dataset *stored, struct vocabulary *words)
{
    struct text line = {0};
    int rc = 0;
    for (int64_t i = 0; i < dataset_facts(stored)->count[SPLIT_TRAIN] && rc == 0; i++)
        for (enum bitext_side side = 0; side < BITEXT_SIDES && rc == 0; side++) {
            rc = bitext_read(stored, SPLIT_TRAIN, i, side, &line);
            if (rc == 0) rc = bpe_count_words(line.at, line.length, words);
        }
    text_free(&line);
    return rc;
}

static int learn_merges(struct dataset *stored, int64_t merges, struct bitext_symbols *s)
{
    if (dataset_facts(stored)->count[SPLIT_TRAIN] == 0)
        return fail(ERR_MISSING, "symbols are learned from the training text, which is not here: name it with --data");
    struct vocabulary *words = vocabulary_new();
    struct text code = {0};
    int rc = count_words(stored, words);
    if (rc == 0) rc = bpe_learn(words, merges, &code);
    if (rc == 0) rc = bpe_parse("the merges of the training text", code.at, code.length, &s->bpe);
    if (rc == 0) {
        bpe_number(s->bpe, words);
        digest_bytes(code.at, code.length, s->digest);
    }
    text_free(&code);
    vocabulary_free(words);
    return rc;
}

static int open_subtokens(const char *path, struct bitext_symbols *s)
{
    TRY(digest_file(path, s->digest));
    return subtokens_open(path, &s->subtokens);
}

int bitext_symbols_new(struct dataset *stored, int64_t merges, struct bitext_symbols **into)
{
    struct bitext_symbols *s = zalloc(sizeof *s);
    const char *path = bitext_subtokens(stored);
    int rc = path ? open_subtokens(path, s) : learn_merges(stored, merges, s);
    if (rc == 0) *into = s;
    else bitext_symbols_free(s);
    return rc;
}

void bitext_symbols_free(struct bitext_symbols *s)
{
    if (!s) return;
    bpe_free(s->bpe);
    subtokens_free(s->subtokens);
    free(s);
}

int32_t bitext_symbols_count(const struct bitext_symbols *s)
{
    return s->bpe ? bpe_count(s->bpe) : subtokens_count(s->subtokens);
}

const char *bitext_symbols_digest(const struct bitext_symbols *s)
{
    return s->digest;
}

int64_t bitext_symbols_most(const struct bitext_symbols *s, size_t bytes)
{
    return (int64_t)bytes * (s->bpe ? 1 : SUBTOKENS_PER_BYTE) + 1;
}

int64_t bitext_symbols_encode(const struct bitext_symbols *s, const struct text *line, int32_t *into)
{
    int64_t count = s->bpe ? bpe_encode(s->bpe, line->at, line->length, into)
                           : subtokens_encode(s->subtokens, line->at, line->length, into);
    into[count] = BPE_EOS;
    return count + 1;
}

void bitext_symbols_decode(const struct bitext_symbols *s, const int32_t *id, int64_t count, struct text *into)
{
    if (s->bpe) bpe_decode(s->bpe, id, count, into);
    else subtokens_decode(s->subtokens, id, count, into);
}

void bitext_symbols_name(const struct bitext_symbols *s, int32_t id, struct text *into)
{
    if (id == BPE_EOS) text_add(into, "(end)");
    else if (s->bpe) bpe_name(s->bpe, id, into);
    else subtokens_decode(s->subtokens, &id, 1, into);
}

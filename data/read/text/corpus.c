// SPDX-License-Identifier: Apache-2.0
#include "data/read/text/corpus_set.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

static const struct corpus *corpus_of(const struct dataset *ds)
{
    return ds->kind->item == corpus_item ? ds->own : NULL;
}

// ---- characters

int corpus_parse(const char *name, const char *text, size_t n, struct corpus_symbols *into)
{
    bool seen[256] = {false};
    *into = (struct corpus_symbols){.count = 0};
    if (n == 0) return fail(ERR_INPUT, "%s is empty", name);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c != '\n' && (c < ' ' || c > '~'))
            return fail(ERR_INPUT, "%s: byte %zu is 0x%02x; a text has line feeds and printable characters of ASCII", name, i + 1,
                        c);
        seen[c] = true;
    }
    for (int c = 0; c < 256; c++) {
        into->id[c] = seen[c] ? (int16_t)into->count : -1;
        if (seen[c]) into->symbol[into->count++] = (char)c;
    }
    return 0;
}

static int read_characters(const struct corpus *c, enum split split, int64_t first, int64_t count, int32_t *into)
{
    const char *text = c->text + (split == SPLIT_TEST ? c->length[SPLIT_TRAIN] : 0) + first;
    for (int64_t i = 0; i < count; i++) into[i] = c->symbols.id[(unsigned char)text[i]];
    return 0;
}

int corpus_take(struct dataset *ds, const char *name, char *text, size_t n, size_t train)
{
    struct corpus *c = ds->own;
    c->text = text;
    TRY(corpus_parse(name, text, n, &c->symbols));
    c->read = read_characters;
    c->length[SPLIT_TRAIN] = (int64_t)train, c->length[SPLIT_TEST] = (int64_t)(n - train);
    corpus_fields(&ds->facts, c->block, c->symbols.count);
    return corpus_check(ds, name);
}

// ---- blocks

void corpus_fields(struct dataset_facts *facts, int64_t block, int tokens)
{
    facts->field[0] = (struct field){"tokens", I32, SHAPE(block + 1), 0, tokens};
    facts->fields = 1;
}

int64_t corpus_blocks(int64_t length, int64_t block)
{
    return (length - 1 + block - 1) / block;
}

int corpus_check(struct dataset *ds, const char *name)
{
    const struct corpus *c = ds->own;
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        if (c->length[s] <= c->block)
            return fail(ERR_INPUT, "%s: %s has %lld tokens; one block needs %lld", name,
                        s == SPLIT_TRAIN ? "the training text" : "the validation text", (long long)c->length[s],
                        (long long)c->block + 1);
        ds->facts.count[s] = corpus_blocks(c->length[s], c->block);
    }
    return 0;
}

static int64_t length_of(const struct corpus *c, enum split split, int64_t index)
{
    int64_t left = c->length[split] - index * c->block;
    return left < c->block + 1 ? left : c->block + 1;
}

int64_t corpus_length(const struct dataset *ds, enum split split)
{
    const struct corpus *c = corpus_of(ds);
    return c != NULL ? c->length[split] : 0;
}

int corpus_read(const struct dataset *ds, enum split split, int64_t first, int64_t count, int32_t *into)
{
    const struct corpus *c = corpus_of(ds);
    BUG_IF(c == NULL || first < 0 || count < 0 || first + count > c->length[split]);
    return c->read(c, split, first, count, into);
}

const struct corpus_symbols *corpus_symbols(const struct dataset *ds)
{
    const struct corpus *c = corpus_of(ds);
    return c != NULL && c->symbols.count > 0 ? &c->symbols : NULL;
}

// ---- members of struct kind

void corpus_close(struct dataset *ds)
{
    struct corpus *c = ds->own;
    if (c == NULL) return;
    free(c->text);
    free(c->folder);
    free(c);
}

int corpus_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                int64_t *length)
{
    const struct corpus *c = ds->own;
    *length = length_of(c, split, index);
    size_t bytes = (size_t)*length * sizeof(int32_t);
    if (bytes > capacity) return kind_too_small(ds, split, field, index, (int64_t)bytes, capacity);
    return c->read(c, split, index * c->block, *length, into);
}

int corpus_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    (void)field;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = (int32_t)length_of(ds->own, split, i);
    return 0;
}

// Characters as they are, other tokens by number.
int corpus_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    const struct corpus *c = ds->own;
    int64_t count = length_of(c, split, number - 1);
    int32_t *token = zalloc((size_t)count * sizeof *token);
    int rc = c->read(c, split, (number - 1) * c->block, count, token);
    struct text numbers = {0};
    for (int64_t i = 0; i < count && rc == 0; i++)
        if (c->symbols.count > 0) text_bytes(into, &c->symbols.symbol[token[i]], 1);
        else text_add(&numbers, "%d ", token[i]);
    if (numbers.at != NULL) text_wrap(into, numbers.at, 0, 0);
    text_add(into, "\n");
    text_free(&numbers);
    free(token);
    return rc;
}

int corpus_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct corpus *c = ds->own;
    digest_bytes(c->text + (split == SPLIT_TEST ? c->length[SPLIT_TRAIN] : 0), (size_t)c->length[split], hex);
    return 0;
}

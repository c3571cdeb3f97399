// SPDX-License-Identifier: Apache-2.0
// A pack is a head of five numbers, a byte for each word, and the rows. Its name is a digest of the vectors' file (path,
// device, inode, size and time of change, as in manifest.h) and of all words in their order, so a pack never fits another
// vocabulary. Limit: a changed file whose time was set back is not noticed.
#include "data/text/vectors_cache.h"

#include <stdlib.h>
#include <string.h>

#include "data/manifest.h"
#include "runtime/common/base/text.h"

static const char magic[8] = "dawnvec1";
struct head {
    char magic[8];
    int64_t words, dimension, lines, bytes;  // bytes: of the whole pack
};

char *vectors_cache_path(const char *path, const struct vocabulary *words, int64_t dimension)
{
    struct manifest_key key;
    char *whole = realpath(path, NULL), hex[DIGEST_HEX], name[DIGEST_HEX + 16] = "vectors-";
    if (whole == NULL || manifest_key_of(whole, &key) < 0) {
        free(whole);
        return NULL;
    }
    struct text of = {0};
    text_add(&of, "vectors 1\n%s\n%lld %lld %lld %lld %lld\n", whole, (long long)key.device, (long long)key.inode,
             (long long)key.size, (long long)key.mtime_ns, (long long)dimension);
    for (int32_t i = 0; i < vocabulary_count(words); i++) {
        size_t n;
        const char *word = vocabulary_word(words, i, &n);
        text_bytes(&of, word, n);
        text_bytes(&of, "\n", 1);
    }
    digest_bytes(of.at, of.length, hex);
    text_free(&of);
    free(whole);
    strcat(name, hex);
    strcat(name, ".pack");
    return manifest_cache_path(name);
}

static size_t size_of_pack(const struct vectors *v)
{
    return sizeof(struct head) + (size_t)v->words + (size_t)(v->words * v->dimension) * sizeof *v->row;
}

bool vectors_cache_parse(const char *bytes, size_t count, struct vectors *v)
{
    struct head head;
    if (count != size_of_pack(v)) return false;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.words != v->words || head.dimension != v->dimension ||
        head.lines < 0 || head.bytes != (int64_t)count)
        return false;
    const char *found = bytes + sizeof head;
    for (int64_t i = 0; i < v->words; i++)
        if ((uint8_t)found[i] > VECTORS_STRIPPED) return false;
    v->lines = head.lines;
    memcpy(v->found, found, (size_t)v->words);
    memcpy(v->row, found + v->words, (size_t)(v->words * v->dimension) * sizeof *v->row);
    return true;
}

bool vectors_cache_load(const char *pack, struct vectors *v)
{
    char *bytes;
    size_t count;
    bool taken = manifest_cache_read(pack, size_of_pack(v), &bytes, &count) && vectors_cache_parse(bytes, count, v);
    free(bytes);
    return taken;
}

void vectors_cache_save(const char *pack, const struct vectors *v)
{
    struct head head = {.words = v->words, .dimension = v->dimension, .lines = v->lines, .bytes = (int64_t)size_of_pack(v)};
    struct text bytes = {0};
    memcpy(head.magic, magic, sizeof magic);
    text_bytes(&bytes, &head, sizeof head);
    text_bytes(&bytes, v->found, (size_t)v->words);
    text_bytes(&bytes, v->row, (size_t)(v->words * v->dimension) * sizeof *v->row);
    manifest_cache_write(pack, bytes.at, bytes.length);
    text_free(&bytes);
}

// SPDX-License-Identifier: Apache-2.0
// RFC 6962, section 2.1, and the checks of RFC 9162, sections 2.1.3.2 and 2.1.4.2. Makers and checkers are written apart: the
// makers split ranges as the definitions do, the checkers walk up from the leaf.
#include "submit/log/tree.h"

#include <sodium.h>
#include <string.h>

void tree_hash_leaf(const void *entry, size_t count, struct tree_hash *into)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char[]){0}, 1);
    crypto_hash_sha256_update(&state, entry, count);
    crypto_hash_sha256_final(&state, into->at);
}

void tree_hash_node(const struct tree_hash *left, const struct tree_hash *right, struct tree_hash *into)
{
    unsigned char both[1 + 2 * TREE_HASH] = {1};
    memcpy(both + 1, left->at, TREE_HASH);
    memcpy(both + 1 + TREE_HASH, right->at, TREE_HASH);
    crypto_hash_sha256(into->at, both, sizeof both);
}

bool tree_same(const struct tree_hash *a, const struct tree_hash *b)
{
    return memcmp(a->at, b->at, TREE_HASH) == 0;
}

static void hash_nothing(struct tree_hash *into)
{
    crypto_hash_sha256(into->at, (const unsigned char *)"", 0);
}

static bool has_bit(int64_t n, int bit)
{
    return (n >> bit & 1) != 0;
}

// ---- a tree that grows
int tree_add(struct tree *t, const struct tree_hash *leaf, struct tree_hash tops[TREE_TOPS])
{
    struct tree_hash hash = *leaf;
    int level = 0;
    BUG_IF(t->size >= TREE_MOST);
    tops[0] = hash;
    for (; has_bit(t->size, level); level++) {
        tree_hash_node(&t->peak[level], &hash, &hash);
        if ((level + 1) % 8 == 0) tops[(level + 1) / 8] = hash;
    }
    t->peak[level] = hash;
    t->size++;
    return level / 8 + 1;
}

void tree_root(const struct tree *t, struct tree_hash *into)
{
    bool begun = false;
    hash_nothing(into);
    for (int level = 0; level < TREE_LEVELS; level++) {
        if (!has_bit(t->size, level)) continue;
        if (begun) tree_hash_node(&t->peak[level], into, into);
        else *into = t->peak[level];
        begun = true;
    }
}

int tree_next_proof(const struct tree *t, struct tree_hash proof[TREE_PROOF])
{
    int count = 0;
    for (int level = 0; level < TREE_LEVELS; level++)
        if (has_bit(t->size, level)) proof[count++] = t->peak[level];
    return count;
}

// ---- out of a source
// The hash of leaves [from, to), where `from` is a multiple of a power of two that is not below their number.
static int read_range(const struct tree_source *s, int64_t from, int64_t to, struct tree_hash *into)
{
    const int64_t count = to - from;
    bool begun = false;
    hash_nothing(into);
    for (int level = 0; level < TREE_LEVELS; level++) {
        struct tree_hash hash;
        if (!has_bit(count, level)) continue;
        const int64_t before = count >> (level + 1) << (level + 1);
        TRY(s->read(s->context, level, (from + before) >> level, &hash));
        if (begun) tree_hash_node(&hash, into, into);
        else *into = hash;
        begun = true;
    }
    return 0;
}

int tree_root_at(const struct tree_source *s, int64_t size, struct tree_hash *into)
{
    BUG_IF(size < 0 || size > TREE_MOST);
    return read_range(s, 0, size, into);
}

int tree_load(const struct tree_source *s, int64_t size, struct tree *into)
{
    BUG_IF(size < 0 || size > TREE_MOST);
    *into = (struct tree){0};
    for (int level = 0; level < TREE_LEVELS; level++)
        if (has_bit(size, level)) TRY(s->read(s->context, level, (size >> level) - 1, &into->peak[level]));
    into->size = size;
    return 0;
}

// The largest power of two below n; n > 1.
static int64_t split(int64_t n)
{
    int64_t k = 1;
    while (k * 2 < n) k *= 2;
    return k;
}

static void turn_round(struct tree_hash *proof, int count)
{
    for (int i = 0; i < count / 2; i++) {
        struct tree_hash one = proof[i];
        proof[i] = proof[count - 1 - i];
        proof[count - 1 - i] = one;
    }
}

int tree_prove_leaf(const struct tree_source *s, int64_t index, int64_t size, struct tree_hash proof[TREE_PROOF], int *count)
{
    int64_t from = 0, to = size;
    BUG_IF(index < 0 || index >= size || size > TREE_MOST);
    *count = 0;
    while (to - from > 1) {  // from the root down: the half without the leaf is a step of the proof
        const int64_t middle = from + split(to - from);
        TRY(index < middle ? read_range(s, middle, to, &proof[*count]) : read_range(s, from, middle, &proof[*count]));
        ++*count;
        if (index < middle) to = middle;
        else from = middle;
    }
    turn_round(proof, *count);
    return 0;
}

int tree_prove_growth(const struct tree_source *s, int64_t old, int64_t size, struct tree_hash proof[TREE_PROOF], int *count)
{
    int64_t from = 0, to = size;
    BUG_IF(old < 1 || old > size || size > TREE_MOST);
    *count = 0;
    while (old < to) {  // the old tree ends within [from, to)
        const int64_t middle = from + split(to - from);
        TRY(old <= middle ? read_range(s, middle, to, &proof[*count]) : read_range(s, from, middle, &proof[*count]));
        ++*count;
        if (old <= middle) to = middle;
        else from = middle;
    }
    if (from > 0) TRY(read_range(s, from, to, &proof[(*count)++]));  // else the old root itself, which the checker has
    turn_round(proof, *count);
    return 0;
}

// ---- checks
// Leaves the levels at which a subtree is the right one alone, without a sibling.
static void climb_edge(int64_t *inner, int64_t *last)
{
    while (*inner != 0 && !has_bit(*inner, 0)) *inner >>= 1, *last >>= 1;
}

bool tree_has_leaf(const struct tree_hash *leaf, int64_t index, int64_t size, const struct tree_hash *proof, int count,
                   const struct tree_hash *root)
{
    if (index < 0 || size > TREE_MOST || index >= size || count < 0 || count > TREE_PROOF) return false;
    int64_t inner = index, last = size - 1;
    struct tree_hash hash = *leaf;
    for (int i = 0; i < count; i++) {
        if (last == 0) return false;
        if (has_bit(inner, 0) || inner == last) {
            tree_hash_node(&proof[i], &hash, &hash);
            climb_edge(&inner, &last);
        } else {
            tree_hash_node(&hash, &proof[i], &hash);
        }
        inner >>= 1, last >>= 1;
    }
    return last == 0 && tree_same(&hash, root);
}

bool tree_has_grown(int64_t old, const struct tree_hash *old_root, int64_t size, const struct tree_hash *root,
                    const struct tree_hash *proof, int count)
{
    struct tree_hash nothing;
    hash_nothing(&nothing);
    if (old < 0 || size > TREE_MOST || old > size || count < 0 || count > TREE_PROOF) return false;
    if (old == size) return count == 0 && tree_same(old_root, root);
    if (old == 0) return count == 0 && tree_same(old_root, &nothing);
    int64_t inner = old - 1, last = size - 1;
    while (has_bit(inner, 0)) inner >>= 1, last >>= 1;
    const bool whole = inner == 0;  // the old tree is one complete subtree: its root is the first hash
    if (!whole && count == 0) return false;
    struct tree_hash before = whole ? *old_root : proof[0], now = before;
    for (int i = whole ? 0 : 1; i < count; i++) {
        if (last == 0) return false;
        if (has_bit(inner, 0) || inner == last) {
            tree_hash_node(&proof[i], &before, &before);
            tree_hash_node(&proof[i], &now, &now);
            climb_edge(&inner, &last);
        } else {
            tree_hash_node(&now, &proof[i], &now);
        }
        inner >>= 1, last >>= 1;
    }
    return last == 0 && tree_same(&before, old_root) && tree_same(&now, root);
}

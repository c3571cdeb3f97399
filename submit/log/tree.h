// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of a log (RFC 6962 over SHA-256): hashes, roots, and proofs that a leaf is in a tree (inclusion) and that
// one tree begins with another (consistency). Pure.
// Workload: one leaf per statement. Cost: at most one hash per level, 20 of a million leaves; memory for one hash per level.
#pragma once

#include "runtime/common/base/error.h"

#define TREE_MOST ((int64_t)1 << 50)  // leaves
enum { TREE_HASH = 32, TREE_LEVELS = 51, TREE_PROOF = 64, TREE_TOPS = 8 };
struct tree_hash {
    unsigned char at[TREE_HASH];
};
void tree_hash_leaf(const void *entry, size_t count, struct tree_hash *into);
void tree_hash_node(const struct tree_hash *left, const struct tree_hash *right, struct tree_hash *into);
bool tree_same(const struct tree_hash *, const struct tree_hash *);

// A tree that grows: of its hashes only those are kept that later ones need.
struct tree {
    int64_t size;
    struct tree_hash peak[TREE_LEVELS];  // of the last complete subtree of 2^k leaves, where bit k of the size is set
};
// Adds a leaf. tops[0] is the leaf; tops[n] the subtree of 256^n leaves that it completed. Returns their number.
int tree_add(struct tree *, const struct tree_hash *leaf, struct tree_hash tops[TREE_TOPS]);
void tree_root(const struct tree *, struct tree_hash *into);
// The inclusion proof that the next leaf will have in the tree that ends with it. Returns its length.
int tree_next_proof(const struct tree *, struct tree_hash proof[TREE_PROOF]);

// Where the hash of a complete subtree comes from: of leaves [index << level, (index + 1) << level).
struct tree_source {
    int (*read)(void *context, int level, int64_t index, struct tree_hash *into);
    void *context;
};
int tree_root_at(const struct tree_source *, int64_t size, struct tree_hash *into) MUST_CHECK;
int tree_load(const struct tree_source *, int64_t size, struct tree *into) MUST_CHECK;
int tree_prove_leaf(const struct tree_source *, int64_t index, int64_t size, struct tree_hash proof[TREE_PROOF],
                    int *count) MUST_CHECK;
// Proves that the tree of `size` leaves begins with the tree of `old`; 0 < old <= size.
int tree_prove_growth(const struct tree_source *, int64_t old, int64_t size, struct tree_hash proof[TREE_PROOF],
                      int *count) MUST_CHECK;

// Whether a proof holds. Numbers and hashes may be a stranger's.
bool tree_has_leaf(const struct tree_hash *leaf, int64_t index, int64_t size, const struct tree_hash *proof, int count,
                   const struct tree_hash *root);
bool tree_has_grown(int64_t old, const struct tree_hash *old_root, int64_t size, const struct tree_hash *root,
                    const struct tree_hash *proof, int count);

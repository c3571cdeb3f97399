// SPDX-License-Identifier: Apache-2.0
// Invariant: proof_check accepts the output of proof_fill with the same key, and refuses it with any other. Cost: a signature,
// and one hash per level of the tree.
#include "submit/log/proof.h"

#include <sodium.h>
#include <string.h>

void proof_entry(const struct receipt *r, struct text *into)
{
    text_add(into, "{\"accepted_ms\":%lld,\"payload\":\"%s\",\"sequence\":%lld,\"signer\":\"%s\"}", (long long)r->accepted_ms,
             r->payload, (long long)r->sequence, r->signer);
}

void proof_leaf(const struct receipt *r, struct tree_hash *into)
{
    struct text entry = {0};
    proof_entry(r, &entry);
    tree_hash_leaf(entry.at, entry.length, into);
    text_free(&entry);
}

static void to_hex(const struct tree_hash *hash, char hex[DIGEST_HEX])
{
    digest_hex(hash->at, hex);
}

static bool from_hex(const char *hex, struct tree_hash *hash)
{
    size_t count;
    return strlen(hex) == DIGEST_HEX - 1 &&
           sodium_hex2bin(hash->at, TREE_HASH, hex, DIGEST_HEX - 1, NULL, &count, NULL) == 0 && count == TREE_HASH;
}

void proof_fill(struct receipt *r, const struct tree *before, const struct sshkey_secret *secret)
{
    struct tree with = *before;
    struct tree_hash leaf, tops[TREE_TOPS], proof[TREE_PROOF];
    struct checkpoint head = {.size = before->size + 1};
    BUG_IF(before->size != r->sequence - 1);
    proof_leaf(r, &leaf);
    r->log.proof_count = tree_next_proof(before, proof);
    for (int i = 0; i < r->log.proof_count; i++) to_hex(&proof[i], r->log.proof[i]);
    tree_add(&with, &leaf, tops);
    tree_root(&with, &head.root);
    note_origin(r->board, head.origin);
    r->log.size = head.size;
    to_hex(&head.root, r->log.root);
    note_sign(&head, secret, r->log.signature);
}

static int check_head(const struct receipt *r, const struct checkpoint *head, const struct sshkey *server)
{
    struct text text = {0};
    struct note note;
    note_write(head, r->log.signature, &text);
    int rc = note_read(text.at, text.length, &note);
    if (rc == 0) rc = note_check(text.at, &note, server);
    text_free(&text);
    return rc;
}

int proof_check(const struct receipt *r, const struct sshkey *server, struct checkpoint *head)
{
    struct tree_hash leaf, proof[TREE_PROOF];
    *head = (struct checkpoint){.size = r->log.size};
    note_origin(r->board, head->origin);
    if (r->log.proof_count > TREE_PROOF || !from_hex(r->log.root, &head->root))
        return fail(ERR_INPUT, "its place in the log is damaged");
    for (int i = 0; i < r->log.proof_count; i++)
        if (!from_hex(r->log.proof[i], &proof[i])) return fail(ERR_INPUT, "its place in the log is damaged");
    proof_leaf(r, &leaf);
    if (!tree_has_leaf(&leaf, r->sequence - 1, head->size, proof, r->log.proof_count, &head->root))
        return fail(ERR_INPUT, "its proof does not lead to the root of the log's checkpoint");
    return check_head(r, head, server);
}

// SPDX-License-Identifier: Apache-2.0
// Which images are these? Digests of CIFAR-10 in the order of the files and in no order at all.
//
// A copy in another order has none of the published digests, although a network trained on it is trained on
// CIFAR-10. So every record is digested on its own, and the sorted list of those digests once more: that value names
// the multiset of labelled images. It also shows test images among the training images' files, which sizes do not.
//
// Cost: SHA-256 over 184 MB, shared among the threads; 32 bytes of memory for each record.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/cifar_digest.h"
#include "data/kind.h"
#include "data/fetch/source.h"

static int visit_hash(void *context, const char *path, int64_t offset, const uint8_t *records, int64_t n, int64_t done)
{
    (void)path, (void)offset, (void)done;
    crypto_hash_sha256_update(context, records, (unsigned long long)n * CIFAR_RECORD);
    return 0;
}

int cifar_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    crypto_hash_sha256_state state;
    uint8_t digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    TRY(cifar_each(ds->own, split, 0, ds->facts.count[split], visit_hash, &state));
    crypto_hash_sha256_final(&state, digest);
    dataset_hex(digest, hex);
    return 0;
}

struct content {
    const struct cifar *cifar;
    enum split split;
    uint8_t (*digest)[crypto_hash_sha256_BYTES];
};

struct content_piece {
    const struct content *content;
    int64_t begin;
};

static int visit_records(void *context, const char *path, int64_t offset, const uint8_t *records, int64_t n,
                         int64_t done)
{
    (void)path, (void)offset;
    const struct content_piece *piece = context;
    for (int64_t i = 0; i < n; i++) {
        crypto_hash_sha256(piece->content->digest[piece->begin + done + i], records + i * CIFAR_RECORD, CIFAR_RECORD);
    }
    return 0;
}

static int content_piece(void *context, int64_t begin, int64_t end)
{
    const struct content *content = context;
    struct content_piece piece = {content, begin};
    return cifar_each(content->cifar, content->split, begin, end - begin, visit_records, &piece);
}

static int compare_digests(const void *a, const void *b)
{
    return memcmp(a, b, crypto_hash_sha256_BYTES);
}

int cifar_content_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    int64_t n = ds->facts.count[split];
    struct content content = {ds->own, split, calloc((size_t)n + 1, sizeof content.digest[0])};
    if (content.digest == NULL) return fail(ERR_MEMORY, "not enough memory for %lld digests", (long long)n);
    int rc = pieces_for(n, 64, content_piece, &content);
    if (rc == 0) {
        uint8_t digest[crypto_hash_sha256_BYTES];
        qsort(content.digest, (size_t)n, sizeof content.digest[0], compare_digests);
        crypto_hash_sha256(digest, content.digest[0], (unsigned long long)n * sizeof content.digest[0]);
        dataset_hex(digest, hex);
    }
    free(content.digest);
    return rc;
}

struct same {
    struct dataset *ds;
    bool is[CIFAR_FILES];
};

static int same_files(void *context, int64_t begin, int64_t end)
{
    struct same *same = context;
    const struct cifar *cifar = same->ds->own;
    for (int64_t i = begin; i < end; i++) {
        const struct source_file *file = &same->ds->source->file[i];
        char hex[DIGEST_HEX];
        if (cifar->records[i] * CIFAR_RECORD != file->bytes) continue;
        TRY(digest_file(cifar->path[i], hex));
        same->is[i] = strcmp(hex, file->sha256) == 0;
    }
    return 0;
}

int cifar_verify(struct dataset *ds, enum dataset_verdict *verdict)
{
    bool all = true, content = true;
    for (int split = 0; split < SPLIT_COUNT; split++) {  // nothing to keep: it is the labels that are checked
        TRY(dataset_read(ds, split, "labels", 0, ds->facts.count[split], NULL));
    }
    struct same same = {.ds = ds};
    TRY(pieces_for(CIFAR_FILES, 1, same_files, &same));
    for (int i = 0; i < CIFAR_FILES; i++) all = all && same.is[i];
    if (all) {
        *verdict = DATASET_OFFICIAL;
        return 0;
    }
    for (int split = 0; split < SPLIT_COUNT; split++) {
        char hex[DIGEST_HEX];
        TRY(cifar_content_digest(ds, split, hex));
        content = content && strcmp(hex, ds->source->content[split]) == 0;
    }
    *verdict = content ? DATASET_REORDERED : DATASET_CUSTOM;
    return 0;
}

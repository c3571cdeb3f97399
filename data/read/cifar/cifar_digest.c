// SPDX-License-Identifier: Apache-2.0
// Identifies the images of CIFAR-10: digests in the order of the files, and digests independent of order.
//
// A copy in another order has none of the published digests, although it is CIFAR-10. So every record is digested on its
// own, and then the sorted list of these digests. The result identifies the multiset of labelled images. It also reveals
// test images in the training files, which sizes do not.
//
// Cost: SHA-256 over 184 MB, shared among threads, unless the files' digests are remembered (manifest.h); 32 bytes of memory
// for each record if the files are not the published ones.
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/cifar/cifar_digest.h"
#include "data/kind.h"
#include "data/fetch/source.h"
#include "data/manifest.h"
#include "data/pieces.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"

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
    digest_hex(digest, hex);
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
    const struct content_piece *piece = context;
    TRY(cifar_decode(path, offset, records, (size_t)n * CIFAR_RECORD, n, NULL, NULL));  // checks the labels
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

static int content_of(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    int64_t n = ds->facts.count[split];
    struct content content = {ds->own, split, calloc((size_t)n + 1, sizeof content.digest[0])};
    if (content.digest == NULL) return fail(ERR_MEMORY, "not enough memory for %lld digests", (long long)n);
    int rc = pieces_crew(n, 1024, content_piece, &content);
    if (rc == 0) {
        uint8_t digest[crypto_hash_sha256_BYTES];
        qsort(content.digest, (size_t)n, sizeof content.digest[0], compare_digests);
        crypto_hash_sha256(digest, content.digest[0], (unsigned long long)n * sizeof content.digest[0]);
        digest_hex(digest, hex);
    }
    free(content.digest);
    return rc;
}

struct check {
    struct dataset *ds;
    struct manifest known;
    bool read;
    char *path[CIFAR_FILES];  // absolute, without links
    struct manifest_key key[CIFAR_FILES];
    char hex[CIFAR_FILES][DIGEST_HEX];
    bool read_now[CIFAR_FILES];
    int64_t now_ms;
};

static int digest_files(void *context, int64_t begin, int64_t end)
{
    struct check *check = context;
    const struct cifar *cifar = check->ds->own;
    for (int64_t i = begin; i < end; i++)
        if (check->read_now[i]) TRY(digest_file(cifar->path[i], check->hex[i]));
    return 0;
}

// The files' digests: remembered if the file is unchanged, else read. A file that changes meanwhile is not remembered.
static int check_digests(struct check *check)
{
    const struct cifar *cifar = check->ds->own;
    for (int i = 0; i < CIFAR_FILES; i++) {
        check->path[i] = realpath(cifar->path[i], NULL);
        if (check->path[i] == NULL) return fail_errno(ERR_IO, errno, "cannot find %s", cifar->path[i]);
        TRY(manifest_key_of(check->path[i], &check->key[i]));
        const struct manifest_file *file = manifest_find(&check->known, check->path[i], &check->key[i]);
        check->read_now[i] = check->read || file == NULL;
        if (!check->read_now[i]) memcpy(check->hex[i], file->hex, DIGEST_HEX);
    }
    TRY(pieces_crew(CIFAR_FILES, 1, digest_files, check));
    for (int i = 0; i < CIFAR_FILES; i++) {
        struct manifest_key after;
        if (!check->read_now[i]) continue;
        TRY(manifest_key_of(check->path[i], &after));
        if (memcmp(&after, &check->key[i], sizeof after) == 0 && manifest_key_settled(&after, check->now_ms))
            manifest_put(&check->known, check->path[i], &after, check->now_ms, check->hex[i]);
    }
    return 0;
}

static bool check_published(const struct check *check)
{
    const struct cifar *cifar = check->ds->own;
    bool all = true;
    for (int i = 0; i < CIFAR_FILES; i++) {
        const struct source_file *file = &check->ds->source->file[i];
        all = all && cifar->records[i] * CIFAR_RECORD == file->bytes && strcmp(check->hex[i], file->sha256) == 0;
    }
    return all;
}

// The key of a remembered content digest: the digests of the split's files. Labels were checked before the digest was
// remembered.
static int check_content(struct check *check, enum split split)
{
    struct cifar *cifar = check->ds->own;
    struct text of = {0};
    char key[DIGEST_HEX];
    text_add(&of, "cifar10 content 1\n");
    for (int i = 0; i < CIFAR_FILES; i++)
        if (cifar->split[i] == split) text_add(&of, "%s %lld\n", check->hex[i], (long long)cifar->records[i]);
    digest_bytes(of.at, of.length, key);
    text_free(&of);
    const struct manifest_value *value = check->read ? NULL : manifest_find_value(&check->known, key);
    if (value != NULL) {
        memcpy(cifar->content[split], value->hex, DIGEST_HEX);
        return 0;
    }
    TRY(content_of(check->ds, split, cifar->content[split]));
    bool read_at_once = true;  // the pass over the files read the same bytes
    for (int i = 0; i < CIFAR_FILES; i++) {
        struct manifest_key after;
        TRY(manifest_key_of(check->path[i], &after));
        read_at_once = read_at_once && memcmp(&after, &check->key[i], sizeof after) == 0 &&
                       manifest_key_settled(&after, check->now_ms);
        check->read_now[i] = true;
    }
    if (read_at_once) manifest_put_value(&check->known, key, check->now_ms, cifar->content[split]);
    return 0;
}

static int check_all(struct check *check, enum dataset_verdict *verdict)
{
    struct dataset *ds = check->ds;
    struct cifar *cifar = ds->own;
    bool content = true;
    TRY(check_digests(check));
    bool published = check_published(check);
    for (int split = 0; split < SPLIT_COUNT; split++) {
        if (published) memcpy(cifar->content[split], ds->source->content[split], DIGEST_HEX);
        else TRY(check_content(check, split));
        content = content && strcmp(cifar->content[split], ds->source->content[split]) == 0;
    }
    *verdict = published ? DATASET_OFFICIAL : content ? DATASET_REORDERED : DATASET_CUSTOM;
    return 0;
}

int cifar_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    struct check check = {.ds = ds, .read = read, .now_ms = clock_unix_ms()};
    bool any = false;
    manifest_load(&check.known);
    int rc = check_all(&check, verdict);
    for (int i = 0; i < CIFAR_FILES; i++) {
        any = any || check.read_now[i];
        free(check.path[i]);
    }
    if (rc == 0) ds->facts.remembered = !any;
    if (rc == 0 && any) manifest_save(&check.known);
    manifest_free(&check.known);
    return rc;
}

int cifar_content_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct cifar *cifar = ds->own;
    enum dataset_verdict verdict;
    if (cifar->content[split][0] == '\0') TRY(cifar_verify(ds, false, &verdict));
    memcpy(hex, cifar->content[split], DIGEST_HEX);
    return 0;
}

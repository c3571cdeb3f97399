// SPDX-License-Identifier: Apache-2.0
// Identifies the pictures: SHA-256 over the sorted digests of labelled pictures identifies the multiset, in a pack or in
// folders.
//
// Cost: one pass over all bytes, shared among threads; ImageNet's 148 GB are read at the speed of the disk. So the digests
// of folders are remembered (manifest.h) under a digest of all names, sizes, inodes and times of change. A pack contains its
// digests.
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "data/image/head.h"
#include "data/manifest.h"
#include "data/pieces.h"
#include "data/read/imagenet/imagenet_kind.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"

typedef uint8_t digest_t[crypto_hash_sha256_BYTES];

void imagenet_record_digest(int label, const void *bytes, size_t count, uint8_t digest[32])
{
    uint8_t head[2] = {(uint8_t)label, (uint8_t)(label >> 8)};
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, head, sizeof head);
    crypto_hash_sha256_update(&state, bytes, count);
    crypto_hash_sha256_final(&state, digest);
}

struct content {
    const struct imagenet *set;
    enum split split;
    digest_t *digest;
    struct dataset *watched;  // NULL: nobody watches
    pthread_t reader;      // the thread that reports
};

static int digest_picture(const struct content *content, int64_t i)
{
    const struct listing *l = &content->set->listing;
    const struct listed *picture = &l->picture[content->split][i];
    int64_t count = 0;
    struct head head;
    struct text path = {0};
    uint8_t *bytes = malloc((size_t)picture->bytes + 1);
    if (bytes == NULL) return fail(ERR_MEMORY, "not enough memory to read a picture of %d bytes", picture->bytes);
    listing_path(l, content->split, i, &path);
    int rc = listing_read(l, content->split, i, bytes, (size_t)picture->bytes, &count);
    if (rc == 0) rc = head_read(path.at, bytes, (size_t)count, &head);
    if (rc == 0) imagenet_record_digest(picture->label, bytes, (size_t)count, content->digest[i]);
    text_free(&path);
    free(bytes);
    return rc;
}

static int digest_packed(const struct content *content, int64_t i)
{
    const struct pack_record *r = pack_at(content->set->pack, content->split, i);
    int64_t count = 0;
    uint8_t *bytes = malloc((size_t)r->length + 1);
    if (bytes == NULL) return fail(ERR_MEMORY, "not enough memory to read a picture of %u bytes", r->length);
    int rc = pack_read(content->set->pack, content->split, i, bytes, r->length, &count);
    if (rc == 0) imagenet_record_digest(r->label, bytes, (size_t)count, content->digest[i]);
    free(bytes);
    return rc;
}

static int digest_piece(void *context, int64_t begin, int64_t end)
{
    const struct content *content = context;
    const struct dataset *ds = content->watched;
    bool packed = content->set->pack != NULL;
    if (ds != NULL && pthread_equal(pthread_self(), content->reader))  // pieces are taken in order
        ds->progress(ds->listener, content->split, begin, ds->facts.count[content->split]);
    for (int64_t i = begin; i < end; i++) TRY(packed ? digest_packed(content, i) : digest_picture(content, i));
    return 0;
}

static int compare_digests(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(digest_t));
}

// Digests of the split's pictures, sorted or in the order of the listing. Also checks every picture's header.
static int digest_split(struct dataset *ds, enum split split, bool sorted, char hex[DIGEST_HEX])
{
    const struct imagenet *set = ds->own;
    int64_t n = ds->facts.count[split];
    struct content content = {set, split, calloc((size_t)n + 1, sizeof(digest_t)), ds->progress ? ds : NULL, pthread_self()};
    if (content.digest == NULL) return fail(ERR_MEMORY, "not enough memory for %lld digests", (long long)n);
    int rc = pieces_crew(n, 64, digest_piece, &content);
    if (rc == 0 && sorted) qsort(content.digest, (size_t)n, sizeof(digest_t), compare_digests);
    if (rc == 0) digest_bytes(content.digest, (size_t)n * sizeof(digest_t), hex);
    free(content.digest);
    return rc;
}

int imagenet_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return digest_split(ds, split, false, hex);
}

// A key that changes whenever a picture does: the file system's facts about each picture.
static int state_of(const struct imagenet *set, enum split split, char hex[DIGEST_HEX])
{
    const struct listing *l = &set->listing;
    crypto_hash_sha256_state state;
    digest_t digest;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const uint8_t *)"imagenet content 1", 18);
    for (int64_t i = 0; i < l->count[split]; i++) {
        struct manifest_key key;
        struct text path = {0};
        text_add(&path, "%s/", l->root);
        listing_path(l, split, i, &path);
        int rc = manifest_key_of(path.at, &key);
        if (rc == 0) {
            int64_t label = l->picture[split][i].label;
            crypto_hash_sha256_update(&state, (const uint8_t *)path.at, path.length + 1);
            crypto_hash_sha256_update(&state, (const uint8_t *)&key, sizeof key);
            crypto_hash_sha256_update(&state, (const uint8_t *)&label, sizeof label);
        }
        text_free(&path);
        TRY(rc);
    }
    crypto_hash_sha256_final(&state, digest);
    digest_hex(digest, hex);
    return 0;
}

// The content digest of a split: remembered if nothing changed, else read. It is not remembered if a file changes meanwhile.
static int check_split(struct dataset *ds, enum split split, bool read, struct manifest *known, bool *any)
{
    struct imagenet *set = ds->own;
    char before[DIGEST_HEX], after[DIGEST_HEX];
    int64_t now_ms = clock_unix_ms();
    TRY(state_of(set, split, before));
    const struct manifest_value *value = read ? NULL : manifest_find_value(known, before);
    if (value != NULL) {
        memcpy(set->content[split], value->hex, DIGEST_HEX);
        return 0;
    }
    TRY(digest_split(ds, split, true, set->content[split]));
    TRY(state_of(set, split, after));
    if (strcmp(before, after) == 0) manifest_put_value(known, before, now_ms, set->content[split]);
    *any = true;
    return 0;
}

static int verify_folder(struct dataset *ds, bool read)
{
    struct manifest known;
    bool any = false;
    int rc = 0;
    manifest_load(&known);
    for (int s = 0; s < SPLIT_COUNT && rc == 0; s++) rc = check_split(ds, (enum split)s, read, &known, &any);
    ds->facts.remembered = !any;
    if (rc == 0 && any) manifest_save(&known);
    manifest_free(&known);
    return rc;
}

// A pack contains its content digests, and every read checks the picture's checksum.
static int verify_pack(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    struct imagenet *set = ds->own;
    const struct pack_header *h = &set->pack->header;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        char hex[DIGEST_HEX];
        digest_hex(h->content[s], set->content[s]);
        if (!read) continue;
        TRY(digest_split(ds, (enum split)s, true, hex));
        if (strcmp(hex, set->content[s]) != 0)
            return fail(ERR_INPUT, "%s is damaged: the digest of its pictures of %s is %s, not %s", set->pack->path,
                        ds->facts.split_name[s], hex, set->content[s]);
    }
    ds->facts.remembered = !read;
    if (!(h->flags & PACK_OFFICIAL)) return 0;
    *verdict = DATASET_OFFICIAL;
    for (int s = 0; s < SPLIT_COUNT; s++) memcpy(set->content[s], set->flavour->official[s], DIGEST_HEX);
    return 0;
}

int imagenet_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    const struct imagenet *set = ds->own;
    ds->facts.remembered = false;
    *verdict = DATASET_CUSTOM;
    return set->pack != NULL ? verify_pack(ds, read, verdict) : verify_folder(ds, read);
}

// The header of a pack has checksums of the names and of the index, and the index has the checksum of every picture.
int imagenet_layout(struct dataset *ds, char hex[DIGEST_HEX])
{
    const struct imagenet *set = ds->own;
    if (set->pack != NULL) {
        uint8_t header[PACK_HEADER];
        pack_print_header(&set->pack->header, header);
        digest_bytes(header, sizeof header, hex);
    } else {
        digest_t digest;
        listing_digest(&set->listing, digest);
        digest_hex(digest, hex);
    }
    return 0;
}

int imagenet_content_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct imagenet *set = ds->own;
    enum dataset_verdict verdict;
    if (set->content[split][0] == '\0') TRY(imagenet_verify(ds, false, &verdict));
    memcpy(hex, set->content[split], DIGEST_HEX);
    return 0;
}

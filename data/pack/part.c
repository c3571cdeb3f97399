// SPDX-License-Identifier: Apache-2.0
// Writes a pack in an order that can be continued after any stop of the program or the machine: payloads, then their
// records, then the header that counts them. Nothing is synced before the end. The next packer reads the file again and
// keeps the sound records.
//
// Invariant: the bytes of the finished file depend on the source and the options alone, not on interruptions. Cost: 64 bytes
// of memory per picture; continuing reads the existing part at the speed of the disk.
#include "data/pack/part.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/kind.h"
#include "data/pieces.h"
#include "runtime/common/base/crc32c.h"
#include "data/read/imagenet/imagenet_kind.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/whole.h"

static int write_at(const struct part *p, const void *bytes, size_t count, uint64_t offset)
{
    for (size_t put = 0; put < count;) {
        ssize_t n = pwrite(p->fd, (const char *)bytes + put, count - put, (off_t)(offset + put));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return fail_errno(ERR_IO, errno, "cannot write %s after %llu pictures (the same command continues there)", p->path,
                              (unsigned long long)p->header.done);
        put += (size_t)n;
    }
    return 0;
}

static bool read_at(const struct part *p, void *bytes, size_t count, uint64_t offset)
{
    for (size_t have = 0; have < count;) {
        ssize_t n = pread(p->fd, (char *)bytes + have, count - have, (off_t)(offset + have));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        have += (size_t)n;
    }
    return true;
}

static int write_header(const struct part *p)
{
    uint8_t bytes[PACK_HEADER];
    pack_print_header(&p->header, bytes);
    return write_at(p, bytes, sizeof bytes, 0);
}

// ---- continuing

// True for the same source and options. The headers may differ in fields that advance, and in fields that are written last: a
// command may have been killed between writing them and renaming the file.
static bool is_same(const struct pack_header *a, const struct pack_header *b)
{
    uint8_t x[PACK_HEADER], y[PACK_HEADER];
    struct pack_header copy = *a;
    copy.done = b->done, copy.end = b->end, copy.index_crc = b->index_crc;
    copy.flags = (a->flags & PACK_ASKED) | (b->flags & ~(uint32_t)PACK_ASKED);
    if (!(b->flags & PACK_UNDONE)) memcpy(copy.content, b->content, sizeof copy.content);
    pack_print_header(&copy, x);
    pack_print_header(b, y);
    return memcmp(x, y, PACK_HEADER) == 0;
}

struct check {
    const struct part *part;
    bool *sound;
};

static int check_records(void *context, int64_t begin, int64_t end)
{
    const struct check *check = context;
    const struct part *p = check->part;
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    for (int64_t i = begin; i < end; i++) {
        struct pack_record r;
        uint64_t offset;
        memcpy(&offset, p->index + i * PACK_RECORD, sizeof offset);  // the caller checks that payloads have no gaps
        if (pack_parse_record(p->path, &p->header, (uint64_t)i, p->index + i * PACK_RECORD, &offset, &r) < 0) continue;
        if (r.length > capacity) bytes = grow(bytes, capacity = r.length);
        if (r.length > 0 && (!read_at(p, bytes, r.length, r.offset) || crc32c_add(0, bytes, r.length) != r.crc)) continue;
        if (r.length > 0) imagenet_record_digest(r.label, bytes, r.length, p->digest[i]);
        check->sound[i] = true;
    }
    free(bytes);
    return 0;
}

// The number of sound records of those that the file claims, counted from the first.
static int check_part(struct part *p, uint64_t claimed)
{
    struct check check = {p, zalloc((size_t)claimed + 1)};
    int rc = 0;
    if (!read_at(p, p->index, (size_t)claimed * PACK_RECORD, PACK_HEADER)) claimed = 0;
    p->header.end = INT64_MAX;  // set below from the sound records
    rc = pieces_crew((int64_t)claimed, 64, check_records, &check);
    uint64_t offset = pack_begin(&p->header), i = 0;
    for (struct pack_record r; rc == 0 && i < claimed && check.sound[i]; i++)
        if (pack_parse_record(p->path, &p->header, i, p->index + i * PACK_RECORD, &offset, &r) < 0) break;
    p->header.done = i;
    p->header.end = offset;
    free(check.sound);
    return rc;
}

static int restart_part(struct part *p)
{
    p->resumed = p->finished = false;
    p->restarted = true;
    p->header.done = 0;
    p->header.end = pack_begin(&p->header);
    return ftruncate(p->fd, 0) == 0 ? 0 : fail_errno(ERR_IO, errno, "cannot restart %s", p->path);
}

static int find_what_is_there(struct part *p)
{
    struct stat st;
    uint8_t bytes[PACK_HEADER];
    struct pack_header there = {0};
    if (fstat(p->fd, &st) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s", p->path);
    if (st.st_size == 0) return 0;
    p->resumed = read_at(p, bytes, sizeof bytes, 0) && pack_parse_header(p->path, bytes, -1, &there) == 0 &&
                 is_same(&p->header, &there);
    p->finished = p->resumed && !(there.flags & PACK_UNDONE);
    p->found = there.flags;
    if (!p->resumed) return restart_part(p);
    TRY(check_part(p, there.done));
    // A finished header lacks the version of the source of the sound pictures.
    return p->finished && p->header.done != pack_records(&p->header) ? restart_part(p) : 0;
}

// False if another command has just finished the locked file, which then has its final name or none.
static bool is_still_named(const struct part *p)
{
    struct stat mine, named;
    return fstat(p->fd, &mine) == 0 && stat(p->path, &named) == 0 && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

static int open_part(struct part *p, const void *names)
{
    p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (p->fd < 0) return fail_errno(ERR_IO, errno, "cannot write %s", p->path);
    if (flock(p->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(ERR_IO, "another \"dawn data pack\" is writing %s now", p->path);
    if (!is_still_named(p)) return fail(ERR_IO, "another \"dawn data pack\" has just ended with %s: try again", p->path);
    p->ours = true;
    TRY(find_what_is_there(p));
    TRY(write_at(p, names, (size_t)p->header.names_bytes, pack_names_at(&p->header)));
    return p->finished ? 0 : part_keep(p);
}

int part_open(struct part *p, const char *target, const struct pack_header *header, const void *names)
{
    struct text path = {0};
    uint64_t records = pack_records(header);
    text_add(&path, "%s.part", target);
    *p = (struct part){.path = path.at, .target = copy_text(target), .fd = -1, .header = *header};
    p->header.flags |= PACK_UNDONE;
    p->header.done = 0;
    p->header.end = pack_begin(header);
    p->header.names_crc = crc32c_add(0, names, (size_t)header->names_bytes);
    p->index = calloc((size_t)records + 1, PACK_RECORD);
    p->digest = calloc((size_t)records + 1, sizeof *p->digest);
    int rc = 0;
    if (p->index == NULL || p->digest == NULL)
        rc = fail(ERR_MEMORY, "not enough memory for %llu records", (unsigned long long)records);
    else rc = open_part(p, names);
    if (rc < 0) part_close(p);
    return rc;
}

// ---- adding records

int part_add(struct part *p, const struct pack_record *record, const void *bytes)
{
    struct pack_header *h = &p->header;
    BUG_IF(h->done == pack_records(h));
    p->last = *record;
    p->last.offset = h->end;
    p->last.crc = record->length > 0 ? crc32c_add(0, bytes, record->length) : 0;
    TRY(write_at(p, bytes, record->length, h->end));
    memset(p->digest[h->done], 0, PACK_DIGEST);
    if (record->length > 0) imagenet_record_digest(record->label, bytes, record->length, p->digest[h->done]);
    pack_print_record(&p->last, p->index + h->done * PACK_RECORD);
    h->end += record->length;
    h->done++;
    return 0;
}

int part_keep(struct part *p)
{
    uint64_t kept = p->kept, done = p->header.done;
    TRY(write_at(p, p->index + kept * PACK_RECORD, (size_t)(done - kept) * PACK_RECORD, PACK_HEADER + kept * PACK_RECORD));
    TRY(write_header(p));
    p->kept = done;
    return 0;
}

static int compare_digests(const void *a, const void *b)
{
    return memcmp(a, b, PACK_DIGEST);
}

// Digest over the sorted digests of the split's pictures, like imagenet_content_digest.
static int digest_content(struct part *p, enum split split)
{
    struct pack_header *h = &p->header;
    uint64_t first = split == SPLIT_TRAIN ? 0 : h->records[SPLIT_TRAIN], n = h->records[split], kept = 0;
    static const uint8_t none[PACK_DIGEST];
    uint8_t (*at)[PACK_DIGEST] = p->digest + first;
    for (uint64_t i = 0; i < n; i++)
        if (memcmp(at[i], none, PACK_DIGEST) != 0) memmove(at[kept++], at[i], PACK_DIGEST);
    qsort(at, (size_t)kept, PACK_DIGEST, compare_digests);
    crypto_hash_sha256(h->content[split], at[0], (unsigned long long)kept * PACK_DIGEST);
    return 0;
}

int part_commit(struct part *p, uint32_t flags)
{
    struct pack_header *h = &p->header;
    BUG_IF(h->done != pack_records(h));
    if (!p->finished) TRY(part_keep(p));
    for (int s = 0; s < SPLIT_COUNT; s++) TRY(digest_content(p, (enum split)s));
    h->flags = flags;
    h->index_crc = crc32c_add(0, p->index, (size_t)h->done * PACK_RECORD);
    TRY(write_header(p));
    if (ftruncate(p->fd, (off_t)h->end) != 0 || fsync(p->fd) != 0)
        return fail_errno(ERR_IO, errno, "cannot write %s to the disk", p->path);
    if (rename(p->path, p->target) != 0) return fail_errno(ERR_IO, errno, "cannot put %s in its place", p->target);
    whole_sync_folder(p->target);
    p->ours = false;
    return 0;
}

void part_close(struct part *p)
{
    if (p->ours && p->header.done == 0) unlink(p->path);
    if (p->path != NULL && p->fd >= 0) close(p->fd);
    free(p->path), free(p->target);
    free(p->index), free(p->digest);
    *p = (struct part){.fd = -1};
}

// SPDX-License-Identifier: Apache-2.0
// Reads packs.
//
// Invariant: an opened pack has a sound header and index, payloads that lie in the file one after the other, and labels in
// range. The bytes of a picture are those that were packed (crc), or reading it fails.
// Cost: opening reads the index (32 bytes per picture, 43 MB for ImageNet) and the names, to check them. A picture is one pread
// and a crc. Fuzzed: test/fuzz/fuzz_pack.c.
#include "data/read/imagenet/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/crc32c.h"
#include "runtime/common/base/arena.h"

static const char magic[8] = {'D', 'A', 'W', 'N', 'P', 'A', 'C', 'K'};
enum { PACK_PIECE = 1 << 16 };  // records, or bytes of names, read at once

// ---- fields in their order; numbers are little endian

struct cursor {
    uint8_t *at;
    bool write;
};

static void pass_number(struct cursor *c, void *number, size_t size)
{
    uint64_t value = 0;
    if (c->write) {
        memcpy(&value, number, size);
        for (size_t i = 0; i < size; i++) c->at[i] = (uint8_t)(value >> 8 * i);
    } else {
        for (size_t i = 0; i < size; i++) value |= (uint64_t)c->at[i] << 8 * i;
        memcpy(number, &value, size);
    }
    c->at += size;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied from the low end");

static void pass_bytes(struct cursor *c, void *bytes, size_t size)
{
    if (c->write) memcpy(c->at, bytes, size);
    else memcpy(bytes, c->at, size);
    c->at += size;
}

#define PASS(field) pass_number(c, &(field), sizeof(field))
static void pass_header(struct cursor *c, struct pack_header *h)
{
    PASS(h->version);
    pass_bytes(c, h->name, sizeof h->name);
    PASS(h->flags), PASS(h->classes), PASS(h->short_side), PASS(h->quality), PASS(h->seed);
    for (int s = 0; s < SPLIT_COUNT; s++) PASS(h->records[s]);
    PASS(h->names_bytes), PASS(h->done), PASS(h->end);
    pass_bytes(c, h->source, sizeof h->source);
    pass_bytes(c, h->content, sizeof h->content);
    PASS(h->index_crc), PASS(h->names_crc);
}

static void pass_record(struct cursor *c, struct pack_record *r)
{
    PASS(r->offset), PASS(r->length), PASS(r->crc), PASS(r->name);
    PASS(r->width), PASS(r->height), PASS(r->label), PASS(r->name_length);
    PASS(r->split), PASS(r->codec), PASS(r->marks);
}

int64_t pack_unfit_seed(const struct pack_header *h)
{
    return h->version == 1 && h->seed <= INT64_MAX ? (int64_t)h->seed : -1;
}

uint64_t pack_records(const struct pack_header *h)
{
    return h->records[SPLIT_TRAIN] + h->records[SPLIT_TEST];
}

uint64_t pack_names_at(const struct pack_header *h)
{
    return PACK_HEADER + pack_records(h) * PACK_RECORD;
}

uint64_t pack_begin(const struct pack_header *h)
{
    return pack_names_at(h) + h->names_bytes;
}

void pack_print_header(const struct pack_header *h, uint8_t bytes[PACK_HEADER])
{
    struct pack_header copy = *h;
    uint32_t crc;
    struct cursor cursor = {bytes, true}, *c = &cursor;
    memset(bytes, 0, PACK_HEADER);
    memcpy(bytes, magic, sizeof magic);
    cursor.at += sizeof magic;
    pass_header(c, &copy);
    crc = crc32c_add(0, bytes, PACK_HEADER - sizeof crc);
    cursor.at = bytes + PACK_HEADER - sizeof crc;
    PASS(crc);
}

// With all sizes inside their limits, sums fit into 64 bits.
static int check_header(const char *file, const struct pack_header *h)
{
    if (h->name[0] == '\0' || memchr(h->name, '\0', PACK_NAME) == NULL)
        return fail(ERR_INPUT, "%s is a pack of a data set without a name", file);
    if (h->classes < 1 || h->classes > UINT16_MAX)
        return fail(ERR_INPUT, "%s is a pack with %u classes", file, h->classes);
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (h->records[s] > PACK_RECORDS_MAX)
            return fail(ERR_INPUT, "%s is a pack with %llu pictures in a split", file, (unsigned long long)h->records[s]);
    if (h->short_side > UINT16_MAX || h->quality > 100)
        return fail(ERR_INPUT, "%s is a pack with short side %u and quality %u", file, h->short_side, h->quality);
    if (h->names_bytes > PACK_NAMES_MAX || h->done > pack_records(h) || h->end < pack_begin(h) || h->end > INT64_MAX ||
        (!(h->flags & PACK_UNDONE) && h->done != pack_records(h)))
        return fail(ERR_INPUT, "%s is a pack whose header contradicts itself", file);
    return 0;
}

int pack_parse_header(const char *file, const uint8_t bytes[PACK_HEADER], int64_t file_bytes, struct pack_header *h)
{
    uint8_t copy[PACK_HEADER];
    uint32_t crc = 0;
    struct cursor cursor = {copy + sizeof magic, false}, *c = &cursor;
    memcpy(copy, bytes, PACK_HEADER);
    *h = (struct pack_header){0};
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return fail(ERR_INPUT, "%s is not a pack of pictures; \"dawn data pack\" makes one", file);
    pass_header(c, h);
    if (h->version < 1 || h->version > PACK_VERSION)
        return fail(ERR_INPUT, "%s is a pack of version %u, and this program reads versions 1 to %d: pack its source again", file,
                    h->version, PACK_VERSION);
    cursor.at = copy + PACK_HEADER - sizeof crc;
    PASS(crc);
    if (crc != crc32c_add(0, bytes, PACK_HEADER - sizeof crc))
        return fail(ERR_INPUT, "%s is damaged: its header does not have its checksum", file);
    TRY(check_header(file, h));
    if (file_bytes >= 0 && (uint64_t)file_bytes != h->end)
        return fail(ERR_INPUT, "%s should have %llu bytes and has %lld: it is incomplete", file, (unsigned long long)h->end,
                    (long long)file_bytes);
    return 0;
}

void pack_print_record(const struct pack_record *r, uint8_t bytes[PACK_RECORD])
{
    struct pack_record copy = *r;
    struct cursor cursor = {bytes, true};
    memset(bytes, 0, PACK_RECORD);
    pass_record(&cursor, &copy);
}

int pack_parse_record(const char *file, const struct pack_header *h, uint64_t i, const uint8_t bytes[PACK_RECORD],
                      uint64_t *offset, struct pack_record *r)
{
    uint8_t copy[PACK_RECORD];
    struct cursor cursor = {copy, false};
    memcpy(copy, bytes, PACK_RECORD);
    pass_record(&cursor, r);
    unsigned long long n = i;
    if (r->label >= h->classes)
        return fail(ERR_INPUT, "%s: picture %llu has label %u, and there are %u classes", file, n, r->label, h->classes);
    if (r->split != (i < h->records[SPLIT_TRAIN] ? SPLIT_TRAIN : SPLIT_TEST))
        return fail(ERR_INPUT, "%s: picture %llu is in the wrong split", file, n);
    if (r->codec != PACK_NONE && r->codec != PACK_JPEG)
        return fail(ERR_INPUT, "%s: picture %llu has codec %u, which this program does not know", file, n, r->codec);
    bool empty = r->length == 0 || r->width == 0 || r->height == 0;
    if (r->codec == PACK_NONE ? r->length != 0 : empty || r->length > PACK_PICTURE_MAX)
        return fail(ERR_INPUT, "%s: picture %llu has %u bytes and %u x %u pixels", file, n, r->length, r->width, r->height);
    if (r->offset != *offset || r->length > h->end - *offset)
        return fail(ERR_INPUT, "%s: picture %llu has a wrong offset or length: byte %llu, %u bytes", file, n,
                    (unsigned long long)r->offset, r->length);
    if (r->name > h->names_bytes || r->name_length > h->names_bytes - r->name)
        return fail(ERR_INPUT, "%s: the name of picture %llu is not among the names", file, n);
    *offset += r->length;
    return 0;
}

// ---- files

static int read_at(const struct pack *pack, void *into, size_t count, uint64_t offset)
{
    for (size_t have = 0; have < count;) {
        ssize_t got = pread(pack->fd, (char *)into + have, count - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(ERR_IO, errno, "cannot read %s at byte %llu", pack->path, (unsigned long long)offset);
        if (got == 0)
            return fail(ERR_INPUT, "%s ends at byte %llu of %llu: it was longer when it was opened", pack->path,
                        (unsigned long long)(offset + have), (unsigned long long)pack->header.end);
        have += (size_t)got;
    }
    return 0;
}

static int read_pack_header(struct pack *pack)
{
    struct stat st;
    uint8_t bytes[PACK_HEADER];
    pack->fd = open(pack->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (pack->fd < 0) return fail_errno(errno == ENOENT ? ERR_MISSING : ERR_IO, errno, "cannot open %s", pack->path);
    if (fstat(pack->fd, &st) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s", pack->path);
    if (!S_ISREG(st.st_mode) || st.st_size < PACK_HEADER)
        return fail(ERR_INPUT, "%s is not a pack of pictures; \"dawn data pack\" makes one", pack->path);
    TRY(read_at(pack, bytes, sizeof bytes, 0));
    TRY(pack_parse_header(pack->path, bytes, st.st_size, &pack->header));
    if (pack->header.flags & PACK_UNDONE)
        return fail(ERR_INPUT, "%s is not whole: \"dawn data pack\" was interrupted, and continues with the same source",
                    pack->path);
    return 0;
}

static void count_record(struct pack *pack, const struct pack_record *r)
{
    pack->encoded += (r->marks & PACK_ENCODED) != 0;
    pack->converted += (r->marks & PACK_CONVERTED) != 0;
    pack->damaged += (r->marks & PACK_DAMAGED) != 0;
    if (r->length > pack->longest) pack->longest = r->length;
    if (r->codec == PACK_NONE) pack->absent++;
    else pack->record[pack->count[SPLIT_TRAIN] + pack->count[SPLIT_TEST]] = *r, pack->count[r->split]++;
}

static int read_index(struct pack *pack)
{
    const struct pack_header *h = &pack->header;
    uint64_t records = pack_records(h), offset = pack_begin(h);
    uint32_t crc = 0;
    pack->record = malloc((size_t)records * sizeof *pack->record + 1);
    uint8_t *bytes = malloc(PACK_PIECE * PACK_RECORD);
    int rc = pack->record == NULL || bytes == NULL ? fail(ERR_MEMORY, "not enough memory for the index of %s", pack->path) : 0;
    for (uint64_t i = 0; i < records && rc == 0; i += PACK_PIECE) {
        uint64_t n = records - i < PACK_PIECE ? records - i : PACK_PIECE;
        rc = read_at(pack, bytes, n * PACK_RECORD, PACK_HEADER + i * PACK_RECORD);
        if (rc == 0) crc = crc32c_add(crc, bytes, n * PACK_RECORD);
        for (uint64_t k = 0; k < n && rc == 0; k++) {
            struct pack_record r;
            rc = pack_parse_record(pack->path, h, i + k, bytes + k * PACK_RECORD, &offset, &r);
            if (rc == 0) count_record(pack, &r);
        }
    }
    free(bytes);
    TRY(rc);
    if (crc != h->index_crc) return fail(ERR_INPUT, "%s is damaged: its index does not have its checksum", pack->path);
    if (offset != h->end) return fail(ERR_INPUT, "%s is damaged: its pictures do not fill it", pack->path);
    return 0;
}

static int check_names(const struct pack *pack)
{
    const struct pack_header *h = &pack->header;
    uint8_t bytes[PACK_PIECE];
    uint32_t crc = 0;
    for (uint64_t at = 0; at < h->names_bytes; at += PACK_PIECE) {
        size_t n = h->names_bytes - at < PACK_PIECE ? h->names_bytes - at : PACK_PIECE;
        TRY(read_at(pack, bytes, n, pack_names_at(h) + at));
        crc = crc32c_add(crc, bytes, n);
    }
    return crc == h->names_crc ? 0 : fail(ERR_INPUT, "%s is damaged: its names do not have their checksum", pack->path);
}

int pack_open(const char *path, const char *name, struct pack **opened)
{
    struct pack *pack = zalloc(sizeof *pack);
    *opened = NULL;
    pack->path = copy_text(path);
    pack->fd = -1;
    int rc = read_pack_header(pack);
    if (rc == 0 && strcmp(pack->header.name, name) != 0)
        rc = fail(ERR_INPUT, "%s is a pack of %s, not of %s", path, pack->header.name, name);
    if (rc == 0) rc = read_index(pack);
    if (rc == 0) rc = check_names(pack);
    if (rc < 0) pack_close(pack);
    else *opened = pack;
    return rc;
}

void pack_close(struct pack *pack)
{
    if (pack == NULL) return;
    if (pack->fd >= 0) close(pack->fd);
    free(pack->record);
    free(pack->path);
    free(pack);
}

const struct pack_record *pack_at(const struct pack *pack, enum split split, int64_t index)
{
    return &pack->record[split == SPLIT_TRAIN ? index : pack->count[SPLIT_TRAIN] + index];
}

char *pack_name(const struct pack *pack, const struct pack_record *r)
{
    char *name = zalloc((size_t)r->name_length + 2);
    if (read_at(pack, name, r->name_length, pack_names_at(&pack->header) + r->name) < 0) strcpy(name, "?");
    return name;
}

int pack_read(const struct pack *pack, enum split split, int64_t index, void *into, size_t capacity, int64_t *bytes)
{
    const struct pack_record *r = pack_at(pack, split, index);
    BUG_IF(r->length > capacity);
    TRY(read_at(pack, into, r->length, r->offset));
    if (crc32c_add(0, into, r->length) != r->crc) {
        char *name = pack_name(pack, r);
        int rc = fail(ERR_INPUT, "%s: the %u bytes of %s at byte %llu are not those that were packed (checksum)", pack->path,
                      r->length, name, (unsigned long long)r->offset);
        free(name);
        return rc;
    }
    *bytes = r->length;
    return 0;
}

void pack_want(const struct pack *pack, enum split split, int64_t first, int64_t count)
{
    if (count == 0) return;
    const struct pack_record *begin = pack_at(pack, split, first), *last = pack_at(pack, split, first + count - 1);
    uint64_t bytes = last->offset + last->length - begin->offset;
    (void)posix_fadvise(pack->fd, (off_t)begin->offset, (off_t)bytes, POSIX_FADV_WILLNEED);
}

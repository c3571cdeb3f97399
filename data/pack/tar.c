// SPDX-License-Identifier: Apache-2.0
// libarchive reads the headers through a window on the file and skips the data. A member's data begin at libarchive's position
// after the header. The block before that position must be a tar header, which is checked.
//
// Cost: one read of 512 bytes to 64 KB per member: 5 s for the tar of ImageNet's 1,000 tars from the page cache.
// Fuzzed: test/fuzz/fuzz_tar.c.
#include "data/pack/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"

enum { TAR_BLOCK = 512, TAR_READ = 1 << 13, SPOOL_READ = 1 << 18 };

struct window {
    const struct tar_span *span;
    int64_t at;  // offset below span->bytes
    uint8_t block[TAR_READ];
};

static ssize_t read_some(int fd, void *into, size_t capacity, int64_t offset)
{
    ssize_t got;
    do {
        got = pread(fd, into, capacity, offset);
    } while (got < 0 && errno == EINTR);
    return got;
}

static la_ssize_t window_read(struct archive *archive, void *context, const void **bytes)
{
    struct window *w = context;
    int64_t left = w->span->bytes - w->at;
    ssize_t got = read_some(w->span->fd, w->block, left < TAR_READ ? (size_t)left : TAR_READ, w->span->offset + w->at);
    if (got < 0) {
        archive_set_error(archive, errno, "%s", strerror(errno));
        return -1;
    }
    w->at += got;
    *bytes = w->block;
    return got;
}

static la_int64_t window_skip(struct archive *archive, void *context, la_int64_t count)
{
    (void)archive;
    struct window *w = context;
    int64_t left = w->span->bytes - w->at;
    if (count > left) count = left;
    w->at += count;
    return count;
}

// A header holds the sum of its bytes, with blanks for the sum itself, in octal digits.
static bool is_header(const uint8_t block[TAR_BLOCK])
{
    long sum = 0;
    char digits[9] = "";
    memcpy(digits, block + 148, 8);
    for (int i = 0; i < TAR_BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : block[i];
    return strtol(digits, NULL, 8) == sum;
}

static int locate_member(const struct tar_span *span, struct archive *archive, struct archive_entry *entry,
                         struct tar_member *member)
{
    int64_t at = archive_filter_bytes(archive, 0), bytes = archive_entry_size(entry);
    uint8_t block[TAR_BLOCK];
    *member = (struct tar_member){archive_entry_pathname(entry), span->offset + at, bytes};
    if (bytes < 0 || at < TAR_BLOCK || at % TAR_BLOCK != 0 || archive_entry_sparse_count(entry) > 0 ||
        read_some(span->fd, block, TAR_BLOCK, span->offset + at - TAR_BLOCK) != TAR_BLOCK || !is_header(block))
        return fail(ERR_INPUT, "%s: the member %.200s is of a kind that can only be unpacked", span->path, member->name);
    if (bytes > span->bytes - at)
        return fail(ERR_INPUT, "%s is cut off: it ends inside the member %.200s", span->path, member->name);
    return 0;
}

// The entry is the caller's: libarchive's own one would be read without a check that there was memory for it.
static int walk_members(const struct tar_span *span, struct archive *archive, struct archive_entry *entry, tar_visit *visit,
                        void *context)
{
    for (int members = 0;; members++) {
        int rc = archive_read_next_header2(archive, entry);
        if (rc == ARCHIVE_EOF) return 0;
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
            return fail(ERR_INPUT, "%s is not a valid tar: %s", span->path, archive_error_string(archive));
        if (members == TAR_MEMBERS_MAX) return fail(ERR_INPUT, "%s has more than %d members", span->path, members);
        if (archive_entry_hardlink(entry) != NULL || archive_entry_filetype(entry) == AE_IFLNK)
            return fail(ERR_INPUT, "%s: the member %.200s is a link: unpack the archive and give its folder", span->path,
                        archive_entry_pathname(entry) != NULL ? archive_entry_pathname(entry) : "?");
        if (archive_entry_filetype(entry) != AE_IFREG) continue;
        if (archive_entry_pathname(entry) == NULL) return fail(ERR_INPUT, "%s has a member without a name", span->path);
        struct tar_member member;
        TRY(locate_member(span, archive, entry, &member));
        TRY(visit(context, &member));
    }
}

int tar_walk(const struct tar_span *span, tar_visit *visit, void *context)
{
    struct window *window = zalloc(sizeof *window);
    struct archive *archive = archive_read_new();
    struct archive_entry *entry = archive_entry_new();
    window->span = span;
    int rc = archive == NULL || entry == NULL ? fail(ERR_MEMORY, "not enough memory to read %s", span->path) : 0;
    if (rc == 0) {
        archive_read_set_read_callback(archive, window_read);
        archive_read_set_skip_callback(archive, window_skip);
        // Each step takes memory, and libarchive crashes if one that failed is followed by the next.
        bool opened = archive_read_support_format_tar(archive) == ARCHIVE_OK &&
                      archive_read_set_callback_data(archive, window) == ARCHIVE_OK && archive_read_open1(archive) == ARCHIVE_OK;
        if (opened) rc = walk_members(span, archive, entry, visit, context);
        else rc = fail(ERR_INPUT, "%s cannot be read as a tar: %s", span->path, archive_error_string(archive));
    }
    archive_read_free(archive);
    archive_entry_free(entry);
    free(window);
    return rc;
}

// ---- compressed tars
struct stream {
    const char *path;
    struct archive *archive;
    struct archive_entry *entry;
};

static int open_stream(struct stream *s, bool members)
{
    s->archive = archive_read_new(), s->entry = archive_entry_new();
    if (s->archive == NULL || s->entry == NULL) return fail(ERR_MEMORY, "not enough memory to read %s", s->path);
    int (*support)(struct archive *) = members ? archive_read_support_format_tar : archive_read_support_format_raw;
    if (archive_read_support_filter_gzip(s->archive) == ARCHIVE_FATAL || support(s->archive) == ARCHIVE_FATAL ||
        archive_read_open_filename(s->archive, s->path, SPOOL_READ) != ARCHIVE_OK)
        return fail(ERR_INPUT, "cannot read %s: %s", s->path, archive_error_string(s->archive));
    return 0;
}

static void close_stream(struct stream *s)
{
    archive_read_free(s->archive);
    archive_entry_free(s->entry);
}

static int spool_bytes(const struct stream *s, int to, int64_t most, int64_t *bytes)
{
    struct archive *archive = s->archive;
    const char *path = s->path;
    char *block = zalloc(SPOOL_READ);
    int rc = archive_read_next_header2(archive, s->entry) == ARCHIVE_OK ? 0
                 : fail(ERR_INPUT, "%s is not a gzipped tar: %s", path, archive_error_string(archive));
    for (la_ssize_t got = 1; got > 0 && rc == 0;) {
        got = archive_read_data(archive, block, SPOOL_READ);
        long long done = *bytes;
        if (got < 0) rc = fail(ERR_INPUT, "%s is damaged after %lld bytes: %s", path, done, archive_error_string(archive));
        else if (got > most - *bytes)
            rc = fail(ERR_INPUT, "%s holds more than %lld bytes: unpack it, and give the folder", path, (long long)most);
        for (la_ssize_t put = 0, n; rc == 0 && put < got; put += n) {
            n = write(to, block + put, (size_t)(got - put));
            if (n < 0 && errno == EINTR) n = 0;
            else if (n < 0) rc = fail_errno(ERR_IO, errno, "cannot write what %s holds, after %lld bytes", path, done);
        }
        if (rc == 0) *bytes += got;
    }
    free(block);
    return rc;
}

int tar_spool(const char *path, int to, int64_t most, int64_t *bytes)
{
    struct stream s = {.path = path};
    *bytes = 0;
    int rc = open_stream(&s, false);
    if (rc == 0) rc = spool_bytes(&s, to, most, bytes);
    close_stream(&s);
    return rc;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && strcmp(name + n - e, ending) == 0;
}

static int extract_member(const struct stream *s, const char *ending, size_t most, char **bytes, size_t *count)
{
    struct archive *archive = s->archive;
    const char *path = s->path;
    int rc;
    while ((rc = archive_read_next_header2(archive, s->entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN) {
        const char *name = archive_entry_pathname(s->entry);
        if (archive_entry_filetype(s->entry) != AE_IFREG || name == NULL || !ends_with(name, ending)) continue;
        int64_t size = archive_entry_size(s->entry);
        if (size < 0 || (uint64_t)size > most)
            return fail(ERR_INPUT, "%s: its member %s has %lld bytes, more than the %zu allowed", path, ending, (long long)size,
                        most);
        *bytes = zalloc((size_t)size + 1);
        if (archive_read_data(archive, *bytes, (size_t)size) == size) {
            *count = (size_t)size;
            return 0;
        }
        return fail(ERR_INPUT, "%s ends inside its member %s", path, ending);
    }
    if (rc != ARCHIVE_EOF) return fail(ERR_INPUT, "%s is not a valid archive: %s", path, archive_error_string(archive));
    return fail(ERR_INPUT, "%s does not have %s", path, ending);
}

int tar_extract(const char *path, const char *ending, size_t most, char **bytes, size_t *count)
{
    struct stream s = {.path = path};
    *bytes = NULL;
    *count = 0;
    int rc = open_stream(&s, true);
    if (rc == 0) rc = extract_member(&s, ending, most, bytes, count);
    close_stream(&s);
    if (rc < 0) {
        free(*bytes);
        *bytes = NULL;
    }
    return rc;
}

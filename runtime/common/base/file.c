// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. A reported size is never trusted: files grow and shrink, and files of /proc report 0.
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Opens without waiting for the other end of a pipe, and takes regular files only.
static int open_regular(const char *path, int *fd, size_t *size)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) return fail_errno(ERR_IO, errno, "cannot open %s", path);
    int rc = 0;
    if (fstat(*fd, &st) != 0) {
        rc = fail_errno(ERR_IO, errno, "cannot examine %s", path);
    } else if (S_ISDIR(st.st_mode)) {
        rc = fail(ERR_INPUT, "%s is a folder, not a file", path);
    } else if (!S_ISREG(st.st_mode)) {
        rc = fail(ERR_INPUT, "%s is not a regular file", path);
    }
    if (rc < 0) {
        close(*fd);
        return rc;
    }
    *size = (size_t)st.st_size;
    return 0;
}

static int read_some(int fd, const char *path, void *into, size_t capacity, size_t *got)
{
    ssize_t n;
    do {
        n = read(fd, into, capacity);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return fail_errno(ERR_IO, errno, "cannot read %s", path);
    *got = (size_t)n;
    return 0;
}

static int read_all(int fd, const char *path, size_t size, size_t limit, char **bytes, size_t *count)
{
    char *at = NULL;
    size_t capacity = 0, have = 0, got = 0;
    int rc = 0;
    do {
        if (have + 2 > capacity) {  // one byte to notice that there is more, one for the NUL
            capacity = capacity ? capacity * 2 : size + 2;
            char *larger = realloc(at, capacity);
            if (!larger) {
                rc = fail(ERR_MEMORY, "not enough memory to read %s (%zu bytes)", path, capacity);
                break;
            }
            at = larger;
        }
        rc = read_some(fd, path, at + have, capacity - have - 1, &got);
        if (rc < 0) break;
        have += got;
        if (have > limit) rc = fail(ERR_INPUT, "%s is larger than the %zu bytes allowed for it", path, limit);
    } while (rc == 0 && got > 0);
    if (rc < 0) {
        free(at);
        return rc;
    }
    at[have] = 0;
    *bytes = at;
    *count = have;
    return 0;
}

int file_read(const char *path, size_t limit, char **bytes, size_t *count)
{
    int fd;
    size_t size;
    *bytes = NULL;
    *count = 0;
    TRY(open_regular(path, &fd, &size));
    int rc = 0;
    if (size > limit) {
        rc = fail(ERR_INPUT, "%s has %zu bytes, more than the %zu allowed for it", path, size, limit);
    } else {
        rc = read_all(fd, path, size, limit, bytes, count);
    }
    close(fd);
    return rc;
}

static int write_bytes(int fd, const char *path, const char *at, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, at, count);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(ERR_IO, errno, "cannot write %s", path);
        at += n;
        count -= (size_t)n;
    }
    return 0;
}

// Writes into a device, a pipe or a socket (/dev/stdout, /dev/full), because a rename would replace it by a file.
static int write_into(const char *path, const char *at, size_t count)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot write %s", path);
    int rc = write_bytes(fd, path, at, count);
    if (close(fd) != 0 && rc == 0) rc = fail_errno(ERR_IO, errno, "cannot write %s", path);
    return rc;
}

static bool is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int file_check_target(const char *path)
{
    return is_stream(path) ? 0 : whole_check_target(path);
}

int file_write(const char *path, const void *bytes, size_t count)
{
    if (is_stream(path)) return write_into(path, bytes, count);
    struct whole whole = {0};
    int rc = whole_open(&whole, path);
    if (rc == 0) rc = whole_write(&whole, bytes, count);
    if (rc == 0) rc = whole_close(&whole);
    if (rc == 0) rc = whole_commit(&whole);
    whole_end(&whole);
    return rc;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

// The file that this function was loaded from.
static int find_mapped(char path[FILE_PROGRAM])
{
    char line[FILE_PROGRAM + 128];
    const uintptr_t here = (uintptr_t)find_mapped;
    FILE *maps = fopen("/proc/self/maps", "re");
    *path = 0;
    while (maps != NULL && *path == 0 && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        int at = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &at) < 2 || here < from || here >= to) continue;
        snprintf(path, FILE_PROGRAM, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    }
    if (maps != NULL) fclose(maps);
    return *path == '/' ? 0 : fail(ERR_IO, "cannot find this program's own file");
}

int file_program(char bytes[FILE_PROGRAM], char starter[FILE_PROGRAM])
{
    ssize_t length = readlink("/proc/self/exe", starter, FILE_PROGRAM - 1);
    if (length < 0) return fail_errno(ERR_IO, errno, "cannot find this program's own file");
    starter[length] = 0;
    strcpy(bytes, "/proc/self/exe");  // the running program, even if its file was replaced since
    const char *name = strrchr(starter, '/');
    if (name == NULL || strncmp(name, "/ld-", 4) != 0) return 0;
    TRY(find_mapped(bytes));
    name = strrchr(bytes, '/');
    length = snprintf(starter, FILE_PROGRAM, "%.*s/../../bin%s", (int)(name - bytes), bytes, name);
    return length < FILE_PROGRAM ? 0 : fail(ERR_IO, "the path of this program is too long");
}

static int make_one(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0) return 0;
    int why = errno;
    if (stat(path, &st) == 0) {  // mkdir may have failed because the folder exists
        if (S_ISDIR(st.st_mode)) return 0;
        return fail(ERR_IO, "cannot make the folder %s: there is a file of that name", path);
    }
    return fail_errno(ERR_IO, why, "cannot make the folder %s", path);
}

int file_make_folder(const char *path)
{
    char *whole = copy_text(path);
    int rc = 0;
    for (char *at = whole + 1; *whole && *at && rc == 0; at++) {
        if (*at != '/') continue;
        *at = 0;
        rc = make_one(whole);
        *at = '/';
    }
    if (rc == 0) rc = make_one(whole);
    free(whole);
    return rc;
}

void digest_hex(const unsigned char digest[crypto_hash_sha256_BYTES], char hex[DIGEST_HEX])
{
    _Static_assert(DIGEST_HEX == 2 * crypto_hash_sha256_BYTES + 1, "SHA-256 in hexadecimal");
    sodium_bin2hex(hex, DIGEST_HEX, digest, crypto_hash_sha256_BYTES);
}

int digest_file(const char *path, char hex[DIGEST_HEX])
{
    enum { CHUNK = 1 << 18 };
    int fd;
    size_t size, got = 0;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    TRY(open_regular(path, &fd, &size));
    unsigned char *chunk = zalloc(CHUNK);
    crypto_hash_sha256_init(&state);
    int rc;
    while ((rc = read_some(fd, path, chunk, CHUNK, &got)) == 0 && got > 0) {
        crypto_hash_sha256_update(&state, chunk, got);
    }
    free(chunk);
    close(fd);
    TRY(rc);
    crypto_hash_sha256_final(&state, digest);
    digest_hex(digest, hex);
    return 0;
}

int file_read_or_input(const char *path, size_t limit, char **bytes, size_t *count)
{
    struct text text = {0};
    char piece[4096];
    if (path && strcmp(path, "-")) return file_read(path, limit, bytes, count);
    for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0 && text.length <= limit;) text_bytes(&text, piece, n);
    *bytes = text.at ? text.at : zalloc(1);
    *count = text.length;
    if (text.length <= limit) return 0;
    free(*bytes);
    return fail(ERR_INPUT, "a text of more than %zu MiB is too long", limit >> 20);
}

void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, bytes, count);
    digest_hex(digest, hex);
}

bool digest_is_hex(const char *text)
{
    return strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0) close(fd);
    return n == (ssize_t)sizeof head && !memcmp(head, magic, sizeof magic);
}

int whole_check_target(const char *path)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode)) return fail(ERR_IO, "cannot write %s: it is a folder", path);
    if (there && !S_ISREG(st.st_mode))  // a rename would replace a device by a file
        return fail(ERR_USAGE, "%s is there already and is not a file", path);
    if (there && is_database(path))
        return fail(ERR_IO, "%s is a database, perhaps a record of runs: it is not written over", path);
    char *folder = copy_text(path), *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int rc = access(slash ? folder : ".", W_OK) == 0 ? 0 : fail_errno(ERR_IO, errno, "cannot write %s", path);
    free(folder);
    return rc;
}

void whole_sync_folder(const char *path)
{
    char *folder = copy_text(path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

// The leftover of a killed process has another name, so a name that exists means an attack or a broken random source.
static int whole_open_part(struct whole *whole)
{
    uint64_t draw;
    if (getrandom(&draw, sizeof draw, 0) != sizeof draw) return fail_errno(ERR_IO, errno, "the system gives no random numbers");
    struct text part = {0};
    text_add(&part, "%s.%016llx.part", whole->path, (unsigned long long)draw);
    int fd = open(part.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        int rc = fail_errno(ERR_IO, errno, "cannot write %s", whole->path);
        text_free(&part);
        return rc;
    }
    whole->part = part.at;
    whole->file = fdopen(fd, "wb");
    if (whole->file != NULL) return 0;
    int rc = fail_errno(ERR_IO, errno, "cannot write %s", whole->path);
    close(fd);
    return rc;
}

int whole_open(struct whole *whole, const char *path)
{
    *whole = (struct whole){0};
    TRY(whole_check_target(path));
    whole->path = copy_text(path);
    int rc = whole_open_part(whole);
    if (rc < 0) whole_end(whole);
    return rc;
}

int whole_write(struct whole *whole, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, whole->file) != count) {
        return fail_errno(ERR_IO, errno, "cannot write %s after byte %lld", whole->path, (long long)whole->bytes);
    }
    whole->bytes += (int64_t)count;
    return 0;
}

int whole_close(struct whole *whole)
{
    int why = 0;
    if (fflush(whole->file) != 0 || fsync(fileno(whole->file)) != 0) why = errno;
    if (fclose(whole->file) != 0 && why == 0) why = errno;
    whole->file = NULL;
    return why == 0 ? 0
                    : fail_errno(ERR_IO, why, "cannot write %s, which should have %lld bytes", whole->path,
                                 (long long)whole->bytes);
}

int whole_commit(struct whole *whole)
{
    if (rename(whole->part, whole->path) != 0)
        return fail_errno(ERR_IO, errno, "cannot put %s in its place", whole->path);
    free(whole->part);
    whole->part = NULL;
    whole_sync_folder(whole->path);
    return 0;
}

void whole_end(struct whole *whole)
{
    if (whole->file != NULL) fclose(whole->file);
    if (whole->part != NULL) unlink(whole->part);
    free(whole->part);
    free(whole->path);
    *whole = (struct whole){0};
}

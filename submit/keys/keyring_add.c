// SPDX-License-Identifier: Apache-2.0
// Puts keys into the keyring. Invariant: no file is overwritten, and a secret's file never has a wider mode than 0600, not even
// for a moment. Cost: two small files, on disk before it returns.
#include "submit/keys/keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/file.h"
#include "runtime/common/base/whole.h"

enum { SECRET_MAX = 64 * 1024 };

static int make_folder(const char *folder)
{
    char parent[KEYRING_PATH];
    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = 0;
    TRY(file_make_folder(parent));
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return fail_errno(ERR_IO, errno, "cannot make the folder %s", folder);
    return 0;
}

// Makes a new file and brings it to disk.
static int create(const char *path, mode_t mode, const char *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot write %s", path);
    errno = 0;  // a short write of so few bytes is a full disk
    bool whole = write(fd, bytes, count) == (ssize_t)count && fsync(fd) == 0;
    int why = errno != 0 ? errno : ENOSPC;
    close(fd);
    if (whole) return 0;
    unlink(path);
    return fail_errno(ERR_IO, why, "cannot write %s", path);
}

// The path of a key that is not there yet, not even as a link that leads nowhere.
static int make_place(const char *name, char path[KEYRING_PATH], char public_path[KEYRING_PATH])
{
    char folder[KEYRING_PATH];
    struct stat st;
    TRY(keyring_check_name(name));
    TRY(keyring_folder(folder));
    if (snprintf(public_path, KEYRING_PATH, "%s/%s.pub", folder, name) >= KEYRING_PATH)
        return fail(ERR_INPUT, "the path %.60s... is too long", folder);
    snprintf(path, KEYRING_PATH, "%.*s", (int)strlen(public_path) - 4, public_path);
    TRY(make_folder(folder));
    if (lstat(path, &st) == 0 || lstat(public_path, &st) == 0)
        return fail(ERR_INPUT, "there is a key \"%s\" already; keys are never overwritten", name);
    return 0;
}

int keyring_new(const char *name)
{
    char path[KEYRING_PATH], public_path[KEYRING_PATH];
    TRY(make_place(name, path, public_path));
    TRY(openssh_new(path, name));
    whole_sync_folder(path);
    return 0;
}

static int copy_secret(const char *from, const char *to)
{
    char *bytes;
    size_t count;
    TRY(file_read(from, SECRET_MAX, &bytes, &count));
    int rc = create(to, 0600, bytes, count);
    sshkey_wipe(bytes, count);
    free(bytes);
    return rc;
}

int keyring_add(const char *name, const struct keyring_key *key)
{
    char path[KEYRING_PATH], public_path[KEYRING_PATH], line[SSHKEY_TEXT + 1];
    TRY(make_place(name, path, public_path));
    if (key->file) TRY(copy_secret(key->path, path));
    sshkey_line(&key->key, line);
    strcat(line, "\n");
    int rc = create(public_path, 0644, line, strlen(line));
    if (rc < 0 && key->file) unlink(path);  // made a moment ago and not used yet
    if (rc == 0) whole_sync_folder(path);
    return rc;
}

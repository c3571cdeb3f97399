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
#include "runtime/common/base/text.h"

static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot open %s", folder);
    fsync(fd);  // some file systems cannot; the files themselves are complete
    close(fd);
    return 0;
}

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
static int create(const char *path, mode_t mode, const char *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0 && errno == EEXIST) return fail(ERR_INPUT, "%s is there already; keys are never overwritten", path);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot write %s", path);
    const size_t count = strlen(bytes);
    errno = 0;  // a short write of so few bytes is a full disk
    bool whole = write(fd, bytes, count) == (ssize_t)count && fsync(fd) == 0;
    int why = errno != 0 ? errno : ENOSPC;
    close(fd);
    if (whole) return 0;
    unlink(path);
    return fail_errno(ERR_IO, why, "cannot write %s", path);
}

static int write_pair(const char *name, const char *secret, const struct sshkey *key)
{
    char folder[KEYRING_PATH], path[KEYRING_PATH], public_path[KEYRING_PATH], line[SSHKEY_TEXT];
    struct text text = {0};
    TRY(keyring_check_name(name));
    TRY(keyring_folder(folder));
    if (snprintf(public_path, sizeof public_path, "%s/%s.pub", folder, name) >= KEYRING_PATH)
        return fail(ERR_INPUT, "the path %.60s... is too long", folder);
    snprintf(path, sizeof path, "%.*s", (int)strlen(public_path) - 4, public_path);
    TRY(make_folder(folder));
    if (file_exists(path) || file_exists(public_path))
        return fail(ERR_INPUT, "there is a key \"%s\" already; keys are never overwritten", name);
    if (secret != NULL) TRY(create(path, 0600, secret));
    text_add(&text, "%s\n", sshkey_line(key, line));
    int rc = create(public_path, 0644, text.at);
    text_free(&text);
    if (rc < 0 && secret != NULL) unlink(path);  // made a moment ago and not used yet
    TRY(rc);
    return sync_folder(folder);
}

int keyring_add(const char *name, const struct sshkey_secret *secret)
{
    char *text = sshkey_write_secret(secret);
    int rc = write_pair(name, text, &secret->key);
    sshkey_wipe(text, strlen(text));
    free(text);
    return rc;
}

int keyring_add_public(const char *name, const struct sshkey *key)
{
    return write_pair(name, NULL, key);
}

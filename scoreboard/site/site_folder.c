// SPDX-License-Identifier: Apache-2.0
// Invariant: the folder always holds the old copy or the new one, whole. A killed program leaves its unfinished copy next to the
// folder, as FOLDER.NUMBER.part. Nothing is synced: after a power cut a copy is made again.
#include "scoreboard/site/site_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

// Files that every copy has.
static const char *const marks[] = {"/api/v1.json", "/log/checkpoint", "/index.html"};

static bool is_copy(const char *path)
{
    bool all = true;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        struct text file = {0};
        text_add(&file, "%s%s", path, marks[i]);
        all = all && file_exists(file.at);
        text_free(&file);
    }
    return all;
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (folder == NULL) return false;
    while (count <= 2 && readdir(folder) != NULL) count++;  // "." and ".."
    closedir(folder);
    return count <= 2;
}

// A folder that was not there: one of a killed program may have this process's number.
static int make_part(struct site_folder *f)
{
    enum { TRIES = 100 };
    struct text part = {0};
    int rc = -1;
    for (long i = 0; i < TRIES && rc != 0; i++) {
        part.length = 0;
        text_add(&part, "%s.%ld.part", f->path, (long)getpid() + i);
        rc = mkdir(part.at, 0777);
        if (rc != 0 && errno != EEXIST) break;
    }
    if (rc != 0) rc = fail_errno(ERR_IO, errno, "cannot make the folder %s", part.at);
    else f->part = copy_text(part.at);
    text_free(&part);
    return rc;
}

int site_folder_begin(struct site_folder *f, const char *path)
{
    struct text clean = {0};
    struct stat there;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    text_add(&clean, "%.*s", (int)length, path);
    *f = (struct site_folder){.path = clean.at};
    if (lstat(f->path, &there) == 0 && (!S_ISDIR(there.st_mode) || (!is_copy(f->path) && !is_empty(f->path))))
        return fail(ERR_IO, "%s exists already and is not a copy of a board: it is not replaced", f->path);
    return make_part(f);
}

static int make_parent(const char *path)
{
    char *folder = copy_text(path);
    *strrchr(folder, '/') = 0;
    int rc = file_make_folder(folder);
    free(folder);
    return rc;
}

int site_folder_add(struct site_folder *f, const char *name, const void *bytes, size_t count)
{
    struct text path = {0};
    text_add(&path, "%s%s", f->part, name);
    int rc = make_parent(path.at);
    FILE *file = rc == 0 ? fopen(path.at, "wbx") : NULL;
    if (rc == 0 && file == NULL) rc = fail_errno(ERR_IO, errno, "cannot write %s", path.at);
    if (file != NULL && fwrite(bytes, 1, count, file) != count) rc = fail_errno(ERR_IO, errno, "cannot write %s", path.at);
    if (file != NULL && fclose(file) != 0 && rc == 0) rc = fail_errno(ERR_IO, errno, "cannot write %s", path.at);
    text_free(&path);
    f->files++;
    f->bytes += (int64_t)count;
    return rc;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// Both at once where the file system can; else the old one steps aside for a moment, and back if the new one cannot follow.
static int swap_folders(const struct site_folder *f)
{
    if (renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) return 0;
    struct text aside = {0};
    text_add(&aside, "%s.old", f->part);
    int rc = rename(f->path, aside.at);
    if (rc == 0 && (rc = rename(f->part, f->path)) != 0) {
        const int why = errno;
        (void)rename(aside.at, f->path);
        errno = why;
    } else if (rc == 0) {
        remove_tree(aside.at);
    }
    text_free(&aside);
    return rc;
}

int site_folder_commit(struct site_folder *f)
{
    struct stat there;
    const int rc = lstat(f->path, &there) == 0 ? swap_folders(f) : rename(f->part, f->path);
    if (rc != 0) return fail_errno(ERR_IO, errno, "cannot put the copy %s in place", f->path);
    remove_tree(f->part);  // the old one, if they were exchanged
    free(f->part);
    f->part = NULL;
    return 0;
}

void site_folder_end(struct site_folder *f)
{
    if (f->part != NULL) remove_tree(f->part);
    free(f->part);
    free(f->path);
    *f = (struct site_folder){0};
}

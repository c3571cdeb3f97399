// SPDX-License-Identifier: Apache-2.0
// Follows the event files of a folder and those below it. Invariant: each byte is read once. Cost of a poll: one walk over the
// folder, and the new bytes.
#include "tasks/tools/outside/events.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"

enum { CHUNK = 1 << 20 };

struct file {
    char *path;
    off_t from;  // bytes that were read; negative: the file belongs to another run
};
struct events_folder {
    char *path;
    struct file *file;
    int count;
};

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static struct file *find(struct events_folder *f, const char *path, off_t from)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->file[i].path, path) == 0) return &f->file[i];
    f->file = grow(f->file, (size_t)(f->count + 1) * sizeof *f->file);
    f->file[f->count] = (struct file){copy_text(path), from};
    return &f->file[f->count++];
}

// A record that is larger than a chunk is read with a larger one.
static int read_new(struct file *file, events_take *take, void *context)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
    if (fd < 0) return errno == ENOENT ? 0 : fail_errno(ERR_IO, errno, "cannot open %s", file->path);
    size_t capacity = CHUNK, used = 0;
    unsigned char *bytes = zalloc(capacity);
    for (ssize_t n; rc == 0 && (n = pread(fd, bytes, capacity, file->from)) > 0;) {
        rc = events_read(bytes, (size_t)n, &used, take, context);
        file->from += (off_t)used;
        if (rc < 0) rc = fail_prefix(rc, "%s: ", file->path);
        if (used > 0) continue;
        if ((size_t)n < capacity) break;
        capacity *= 2;
        bytes = grow(bytes, capacity);
    }
    free(bytes);
    close(fd);
    return rc;
}

static int walk(struct events_folder *f, bool others, events_take *take, void *context)
{
    char *const paths[] = {f->path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    int rc = tree == NULL ? fail_errno(ERR_IO, errno, "cannot read %s", f->path) : 0;
    for (FTSENT *entry; rc == 0 && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info != FTS_F || strstr(entry->fts_name, ".tfevents.") == NULL) continue;
        struct file *file = find(f, entry->fts_path, others ? -1 : 0);
        if (!others && file->from >= 0) rc = read_new(file, take, context);
    }
    if (tree != NULL) fts_close(tree);
    return rc;
}

struct events_folder *events_folder_new(const char *path)
{
    struct events_folder *f = zalloc(sizeof *f);
    f->path = copy_text(path);
    (void)walk(f, true, NULL, NULL);
    return f;
}

int events_folder_poll(struct events_folder *f, events_take *take, void *context)
{
    return walk(f, false, take, context);
}

void events_folder_free(struct events_folder *f)
{
    if (f == NULL) return;
    for (int i = 0; i < f->count; i++) free(f->file[i].path);
    free(f->file);
    free(f->path);
    free(f);
}

// SPDX-License-Identifier: Apache-2.0
// Invariant: the block that holds the newest checkpoint is never written over, so a write that is cut off leaves it.
#include "scoreboard/store/file/store_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/common/base/file.h"

enum { PLACES = 2, BLOCK_BYTES = 4096 };

static char *checkpoint_path(const char *record)
{
    struct text path = {0};
    text_add(&path, "%s.checkpoint", record);
    return path.at;
}

int store_head_open(const char *record, bool writes, struct store_head *h)
{
    *h = (struct store_head){.path = checkpoint_path(record)};
    h->file = open(h->path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
    if (h->file >= 0) return 0;
    int rc = fail_errno(errno == ENOENT ? ERR_MISSING : ERR_IO, errno, "cannot open the log's checkpoint %s", h->path);
    store_head_close(h);
    return rc;
}

void store_head_close(struct store_head *h)
{
    if (h->path != NULL && h->file >= 0) close(h->file);
    free(h->path);
    *h = (struct store_head){.file = -1};
}

static void fill_block(const char *note, char block[BLOCK_BYTES])
{
    BUG_IF(strlen(note) >= BLOCK_BYTES);
    memset(block, 0, BLOCK_BYTES);
    strcpy(block, note);
}

int store_head_make(const char *record, const char *note)
{
    char blocks[PLACES * BLOCK_BYTES] = {0}, *path = checkpoint_path(record);
    fill_block(note, blocks);
    int rc = file_write(path, blocks, sizeof blocks);
    free(path);
    return rc;
}

// False: the block is empty, or was cut off.
static bool read_block(struct store_head *h, int i, const struct sshkey *key, char block[BLOCK_BYTES], struct checkpoint *found)
{
    struct note note;
    if (pread(h->file, block, BLOCK_BYTES, (off_t)i * BLOCK_BYTES) != BLOCK_BYTES) return false;
    block[BLOCK_BYTES - 1] = 0;
    const size_t count = strlen(block);
    if (count == 0 || note_read(block, count, &note) < 0 || note_check(block, &note, key) < 0) return false;
    *found = note.checkpoint;
    return true;
}

int store_head_read(struct store_head *h, const struct sshkey *key, struct checkpoint *c, struct text *note)
{
    char block[BLOCK_BYTES], best[BLOCK_BYTES];
    bool any = false;
    for (int i = 0; i < PLACES; i++) {
        struct checkpoint found;
        if (!read_block(h, i, key, block, &found) || (any && found.size <= c->size)) continue;
        any = true;
        *c = found;
        h->block = i;
        memcpy(best, block, sizeof best);
    }
    if (!any) return fail(ERR_DATABASE, "%s holds no checkpoint that the board's key signed", h->path);
    if (note != NULL) text_add(note, "%s", best);
    return 0;
}

int store_head_lock(struct store_head *h)
{
    while (flock(h->file, LOCK_EX) != 0)
        if (errno != EINTR) return fail_errno(ERR_DATABASE, errno, "cannot lock %s", h->path);
    return 0;
}

void store_head_unlock(struct store_head *h)
{
    flock(h->file, LOCK_UN);
}

int store_head_write(struct store_head *h, const char *note)
{
    char block[BLOCK_BYTES];
    const int i = 1 - h->block;
    fill_block(note, block);
    if (pwrite(h->file, block, sizeof block, (off_t)i * BLOCK_BYTES) != (ssize_t)sizeof block || fdatasync(h->file) != 0)
        return fail_errno(ERR_DATABASE, errno, "cannot write the log's checkpoint %s", h->path);
    h->block = i;
    return 0;
}

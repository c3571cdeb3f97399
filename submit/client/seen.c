// SPDX-License-Identifier: Apache-2.0
// Cost: a small file per board.
#include "submit/client/seen.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"
#include "submit/log/note.h"

static int folder_of(struct text *into)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data != NULL && *data == '/') text_add(into, "%s/dawn/logs", data);
    else if (home != NULL && *home != 0) text_add(into, "%s/.local/share/dawn/logs", home);
    else return fail(ERR_MISSING, "there is no folder for the seen states of boards: neither XDG_DATA_HOME nor HOME is set");
    return 0;
}

static int note_path(const struct sshkey *board, char **path)
{
    struct text text = {0};
    char hex[DIGEST_HEX];
    *path = NULL;
    TRY(folder_of(&text));
    digest_bytes(board->at, sizeof board->at, hex);
    text_add(&text, "/%.32s.checkpoint", hex);
    *path = text.at;
    return 0;
}

int seen_read(const struct sshkey *board, struct text *note)
{
    char *path, *bytes = NULL;
    size_t count;
    TRY(note_path(board, &path));
    int rc = file_exists(path) ? file_read(path, NOTE_MOST, &bytes, &count) : 0;
    if (bytes != NULL) text_bytes(note, bytes, count);
    free(bytes);
    free(path);
    return rc;
}

int seen_keep(const struct sshkey *board, const struct text *note)
{
    struct text folder = {0};
    char *path;
    TRY(note_path(board, &path));
    int rc = folder_of(&folder);
    if (rc == 0) rc = file_make_folder(folder.at);
    if (rc == 0) rc = file_write(path, note->at, note->length);
    text_free(&folder);
    free(path);
    return rc;
}

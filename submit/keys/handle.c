// SPDX-License-Identifier: Apache-2.0
// One small file, $XDG_CONFIG_HOME/dawn/handle or ~/.config/dawn/handle: the handle and a line end.
#include "submit/keys/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"
#include "submit/keys/keyring.h"

static int handle_path(char into[KEYRING_PATH], char folder[KEYRING_PATH])
{
    TRY(keyring_folder(folder));
    char *last = strrchr(folder, '/');  // .../dawn/keys
    BUG_IF(last == NULL);
    *last = '\0';
    if (snprintf(into, KEYRING_PATH, "%s/handle", folder) >= KEYRING_PATH)
        return fail(ERR_INPUT, "the path of the handle is too long");
    return 0;
}

static int check(const char *handle, const char *from)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    size_t length = strlen(handle);
    if (length > 0 && length < HANDLE_MAX && strspn(handle, letters) == length && strchr("._+-", *handle) == NULL) return 0;
    return fail(ERR_USAGE,
                "%s must be 1 to %d letters without accents, digits, \".\", \"_\", \"+\" or \"-\", and begin with a letter or "
                "digit; got \"%.60s\"", from, HANDLE_MAX - 1, handle);
}

int handle_choose(const char *given, char into[HANDLE_MAX])
{
    const char *from = "--handle", *word = given;
    char path[KEYRING_PATH], folder[KEYRING_PATH], *bytes = NULL;
    size_t count;
    if (word == NULL) {
        from = "$DAWN_HANDLE";
        word = getenv("DAWN_HANDLE");
    }
    if ((word == NULL || *word == 0) && given == NULL) {
        word = NULL;
        if (handle_path(path, folder) == 0 && file_exists(path)) {
            TRY(file_read(path, 4096, &bytes, &count));
            bytes[strcspn(bytes, "\r\n")] = '\0';
            from = path;
            word = bytes;
        }
    }
    int rc = word != NULL ? check(word, from)
                          : fail(ERR_USAGE,
                                 "no handle is known: give --handle NAME (it is remembered after the first submission)");
    if (rc == 0) snprintf(into, HANDLE_MAX, "%s", word);
    free(bytes);
    return rc;
}

bool handle_known(void)
{
    char path[KEYRING_PATH], folder[KEYRING_PATH];
    const char *variable = getenv("DAWN_HANDLE");
    return (variable != NULL && *variable != 0) || (handle_path(path, folder) == 0 && file_exists(path));
}

int handle_remember(const char *handle)
{
    char path[KEYRING_PATH], folder[KEYRING_PATH], line[HANDLE_MAX + 1], known[HANDLE_MAX + 1] = "", *bytes;
    size_t count;
    TRY(handle_path(path, folder));
    snprintf(line, sizeof line, "%s\n", handle);
    if (file_exists(path) && file_read(path, 4096, &bytes, &count) == 0) {
        snprintf(known, sizeof known, "%.*s", HANDLE_MAX, bytes);
        free(bytes);
    }
    if (strcmp(known, line) == 0) return 0;
    TRY(file_make_folder(folder));
    return file_write(path, line, strlen(line));
}

// SPDX-License-Identifier: Apache-2.0
// Cost: one scandir; all names in memory, about 300 bytes each.
#include "data/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/common/base/text.h"

static int any_but_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int folder_list(const char *path, enum folder_order order, struct folder *folder)
{
    folder->count = scandir(path, &folder->entry, any_but_hidden, order == FOLDER_BY_BYTES ? compare_bytes : versionsort);
    if (folder->count >= 0) return 0;
    *folder = (struct folder){0};
    return fail_errno(ERR_INPUT, errno, "cannot list %s", path);
}

int folder_keep(struct folder *folder, bool (*keep)(const char *name))
{
    int kept = 0, all = folder->count;
    for (int i = 0; i < all; i++) {
        if (keep(folder->entry[i]->d_name)) folder->entry[kept++] = folder->entry[i];
        else free(folder->entry[i]);
    }
    folder->count = kept;
    return all - kept;
}

void folder_end(struct folder *folder)
{
    for (int i = 0; i < folder->count; i++) free(folder->entry[i]);
    free(folder->entry);
    *folder = (struct folder){0};
}

bool folder_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int folder_check_class(const char *folder, const char *name, const char *title, const char *const *classes)
{
    for (int c = 0; classes[c]; c++)
        if (!strcmp(name, classes[c])) return 0;
    char what[64];
    struct text path = {0};
    int rc = 0;
    text_add(&path, "%s/%s", folder, name);
    if (folder_is(path.at)) {
        snprintf(what, sizeof what, "class of %s", title);
        fail_unknown(ERR_INPUT, what, name, classes, NULL);
        rc = fail_prefix(ERR_INPUT, "%s: ", path.at);
    }
    text_free(&path);
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
#include "data/fetch/source.h"

#include <string.h>
#include <sys/stat.h>

const struct source *source_at(int i)
{
    for (int k = 0; dataset_kind(k) != NULL; k++) {
        const struct kind *kind = dataset_kind(k);
        if (kind->source != NULL && strcmp(kind->source->name, kind->name) == 0 && i-- == 0) return kind->source;
    }
    return NULL;
}

const struct source *source_find(const char *name)
{
    const struct source *source;
    for (int i = 0; (source = source_at(i)) != NULL && strcmp(source->name, name) != 0; i++) continue;
    return source;
}

const char *source_part_name(const struct source_part *part)
{
    const char *slash = strrchr(part->url, '/');
    return slash != NULL ? slash + 1 : part->url;
}

const struct source_file *source_part_file(const struct source *source, const struct source_part *part)
{
    for (const struct source_file *file = source->file; file->name != NULL; file++)
        if (strcmp(file->name, source_part_name(part)) == 0) return file;
    return NULL;
}

int source_absent(const struct source *source, const char *given, const char *needs)
{
    struct stat st;
    if (stat(given, &st) == 0 && S_ISREG(st.st_mode))
        return fail(ERR_USAGE, "%s is a file; --data names the folder that has the files of %s", given, source->title);
    return fail(ERR_MISSING, "there is no %s in %s: %s is missing; \"dawn data fetch %s\" gets it, --data names another folder",
                source->title, given, needs, source->name);
}
